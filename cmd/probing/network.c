/* `pmodel probe --network`: what messages take on this machine, as a platform for `pmodel replay`.
 */
#include "cmd/probing/private.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "core/communication/communication.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "machines/probe/clock/clock.h"
#include "machines/probe/network/network.h"
#include "sched/replay/replay.h"

/* More sizes than the measuring program takes are not asked for. */
enum { MOST_SIZES = 48 };

struct sizes {
    PM_ARRAY(uint64_t, list); /* a set */
    double apart, at_once;    /* messages that are sent one way, and both ways without blocking */
};

/* Those of the largest run of the store, and how they are sent. */
static bool read_sizes(const char *store_path, struct sizes *sizes, struct pm_error *err) {
    struct pm_store *store = pm_store_open(store_path, PM_STORE_READ, err);
    struct pm_program program = {0};
    struct pm_communication *found = NULL;
    bool ok = store && pm_program_open(&program, store, err);
    for (size_t r = ok ? program.n_runs : 0; ok && !found && r-- > 0;) {
        found = pm_store_communication(store, &program.runs[r], err);
        ok = found || err->kind == PM_ERROR_NONE;
    }
    if (ok && !found)
        ok = pm_fail(err, "%s has no communication: its runs are of no program with MPI",
                     store_path);
    for (size_t i = 0; ok && i < found->n_counts; i++) {
        const struct pm_event_kind *kind = &found->counts[i].kind;
        int32_t to;
        if (!pm_event_sends(kind, &to))
            continue;
        *PM_PUSH(sizes, list) = kind->bytes_sent;
        *(kind->operation == PM_MPI_Isend || kind->operation == PM_MPI_Sendrecv ? &sizes->at_once
                                                                                : &sizes->apart) +=
            (double)found->counts[i].n;
    }
    pm_communication_free(found);
    pm_program_close(&program);
    pm_store_close(store);
    return ok;
}

/* Those of all ranks' own messages, and how they are sent. */
static bool read_sizes_of_trace(const char *path, struct sizes *sizes, struct pm_error *err) {
    struct pm_actions actions = {0};
    bool ok = pm_actions_read(path, &actions, err);
    for (size_t r = 0; ok && r < actions.n_ranks; r++) {
        const struct pm_rank_actions *rank = &actions.ranks[r];
        for (size_t i = 0; i < rank->n_actions; i++) {
            const struct pm_action *action = &rank->actions[i];
            if (action->kind != PM_ACTION_SEND && action->kind != PM_ACTION_ISEND)
                continue;
            *PM_PUSH(sizes, list) = action->bytes;
            ++*(action->kind == PM_ACTION_ISEND ? &sizes->at_once : &sizes->apart);
        }
    }
    pm_actions_free(&actions);
    return ok;
}

/* And those between which all lie, by fours, or by sixty-fours. */
static void add_usual_sizes(struct sizes *sizes, bool quick) {
    for (uint64_t bytes = 1; bytes <= 4 << 20; bytes *= quick ? 64 : 4)
        *PM_PUSH(sizes, list) = bytes;
    sizes->n_list = pm_make_set(sizes->list, sizes->n_list);
    while (sizes->n_list > MOST_SIZES) { /* every second, from the second on */
        size_t n = 0;
        for (size_t i = 0; i < sizes->n_list; i++)
            if (i % 2 == 0 || i + 1 == sizes->n_list)
                sizes->list[n++] = sizes->list[i];
        sizes->n_list = n;
    }
}

bool pm_probe_network(const struct pm_probe_network_request *request, FILE *to,
                      struct pm_error *err) {
    const char *library = request->library ? request->library : "openmpi";
    char *name = pm_sprintf("pmodel-pingpong-%s", library), *program = pm_library_path(name, err);
    char *command =
        request->command ? pm_strdup(request->command) : pm_sprintf("mpirun.%s -np 2", library);
    double before;
    struct sizes sizes = {0};
    struct pm_network_probe probe = {0};
    bool ok = program != NULL;
    if (!ok)
        pm_fail(err,
                "lib/pmodel/%s is not there: install the MPI library with its compiler (on Debian "
                "libopenmpi-dev or libmpich-dev), and then `make` again",
                name);
    if (ok && request->store_path)
        ok = read_sizes(request->store_path, &sizes, err);
    else if (ok && request->trace)
        ok = read_sizes_of_trace(request->trace, &sizes, err);
    if (ok) {
        add_usual_sizes(&sizes, request->quick);
        before = pm_core_share(PM_GAUGE_SECONDS);
        ok = pm_network_measure(command, program, sizes.list, sizes.n_list, &probe, err);
        pm_say_core_share("probe", before, pm_core_share(PM_GAUGE_SECONDS));
    }
    if (ok) {
        bool of_program = request->store_path || request->trace;
        bool at_once = sizes.at_once > sizes.apart;
        char *what = pm_sprintf("%s%s", library,
                                request->peak ? ", peak of messages to and fro"
                                : !of_program ? ", messages to and fro"
                                : at_once     ? ", sizes of a program, all at once"
                                              : ", sizes of a program, to and fro");
        const struct pm_network_platform platform = {at_once ? PM_NETWORK_EXCHANGE
                                                             : PM_NETWORK_PINGPONG,
                                                     request->peak, request->n_hosts, what};
        pm_network_write(to, &probe, &platform);
        free(what);
    }
    pm_network_probe_free(&probe);
    free(sizes.list);
    free(command);
    free(program);
    free(name);
    return ok;
}
