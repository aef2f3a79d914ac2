/* Instructions of all routines.  Needs routines.  A routine whose bytes do not decode to its very
   end, or that has an instruction which cannot be moved, is refused with a reason and has no
   instructions.  Routines are decoded in batches, several at once. */
#include <stdlib.h>
#include <string.h>

#include "binlift/batches.h"
#include "binlift/code/interned.h"
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

/* What one thread decodes at a time. */
struct batch {
    struct pm_batch routines;
    PM_ARRAY(struct pm_insn, insns);
};

/* Decodes one routine; the reason why it is refused (owned by the caller), or NULL. */
static char *decode_routine(const struct pm_lifted *lifted, const struct pm_routine *routine,
                            struct batch *batch, struct pm_interned *interned) {
    const uint8_t *bytes = pm_image_at(&lifted->image, routine->address, routine->size_bytes);
    if (!bytes)
        return pm_strdup("its bytes are not in the file");
    for (uint64_t done = 0; done < routine->size_bytes;) {
        uint64_t address = routine->address + done;
        struct pm_insn *insn = PM_PUSH(batch, insns);
        struct pm_insn_parts parts;
        if (!lifted->isa->decode(bytes + done, routine->size_bytes - done, address, insn, &parts)) {
            batch->n_insns--;
            return pm_sprintf("no instruction at 0x%llx: data among the code, or code of a newer "
                              "processor than known",
                              (unsigned long long)address);
        }
        insn->memory = insn->n_memory ? pm_intern(interned, parts.memory,
                                                  insn->n_memory * sizeof *parts.memory)
                                      : NULL;
        insn->registers = pm_intern(interned, &parts.registers, sizeof parts.registers);
        if (insn->uses_unsupported)
            return pm_sprintf("the instruction at 0x%llx %s", (unsigned long long)address,
                              lifted->isa->why(bytes + done, insn));
        done += insn->length;
    }
    return NULL;
}

/* Room for all instructions at once: growing would touch every page twice.  What is not used costs
   address space only. */
static void make_room(const struct pm_lifted *lifted, struct batch *batch) {
    enum { SHORTEST_AVERAGE = 3 }; /* bytes of an instruction; compilers give more than 4 */
    uint64_t bytes = 0;
    for (size_t i = batch->routines.first; i < batch->routines.end; i++)
        bytes += lifted->structure->routines[i].size_bytes;
    batch->cap_insns = bytes / SHORTEST_AVERAGE + 1;
    batch->insns = pm_alloc(batch->cap_insns, sizeof *batch->insns);
}

/* Numbers in routine_codes count from the start of the batch. */
static void decode_batch(struct pm_lifted *lifted, struct batch *batch,
                         struct pm_interned *interned) {
    make_room(lifted, batch);
    for (size_t i = batch->routines.first; i < batch->routines.end; i++) {
        struct pm_routine *routine = &lifted->structure->routines[i];
        struct pm_routine_code *code = &lifted->routine_codes[i];
        code->first_insn = (uint32_t)batch->n_insns;
        if (routine->state == PM_ROUTINE_REFUSED)
            continue;
        routine->reason = decode_routine(lifted, routine, batch, interned);
        if (routine->reason)
            routine->state = PM_ROUTINE_REFUSED;
        code->n_insns = (uint32_t)batch->n_insns - code->first_insn;
    }
}

/* All batches behind each other. */
static void gather(struct pm_lifted *lifted, struct batch *batches, size_t n) {
    size_t n_insns = 0;
    for (size_t b = 0; b < n; b++)
        n_insns += batches[b].n_insns;
    lifted->insns = pm_alloc(n_insns, sizeof *lifted->insns);
    lifted->cap_insns = n_insns;
    for (size_t b = 0; b < n; b++) {
        for (size_t i = batches[b].routines.first; i < batches[b].routines.end; i++)
            lifted->routine_codes[i].first_insn += (uint32_t)lifted->n_insns;
        if (batches[b].n_insns)
            memcpy(lifted->insns + lifted->n_insns, batches[b].insns,
                   batches[b].n_insns * sizeof *lifted->insns);
        lifted->n_insns += batches[b].n_insns;
        free(batches[b].insns);
    }
}

static void find_gs(struct pm_lifted *lifted) {
    lifted->gs_routine = PM_NONE;
    for (size_t k = 0; k < lifted->n_insns && lifted->gs_routine == PM_NONE; k++)
        if (lifted->insns[k].uses_gs)
            lifted->gs_routine = pm_routine_at(lifted, lifted->insns[k].address);
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
            if (!is_refused)
                lifted->insns[n++] = lifted->insns[k];
        }
        code->first_insn = (uint32_t)first;
        code->n_insns = (uint32_t)(n - first);
    }
    lifted->n_insns = n;
}

void pm_decode_routines(struct pm_lifted *lifted) {
    struct pm_batches routines = {0};
    pm_divide_routines(lifted, &routines);
    struct batch *batches = pm_alloc(routines.n_items, sizeof *batches);
    find_text_span(lifted);
#pragma omp parallel
    {
        struct pm_interned *interned = pm_interned_new();
#pragma omp critical
        *PM_PUSH(lifted, interned) = interned;
#pragma omp for schedule(dynamic)
        for (size_t b = 0; b < routines.n_items; b++) {
            batches[b].routines = routines.items[b];
            decode_batch(lifted, &batches[b], interned);
        }
    }
    gather(lifted, batches, routines.n_items);
    free(batches);
    free(routines.items);
    pm_index_insns(lifted);
    find_gs(lifted);
    refuse_split_instructions(lifted);
    drop_refused(lifted);
    pm_index_insns(lifted);
}

void pm_free_interned(struct pm_lifted *lifted) {
    for (size_t i = 0; i < lifted->n_interned; i++)
        pm_interned_free(lifted->interned[i]);
    free(lifted->interned);
}
