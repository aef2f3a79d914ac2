/* The file of copies that the runtime reads. */
#include "binlift/bound/bound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct bytes {
    PM_ARRAY(uint8_t, bytes);
};

/* Where a copy of the N bytes AT begins. */
static uint64_t append(struct bytes *out, const void *at, size_t n) {
    while (out->n_bytes % ALIGNMENT)
        *PM_PUSH(out, bytes) = 0;
    size_t begin = out->n_bytes;
    for (size_t i = 0; i < n; i++)
        *PM_PUSH(out, bytes) = ((const uint8_t *)at)[i];
    return begin;
}

static struct pm_bound_file_nest append_nest(struct bytes *out,
                                             const struct pm_bound_entry *entry) {
    const struct pm_bound_nest *nest = entry->nest;
    const struct pm_bound_copy *copy = entry->copy;
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
    FILE *file = fopen(path, "w");
    bool good = file && fwrite(out.bytes, 1, out.n_bytes, file) == out.n_bytes;
    good = file && fclose(file) == 0 && good;
    free(nests);
    free(out.bytes);
    return good || pm_fail_errno(err, "cannot write %s", path);
}
