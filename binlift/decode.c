/* Instructions of all routines.  Needs routines.  A routine whose bytes do not decode to its very
   end, or that has an instruction which cannot be moved, is refused with a reason and has no
   instructions. */
#include "binlift/lifted.h"

static void find_text_span(struct pm_lifted *lifted) {
    lifted->text_low = UINT64_MAX;
    lifted->text_high = 0;
    for (size_t i = 0; i < lifted->image.n_sections; i++) {
        const Elf64_Shdr *header = &lifted->image.sections[i].header;
        if (!pm_section_is_code(&lifted->image.sections[i]))
            continue;
        if (header->sh_addr < lifted->text_low)
            lifted->text_low = header->sh_addr;
        if (header->sh_addr + header->sh_size > lifted->text_high)
            lifted->text_high = header->sh_addr + header->sh_size;
    }
    if (lifted->text_low > lifted->text_high)
        lifted->text_low = lifted->text_high;
}

/* Forgets the instructions from FIRST on. */
static void drop_instructions(struct pm_lifted *lifted, size_t first) {
    for (size_t i = first; i < lifted->n_insns; i++)
        lifted->insn_at[lifted->insns[i].address - lifted->text_low] = 0;
    lifted->n_insns = first;
}

/* Decodes one routine; the reason why it is refused (owned by the caller), or NULL. */
static char *decode_routine(struct pm_lifted *lifted, const struct pm_routine *routine) {
    const uint8_t *bytes = pm_image_at(&lifted->image, routine->address, routine->size_bytes);
    if (!bytes)
        return pm_strdup("its bytes are not in the file");
    for (uint64_t done = 0; done < routine->size_bytes;) {
        uint64_t address = routine->address + done;
        struct pm_insn *insn = PM_PUSH(lifted, insns);
        if (!lifted->isa->decode(bytes + done, routine->size_bytes - done, address, insn)) {
            lifted->n_insns--;
            return pm_sprintf("no instruction at 0x%llx: data among the code, or code of a newer "
                              "processor than known",
                              (unsigned long long)address);
        }
        lifted->insn_at[address - lifted->text_low] = (uint32_t)lifted->n_insns;
        if (insn->uses_unsupported)
            return pm_sprintf("the instruction at 0x%llx %s", (unsigned long long)address,
                              lifted->isa->why(bytes + done, insn));
        done += insn->length;
    }
    return NULL;
}

void pm_decode_routines(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    find_text_span(lifted);
    lifted->insn_at = pm_alloc(lifted->text_high - lifted->text_low, sizeof *lifted->insn_at);
    for (size_t i = 0; i < structure->n_routines; i++) {
        struct pm_routine *routine = &structure->routines[i];
        struct pm_routine_code *code = &lifted->routine_codes[i];
        size_t first = lifted->n_insns;
        code->first_insn = (uint32_t)first;
        if (routine->state == PM_ROUTINE_REFUSED)
            continue;
        routine->reason = decode_routine(lifted, routine);
        if (routine->reason) {
            routine->state = PM_ROUTINE_REFUSED;
            drop_instructions(lifted, first);
        }
        code->n_insns = (uint32_t)(lifted->n_insns - first);
    }
}

uint32_t pm_insn_at(const struct pm_lifted *lifted, uint64_t address) {
    if (address < lifted->text_low || address >= lifted->text_high)
        return PM_NONE;
    return lifted->insn_at[address - lifted->text_low] - 1; /* 0 − 1 is PM_NONE */
}

const uint8_t *pm_insn_bytes(const struct pm_lifted *lifted, uint32_t insn) {
    const struct pm_insn *found = &lifted->insns[insn];
    return pm_image_at(&lifted->image, found->address, found->length);
}
