/* Actions as time-independent traces, as SimGrid's replay reads them: a line for each,

       RANK NAME ARGUMENT…

   Messages are in bytes (the type that it takes where a line names none), collectives in elements,
   by which SimGrid chooses how it does them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sched/replay/private.h"

/* Computation in nanoseconds, where it is no number of operations: whole numbers are short. */
#define NANOSECONDS 1e9

static void write_action(FILE *to, const struct pm_actions *actions, size_t rank,
                         const struct pm_action *a) {
    uint64_t sent = a->bytes / pm_traced_type_bytes(a->type);
    uint64_t received = a->received_bytes / pm_traced_type_bytes(a->type);
    fprintf(to, "%zu %s", rank, pm_action_name(a->kind));
    switch ((enum pm_action_kind)a->kind) {
    case PM_ACTION_COMPUTE:
        fprintf(to, " %.15g", actions->in_flops ? a->work : a->work * NANOSECONDS);
        break;
    case PM_ACTION_SEND:
    case PM_ACTION_ISEND:
    case PM_ACTION_RECV:
    case PM_ACTION_IRECV:
        fprintf(to, " %" PRId32 " %" PRId32 " %" PRIu64, a->partner, a->tag, a->bytes);
        break;
    case PM_ACTION_WAIT: /* sender, receiver, tag */
        if (a->is_send)
            fprintf(to, " %zu %" PRId32 " %" PRId32, rank, a->partner, a->tag);
        else
            fprintf(to, " %" PRId32 " %zu %" PRId32, a->partner, rank, a->tag);
        break;
    case PM_ACTION_WAITALL:
        fprintf(to, " %" PRIu64, a->bytes);
        break;
    case PM_ACTION_BCAST:
        fprintf(to, " %" PRIu64 " %" PRId32 " %u", sent, a->partner, a->type);
        break;
    case PM_ACTION_REDUCE: /* elements, operations, root */
        fprintf(to, " %" PRIu64 " 0 %" PRId32 " %u", sent, a->partner, a->type);
        break;
    case PM_ACTION_ALLREDUCE:
    case PM_ACTION_SCAN:
    case PM_ACTION_EXSCAN:
        fprintf(to, " %" PRIu64 " 0 %u", sent, a->type);
        break;
    case PM_ACTION_ALLTOALL:
    case PM_ACTION_ALLGATHER:
        fprintf(to, " %" PRIu64 " %" PRIu64 " %u %u", sent, received, a->type, a->type);
        break;
    case PM_ACTION_GATHER:
    case PM_ACTION_SCATTER:
        fprintf(to, " %" PRIu64 " %" PRIu64 " %" PRId32 " %u %u", sent, received, a->partner,
                a->type, a->type);
        break;
    case PM_ACTION_ALLTOALLV:
    case PM_ACTION_ALLGATHERV:
    case PM_ACTION_GATHERV:
    case PM_ACTION_SCATTERV:
    case PM_ACTION_REDUCE_SCATTER:
        fprintf(to, " %s", actions->lines[a->received_bytes]);
        break;
    case PM_ACTION_INIT:
    case PM_ACTION_FINALIZE:
    case PM_ACTION_BARRIER:
    case PM_N_ACTIONS:
        break;
    }
    fputc('\n', to);
}

static bool close_file(FILE *file, const char *path, struct pm_error *err) {
    bool failed = ferror(file);
    return fclose(file) == 0 && !failed ? true : pm_fail_errno(err, "cannot write %s", path);
}

static bool write_rank(const struct pm_actions *actions, size_t rank, const char *path,
                       struct pm_error *err) {
    FILE *to = fopen(path, "w");
    if (!to)
        return pm_fail_errno(err, "cannot write %s", path);
    for (size_t i = 0; i < actions->ranks[rank].n_actions; i++)
        write_action(to, actions, rank, &actions->ranks[rank].actions[i]);
    return close_file(to, path, err);
}

bool pm_actions_write(const struct pm_actions *actions, const char *folder, struct pm_error *err) {
    char *list_path = pm_sprintf("%s/list", folder);
    FILE *list = fopen(list_path, "w");
    bool ok = list || pm_fail_errno(err, "cannot write %s", list_path);
    for (size_t r = 0; ok && r < actions->n_ranks; r++) {
        char *path = pm_sprintf("%s/rank-%zu", folder, r);
        fprintf(list, "%s\n", path);
        ok = write_rank(actions, r, path, err);
        free(path);
    }
    if (list)
        ok = close_file(list, list_path, err) && ok;
    free(list_path);
    return ok;
}
