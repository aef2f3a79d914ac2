/* What the dynamic linker writes: relocations of the loaded sections (RELA and RELR), as a map from
   places to values and symbols; and through it the targets of calls that go by the PLT or GOT. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

static int by_place(const void *a, const void *b) {
    const struct pm_relocation *x = a, *y = b;
    return PM_COMPARE(x->place, y->place);
}

/* Fills name and value of dynamic symbol NUMBER of the table SYMBOLS. */
static void resolve_symbol(const struct pm_image *image, const struct pm_section *symbols,
                           uint64_t number, struct pm_relocation *relocation) {
    const Elf64_Shdr *header = &symbols->header;
    Elf64_Sym symbol;
    if (header->sh_type != SHT_DYNSYM || header->sh_link >= image->n_sections ||
        number >= header->sh_size / sizeof symbol)
        return;
    memcpy(&symbol, image->bytes + header->sh_offset + number * sizeof symbol, sizeof symbol);
    const Elf64_Shdr *names = &image->sections[header->sh_link].header;
    const char *text = (const char *)image->bytes + names->sh_offset;
    if (names->sh_type == SHT_STRTAB && symbol.st_name < names->sh_size &&
        text[names->sh_size - 1] == 0)
        relocation->symbol = text + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_TLS)
        relocation->value += symbol.st_value;
    else
        relocation->value = 0;
}

static void read_rela(struct pm_lifted *lifted, const struct pm_section *section) {
    const struct pm_image *image = &lifted->image;
    const Elf64_Shdr *header = &section->header;
    if (header->sh_entsize != sizeof(Elf64_Rela))
        return;
    for (uint64_t i = 0; i < header->sh_size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela rela;
        memcpy(&rela, image->bytes + header->sh_offset + i * sizeof rela, sizeof rela);
        struct pm_relocation relocation = {rela.r_offset, (uint64_t)rela.r_addend, NULL};
        uint64_t type = ELF64_R_TYPE(rela.r_info);
        bool has_symbol = type == lifted->isa->relocations.absolute ||
                          type == lifted->isa->relocations.data_slot ||
                          type == lifted->isa->relocations.code_slot;
        if (!has_symbol && type != lifted->isa->relocations.relative &&
            type != lifted->isa->relocations.indirect)
            continue;
        if (has_symbol && header->sh_link < image->n_sections)
            resolve_symbol(image, &image->sections[header->sh_link], ELF64_R_SYM(rela.r_info),
                           &relocation);
        *PM_PUSH(lifted, relocations) = relocation;
    }
}

static void add_relative(struct pm_lifted *lifted, uint64_t place) {
    const uint8_t *bytes = pm_image_at(&lifted->image, place, 8);
    struct pm_relocation relocation = {place, 0, NULL};
    if (!bytes)
        return;
    memcpy(&relocation.value, bytes, 8);
    *PM_PUSH(lifted, relocations) = relocation;
}

/* An even word is a place, an odd one is a bitmap over the 63 words that follow. */
static void read_relr(struct pm_lifted *lifted, const struct pm_section *section) {
    uint64_t next = 0;
    for (uint64_t i = 0; i < section->header.sh_size / 8; i++) {
        uint64_t word;
        memcpy(&word, lifted->image.bytes + section->header.sh_offset + 8 * i, 8);
        if (!(word & 1)) {
            add_relative(lifted, word);
            next = word + 8;
            continue;
        }
        for (unsigned bit = 1; bit < 64; bit++)
            if (word >> bit & 1)
                add_relative(lifted, next + 8 * (bit - 1));
        next += UINT64_C(8) * 63;
    }
}

void pm_read_relocations(struct pm_lifted *lifted) {
    const struct pm_image *image = &lifted->image;
    for (size_t i = 0; i < image->n_sections; i++) {
        const struct pm_section *section = &image->sections[i];
        if (!(section->header.sh_flags & SHF_ALLOC))
            continue; /* left by the linker for others (--emit-relocs) */
        if (section->header.sh_type == SHT_RELA)
            read_rela(lifted, section);
        else if (section->header.sh_type == SHT_RELR)
            read_relr(lifted, section);
    }
    PM_SORT(lifted->relocations, lifted->n_relocations, by_place);
}

static const struct pm_relocation *relocation_at(const struct pm_lifted *lifted, uint64_t place) {
    struct pm_relocation key = {place, 0, NULL};
    if (!lifted->n_relocations)
        return NULL;
    return bsearch(&key, lifted->relocations, lifted->n_relocations, sizeof key, by_place);
}

bool pm_word_at(const struct pm_lifted *lifted, uint64_t address, uint64_t *word) {
    const struct pm_relocation *relocation = relocation_at(lifted, address);
    const uint8_t *bytes = relocation ? NULL : pm_image_at(&lifted->image, address, 8);
    if (relocation)
        *word = relocation->value;
    else if (bytes)
        memcpy(word, bytes, 8);
    return relocation || bytes;
}

/* ---- targets of calls ----------------------------------------------------------------------- */

/* `call *slot(%rip)`, `jmp *slot(%rip)`: the place of the slot. */
static bool slot_of(const struct pm_insn *insn, uint64_t *slot) {
    if (insn->control != PM_CONTROL_CALL_INDIRECT && insn->control != PM_CONTROL_JUMP_INDIRECT)
        return false;
    if (insn->n_memory == 0 || insn->memory[0].base != PM_REGISTER_PC || insn->memory[0].implicit)
        return false;
    *slot = (uint64_t)insn->memory[0].displacement;
    return true;
}

static bool slot_target(const struct pm_lifted *lifted, uint64_t slot, uint64_t *address,
                        const char **name) {
    const struct pm_relocation *relocation = relocation_at(lifted, slot);
    if (!relocation || (!relocation->symbol && !relocation->value))
        return false;
    *address = relocation->value;
    *name = relocation->symbol;
    return true;
}

static bool plt_target(const struct pm_lifted *lifted, uint64_t entry, uint64_t *address,
                       const char **name) {
    enum { SHORTEST_ENTRY = 16 };
    const uint8_t *bytes = pm_image_at(&lifted->image, entry, SHORTEST_ENTRY);
    uint64_t slot;
    return bytes && lifted->isa->plt_slot(bytes, SHORTEST_ENTRY, entry, &slot) &&
           slot_target(lifted, slot, address, name);
}

bool pm_call_target(const struct pm_lifted *lifted, const struct pm_insn *insn, uint64_t *address,
                    const char **name) {
    uint64_t slot;
    *address = 0;
    *name = NULL;
    if (slot_of(insn, &slot))
        return slot_target(lifted, slot, address, name);
    if (!insn->target)
        return false;
    if (pm_routine_at(lifted, insn->target) == PM_NONE &&
        plt_target(lifted, insn->target, address, name))
        return true;
    *address = insn->target;
    return true;
}
