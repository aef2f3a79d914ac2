/* The entries of .symtab or .dynsym with their names.  Private to binlift/elf/. */
#ifndef PM_ELF_SYMBOL_TABLE_H
#define PM_ELF_SYMBOL_TABLE_H

#include <string.h>

#include "binlift/elf/elf.h"

struct pm_symbol_table {
    const uint8_t *entries; /* in the image, not aligned */
    uint64_t n_entries;     /* 0 where the section is no table of symbols, or damaged */
    const char *names;
    uint64_t n_name_bytes; /* the last is 0 */
};

static inline struct pm_symbol_table pm_symbol_table(const struct pm_image *image,
                                                     const Elf64_Shdr *header) {
    struct pm_symbol_table table = {0};
    if ((header->sh_type != SHT_SYMTAB && header->sh_type != SHT_DYNSYM) ||
        header->sh_entsize != sizeof(Elf64_Sym) || header->sh_link >= image->n_sections)
        return table;
    const Elf64_Shdr *names = &image->sections[header->sh_link].header;
    if (header->sh_offset > image->n_bytes ||
        header->sh_size > image->n_bytes - header->sh_offset || names->sh_type != SHT_STRTAB ||
        names->sh_offset > image->n_bytes || names->sh_size == 0 ||
        names->sh_size > image->n_bytes - names->sh_offset ||
        image->bytes[names->sh_offset + names->sh_size - 1])
        return table;
    table.entries = image->bytes + header->sh_offset;
    table.n_entries = header->sh_size / sizeof(Elf64_Sym);
    table.names = (const char *)image->bytes + names->sh_offset;
    table.n_name_bytes = names->sh_size;
    return table;
}

/* Symbol number I and its name; false: its name is beyond the table of names. */
static inline bool pm_symbol(const struct pm_symbol_table *table, uint64_t i, Elf64_Sym *symbol,
                             const char **name) {
    memcpy(symbol, table->entries + i * sizeof *symbol, sizeof *symbol);
    if (symbol->st_name >= table->n_name_bytes)
        return false;
    *name = table->names + symbol->st_name;
    return true;
}

#endif
