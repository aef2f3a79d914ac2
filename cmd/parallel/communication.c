/* `pmodel show --as communication`: what the ranks of a measured run said to each other. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "report/parallel/parallel.h"

struct request {
    struct pm_parameters at; /* -P; none: the largest run whose communication was traced */
    unsigned rank, trace;    /* PM_NONE: not asked for */
    bool by_rank, by_path, matrix;
    struct pm_report_options options;
};

static int read_rank(const struct pm_option_use *use) {
    unsigned *to = use->to;
    char *end;
    unsigned long rank = strtoul(use->value, &end, 10);
    if (!*use->value || *end || rank >= PM_NONE)
        return pm_usage_error(use->command, "a rank is a number from 0 on, not \"%s\"", use->value);
    *to = (unsigned)rank;
    return 0;
}

static void *read_communication(struct pm_store *store, const struct pm_parameters *at,
                                struct pm_error *err) {
    return pm_store_communication(store, at, err);
}

/* pm_find_of_run.  NULL with a sentence. */
static struct pm_communication *find_communication(const struct pm_program *program,
                                                   const char *path, struct pm_parameters *at,
                                                   struct pm_error *err) {
    struct pm_communication *communication =
        pm_find_of_run(program, path, at, read_communication, err);
    if (communication || err->kind != PM_ERROR_NONE)
        return communication;
    char *size = pm_parameters_text(at);
    pm_fail(err,
            "%s: no communication was traced%s%s: `pmodel run -o %s` of a program that needs "
            "libmpi.so.40 (Open MPI) or libmpich.so.12 (MPICH) traces it",
            path, *size ? " with " : "", size, path);
    free(size);
    return NULL;
}

static bool has_rank(const struct pm_communication_report *report, struct pm_error *err) {
    const struct pm_ranks *ranks = report->ranks;
    if (report->rank == PM_NONE || ranks->n_ranks == 0)
        return true;
    for (size_t i = 0; i < ranks->n_ranks; i++)
        if (ranks->ranks[i].rank == report->rank)
            return true;
    return pm_fail(err, "there is no rank %u in that run: its ranks are 0 to %u", report->rank,
                   ranks->ranks[0].size - 1);
}

static bool report(struct request *request, const char *path, struct pm_error *err) {
    struct pm_program program = {0};
    struct pm_ranks ranks = {0};
    struct pm_store *store = pm_store_open(path, PM_STORE_READ, err);
    struct pm_communication *communication = NULL;
    if (store && pm_program_open(&program, store, err))
        communication = find_communication(&program, path, &request->at, err);
    bool ok = communication && pm_store_ranks(store, &request->at, &ranks, err);
    struct pm_call_times *times = ok ? pm_store_call_times(store, &request->at, err) : NULL;
    ok = ok && (times || err->kind == PM_ERROR_NONE);
    struct pm_communication_report what = {.structure = program.structure,
                                           .at = request->at,
                                           .communication = communication,
                                           .times = times,
                                           .ranks = &ranks,
                                           .rank = request->rank != PM_NONE ? request->rank
                                                                            : request->trace,
                                           .by_path = request->by_path,
                                           .by_rank = request->by_rank || request->rank != PM_NONE};
    ok = ok && has_rank(&what, err);
    if (ok && request->matrix)
        pm_report_communication_matrix(stdout, &what, &request->options);
    else if (ok && request->trace != PM_NONE)
        pm_report_communication_trace(stdout, &what, &request->options);
    else if (ok)
        pm_report_communication(stdout, &what, &request->options);
    pm_ranks_free(&ranks);
    pm_call_times_free(times);
    pm_communication_free(communication);
    pm_program_close(&program);
    pm_store_close(store);
    return ok;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("which run"),
    PM_OPTION_SIZE(AT(at)),
    PM_HEADING("what is shown"),
    PM_FLAG("by-rank", 0, AT(by_rank), "rows for each rank", .excludes = "matrix trace"),
    PM_READ("rank", 0, "R", read_rank, AT(rank), "only the rows of rank R",
            .excludes = "matrix trace"),
    PM_FLAG("paths", 0, AT(by_path), "rows for each call path"),
    PM_FLAG("matrix", 0, AT(matrix), "the bytes from rank to rank", .excludes = "trace"),
    PM_READ("trace", 0, "R", read_rank, AT(trace), "the events of a rank in their order"),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {
        .rank = PM_NONE, .trace = PM_NONE, .options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    struct pm_error err = {0};
    int status = pm_read_options(&line, argc, argv);
    if (status)
        return status;
    if (line.n_arguments != 1)
        return pm_usage_error(pm_command_show_communication.name, "give one store");
    return report(&request, line.arguments[0], &err) ? PM_EXIT_OK : pm_complain(&err);
}

const struct pm_command pm_command_show_communication = {
    .name = "show --as communication",
    .purpose =
        "what the ranks of an MPI program said to each other: by call, from rank to rank, in order",
    .usage = "[OPTION]... STORE",
    .examples = "pmodel show --as communication cg.pmdb -P N=20000 -P p=4 --matrix",
    .options = options,
    .run = run,
};
