/* Names of data objects by address, from .symtab and .dynsym. */
#include "binlift/elf/symbol_table.h"

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
    struct pm_symbol_table table = pm_symbol_table(image, header);
    for (uint64_t i = 0; i < table.n_entries; i++) {
        Elf64_Sym symbol;
        const char *name;
        if (!pm_symbol(&table, i, &symbol, &name))
            continue;
        int type = ELF64_ST_TYPE(symbol.st_info);
        if ((type == STT_OBJECT || type == STT_COMMON) && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size > 0 && *name)
            *PM_PUSH(symbols, symbols) =
                (struct symbol){symbol.st_value, symbol.st_size, name_of(name)};
    }
}

struct pm_data_symbols *pm_data_symbols_new(const struct pm_image *image) {
    struct pm_data_symbols *symbols = pm_alloc(1, sizeof *symbols);
    for (size_t i = 0; i < image->n_sections; i++)
        add_table(symbols, image, &image->sections[i].header);
    PM_SORT(symbols->symbols, symbols->n_symbols, compare);
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
