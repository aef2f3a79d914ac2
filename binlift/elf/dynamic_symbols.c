/* Symbols between files: the functions that a file has, those of others that it uses, and which
   libraries these are of. */
#include "binlift/elf/symbol_table.h"
#include "binlift/lifted.h"

#include <string.h>

/* ---- functions ------------------------------------------------------------------------------ */

void pm_read_function_symbols(const struct pm_image *image, struct pm_function_symbols *symbols) {
    for (size_t i = 0; i < image->n_sections; i++) {
        struct pm_symbol_table table = pm_symbol_table(image, &image->sections[i].header);
        for (uint64_t k = 0; k < table.n_entries; k++) {
            Elf64_Sym symbol;
            const char *name;
            if (!pm_symbol(&table, k, &symbol, &name) || symbol.st_shndx == SHN_UNDEF)
                continue;
            int type = ELF64_ST_TYPE(symbol.st_info);
            if (type == STT_FUNC || type == STT_GNU_IFUNC)
                *PM_PUSH(symbols, items) =
                    (struct pm_function_symbol){name, symbol.st_value, type == STT_GNU_IFUNC};
        }
    }
}

void pm_lifted_imports(const struct pm_lifted *lifted, struct pm_symbol_names *names) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        struct pm_symbol_table table = pm_symbol_table(image, header);
        for (uint64_t k = 0; header->sh_type == SHT_DYNSYM && k < table.n_entries; k++) {
            Elf64_Sym symbol;
            const char *name;
            if (pm_symbol(&table, k, &symbol, &name) && symbol.st_shndx == SHN_UNDEF && *name)
                *PM_PUSH(names, items) = pm_strdup(name);
        }
    }
}

/* ---- whose they are: versions that are asked for (.gnu.version_r) ---------------------------- */

static const char *string_at(const struct pm_image *image, const struct pm_section *strings,
                             uint64_t offset) {
    const Elf64_Shdr *header = &strings->header;
    const char *text = (const char *)image->bytes + header->sh_offset;
    if (header->sh_type != SHT_STRTAB || offset >= header->sh_size ||
        text[header->sh_size - 1] != 0)
        return "";
    return text + offset;
}

static bool asks_for(const struct pm_image *image, const struct pm_section *needs,
                     const char *library) {
    const Elf64_Shdr *header = &needs->header;
    uint64_t at = 0;
    if (header->sh_link >= image->n_sections)
        return false;
    for (uint64_t i = 0; i < header->sh_info; i++) {
        Elf64_Verneed need;
        if (header->sh_size < sizeof need || at > header->sh_size - sizeof need)
            return false;
        memcpy(&need, image->bytes + header->sh_offset + at, sizeof need);
        if (!strcmp(string_at(image, &image->sections[header->sh_link], need.vn_file), library))
            return true;
        if (need.vn_next == 0)
            return false;
        at += need.vn_next;
    }
    return false;
}

bool pm_lifted_takes_symbols_of(const struct pm_lifted *lifted, const char *library) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++)
        if (image->sections[i].header.sh_type == SHT_GNU_verneed &&
            asks_for(image, &image->sections[i], library))
            return true;
    return false;
}
