/* What the store has of a size, and what is put into it. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/command/command.h"
#include "measure/private.h"

/* Builds of one store differ.  Its structure is the one that the request names, else that of the
   first build that was measured. */
static bool open_store_of_builds(struct pm_measure_session *session, bool create,
                                 struct pm_error *err) {
    const struct pm_structure *first = session->request->matched_to;
    bool has = false;
    if (!session->store)
        session->store = pm_store_open(session->store_path, PM_STORE_CREATE, err);
    if (!session->store || !pm_store_has_structure(session->store, &has, err))
        return false;
    if (!first && create)
        first = session->copies.structure;
    if ((!has || session->request->matched_to) && first &&
        !pm_store_put_structure(session->store, first, err))
        return false;
    if (has || first)
        session->structure = pm_store_structure(session->store, err);
    return session->structure || (!has && !first);
}

bool pm_session_check_store(const struct pm_measure_session *session, struct pm_error *err) {
    const char *path = session->store_path, *slash = strrchr(path, '/');
    char *folder = slash == path ? pm_strdup("/")
                   : slash       ? pm_sprintf("%.*s", (int)(slash - path), path)
                                 : pm_strdup(".");
    bool ok = access(folder, W_OK | X_OK) == 0 ||
              pm_fail_errno(err, "%s: the store cannot be written in the folder %s", path, folder);
    if (ok && access(path, F_OK) == 0 && access(path, W_OK) != 0)
        ok = pm_fail_errno(err, "%s: the store cannot be written", path);
    free(folder);
    return ok;
}

bool pm_session_open_store(struct pm_measure_session *session, bool create, struct pm_error *err) {
    if (session->request->build)
        return session->structure || (!create && access(session->store_path, F_OK) != 0) ||
               open_store_of_builds(session, create, err);
    if (session->store || (!create && access(session->store_path, F_OK) != 0))
        return true;
    session->store = pm_store_open(session->store_path, PM_STORE_CREATE, err);
    return session->store && pm_store_put_structure(session->store, session->copies.structure, err);
}

bool pm_session_put(struct pm_measure_session *session, struct pm_ingested *ingested,
                    const struct pm_launch_result *result, const char *truncated,
                    double started_unix, char *const *argv, struct pm_error *err) {
    const struct pm_structure *structure = session->copies.structure;
    struct pm_build_differences differences = {0};
    if (!pm_session_open_store(session, true, err))
        return false;
    bool other_build =
        session->structure && pm_structure_hash(session->structure) != pm_structure_hash(structure);
    if (other_build) {
        pm_ingested_match(structure, session->structure, ingested, &differences);
        structure = session->structure;
    }
    uint64_t *merged = pm_alloc(session->blocks.n, sizeof *merged);
    struct pm_run_facts facts = {
        .command = pm_command_text(argv),
        .started_unix = started_unix,
        .wall_seconds = result->wall_seconds,
        .cpu_seconds = result->cpu_seconds,
        .exit_status = WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status)
                                                   : WEXITSTATUS(result->status),
        .n_threads = ingested->n_threads,
        .n_processes = ingested->n_processes,
        .settings = pm_strdup(session->settings),
        .notes = ingested->notes ? pm_strdup(ingested->notes) : NULL,
        .truncated = truncated ? pm_strdup(truncated) : NULL,
        .merged = merged,
        .n_merged = pm_session_merged(session, merged),
        .differences = other_build ? &differences : NULL,
    };
    bool ok =
        pm_store_put_run(session->store, ingested->profile, &ingested->streams, &facts,
                         ingested->inexact, structure->n_routines, err) &&
        pm_store_put_formulas(session->store, &ingested->profile->parameters,
                              &session->request->formulas, err) &&
        pm_store_put_ranks(session->store, &ingested->profile->parameters, &ingested->ranks, err) &&
        (!ingested->patterns ||
         pm_store_put_patterns(session->store, &ingested->profile->parameters, ingested->patterns,
                               err)) &&
        (!ingested->communication ||
         pm_store_put_communication(session->store, structure, &ingested->profile->parameters,
                                    ingested->communication, err)) &&
        (!ingested->intervals ||
         pm_store_put_intervals(session->store, &ingested->profile->parameters, structure,
                                ingested->intervals, err));
    pm_run_facts_free(&facts);
    free(merged);
    pm_build_differences_free(&differences);
    return ok;
}

/* ---- what is there ----------------------------------------------------------------------------
 */

size_t pm_session_merged(const struct pm_measure_session *session, uint64_t *sizes) {
    const struct pm_measure_request *request = session->request;
    bool bins_stay = request->bin_width && strcmp(request->bin_width, "0") == 0;
    size_t n = 0;
    /* Then each size is analysed by itself (runtime/analyser/). */
    if (request->sample > 1 || request->carry || request->write_backs || bins_stay)
        return 0;
    for (size_t i = 1; i < session->blocks.n; i++)
        if (!pm_has_block_size(session->apart.bytes, session->apart.n, session->blocks.bytes[i]))
            sizes[n++] = session->blocks.bytes[i];
    return n;
}

/* Has the run, of SIZES, all that the request asks for? */
static bool has_all_sizes(const struct pm_measure_request *request,
                          const struct pm_run_block_sizes *sizes) {
    size_t n = 0;
    for (size_t i = 0; i < sizes->n_list; i++) {
        uint64_t bytes = sizes->list[i].bytes;
        bool needs_apart = pm_has_block_size(request->apart.bytes, request->apart.n, bytes);
        n += pm_has_block_size(request->blocks.bytes, request->blocks.n, bytes) &&
             !(needs_apart && sizes->list[i].merged);
    }
    return n == request->blocks.n;
}

/* The block sizes to measure at AT, where the store has a run of SIZES, or of none. */
static void decide_sizes(struct pm_measure_session *session,
                         const struct pm_run_block_sizes *sizes) {
    const struct pm_measure_request *request = session->request;
    session->blocks.n = session->apart.n = 0;
    pm_block_sizes_add_all(&session->blocks, &request->blocks);
    pm_block_sizes_add_all(&session->apart, &request->apart);
    for (size_t i = 0; request->blocks.n && i < sizes->n_list; i++) {
        pm_block_sizes_add(&session->blocks, sizes->list[i].bytes);
        if (!sizes->list[i].merged)
            pm_block_sizes_add(&session->apart, sizes->list[i].bytes);
    }
}

static bool has_same_profile(struct pm_measure_session *session, const struct pm_parameters *at,
                             bool *has, struct pm_error *err) {
    struct pm_block_profile *profile = pm_store_block_profile(session->store, at, err);
    *has = profile && pm_profiling_is_same(&session->request->profiling, profile);
    pm_block_profile_free(profile);
    return profile || err->kind == PM_ERROR_NONE;
}

bool pm_session_look(struct pm_measure_session *session, const struct pm_parameters *at,
                     struct pm_in_store *there, struct pm_error *err) {
    const struct pm_measure_request *request = session->request;
    *there = (struct pm_in_store){.times = request->time_runs == 0,
                                  .profile = !request->profiling.wanted};
    struct pm_run_block_sizes sizes = {0};
    if (session->store && !request->again &&
        (!pm_store_has_run(session->store, at, session->settings, NULL, 0, &there->run, err) ||
         !pm_store_block_sizes(session->store, at, session->settings, &sizes, err))) {
        free(sizes.list);
        return false;
    }
    there->run = there->run && has_all_sizes(request, &sizes);
    decide_sizes(session, &sizes);
    free(sizes.list);
    char *how = NULL;
    if (there->run && !pm_store_truncation(session->store, at, &how, err))
        return false;
    if (how) {
        there->run = request->keep_partial;
        there->times |= there->run; /* runs with timers are compared with whole ones */
    }
    free(how);
    if (there->run && request->carry &&
        !pm_store_has_patterns(session->store, at, request->blocks.bytes, request->blocks.n,
                               &there->run, err))
        return false;
    if (there->run && session->wrapper &&
        !pm_store_has_communication(session->store, at, &there->run, err))
        return false;
    if (there->run && request->bytes && !pm_store_has_bytes(session->store, at, &there->run, err))
        return false;
    if (there->run && request->write_backs &&
        !pm_store_has_dirty(session->store, at, &there->run, err))
        return false;
    if (there->run && request->copies.behaviour &&
        !pm_store_has_behaviour(session->store, at, &there->run, err))
        return false;
    if (there->run && !there->profile && !has_same_profile(session, at, &there->profile, err))
        return false;
    if (!there->run || there->times || request->time_again)
        return true;
    struct pm_times *times = pm_store_times(session->store, at, err);
    there->times = times != NULL;
    pm_times_free(times);
    return there->times || err->kind == PM_ERROR_NONE;
}
