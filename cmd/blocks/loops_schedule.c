/* `pmodel loops --schedule`: how many cycles an iteration of a loop takes when nothing misses, and
   what holds it back. */
#include <stdlib.h>
#include <string.h>

#include "binlift/binlift.h"
#include "cmd/blocks/blocks.h"
#include "cmd/blocks/bare_code.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/store/store.h"
#include "sched/graph/graph.h"
#include "sched/sched.h"

struct request {
    const char *path, *loop, *assembler, *hex, *blocks;
    bool all, causes, pessimistic, graph;
    struct pm_parameters at;
    struct pm_machine_list on;
    struct pm_report_options options;
};

/* Where the loops come from: a lifted program, or a store. */
struct source {
    struct pm_lifted *lifted;
    struct pm_structure *stored, *structure;
    struct pm_profile *profile; /* of a store's largest run; NULL */
};

static void source_close(struct source *source) {
    pm_lifted_free(source->lifted);
    pm_structure_free(source->stored);
    pm_profile_free(source->profile);
}

/* ---- programs and stores --------------------------------------------------------------------- */

static bool open_store(const struct request *request, struct source *source, struct pm_error *err) {
    struct pm_store *store = pm_store_open(request->path, PM_STORE_READ, err);
    struct pm_parameters *runs = NULL;
    size_t n_runs = 0;
    bool ok = store && (source->stored = pm_store_structure(store, err)) &&
              pm_store_runs(store, &runs, &n_runs, err);
    if (ok && n_runs)
        ok = (source->profile = pm_store_profile(
                  store, request->at.n ? &request->at : &runs[n_runs - 1], err)) != NULL;
    source->structure = source->stored;
    free(runs);
    pm_store_close(store);
    return ok;
}

static bool open_program(const char *path, struct source *source, struct pm_error *err) {
    struct pm_lift_options lift = {0};
    if (pm_find_classes(&lift, err))
        source->lifted = pm_lift(path, &lift, err);
    source->structure = source->lifted ? pm_lifted_structure(source->lifted) : NULL;
    return source->lifted != NULL;
}

/* ---- which loops ----------------------------------------------------------------------------- */

/* The loops that are named; where routines or inlined code are, all innermost loops in them. */
static uint32_t keep_loops(const struct pm_structure *structure, bool *named) {
    bool *innermost = pm_innermost_loops(structure);
    bool is_code = false;
    uint32_t n_loops = 0;
    for (uint32_t s = 1; s < structure->n_scopes; s++)
        is_code |= named[s] && structure->scopes[s].kind != PM_SCOPE_LOOP;
    for (uint32_t s = 1; s < structure->n_scopes && is_code; s++)
        named[s] |= named[structure->scopes[s].parent];
    for (uint32_t s = 0; s < structure->n_scopes; s++) {
        named[s] &= is_code ? innermost[s] : structure->scopes[s].kind == PM_SCOPE_LOOP;
        n_loops += named[s];
    }
    free(innermost);
    return n_loops;
}

static bool *wanted_loops(const struct request *request, const struct pm_structure *structure,
                          struct pm_error *err) {
    if (!request->loop)
        return pm_innermost_loops(structure);
    uint32_t n_named;
    bool *named = pm_scopes_named(structure, request->loop, &n_named);
    if (keep_loops(structure, named))
        return named;
    free(named);
    if (n_named) {
        pm_fail(err, "%s: there are no loops in %s (`pmodel loops %s` lists them)", request->path,
                request->loop, request->path);
        return NULL;
    }
    pm_fail(err, "%s: no loop is called \"%s\" (`pmodel loops %s` lists them)", request->path,
            request->loop, request->path);
    pm_fail_nearest_scope(err, structure, request->loop);
    return NULL;
}

/* ---- showing --------------------------------------------------------------------------------- */

static void show_graphs(const struct pm_target_machine *target,
                        const struct pm_loop_schedules *schedules,
                        const struct pm_schedule_options *options,
                        struct pm_schedules_report *report, const struct pm_report_options *show) {
    struct pm_dep_graph *graphs = pm_alloc(schedules->n_items, sizeof *graphs);
    for (size_t i = 0; i < schedules->n_items; i++)
        pm_graph_of_path(target, &schedules->steps[schedules->items[i].first_step],
                         schedules->items[i].n_steps,
                         &(struct pm_graph_options){.loop = schedules->items[i].scope,
                                                    .pessimistic = options->pessimistic},
                         &graphs[i]);
    report->graphs = graphs;
    pm_report_schedules(stdout, report, show);
    for (size_t i = 0; i < schedules->n_items; i++)
        pm_graph_free(&graphs[i]);
    free(graphs);
}

static void show_one(const struct pm_target_machine *target, struct pm_loop_schedules *schedules,
                     const struct pm_schedule_options *options,
                     const struct pm_schedules_report *report,
                     const struct pm_report_options *show) {
    struct pm_loop_schedule *item = &schedules->items[0];
    struct pm_schedule_options own = *options;
    struct pm_path_detail detail;
    own.loop = item->scope;
    own.with_causes = own.with_gains = own.with_modulo = true;
    pm_schedule_path_detail(target, &schedules->steps[item->first_step], item->n_steps, &own,
                            &item->schedule, &detail);
    pm_report_schedule(stdout, report, &detail, show);
    pm_path_detail_free(&detail);
}

static bool show(const struct request *request, const struct source *source, struct pm_error *err) {
    bool in_full = !request->all || request->causes; /* a simulation for each cause and gain */
    const struct pm_schedule_options options = {.pessimistic = request->pessimistic,
                                                .with_causes = in_full,
                                                .with_gains = in_full,
                                                .with_modulo = in_full};
    const struct pm_machine *machine = request->on.machines[0];
    struct pm_target_machine target = pm_target_of(source->structure, machine);
    bool *wanted = wanted_loops(request, source->structure, err);
    if (!wanted)
        return false;
    struct pm_loop_schedules schedules;
    pm_schedule_loops(&target, source->profile ? source->profile->edge_counts : NULL, wanted,
                      &options, &schedules);
    struct pm_code_files *files = pm_code_files_open(source->structure);
    struct pm_schedules_report report = {.structure = source->structure,
                                         .machine = machine,
                                         .schedules = &schedules,
                                         .has_causes = in_full,
                                         .files = files};
    bool is_one = schedules.n_items == 1 && schedules.items[0].n_steps > 0;
    if (request->graph)
        show_graphs(&target, &schedules, &options, &report, &request->options);
    else if (is_one && request->options.format == PM_REPORT_TABLE)
        show_one(&target, &schedules, &options, &report, &request->options);
    else
        pm_report_schedules(stdout, &report, &request->options);
    pm_code_files_close(files);
    pm_loop_schedules_free(&schedules);
    free(wanted);
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

static const char *find_contradiction(const struct request *request, size_t n_arguments) {
    bool is_bare = request->assembler || request->hex || request->blocks;
    if (is_bare && n_arguments)
        return "--asm, --hex and --blocks are code themselves, without a program";
    if (!is_bare && n_arguments == 0)
        return "give a program or a store, or a loop by --asm or --hex";
    if (n_arguments > 2 || (n_arguments == 2 && request->all))
        return "give one program or store, and one loop of it or --all";
    if (!is_bare && n_arguments == 1 && !request->all)
        return "give a loop as reports name it, or --all";
    if (request->on.n_machines != 1)
        return "give one machine (-m)";
    if (request->graph && request->options.format != PM_REPORT_JSON)
        return "--graph goes with --format json";
    return NULL;
}

static bool schedule(struct request *request, struct pm_error *err) {
    struct source source = {0};
    struct pm_bare_code bare = {0};
    bool ok;
    if (request->assembler || request->hex) {
        ok = pm_bare_code_make(request->assembler, request->hex, &bare, err) &&
             open_program(bare.path, &source, err);
        ok = ok && pm_bare_code_trim(&bare, source.structure, err);
    } else {
        ok = pm_is_store(request->path) ? open_store(request, &source, err)
                                        : open_program(request->path, &source, err);
    }
    ok = ok && show(request, &source, err);
    source_close(&source);
    pm_bare_code_free(&bare);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which loops"),
    PM_FLAG("all", 0, AT(all), "all loops of the program", .excludes = "asm hex"),
    PM_TEXT("asm", 0, "FILE.s", AT(assembler), "the loop itself, as assembler text",
            .excludes = "hex"),
    PM_TEXT("hex", 0, "BYTES", AT(hex), "the loop itself, as bytes"),
    PM_TEXT("blocks", 0, "FILE", AT(blocks), "basic blocks as bytes, unrolled and in a loop",
            .excludes = "all asm hex pessimistic causes graph"),
    PM_OPTION_SIZE(AT(at)),
    PM_HEADING("machine"),
    PM_OPTIONS_ONE_MACHINE(AT(on)),
    PM_FLAG("pessimistic", 0, AT(pessimistic), "loads wait for stores that may be theirs"),
    PM_HEADING("what is shown"),
    PM_FLAG("causes", 0, AT(causes), "also what limits each loop", .needs = "all"),
    PM_FLAG("graph", 0, AT(graph), "the dependences, as JSON"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    const char *contradiction = NULL;
    int status = pm_read_options(&line, argc, argv);
    if (status == 0 && (contradiction = find_contradiction(&request, line.n_arguments)))
        status = pm_usage_error(pm_command_loops_schedule.name, "%s", contradiction);
    if (status == 0) {
        request.path = line.n_arguments ? line.arguments[0] : NULL;
        request.loop = line.n_arguments > 1 ? line.arguments[1] : NULL;
        if (request.blocks)
            status =
                pm_show_blocks(request.blocks, false, request.on.machines[0], &request.options);
        else if (!schedule(&request, &err))
            status = pm_complain(&err);
    }
    pm_free_machines(&request.on);
    return status;
}

const struct pm_command pm_command_loops_schedule = {
    .name = "loops --schedule",
    .purpose = "cycles of an iteration when nothing misses, and what holds a loop back",
    .usage = "-m MACHINE [OPTION]... PROGRAM|STORE LOOP\n-m MACHINE --all [OPTION]... "
             "PROGRAM|STORE\n-m MACHINE [OPTION]... --asm FILE.s | --hex BYTES | --blocks FILE",
    .examples = "pmodel loops --schedule -m r12000 heat.pmdb step/4",
    .options = options,
    .run = run,
};
