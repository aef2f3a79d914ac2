/* What `pmodel run`, `plan` and `validate` have in common; see measuring.h. */
#define _GNU_SOURCE
#include "cmd/measuring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"

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

/* Of programs of which nothing was said: all that a program's code is counted by must be alike in
   everything that measures it. */
static bool add_usual_intervals(struct pm_event_choice *choice, struct pm_error *err) {
    if (choice->no_intervals || choice->n_intervals)
        return true;
    char *path = pm_share_path("mpi.intervals", err);
    bool ok = path && pm_event_choice_add_interval_file(choice, path, PM_INTERVALS_ANY, err);
    free(path);
    return ok;
}

/* ---- the command line ------------------------------------------------------------------------ */

void pm_measuring_options(struct pm_measuring *m, struct pm_option table[PM_N_MEASURING_OPTIONS]) {
    struct pm_measure_request *request = &m->request;
    struct pm_copies_request *copies = &request->copies;
    request->rank_tolerance_percent = 100 * PM_RANKS_TOLERANCE;
    const struct pm_option all[] = {
        PM_OPTION_ADD(NULL, 'P', pm_add_size_list, &m->design),
        PM_OPTION_ADD("where", 0, set_owned, &m->design.where),
        PM_OPTION_ADD("design", 0, set_owned, &m->design.file),
        PM_OPTION_LIST("unused", 0, add_unused, request),
        PM_OPTION_FLAG("quiet", 'q', &m->quiet),
        PM_OPTION_VALUE("build", 0, read_build, &request->build),
        PM_OPTION_LIST("block", 0, pm_add_block_size, &request->blocks),
        PM_OPTIONS_MACHINES(&m->on),
        PM_OPTION_ADD("bin-width", 0, set_bin_width, &request->bin_width),
        PM_OPTION_ADD("sample", 0, set_sample, &request->sample),
        PM_OPTION_VALUE("max-blocks", 0, pm_read_count, &request->max_blocks),
        PM_OPTION_TEXT("exe", 0, &request->exe),
        PM_OPTION_VALUE("env", 0, read_environment, request),
        PM_OPTION_ADD("input", 0, add_input, request),
        PM_OPTION_TEXT("scratch", 0, &request->scratch),
        PM_OPTION_TEXT("classes", 0, &copies->classes_file),
        PM_OPTION_TEXT("include", 0, &copies->include_file),
        PM_OPTION_TEXT("exclude", 0, &copies->exclude_file),
        PM_OPTION_TEXT("weights", 0, &copies->weights_store),
        PM_OPTION_ADD("calls", 0, pm_set_calls, &copies->calls),
        PM_OPTION_VALUE("lib", 0, read_library, copies),
        PM_OPTION_FLAG("all-libs", 0, &copies->all_libraries),
        PM_OPTION_ADD("start-at", 0, pm_add_start_at, &copies->events),
        PM_OPTION_ADD("stop-after", 0, pm_add_stop_after, &copies->events),
        PM_OPTION_ADD("interval", 0, pm_add_interval, &copies->events),
        PM_OPTION_VALUE("timeout", 0, pm_read_count, &request->timeout_seconds),
        PM_OPTION_ACTION("carry", 0, read_carry, request),
        PM_OPTION_FLAG("bytes", 0, &request->bytes),
        PM_OPTION_FLAG("write-backs", 0, &request->write_backs),
        PM_OPTION_FLAG("no-memory", 0, &copies->no_memory),
        PM_OPTION_FLAG("no-communication", 0, &request->no_communication),
        PM_OPTION_FLAG("second-core", 0, &request->second_core),
        PM_OPTION_FLAG("shared", 0, &request->shared),
        PM_OPTION_FLAG("again", 0, &request->again),
        {0},
    };
    _Static_assert(sizeof all / sizeof *all == PM_N_MEASURING_OPTIONS, "room for all and the end");
    memcpy(table, all, sizeof all);
}

/* What contradicts itself; NULL: nothing. */
static const char *find_contradiction(const struct pm_measuring *m) {
    const struct pm_measure_request *request = &m->request;
    bool no_memory = request->copies.no_memory, samples = request->sample > 1;
    if (request->build && request->carry)
        return "--build and --carry exclude each other: reuses are carried by loops of one build";
    if (no_memory && request->blocks.n)
        return "--no-memory and --block exclude each other";
    if (no_memory && m->on.n_machines)
        return "-m needs misses, so that --no-memory excludes it";
    if (no_memory && request->second_core)
        return "--second-core is for the analysis, which --no-memory leaves out";
    if (request->carry && samples)
        return "--carry follows every block: it excludes --sample";
    if (no_memory && (samples || request->max_blocks))
        return "--no-memory excludes --sample and --max-blocks";
    if (no_memory && request->shared)
        return "--no-memory and --shared exclude each other";
    if (request->shared && request->second_core)
        return "--shared analyses all threads as one stream, one after the other, and excludes "
               "--second-core";
    if (no_memory && request->bin_width)
        return "--no-memory and --bin-width exclude each other";
    if (no_memory && request->carry)
        return "--no-memory and --carry exclude each other";
    if (no_memory && request->bytes)
        return "--no-memory and --bytes exclude each other";
    if (no_memory && request->write_backs)
        return "--no-memory and --write-backs exclude each other";
    if (request->build && request->write_backs)
        return "--build and --write-backs exclude each other: stores are followed in one build";
    if (request->write_backs && (samples || request->max_blocks || request->carry))
        return "--write-backs follows every store to the next to its block: it excludes --sample, "
               "--max-blocks and --carry";
    return NULL;
}

int pm_measuring_check(struct pm_measuring *m, char **argv) {
    m->request.argv = argv;
    if (!argv[0])
        return pm_usage_error(m->command, "give a command after --");
    const char *contradiction = find_contradiction(m);
    return contradiction ? pm_usage_error(m->command, "%s", contradiction) : 0;
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

void pm_measuring_usual_blocks(struct pm_measuring *m) {
    if (m->request.copies.no_memory)
        return;
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
    if (!pm_find_instrumenting(&m->request.copies, err) ||
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
