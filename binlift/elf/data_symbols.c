/* Names of data objects by address, from .symtab and .dynsym. */
#include "binlift/elf/elf.h"

#include <stdlib.h>
#include <string.h>

struct symbol {
    uint64_t address, size_bytes;
    char *name;
};

struct pm_data_symbols {
    PM_ARRAY(struct symbol, symbols); /* ascending */
};

static int compare(const void *left, const void *right) {
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return PM_COMPARE(a->address, b->address);
    if (a->size_bytes != b->size_bytes)
        return PM_COMPARE(a->size_bytes, b->size_bytes);
    return strcmp(a->name, b->name);
}

/* Without the version that the linker puts behind the names of libraries' objects. */
static char *name_of(const char *text) {
    char *name = pm_strdup(text);
    char *version = strchr(name, '@');
    if (version && version != name)
        *version = 0;
    return name;
}

static void add_table(struct pm_data_symbols *symbols, const struct pm_image *image,
                      const Elf64_Shdr *header) {
    if (header->sh_entsize != sizeof(Elf64_Sym) || header->sh_link >= image->n_sections)
        return;
    const Elf64_Shdr *names = &image->sections[header->sh_link].header;
    if (header->sh_offset > image->n_bytes ||
        header->sh_size > image->n_bytes - header->sh_offset || names->sh_type != SHT_STRTAB ||
        names->sh_offset > image->n_bytes || names->sh_size == 0 ||
        names->sh_size > image->n_bytes - names->sh_offset)
        return;
    const char *text = (const char *)image->bytes + names->sh_offset;
    if (text[names->sh_size - 1])
        return;
    for (uint64_t i = 0; i < header->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, image->bytes + header->sh_offset + i * sizeof symbol, sizeof symbol);
        int type = ELF64_ST_TYPE(symbol.st_info);
        if ((type == STT_OBJECT || type == STT_COMMON) && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size > 0 && symbol.st_name < names->sh_size && text[symbol.st_name])
            *PM_PUSH(symbols, symbols) =
                (struct symbol){symbol.st_value, symbol.st_size, name_of(text + symbol.st_name)};
    }
}

struct pm_data_symbols *pm_data_symbols_new(const struct pm_image *image) {
    struct pm_data_symbols *symbols = pm_alloc(1, sizeof *symbols);
    for (size_t i = 0; i < image->n_sections; i++)
        if (image->sections[i].header.sh_type == SHT_SYMTAB ||
            image->sections[i].header.sh_type == SHT_DYNSYM)
            add_table(symbols, image, &image->sections[i].header);
    if (symbols->n_symbols)
        qsort(symbols->symbols, symbols->n_symbols, sizeof *symbols->symbols, compare);
    return symbols;
}

const char *pm_data_symbol_at(const struct pm_data_symbols *symbols, uint64_t address) {
    size_t low = PM_LOWER_BOUND(symbols->n_symbols, i, symbols->symbols[i].address <= address);
    if (low == 0)
        return NULL;
    const struct symbol *symbol = &symbols->symbols[low - 1];
    return address - symbol->address < symbol->size_bytes ? symbol->name : NULL;
}

void pm_data_symbols_free(struct pm_data_symbols *symbols) {
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->n_symbols; i++)
        free(symbols->symbols[i].name);
    free(symbols->symbols);
    free(symbols);
}
