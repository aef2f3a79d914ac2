/* Targets: readers of what `pmodel replay` and `pmodel probe --network` take from other programs.
 */
#ifndef PM_FUZZ_REPLAYS_H
#define PM_FUZZ_REPLAYS_H

#include <math.h>

#include "machines/probe/network/network.h"
#include "sched/replay/private.h"
#include "tests/fuzz/inputs.h"

/* A trace of smpirun, all ranks in one file; what was read can be written. */
static void fuzz_trace(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_actions actions = {0};
    char *file = pm_strdup(fuzz_file_of(data, size)), *list = pm_sprintf("%s.list", file);
    FILE *to = fopen(list, "w");
    fuzz_demand(to && fprintf(to, "%s\n", file) > 0 && fclose(to) == 0, "no list can be written");
    bool ok = pm_actions_read(list, &actions, &err);
    fuzz_demand(ok || err.text[0], "a trace was refused without a sentence");
    err.text[0] = '\0';
    if (ok && actions.n_ranks < 1000)
        fuzz_demand(pm_actions_check(&actions, &err) || err.text[0],
                    "what cannot be replayed was refused without a sentence");
    for (size_t r = 0; ok && r < actions.n_ranks; r++)
        for (size_t i = 0; i < actions.ranks[r].n_actions; i++)
            fuzz_demand(actions.ranks[r].actions[i].work >= 0, "work is no number");
    unlink(list);
    pm_actions_free(&actions);
    free(list);
    free(file);
}

/* What the engine wrote of two ranks with three actions each. */
static void fuzz_result(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_actions actions = {0};
    struct pm_replay replay = {0};
    static const uint8_t kinds[] = {PM_ACTION_INIT, PM_ACTION_BARRIER, PM_ACTION_FINALIZE};
    for (size_t r = 0; r < 2; r++) {
        struct pm_rank_actions *rank = PM_PUSH(&actions, ranks);
        for (size_t i = 0; i < sizeof kinds; i++)
            *PM_PUSH(rank, actions) = (struct pm_action){.kind = kinds[i]};
    }
    const struct pm_replay_request request = {.actions = &actions, .platform = "input"};
    char *text = fuzz_text(data, size);
    bool ok = pm_replay_read_result(&request, text, size, &replay, &err);
    fuzz_demand(ok || err.text[0], "a result was refused without a sentence");
    if (ok)
        pm_replay_add_up(&actions, &replay);
    for (size_t r = 0; ok && r < replay.n_ranks; r++)
        fuzz_demand(isfinite(replay.ranks[r].seconds) && replay.ranks[r].waiting >= 0,
                    "times of a rank are none");
    free(text);
    pm_replay_free(&replay);
    pm_actions_free(&actions);
}

/* What pmodel-pingpong says, as a platform. */
static void fuzz_pingpong(const uint8_t *data, size_t size) {
    struct pm_network_probe probe = {.n_cores = 1};
    FILE *from = fopen(fuzz_file_of(data, size), "r");
    fuzz_demand(from != NULL, "the input is not there");
    bool ok = pm_network_read(from, &probe);
    fclose(from);
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    fuzz_demand(to != NULL, "no memory");
    const struct pm_network_platform platform = {.name = "input"};
    if (ok)
        pm_network_write(to, &probe, &platform);
    fclose(to);
    fuzz_demand(!strstr(text, "nan") && !strstr(text, "inf"), "a platform has what is no number");
    free(text);
    pm_network_probe_free(&probe);
}

#endif
