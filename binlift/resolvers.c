/* Routines of a library that run while the program is being relocated: resolvers of indirect
   functions (IFUNC) and what they call.  The dynamic linker relocates from the last module to the
   first, so that those of a library may run before the runtime has pointed %gs to a control block.

   Needs instructions and relocations. */
#include "binlift/resolvers.h"

#include <stdlib.h>
#include <string.h>

struct search {
    const struct pm_lifted *lifted;
    bool *found;
    PM_ARRAY(uint32_t, waiting); /* routines whose calls are still to be followed */
};

static void add(struct search *search, uint64_t address) {
    uint32_t routine = pm_routine_at(search->lifted, address);
    if (routine == PM_NONE || search->found[routine])
        return;
    search->found[routine] = true;
    *PM_PUSH(search, waiting) = routine;
}

static void add_symbols(struct search *search, const struct pm_section *section) {
    const uint8_t *bytes = search->lifted->image.bytes + section->header.sh_offset;
    for (uint64_t i = 0; i < section->header.sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, bytes + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC && symbol.st_shndx != SHN_UNDEF)
            add(search, symbol.st_value);
    }
}

static void add_relocations(struct search *search, const struct pm_section *section) {
    const uint8_t *bytes = search->lifted->image.bytes + section->header.sh_offset;
    for (uint64_t i = 0; i < section->header.sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela rela;
        memcpy(&rela, bytes + i * sizeof rela, sizeof rela);
        if (ELF64_R_TYPE(rela.r_info) == search->lifted->isa->relocations.indirect)
            add(search, (uint64_t)rela.r_addend);
    }
}

/* What ROUTINE calls or jumps to, also through the PLT, as far as it is in this file. */
static void follow(struct search *search, uint32_t routine) {
    const struct pm_routine_code *code = &search->lifted->routine_codes[routine];
    for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
        uint64_t address;
        const char *name;
        if (pm_call_target(search->lifted, &search->lifted->insns[k], &address, &name) && address)
            add(search, address);
    }
}

bool *pm_find_resolvers(const struct pm_lifted *lifted) {
    struct search search = {.lifted = lifted,
                            .found = pm_alloc(lifted->structure->n_routines, sizeof(bool))};
    for (size_t i = 0; i < lifted->image.n_sections; i++) {
        const struct pm_section *section = &lifted->image.sections[i];
        uint32_t type = section->header.sh_type;
        if (type == SHT_SYMTAB || type == SHT_DYNSYM)
            add_symbols(&search, section);
        else if (type == SHT_RELA && (section->header.sh_flags & SHF_ALLOC))
            add_relocations(&search, section);
    }
    while (search.n_waiting)
        follow(&search, search.waiting[--search.n_waiting]);
    free(search.waiting);
    return search.found;
}
