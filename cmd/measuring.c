/* What `pmodel run`, `plan` and `validate` have in common; see measuring.h. */
#define _GNU_SOURCE
#include "cmd/measuring.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"
#include "machines/probe/clock/clock.h"

const double pm_usual_time_cost_percent = 0.75;

/* ---- values of options ----------------------------------------------------------------------- */

bool pm_add_size_list(void *to, char *value, struct pm_error *err) {
    struct pm_size_design *design = to;
    (void)err;
    *PM_PUSH(design, specs) = pm_strdup(value);
    return true;
}

/* A text that is owned: the last one given counts. */
static bool set_owned(void *to, char *value, struct pm_error *err) {
    char **text = to;
    (void)err;
    free(*text);
    *text = pm_strdup(value);
    return true;
}

static int read_build(const struct pm_option_use *use) {
    if (!*use->value)
        return pm_usage_error(use->command, "--build takes a command, not nothing");
    *(const char **)use->to = use->value;
    return 0;
}

static bool set_bin_width(void *to, char *value, struct pm_error *err) {
    const double usual = 0.01; /* the runtime's own */
    char **bin_width = to, *end, text[64];
    double width = strtod(value, &end) + 0.0; /* −0 becomes 0 */
    if (end == value || *end || !(width >= 0 && width <= 1))
        return pm_fail(err,
                       "--bin-width takes a share of the distance from 0 (bins are not merged) to "
                       "1, not \"%s\"",
                       value);
    pm_format_value(width, text, sizeof text);
    free(*bin_width);
    *bin_width = width == usual ? NULL : pm_strdup(text);
    return true;
}

/* "1/64": one of 64 blocks. */
static bool set_sample(void *to, char *value, struct pm_error *err) {
    char *end = NULL;
    unsigned long sample = 0;
    errno = 0;
    if (strncmp(value, "1/", 2) == 0 && value[2] >= '0' && value[2] <= '9')
        sample = strtoul(value + 2, &end, 10);
    if (errno || !end || *end || sample == 0 || sample > PM_MAX_SAMPLE)
        return pm_fail(err, "--sample takes a share of the blocks from 1/1 to 1/%u, not \"%s\"",
                       (unsigned)PM_MAX_SAMPLE, value);
    *(unsigned *)to = (unsigned)sample;
    return true;
}

static int read_environment(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    if (!strchr(use->value, '=') || *use->value == '=')
        return pm_usage_error(use->command, "--env takes NAME=TEXT, not \"%s\"", use->value);
    *PM_PUSH(request, environment) = use->value;
    return 0;
}

static bool add_input(void *to, char *value, struct pm_error *err) {
    struct pm_measure_request *request = to;
    const char *colon = strrchr(value, ':');
    if (!colon || colon == value || colon[1] == '\0')
        return pm_fail(err, "--input %s: write TEMPLATE:FILE", value);
    struct pm_measure_input *input = PM_PUSH(request, inputs);
    char *from = strndup(value, (size_t)(colon - value));
    input->from = from ? realpath(from, NULL) : NULL;
    input->to = pm_strdup(colon + 1);
    bool ok = input->from || pm_fail(err, "--input %s: cannot read %s", value, from);
    free(from);
    return ok;
}

static bool add_unused(void *to, char *item, struct pm_error *err) {
    struct pm_measure_request *request = to;
    (void)err;
    *PM_PUSH(request, unused) = pm_strdup(item);
    return true;
}

static int read_library(const struct pm_option_use *use) {
    struct pm_copies_request *copies = use->to;
    if (!*use->value)
        return pm_usage_error(use->command, "--lib takes a library's name, not nothing");
    *PM_PUSH(copies, libraries) = use->value;
    return 0;
}

static int read_carry(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    request->carry = true;
    request->copies.events.kinds |= PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS | PM_EVENTS_ITERATIONS;
    return 0;
}

bool pm_set_events(void *to, char *value, struct pm_error *err) {
    static const struct {
        const char *name;
        unsigned kinds;
    } names[] = {
        {"none", PM_EVENTS_NONE},
        {"routines", PM_EVENTS_ROUTINES},
        {"loops", PM_EVENTS_LOOPS},
        {"all", PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS},
    };
    struct pm_event_choice *choice = to;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i].name) == 0) {
            choice->kinds = names[i].kinds;
            return true;
        }
    return pm_fail(err, "--events takes routines, loops, all or none, not \"%s\"", value);
}

bool pm_add_start_at(void *to, char *value, struct pm_error *err) {
    (void)err;
    pm_event_choice_add(to, value, PM_PROBE_SCOPE_STARTS);
    return true;
}

bool pm_add_stop_after(void *to, char *value, struct pm_error *err) {
    (void)err;
    pm_event_choice_add(to, value, PM_PROBE_SCOPE_STOPS);
    return true;
}

bool pm_add_interval(void *to, char *value, struct pm_error *err) {
    struct pm_event_choice *choice = to;
    if (strcmp(value, "none") == 0)
        return choice->no_intervals = true;
    if (strcmp(value, "mpi") != 0)
        return pm_event_choice_add_intervals(choice, value, err);
    char *path = pm_share_path("mpi.intervals", err);
    bool ok = path && pm_event_choice_add_interval_file(choice, path, PM_INTERVALS_ONE, err);
    free(path);
    return ok;
}

static bool add_sockets(void *to, char *value, struct pm_error *err) {
    return pm_event_choice_add_sockets(to, value, err);
}

/* Of programs of which nothing was said: all that a program's code is counted by must be alike in
   everything that measures it. */
static bool add_usual_intervals(struct pm_event_choice *choice, struct pm_error *err) {
    bool was_said = choice->no_intervals;
    for (size_t i = 0; i < choice->n_interval_names; i++)
        was_said |= !choice->interval_names[i].on_sockets;
    if (was_said)
        return true;
    char *path = pm_share_path("mpi.intervals", err);
    bool ok = path && pm_event_choice_add_interval_file(choice, path, PM_INTERVALS_ANY, err);
    free(path);
    return ok;
}

/* ---- where timed runs are ---------------------------------------------------------------------
 */

static int read_quiet_core(const struct pm_option_use *use) {
    int *timed_on = use->to;
    char *end;
    long cpu = strtol(use->value, &end, 10);
    if (strcmp(use->value, "auto") == 0) {
        *timed_on = PM_CPU_AUTO;
        return 0;
    }
    if (end == use->value || *end || cpu < 0 || cpu >= CPU_SETSIZE)
        return pm_usage_error(
            use->command, "--quiet-core takes auto or the number of a CPU, not \"%s\"", use->value);
    *timed_on = PM_CPU_FIRST + (int)cpu;
    return 0;
}

/* What timed runs find, for a moment before and after each. */
static double share_now(void *context) {
    (void)context;
    return pm_core_share(5e-3);
}

/* Binds this process, and with it what it starts, to the CPU of --quiet-core. */
static bool bind_to_core(const struct pm_measuring *m, struct pm_error *err) {
    cpu_set_t one;
    double share = NAN;
    if (m->timed_on == PM_CPU_ANY)
        return true;
    int cpu =
        m->timed_on == PM_CPU_AUTO ? pm_quietest_cpu(0.2, &share) : m->timed_on - PM_CPU_FIRST;
    CPU_ZERO(&one);
    if (cpu >= 0)
        CPU_SET(cpu, &one);
    if (cpu < 0 || sched_setaffinity(0, sizeof one, &one) != 0)
        return pm_fail(err, "--quiet-core: runs cannot be bound to %s here",
                       cpu < 0 ? "the quietest CPU" : "that CPU");
    if (!m->quiet && !isnan(share))
        fprintf(stderr, "pmodel %s: timed on CPU %d, which gives %.2f of a core\n", m->command, cpu,
                share);
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

#define AT(field) offsetof(struct pm_measuring, field)
const struct pm_option pm_measuring_options[] = {
    PM_HEADING("which sizes"),
    PM_ADDED(NULL, 'P', "NAME=VALUES|FORMULA", pm_add_size_list, AT(design),
             "N=24,32,40; N=24:64:8; M=N/2; A,B=16:1,16:5", .repeats = true),
    PM_ADDED("design", 0, "FILE", set_owned, AT(design.file), "reads the sizes from FILE"),
    PM_ADDED("where", 0, "EXPR", set_owned, AT(design.where), "only sizes for which EXPR holds"),
    PM_LIST("unused", 0, "NAMES", add_unused, AT(request), "parameters that may be in no argument",
            .repeats = true),
    PM_FLAG("again", 0, AT(request.again), "repeats runs that the store has"),
    PM_HEADING("how the program is run"),
    PM_READ("build", 0, "COMMAND", read_build, AT(request.build), "builds it for each size",
            .excludes = "carry write-backs",
            .because = "reuses and stores are followed in one build"),
    PM_TEXT("exe", 0, "PATH", AT(request.exe), "the program, where COMMAND only starts it"),
    PM_READ("env", 0, "NAME=TEXT", read_environment, AT(request), "sets a variable of its own",
            .repeats = true),
    PM_ADDED("input", 0, "TEMPLATE:FILE", add_input, AT(request), "makes FILE before each run",
             .repeats = true),
    PM_TEXT("scratch", 0, "DIR", AT(request.scratch), "where runs have their folders"),
    PM_READ("timeout", 0, "SECONDS", pm_read_count, AT(request.timeout_seconds),
            "ends a run that takes longer"),
    PM_READ("quiet-core", 0, "auto|CPU", read_quiet_core, AT(timed_on),
            "all runs on one CPU; auto: the one that gives most of a core"),
    PM_HEADING("what of it is measured"),
    PM_OPTIONS_INSTRUMENTING(AT(request.copies)),
    PM_READ("lib", 0, "NAME", read_library, AT(request.copies), "this shared library, too",
            .repeats = true),
    PM_FLAG("all-libs", 0, AT(request.copies.all_libraries), "all libraries that it needs"),
    PM_FLAG("no-libm", 0, AT(request.copies.no_mathematics),
            "not the library of mathematics, which is measured where the program uses it"),
    PM_ADDED("sockets", 0, "NAMES|FILE", add_sockets, AT(request.copies.events),
             "calls of these routines, which use sockets, end an interval", .repeats = true),
    PM_FLAG("no-behaviour", 0, AT(no_behaviour),
            "not how branches and streams are, as hardware sees them"),
    PM_FLAG("no-communication", 0, AT(request.no_communication),
            "does not trace the communication of MPI"),
    PM_HEADING("reuse distances"),
    PM_OPTIONS_MACHINES(AT(on)),
    PM_LIST("block", 0, "SIZES", pm_add_block_size, AT(request.blocks),
            "block sizes in bytes (64,4096)"),
    PM_FLAG("no-memory", 0, AT(request.copies.no_memory),
            "measures counts only, no memory accesses",
            .excludes = "block machine second-core sample max-blocks shared bin-width carry bytes "
                        "write-backs",
            .because = "there are no reuse distances then"),
    PM_ADDED("bin-width", 0, "W", set_bin_width, AT(request.bin_width),
             "how wide a bin of a histogram may be (0.01)"),
    PM_ADDED("sample", 0, "1/R", set_sample, AT(request.sample), "watches one of R blocks",
             .excludes = "carry write-backs",
             .because = "--carry and --write-backs follow every block"),
    PM_READ("max-blocks", 0, "M", pm_read_count, AT(request.max_blocks),
            "keeps only the M blocks touched last", .excludes = "write-backs"),
    PM_ACTION("carry", 0, read_carry, AT(request), "also what carries each reuse",
              .excludes = "write-backs"),
    PM_FLAG("bytes", 0, AT(request.bytes), "also which share of fetched blocks is used"),
    PM_FLAG("write-backs", 0, AT(request.write_backs), "also what caches write back"),
    PM_FLAG("second-core", 0, AT(request.second_core), "analyses beside the program",
            .excludes = "shared", .because = "all threads are one stream then"),
    PM_FLAG("shared", 0, AT(request.shared), "also all threads as one stream"),
    PM_HEADING("output"),
    PM_OPTION_QUIET(AT(quiet)),
    {0},
};

void pm_measuring_init(struct pm_measuring *m, const char *command) {
    m->command = command;
    m->request.rank_tolerance_percent = 100 * PM_RANKS_TOLERANCE;
}

int pm_measuring_check(struct pm_measuring *m, char **argv) {
    m->request.argv = argv;
    return argv[0] ? 0 : pm_usage_error(m->command, "give a command after --");
}

/* What most machines of today have: cache lines and pages. */
static const uint64_t usual_blocks[] = {64, 4096};
enum { N_USUAL_BLOCKS = sizeof usual_blocks / sizeof *usual_blocks };

void pm_measuring_machine_blocks(struct pm_measuring *m) {
    for (size_t i = 0; i < m->on.n_machines; i++) {
        const struct pm_machine *machine = m->on.machines[i];
        for (size_t l = 0; l < machine->n_levels; l++) {
            const struct pm_level *level = &machine->levels[l];
            pm_block_sizes_add(&m->request.blocks, level->block_bytes);
            if (pm_level_needs_short_distances(level))
                pm_block_sizes_add(&m->request.apart, level->block_bytes);
        }
    }
}

void pm_measuring_usual(struct pm_measuring *m) {
    if (m->request.copies.no_memory)
        return;
    m->request.copies.behaviour = !m->no_behaviour && !m->request.build;
    m->has_blocks = m->request.blocks.n > 0;
    for (size_t i = 0; !m->has_blocks && i < N_USUAL_BLOCKS; i++)
        pm_block_sizes_add(&m->request.blocks, usual_blocks[i]);
    pm_measuring_machine_blocks(m);
}

void pm_measuring_free(struct pm_measuring *m) {
    pm_size_design_free(&m->design);
    pm_measure_request_free(&m->request);
    pm_free_machines(&m->on);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void say(void *context, const char *sentence) {
    struct pm_measuring *m = context;
    pm_steps_clear(&m->steps);
    fprintf(stderr, "pmodel %s: %s\n", m->command, sentence);
}

void pm_measuring_say_blocks(struct pm_measuring *m) {
    if (m->quiet || m->has_blocks || m->request.blocks.n == 0)
        return;
    char *blocks = pm_block_sizes_text(&m->request.blocks, 0, ", "), *names = pm_strdup("");
    for (size_t i = 0; i < m->on.n_machines; i++)
        pm_append(&names, "%s%s", i ? ", " : "", m->on.machines[i]->name);
    char *line =
        *names ? pm_sprintf("blocks of %s bytes: the usual ones, and those of %s", blocks, names)
               : pm_sprintf("blocks of %s bytes, the usual ones; -m adds those of a "
                            "machine, --block names others",
                            blocks);
    say(m, line);
    free(line);
    free(names);
    free(blocks);
}

static void pass_on(void *context, const char *bytes, size_t n_bytes) {
    pm_steps_clear(&((struct pm_measuring *)context)->steps);
    fwrite(bytes, 1, n_bytes, stderr);
}

static void fail(void *context, const struct pm_error *why) {
    pm_steps_clear(&((struct pm_measuring *)context)->steps);
    pm_complain(why);
}

static void step(void *context, const struct pm_parameters *sizes, size_t done, size_t n) {
    struct pm_measuring *m = context;
    m->steps.command = m->command;
    pm_steps_begin(&m->steps, sizes, done, n);
}

bool pm_measuring_expand(struct pm_measuring *m, struct pm_parameters **sizes, size_t *n_sizes,
                         struct pm_error *err) {
    pm_given_formulas_free(&m->request.formulas);
    pm_size_design_formulas(&m->design, &m->request.formulas);
    if (!pm_size_design_expand(&m->design, sizes, n_sizes, err))
        return false;
    if (pm_measure_check_used(&m->request, *sizes, *n_sizes, err))
        return true;
    free(*sizes);
    *sizes = NULL;
    return false;
}

struct pm_measure_session *pm_measuring_begin(struct pm_measuring *m,
                                              const struct pm_parameters *first,
                                              struct pm_error *err) {
    const struct pm_progress progress = {
        .context = m,
        .say = m->quiet ? NULL : say,
        .pass_on = m->quiet ? NULL : pass_on,
        .fail = fail,
        .step = m->quiet ? NULL : step,
    };
    if (m->request.time_runs)
        m->request.gauge.share = share_now;
    if (!bind_to_core(m, err) || !pm_find_instrumenting(&m->request.copies, err) ||
        (!m->request.build && !m->request.handler &&
         !add_usual_intervals(&m->request.copies.events, err)))
        return NULL;
    return pm_measure_session_new(&m->request, first, &progress, err);
}

int pm_measuring_sizes(struct pm_measure_session *session, const struct pm_parameters *sizes,
                       size_t n_sizes) {
    struct pm_error err = {0};
    struct pm_measure_result result;
    if (!pm_measure_sizes(session, sizes, n_sizes, &result, &err))
        return pm_complain(&err);
    return result.n_failed ? pm_exit_status(&result.last_failure) : PM_EXIT_OK;
}
