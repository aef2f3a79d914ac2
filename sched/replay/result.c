/* Reads what the engine found out.

   Its result is a line "pmodel-replay 1 RANKS ENDING", then for each rank as doubles: how many
   actions it began, whether it came to its end, begin and end of each of them in seconds (the end
   of one that is under way is -1); then a line for each rank with its host. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/replay/private.h"

/* What the rank is at: the first of its actions that has no end. */
static char *text_of_waiting(const struct pm_actions *actions, size_t rank, size_t begun) {
    const struct pm_rank_actions *list = &actions->ranks[rank];
    if (begun == 0 || begun > list->n_actions)
        return pm_strdup("an action that it never began");
    const struct pm_action *a = &list->actions[begun - 1];
    bool has_partner = a->kind >= PM_ACTION_SEND && a->kind <= PM_ACTION_WAIT;
    char *text = pm_sprintf("%s", a->label < actions->n_labels && actions->labels[a->label][0]
                                      ? actions->labels[a->label]
                                      : pm_action_name(a->kind));
    if (has_partner)
        pm_append(&text, " (%s rank %" PRId32 ", tag %" PRId32 ")",
                  a->kind == PM_ACTION_SEND || a->kind == PM_ACTION_ISEND || a->is_send ? "to"
                                                                                        : "from",
                  a->partner, a->tag);
    return text;
}

/* The first two ranks that are not done and what they wait for. */
static bool fail_deadlock(const struct pm_actions *actions, const struct pm_replay *replay,
                          const bool *is_done, const size_t *begun, struct pm_error *err) {
    char *text = NULL;
    unsigned n_stuck = 0;
    for (size_t r = 0; r < replay->n_ranks; r++) {
        if (is_done[r])
            continue;
        if (n_stuck++ < 2) {
            char *at = text_of_waiting(actions, r, begun[r]);
            pm_append(&text, "%s rank %zu is at %s, its action %zu", text ? ";" : "", r, at,
                      begun[r]);
            free(at);
        }
    }
    pm_fail(err, "deadlock: %u of %zu ranks never come to their end;%s", n_stuck, replay->n_ranks,
            text ? text : "");
    free(text);
    return false;
}

static bool take_rank(const struct pm_actions *actions, size_t r, struct pm_reader *reader,
                      struct pm_rank_times *times, bool *is_done, size_t *begun) {
    double head[2] = {0};
    size_t n_actions = actions->ranks[r].n_actions;
    pm_take_into(reader, head, sizeof head);
    if (reader->fault || !(head[0] >= 0 && head[0] <= (double)n_actions))
        return false;
    *begun = (size_t)head[0];
    *is_done = head[1] != 0;
    if (*is_done && *begun != n_actions)
        return false;
    times->spans = pm_alloc(n_actions, sizeof *times->spans);
    for (size_t i = 0; i < *begun; i++) {
        struct pm_span *span = &times->spans[i];
        pm_take_into(reader, span, 2 * sizeof(double));
        bool is_under_way = span->end == -1 && !*is_done;
        if (reader->fault || !(span->begin >= 0) || !isfinite(span->end) ||
            !(span->end >= span->begin || (is_under_way && isfinite(span->begin))))
            return false;
    }
    return true;
}

static void take_hosts(struct pm_reader *reader, struct pm_replay *replay) {
    size_t n = pm_bytes_left(reader);
    const char *names = pm_take(reader, n), *end = names + n;
    for (size_t r = 0; names && r < replay->n_ranks; r++) {
        const char *stop = memchr(names, '\n', (size_t)(end - names));
        if (!stop)
            return;
        replay->ranks[r].host = pm_sprintf("%.*s", (int)(stop - names), names);
        names = stop + 1;
    }
}

bool pm_replay_read_result(const struct pm_replay_request *request, const char *bytes,
                           size_t n_bytes, struct pm_replay *replay, struct pm_error *err) {
    const struct pm_actions *actions = request->actions;
    size_t n_ranks = 0;
    int n_head = 0;
    const char *end = memchr(bytes, '\n', n_bytes);
    if (!end || sscanf(bytes, "pmodel-replay 1 %zu %n", &n_ranks, &n_head) < 1 || n_head == 0 ||
        n_head > end - bytes)
        return pm_fail(err, "what the engine wrote is no result of a replay");
    char *ending = pm_sprintf("%.*s", (int)(end - bytes) - n_head, bytes + n_head);
    bool is_done = strcmp(ending, "done") == 0, is_stuck = strcmp(ending, "deadlock") == 0;
    bool ok = is_done || is_stuck || pm_fail(err, "%s: %s", request->platform, ending);
    free(ending);
    if (!ok)
        return false;
    if (n_ranks != actions->n_ranks)
        return pm_fail(err, "the engine replayed %zu ranks in place of %zu", n_ranks,
                       actions->n_ranks);
    struct pm_reader reader = pm_reader_of(end + 1, n_bytes - (size_t)(end + 1 - bytes));
    bool *done = pm_alloc(n_ranks, sizeof *done);
    size_t *begun = pm_alloc(n_ranks, sizeof *begun);
    for (size_t r = 0; ok && r < n_ranks; r++)
        if (!take_rank(actions, r, &reader, PM_PUSH(replay, ranks), &done[r], &begun[r]))
            ok = pm_fail(err, "the engine's result does not fit the actions of rank %zu", r);
    if (ok && is_stuck)
        ok = fail_deadlock(actions, replay, done, begun, err);
    if (ok)
        take_hosts(&reader, replay);
    free(begun);
    free(done);
    return ok;
}
