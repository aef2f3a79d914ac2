/* The files that the runtime reads: of copies, and of what is to be recorded. */
#include "binlift/bound/bound.h"
#include "binlift/code/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct bytes {
    PM_ARRAY(uint8_t, bytes);
};

static void append_bytes(struct bytes *out, const void *at, size_t n) {
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(out, bytes) = ((const uint8_t *)at)[i];
}

/* Where a copy of the N bytes AT begins. */
static uint64_t append(struct bytes *out, const void *at, size_t n) {
    while (out->n_bytes % ALIGNMENT)
        *PM_PUSH(out, bytes) = 0;
    size_t begin = out->n_bytes;
    append_bytes(out, at, n);
    return begin;
}

static struct pm_bound_file_nest append_nest(struct bytes *out,
                                             const struct pm_bound_entry *entry) {
    const struct pm_bound_nest *nest = entry->nest;
    const struct pm_shadow_loop *copy = entry->copy;
    return (struct pm_bound_file_nest){
        .module = entry->module,
        .scope = nest->loop,
        .every = entry->every,
        .slot_bytes = nest->slot_bytes,
        .data_bytes = (uint32_t)copy->n_data,
        .code_bytes = (uint32_t)copy->n_code,
        .first_replay = copy->first_replay,
        .n_replayed = nest->n_replayed,
        .n_relocations = (uint32_t)copy->n_relocations,
        .n_saved = nest->n_saved,
        .data = append(out, copy->data, copy->n_data),
        .code = append(out, copy->code, copy->n_code),
        .relocations =
            append(out, copy->relocations, copy->n_relocations * sizeof *copy->relocations),
        .saved = append(out, entry->plan->saved + nest->first_saved,
                        nest->n_saved * sizeof *entry->plan->saved),
    };
}

static bool write_file(const char *path, const struct bytes *out, struct pm_error *err) {
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(out->bytes, 1, out->n_bytes, file) == out->n_bytes;
    good = file && fclose(file) == 0 && good;
    return good || pm_fail_errno(err, "cannot write %s", path);
}

bool pm_bound_write_file(const char *path, const struct pm_bound_entry *entries, size_t n,
                         struct pm_error *err) {
    struct pm_bound_file header = {
        .magic = PM_BOUND_MAGIC, .version = PM_BOUND_VERSION, .n_nests = (uint32_t)n};
    struct pm_bound_file_nest *nests = pm_alloc(n, sizeof *nests);
    struct bytes out = {0};
    append(&out, &header, sizeof header);
    for (size_t i = 0; i < n * sizeof *nests; i++) /* right behind the header */
        *PM_PUSH(&out, bytes) = 0;
    for (size_t i = 0; i < n; i++)
        nests[i] = append_nest(&out, &entries[i]);
    header.n_bytes = out.n_bytes;
    memcpy(out.bytes, &header, sizeof header);
    memcpy(out.bytes + sizeof header, nests, n * sizeof *nests);
    bool good = write_file(path, &out, err);
    free(nests);
    free(out.bytes);
    return good;
}

/* ---- what is recorded ------------------------------------------------------------------------ */

struct watch {
    const struct pm_lifted *lifted;
    const struct pm_bound_plan *plan;
    uint32_t *number; /* per basic block: in the table; PM_NONE */
    PM_ARRAY(struct pm_bound_watched_block, blocks);
};

static void list_watched(struct watch *watch, const uint64_t *watched) {
    size_t n = watch->lifted->structure->n_blocks;
    watch->number = pm_alloc(n, sizeof *watch->number);
    for (size_t b = 0; b < n; b++) {
        watch->number[b] = watched[b] ? (uint32_t)watch->n_blocks : PM_NONE;
        if (watched[b])
            *PM_PUSH(watch, blocks) = (struct pm_bound_watched_block){.jump = watched[b]};
    }
}

/* A report of BLOCK more; its number in the table. */
static uint32_t add_report(struct watch *watch, uint32_t block) {
    uint32_t number = watch->number[block];
    if (number != PM_NONE)
        watch->blocks[number].n_reports++;
    return number;
}

static void append_accesses(struct watch *watch, struct bytes *out) {
    const struct pm_lifted *lifted = watch->lifted;
    for (uint32_t i = 0; i < watch->plan->n_accesses; i++) {
        const struct pm_bound_access *access = &watch->plan->accesses[i];
        const struct pm_reference *r = &lifted->structure->references[access->reference];
        struct pm_bound_watched_access made = {.block = PM_NONE};
        if (access->recorded == i) {
            const struct pm_memory_operand *memory =
                &lifted->insns[pm_insn_at(lifted, r->address)].memory[r->operand];
            uint32_t elements = memory->kind == PM_ACCESS_PLAIN ? 1 : memory->elements;
            bool loads = access->load_slot != PM_NONE;
            made = (struct pm_bound_watched_access){.slot = pm_bound_slot_of(access),
                                                    .size_bytes =
                                                        loads ? memory->size_bytes * elements : 0,
                                                    .block = add_report(watch, r->block)};
        }
        append_bytes(out, &made, sizeof made);
    }
}

static void append_branches(struct watch *watch, struct bytes *out) {
    for (uint32_t i = 0; i < watch->plan->n_replayed; i++) {
        uint32_t block = watch->lifted->insn_block[watch->plan->replayed[i]];
        bool is_first = watch->plan->recorded_branches[i] == i;
        struct pm_bound_watched_branch made = {.block =
                                                   is_first ? add_report(watch, block) : PM_NONE};
        append_bytes(out, &made, sizeof made);
    }
}

bool pm_bound_write_watch_file(const char *path, const struct pm_lifted *lifted,
                               const struct pm_bound_plan *plan, const uint64_t *watched,
                               uint64_t module, uint32_t most_outcomes, struct pm_error *err) {
    struct watch watch = {.lifted = lifted, .plan = plan};
    struct bytes out = {0};
    list_watched(&watch, watched);
    struct pm_bound_watch_file header = {.magic = PM_BOUND_WATCH_MAGIC,
                                         .version = PM_BOUND_VERSION,
                                         .n_accesses = (uint32_t)plan->n_accesses,
                                         .n_branches = (uint32_t)plan->n_replayed,
                                         .n_blocks = (uint32_t)watch.n_blocks,
                                         .n_slots = (uint32_t)plan->n_slots,
                                         .most_outcomes = most_outcomes,
                                         .module = module};
    append_bytes(&out, &header, sizeof header);
    append_accesses(&watch, &out);
    append_branches(&watch, &out);
    append_bytes(&out, watch.blocks, watch.n_blocks * sizeof *watch.blocks);
    bool good = write_file(path, &out, err);
    free(watch.number);
    free(watch.blocks);
    free(out.bytes);
    return good;
}
