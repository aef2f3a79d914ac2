/* `pmodel show`: what a store holds, for other programs.

   Histograms go from the store to the output one after the other; what stands next to each other in
   the store (the threads of one group and block size) is added up on the way, unless each is asked
   for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/export/private.h"
#include "core/base/base.h"
#include "core/structure/structure.h"
#include "core/store/store.h"
#include "fit/query/query.h"
#include "report/report.h"

/* ---- which groups ---------------------------------------------------------------------------- */

/* ITEM is a group's number, or its object's name or a pattern of it. */
static bool is_named(const struct pm_structure *structure, uint32_t group, const char *item) {
    if (item[strspn(item, "0123456789")] == '\0')
        return strtoull(item, NULL, 10) == group;
    const char *object = structure->groups[group].object;
    return object && (strcmp(object, item) == 0 || pm_matches(item, object));
}

static bool choose_named(const struct pm_structure *structure, const char *list, bool *chosen,
                         struct pm_error *err) {
    bool *named = pm_alloc(structure->n_groups + 1, sizeof *named), ok = true;
    char *copy = pm_strdup(list), *rest = copy;
    for (char *item; ok && (item = strsep(&rest, ","));) {
        size_t n = 0;
        for (uint32_t g = 0; g < structure->n_groups; g++)
            if (*item && is_named(structure, g, item)) {
                named[g] = true;
                n++;
            }
        if (n == 0)
            ok = pm_fail(err,
                         "--group %s: no group of this program has this number or object "
                         "(`pmodel loops --groups` lists them)",
                         item);
    }
    for (size_t g = 0; g < structure->n_groups; g++)
        chosen[g] = chosen[g] && named[g];
    free(copy);
    free(named);
    return ok;
}

/* One flag for each group; owned by the caller.  NULL with a sentence if something named is not
   there. */
static bool *chosen_groups(const struct pm_export_request *request,
                           const struct pm_structure *structure, struct pm_error *err) {
    uint32_t n_named;
    bool *routines = pm_routines_named(structure, request->routines, &n_named);
    bool *chosen = pm_alloc(structure->n_groups + 1, sizeof *chosen);
    bool ok = n_named > 0 || !request->routines;
    if (!ok) {
        pm_fail(err, "no routine is called %s", request->routines);
        pm_fail_nearest_routine(err, structure, request->routines);
    }
    for (size_t g = 0; g < structure->n_groups; g++) {
        uint32_t routine = structure->scopes[structure->groups[g].scope].routine;
        chosen[g] = !request->routines || (routine < structure->n_routines && routines[routine]);
    }
    if (ok && request->groups)
        ok = choose_named(structure, request->groups, chosen, err);
    free(routines);
    if (ok)
        return chosen;
    free(chosen);
    return NULL;
}

/* ---- one run --------------------------------------------------------------------------------- */

struct job {
    const struct pm_export_request *request;
    struct pm_store *store;
    struct pm_structure *structure;
    bool *chosen; /* for each group */
    struct pm_export *export;
};

static bool has_size(const struct pm_export_request *request, uint64_t block_bytes) {
    return request->blocks.n == 0 ||
           pm_has_block_size(request->blocks.bytes, request->blocks.n, block_bytes);
}

static bool is_wanted(const struct job *job, const struct pm_histogram_place *place) {
    const struct pm_export_request *request = job->request;
    bool shared = place->stream->kind == PM_STREAM_SHARED;
    return has_size(request, place->block_bytes) && shared == request->shared &&
           job->chosen[place->group];
}

/* The histogram that waits for more threads of its group and block size. */
struct pending {
    struct pm_histogram histogram;
    uint32_t group;
    bool there;
};

static void put_pending(const struct job *job, struct pending *pending) {
    if (pending->there)
        pm_export_add(job->export, &(struct pm_export_histogram){.group = pending->group,
                                                                 .histogram = &pending->histogram});
    pm_histogram_free(&pending->histogram);
    pending->there = false;
}

static bool export_next(const struct job *job, struct pm_histogram_cursor *cursor,
                        const struct pm_histogram_place *place, struct pending *pending,
                        struct pm_error *err) {
    struct pm_histogram histogram;
    if (!pm_histogram_cursor_read(cursor, &histogram, err))
        return false;
    if (job->request->threads || job->request->shared) {
        pm_export_add(job->export, &(struct pm_export_histogram){.group = place->group,
                                                                 .stream = place->stream,
                                                                 .histogram = &histogram});
        pm_histogram_free(&histogram);
        return true;
    }
    if (pending->there &&
        (pending->group != place->group || pending->histogram.block_bytes != place->block_bytes))
        put_pending(job, pending);
    if (pending->there) {
        pm_histogram_add(&pending->histogram, &histogram);
        pm_histogram_free(&histogram);
    } else {
        *pending = (struct pending){histogram, place->group, true};
    }
    return true;
}

static bool export_histograms(const struct job *job, struct pm_histogram_cursor *cursor,
                              struct pm_error *err) {
    struct pm_histogram_place place;
    struct pending pending = {0};
    bool ok = true;
    while (ok && pm_histogram_cursor_next(cursor, &place, err)) {
        if (place.group >= job->structure->n_groups)
            ok = pm_fail(err,
                         "%s: a histogram of a group that the program does not have: the "
                         "store is damaged; measure again",
                         job->request->store_path);
        else if (is_wanted(job, &place))
            ok = export_next(job, cursor, &place, &pending, err);
    }
    ok = ok && err->kind == PM_ERROR_NONE;
    if (ok)
        put_pending(job, &pending);
    pm_histogram_free(&pending.histogram);
    return ok;
}

static bool export_patterns(const struct job *job, const struct pm_parameters *at,
                            struct pm_error *err) {
    struct pm_run_patterns *patterns = pm_store_patterns(job->store, at, err);
    bool ok = patterns && pm_run_patterns_fit(patterns, job->structure, err);
    for (size_t g = 0; ok && g < patterns->n_groups; g++) {
        const struct pm_group_patterns *group = &patterns->groups[g];
        if (!job->chosen[group->group] || !has_size(job->request, group->block_bytes))
            continue;
        for (size_t p = 0; p < group->n_patterns; p++)
            pm_export_add(job->export,
                          &(struct pm_export_histogram){.group = group->group,
                                                        .histogram = &group->patterns[p].histogram,
                                                        .pattern = &group->patterns[p]});
    }
    pm_run_patterns_free(patterns);
    return ok;
}

static bool export_run(struct job *job, const struct pm_parameters *at, struct pm_error *err) {
    struct pm_run_facts facts = {0};
    if (!pm_store_run_facts(job->store, at, &facts, err))
        return false;
    struct pm_export_run run = {.parameters = at,
                                .n_threads = facts.n_threads,
                                .n_processes = facts.n_processes,
                                .notes = facts.notes};
    struct pm_stream_estimate *estimates = NULL;
    struct pm_histogram_cursor *cursor = pm_store_histograms(job->store, at, err);
    bool ok = cursor && pm_store_estimates(job->store, at, &estimates, &run.n_estimates, err);
    if (ok) {
        run.streams = pm_histogram_cursor_streams(cursor, &run.n_streams);
        run.estimates = estimates;
        pm_export_begin_run(job->export, &run);
        ok = job->request->carried ? export_patterns(job, at, err)
                                   : export_histograms(job, cursor, err);
        pm_export_end_run(job->export);
    }
    free(estimates);
    pm_histogram_cursor_free(cursor);
    pm_run_facts_free(&facts);
    return ok;
}

/* ---- all of them, checked before anything is written ----------------------------------------- */

static bool has_shared(const struct job *job, const struct pm_parameters *at, bool *found,
                       struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms(job->store, at, err);
    if (!cursor)
        return false;
    size_t n;
    const struct pm_stream *streams = pm_histogram_cursor_streams(cursor, &n);
    for (size_t i = 0; i < n; i++)
        *found = *found || streams[i].kind == PM_STREAM_SHARED;
    pm_histogram_cursor_free(cursor);
    return true;
}

static bool check_run(const struct job *job, const struct pm_parameters *at, struct pm_error *err) {
    const struct pm_export_request *request = job->request;
    struct pm_run_facts facts = {0};
    bool has_sizes = true, shared = false;
    if (!pm_store_run_facts(job->store, at, &facts, err))
        return false;
    bool ok = pm_store_has_run(job->store, at, facts.settings ? facts.settings : "",
                               request->blocks.bytes, request->blocks.n, &has_sizes, err) &&
              has_shared(job, at, &shared, err);
    char *size = pm_parameters_text(at);
    const char *space = *size ? " " : "";
    if (ok && !has_sizes)
        ok = pm_fail(err, "the run%s%s was not measured with all these block sizes (--block)",
                     space, size);
    if (ok && request->carried && has_sizes) {
        bool carried;
        ok = pm_store_has_patterns(job->store, at, request->blocks.bytes, request->blocks.n,
                                   &carried, err) &&
             (carried || pm_fail(err,
                                 "the run%s%s was not made with --carry, so that what carries its "
                                 "reuses is not known",
                                 space, size));
    }
    if (ok && request->shared && !shared)
        ok = pm_fail(err,
                     "the run%s%s has no histograms of all threads interleaved: measure it with "
                     "`pmodel run --shared`",
                     space, size);
    free(size);
    pm_run_facts_free(&facts);
    return ok;
}

/* Moves the runs that are wanted to the front; *N_RUNS of them. */
static bool choose_runs(const struct job *job, struct pm_parameters *runs, size_t *n_runs,
                        struct pm_error *err) {
    const struct pm_export_request *request = job->request;
    size_t n = 0;
    if (*n_runs == 0)
        return pm_fail(err, "the store holds no run yet: measure with `pmodel run`");
    if (!pm_check_parameter_names(&runs[*n_runs - 1], &request->at, err))
        return false;
    for (size_t i = 0; i < *n_runs; i++)
        if (pm_run_matches(&runs[i], &request->at))
            runs[n++] = runs[i];
    *n_runs = n;
    for (size_t i = 0; i < n; i++)
        if (!check_run(job, &runs[i], err))
            return false;
    return n > 0 || pm_fail(err, "no run of this size (-P) is in the store: measure it with "
                                 "`pmodel run`");
}

/* Of a run that did not come to its end. */
static bool say_truncated(const struct job *job, const struct pm_parameters *run,
                          struct pm_error *err) {
    char *how, *size;
    if (!pm_store_truncation(job->store, run, &how, err))
        return false;
    if (how) {
        size = pm_parameters_text(run);
        fprintf(stderr, "pmodel show: %s%sthis run did not come to its end (it %s)\n", size,
                *size ? ": " : "", how);
        free(size);
    }
    free(how);
    return true;
}

static bool export_strides(const struct job *job, FILE *out, const struct pm_parameters *runs,
                           size_t n_runs, struct pm_error *err) {
    struct pm_profile **profiles = pm_read_profiles(job->store, job->structure, runs, n_runs, err);
    bool ok = profiles != NULL;
    for (size_t i = 0; ok && i < n_runs; i++)
        if (profiles[i]->strides.n_references == 0) {
            char *size = pm_parameters_text(&runs[i]);
            ok = pm_fail(err,
                         "the run%s%s has no strides: it is of another "
                         "build, or without accesses; measure it with `pmodel run`",
                         *size ? " " : "", size);
            free(size);
        }
    if (ok)
        pm_export_strides(out, job->structure, profiles, n_runs, job->chosen, job->request->format);
    pm_profiles_free(profiles, n_runs);
    return ok;
}

static bool export_intervals_of(const struct job *job, FILE *out, const struct pm_parameters *run,
                                bool is_first, struct pm_error *err) {
    struct pm_intervals *intervals = pm_store_intervals(job->store, run, PM_NONE, false, err);
    bool ok = intervals && pm_intervals_fit(intervals, job->structure, err);
    if (ok)
        pm_export_intervals(out, job->structure, run, intervals, is_first, job->request->format);
    if (!intervals && err->kind == PM_ERROR_NONE) {
        char *size = pm_parameters_text(run);
        pm_fail(err,
                "the run%s%s has no intervals: measure it with `pmodel run --interval NAMES` into "
                "another store",
                *size ? " " : "", size);
        free(size);
    }
    pm_intervals_free(intervals);
    return ok;
}

static bool export_intervals(const struct job *job, FILE *out, const struct pm_parameters *runs,
                             size_t n_runs, struct pm_error *err) {
    bool ok = true;
    pm_export_intervals_begin(out, job->request->format);
    for (size_t i = 0; ok && i < n_runs; i++)
        ok = export_intervals_of(job, out, &runs[i], i == 0, err);
    pm_export_intervals_end(out, job->request->format);
    return ok;
}

static bool export_runs(struct job *job, FILE *out, const struct pm_parameters *runs, size_t n_runs,
                        struct pm_error *err) {
    const struct pm_export_request *request = job->request;
    bool ok = true;
    if (request->strides)
        return export_strides(job, out, runs, n_runs, err);
    if (request->intervals)
        return export_intervals(job, out, runs, n_runs, err);
    job->export = pm_export_new(out, job->structure, request->format, request->carried);
    for (size_t i = 0; ok && i < n_runs; i++)
        ok = export_run(job, &runs[i], err);
    pm_export_end(job->export);
    return ok;
}

static bool is_of_predictions(const struct pm_export_request *request) {
    return request->callgrind || request->folded || request->extrap;
}

static bool export_to(FILE *out, const struct pm_export_request *request, struct pm_error *err) {
    struct pm_parameters *runs = NULL;
    size_t n_runs = 0;
    if (is_of_predictions(request))
        return pm_export_predictions_to(out, request, err);
    struct job job = {.request = request};
    job.store = pm_store_open(request->store_path, PM_STORE_READ, err);
    job.structure = job.store ? pm_store_structure(job.store, err) : NULL;
    job.chosen = job.structure ? chosen_groups(request, job.structure, err) : NULL;
    bool ok = job.chosen && pm_store_runs(job.store, &runs, &n_runs, err) &&
              choose_runs(&job, runs, &n_runs, err);
    for (size_t i = 0; ok && i < n_runs; i++)
        ok = say_truncated(&job, &runs[i], err);
    ok = ok && export_runs(&job, out, runs, n_runs, err);
    free(runs);
    free(job.chosen);
    if (job.structure)
        pm_structure_free(job.structure);
    pm_store_close(job.store);
    return ok;
}

static bool export_whole(FILE *out, void *request, struct pm_error *err) {
    return export_to(out, request, err);
}

/* ---- the command line ------------------------------------------------------------------------ */

static int read_format(const struct pm_option_use *use) {
    enum pm_report_format *format = use->to;
    if (pm_report_format_from_name(use->value, format) && *format != PM_REPORT_TABLE)
        return 0;
    return pm_usage_error("export", "--format is json or csv, not \"%s\"", use->value);
}

/* ---- the command line ------------------------------------------------------------------------ */

#define AT(field) offsetof(struct pm_export_request, field)
#define RUNS                                                                                       \
    PM_HEADING("which runs"),                                                                      \
        PM_ADDED(NULL, 'P', "NAME=VALUE[,...]", pm_add_parameters, AT(at),                         \
                 "only runs with these values; without it all", .repeats = true)
#define BLOCKS PM_LIST("block", 0, "SIZES", pm_add_block_size, AT(blocks), "only of these sizes")
#define GROUPS                                                                                     \
    PM_TEXT("routine", 0, "NAMES", AT(routines), "only groups in these routines"),                 \
        PM_TEXT("group", 0, "LIST", AT(groups), "only these groups: numbers, names of data")
#define TO_FILE                                                                                    \
    PM_HEADING("output"),                                                                          \
        PM_READ("format", 0, "json|csv", read_format, AT(format), "json is the default"),          \
        PM_OPTION_OUTPUT("FILE", AT(output), "writes to FILE, not to standard output")

static const struct pm_option of_histograms[] = {
    RUNS,
    PM_HEADING("what of them"),
    BLOCKS,
    GROUPS,
    PM_FLAG("threads", 0, AT(threads), "each thread by itself", .excludes = "shared"),
    PM_FLAG("shared", 0, AT(shared), "the interleaved accesses of all threads"),
    TO_FILE,
    {0},
};
static const struct pm_option of_carriers[] = {
    RUNS, PM_HEADING("what of them"), BLOCKS, GROUPS, TO_FILE, {0},
};
static const struct pm_option of_strides[] = {
    RUNS, PM_HEADING("what of them"), GROUPS, TO_FILE, {0},
};
static const struct pm_option of_intervals[] = {RUNS, TO_FILE, {0}};

#define SIZE                                                                                       \
    PM_HEADING("which run"), PM_OPTION_SIZE(AT(at)), PM_OPTIONS_SELECTION(AT(selection)),          \
        PM_HEADING("machine"), PM_OPTIONS_ONE_MACHINE(AT(on)), PM_OPTION_TIME(AT(predict)),        \
        PM_HEADING("output"),                                                                      \
        PM_OPTION_OUTPUT("FILE", AT(output), "writes to FILE, not to standard output")
static const struct pm_option of_predictions[] = {SIZE, {0}};
static const struct pm_option of_stacks[] = {
    SIZE,
    PM_TEXT("of", 0, "FIGURE", AT(of), "the figure: Cycles, Instructions, misses as L1m"),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct pm_export_request request = {.histograms = self == &pm_command_show_histograms,
                                        .carried = self == &pm_command_show_carried,
                                        .strides = self == &pm_command_show_strides,
                                        .intervals = self == &pm_command_show_intervals,
                                        .callgrind = self == &pm_command_report_callgrind,
                                        .folded = self == &pm_command_report_folded,
                                        .extrap = self == &pm_command_report_extrap};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && line.n_arguments != 1)
        status = pm_usage_error(self->name, "give one store");
    else if (status == 0 && is_of_predictions(&request) && request.on.n_machines != 1)
        status = pm_usage_error(self->name, "name one machine with -m NAME");
    if (request.format == PM_REPORT_TABLE)
        request.format = PM_REPORT_JSON; /* the default */
    request.store_path = line.arguments[0];
    if (status == 0 && !pm_write_file(request.output, export_whole, &request, &err))
        status = pm_complain(&err);
    free(request.blocks.bytes);
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_show_histograms = {
    .name = "show --as histograms",
    .page = "show",
    .purpose = "histograms of reuse distances, by reference group, as JSON or CSV",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as histograms heat.pmdb -P N=64 >heat.json",
    .options = of_histograms,
    .run = run,
};

const struct pm_command pm_command_show_carried = {
    .name = "show --as carried",
    .page = "show",
    .purpose = "a histogram for each reuse pattern of a run that was made with --carry",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as carried heat.pmdb -P N=64 >heat.json",
    .options = of_carriers,
    .run = run,
};

const struct pm_command pm_command_show_strides = {
    .name = "show --as strides",
    .page = "show",
    .purpose = "how the addresses of each reference went through memory, as JSON or CSV",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as strides heat.pmdb --format csv",
    .options = of_strides,
    .run = run,
};

const struct pm_command pm_command_show_intervals = {
    .name = "show --as intervals",
    .page = "show",
    .purpose = "the intervals of each run: kinds, ends, counts, as JSON or CSV",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as intervals chain.pmdb",
    .options = of_intervals,
    .run = run,
};

const struct pm_command pm_command_report_callgrind = {
    .name = "report --as callgrind",
    .purpose = "a profile for callgrind_annotate and KCachegrind",
    .usage = "-m MACHINE [OPTION]... STORE",
    .examples = "pmodel report --as callgrind heat.pmdb -m r12000 -P N=256 -o heat.callgrind",
    .options = of_predictions,
    .run = run,
};

const struct pm_command pm_command_report_folded = {
    .name = "report --as folded",
    .page = "report-callgrind",
    .purpose = "folded stacks, for flame graphs",
    .usage = "-m MACHINE [OPTION]... STORE",
    .examples = "pmodel report --as folded heat.pmdb -m r12000 -P N=256 --of L2m",
    .options = of_stacks,
    .run = run,
};

const struct pm_command pm_command_report_extrap = {
    .name = "report --as extrap",
    .page = "report-callgrind",
    .purpose = "figures of all measured sizes, for Extra-P",
    .usage = "-m MACHINE [OPTION]... STORE",
    .examples = "pmodel report --as extrap heat.pmdb -m r12000 >heat.jsonl",
    .options = of_predictions,
    .run = run,
};
