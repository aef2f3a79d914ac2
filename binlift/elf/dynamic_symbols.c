/* Symbols between files: the functions that a file has, those of others that it uses, and of which
   libraries. */
#include "binlift/elf/symbol_table.h"
#include "binlift/lifted.h"

#include <stdlib.h>
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

static void add_symbols(const struct pm_image *image, const Elf64_Shdr *header,
                        struct pm_imports *imports) {
    struct pm_symbol_table table = pm_symbol_table(image, header);
    for (uint64_t k = 0; k < table.n_entries; k++) {
        Elf64_Sym symbol;
        const char *name;
        if (pm_symbol(&table, k, &symbol, &name) && symbol.st_shndx == SHN_UNDEF && *name)
            *PM_PUSH(imports, symbols) = pm_strdup(name);
    }
}

/* Versions that are asked for (.gnu.version_r), by library. */
static void add_libraries(const struct pm_image *image, const Elf64_Shdr *header,
                          struct pm_imports *imports) {
    if (header->sh_link >= image->n_sections)
        return;
    const Elf64_Shdr *strings = &image->sections[header->sh_link].header;
    const char *text = (const char *)image->bytes + strings->sh_offset;
    if (strings->sh_type != SHT_STRTAB || !strings->sh_size || text[strings->sh_size - 1] != 0)
        return;
    for (uint64_t i = 0, at = 0; i < header->sh_info; i++) {
        Elf64_Verneed need;
        if (header->sh_size < sizeof need || at > header->sh_size - sizeof need)
            return;
        memcpy(&need, image->bytes + header->sh_offset + at, sizeof need);
        if (need.vn_file < strings->sh_size)
            *PM_PUSH(imports, libraries) = pm_strdup(text + need.vn_file);
        if (need.vn_next == 0)
            return;
        at += need.vn_next;
    }
}

void pm_lifted_imports(const struct pm_lifted *lifted, struct pm_imports *imports) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++) {
        const Elf64_Shdr *header = &image->sections[i].header;
        if (header->sh_type == SHT_DYNSYM)
            add_symbols(image, header, imports);
        else if (header->sh_type == SHT_GNU_verneed)
            add_libraries(image, header, imports);
    }
}

void pm_imports_free(struct pm_imports *imports) {
    for (size_t i = 0; i < imports->n_symbols; i++)
        free(imports->symbols[i]);
    for (size_t i = 0; i < imports->n_libraries; i++)
        free(imports->libraries[i]);
    free(imports->symbols);
    free(imports->libraries);
    *imports = (struct pm_imports){0};
}
