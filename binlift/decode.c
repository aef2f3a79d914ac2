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

/* A branch into the middle of an instruction (behind a lock prefix, say) means that the bytes have
   two readings: the routine that it goes into cannot be moved. */
static void refuse_split_instructions(struct pm_lifted *lifted) {
    for (size_t i = 0; i < lifted->n_insns; i++) {
        uint64_t target = lifted->insns[i].target;
        if (!target || pm_insn_at(lifted, target) != PM_NONE)
            continue;
        uint32_t number = pm_routine_at(lifted, target);
        struct pm_routine *routine =
            number == PM_NONE ? NULL : &lifted->structure->routines[number];
        if (!routine || routine->state == PM_ROUTINE_REFUSED)
            continue;
        routine->state = PM_ROUTINE_REFUSED;
        routine->reason = pm_sprintf("the branch at 0x%llx goes into the middle of an instruction",
                                     (unsigned long long)lifted->insns[i].address);
    }
}

/* Leaves the instructions of routines that are not refused, and numbers them. */
static void drop_refused(struct pm_lifted *lifted) {
    size_t n = 0;
    for (size_t i = 0; i < lifted->structure->n_routines; i++) {
        struct pm_routine_code *code = &lifted->routine_codes[i];
        bool is_refused = lifted->structure->routines[i].state == PM_ROUTINE_REFUSED;
        size_t first = n;
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            uint64_t at = lifted->insns[k].address - lifted->text_low;
            lifted->insn_at[at] = is_refused ? 0 : (uint32_t)n + 1;
            if (!is_refused)
                lifted->insns[n++] = lifted->insns[k];
        }
        code->first_insn = (uint32_t)first;
        code->n_insns = (uint32_t)(n - first);
    }
    lifted->n_insns = n;
}

/* Room for all instructions at once: growing would touch every page twice.  What is not used costs
   address space only. */
static void make_room(struct pm_lifted *lifted) {
    enum { SHORTEST_AVERAGE = 3 }; /* bytes of an instruction; compilers give more than 4 */
    uint64_t bytes = 0;
    for (size_t i = 0; i < lifted->structure->n_routines; i++)
        bytes += lifted->structure->routines[i].size_bytes;
    lifted->cap_insns = bytes / SHORTEST_AVERAGE + 1;
    lifted->insns = pm_alloc(lifted->cap_insns, sizeof *lifted->insns);
}

void pm_decode_routines(struct pm_lifted *lifted) {
    struct pm_structure *structure = lifted->structure;
    find_text_span(lifted);
    make_room(lifted);
    lifted->insn_at = pm_alloc(lifted->text_high - lifted->text_low, sizeof *lifted->insn_at);
    for (size_t i = 0; i < structure->n_routines; i++) {
        struct pm_routine *routine = &structure->routines[i];
        struct pm_routine_code *code = &lifted->routine_codes[i];
        code->first_insn = (uint32_t)lifted->n_insns;
        if (routine->state == PM_ROUTINE_REFUSED)
            continue;
        routine->reason = decode_routine(lifted, routine);
        if (routine->reason)
            routine->state = PM_ROUTINE_REFUSED;
        code->n_insns = (uint32_t)lifted->n_insns - code->first_insn;
    }
    refuse_split_instructions(lifted);
    drop_refused(lifted);
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
