/* What `pmodel run`, `plan` and `validate` have in common; see measuring.h. */
#define _GNU_SOURCE
#include "cmd/measuring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"

/* ---- values of options ----------------------------------------------------------------------- */

int pm_read_size_list(const struct pm_option_use *use) {
    struct pm_size_design *design = use->to;
    *PM_PUSH(design, specs) = pm_strdup(use->value);
    return 0;
}

/* Of a string that is owned: the last one given counts. */
static int read_owned(const struct pm_option_use *use) {
    char **text = use->to;
    free(*text);
    *text = pm_strdup(use->value);
    return 0;
}

static int read_build(const struct pm_option_use *use) {
    if (!*use->value)
        return pm_usage_error(use->command, "--build takes a command, not nothing");
    *(const char **)use->to = use->value;
    return 0;
}

static int read_blocks(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    struct pm_block_sizes sizes = {request->block_sizes, request->n_block_sizes};
    struct pm_error err = {0};
    bool ok = pm_add_block_sizes(use->value, &sizes, &err);
    request->block_sizes = sizes.sizes;
    request->n_block_sizes = sizes.n;
    return ok ? 0 : pm_complain(&err);
}

static int read_bin_width(const struct pm_option_use *use) {
    const double usual = 0.01; /* the runtime's own */
    char **bin_width = use->to, *end;
    struct pm_error err = {0};
    double width = strtod(use->value, &end) + 0.0; /* −0 becomes 0 */
    if (end == use->value || *end || !(width >= 0 && width <= 1)) {
        pm_fail(&err,
                "--bin-width takes a share of the distance from 0 (bins are not merged) to 1, not "
                "\"%s\"",
                use->value);
        return pm_complain(&err);
    }
    char value[64];
    pm_format_value(width, value, sizeof value);
    free(*bin_width);
    *bin_width = width == usual ? NULL : pm_strdup(value);
    return 0;
}

/* "1/64": one of 64 blocks. */
static int read_sample(const struct pm_option_use *use) {
    struct pm_error err = {0};
    char *end = NULL;
    unsigned long sample = 0;
    errno = 0;
    if (strncmp(use->value, "1/", 2) == 0 && use->value[2] >= '0' && use->value[2] <= '9')
        sample = strtoul(use->value + 2, &end, 10);
    if (errno || !end || *end || sample == 0 || sample > PM_MAX_SAMPLE) {
        pm_fail(&err, "--sample takes a share of the blocks from 1/1 to 1/%u, not \"%s\"",
                (unsigned)PM_MAX_SAMPLE, use->value);
        return pm_complain(&err);
    }
    *(unsigned *)use->to = (unsigned)sample;
    return 0;
}

static int read_environment(const struct pm_option_use *use) {
    struct pm_measure_request *request = use->to;
    if (!strchr(use->value, '=') || *use->value == '=')
        return pm_usage_error(use->command, "--env takes NAME=TEXT, not \"%s\"", use->value);
    *PM_PUSH(request, environment) = use->value;
    return 0;
}

static bool add_input(struct pm_measure_request *request, const char *text, struct pm_error *err) {
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[1] == '\0')
        return pm_fail(err, "--input %s: write TEMPLATE:FILE", text);
    struct pm_measure_input *input = PM_PUSH(request, inputs);
    char *from = strndup(text, (size_t)(colon - text));
    input->from = from ? realpath(from, NULL) : NULL;
    input->to = pm_strdup(colon + 1);
    bool ok = input->from || pm_fail(err, "--input %s: cannot read %s", text, from);
    free(from);
    return ok;
}

static int read_input(const struct pm_option_use *use) {
    struct pm_error err = {0};
    return add_input(use->to, use->value, &err) ? 0 : pm_complain(&err);
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

int pm_read_events(const struct pm_option_use *use) {
    static const struct {
        const char *name;
        unsigned kinds;
    } names[] = {
        {"none", PM_EVENTS_NONE},
        {"routines", PM_EVENTS_ROUTINES},
        {"loops", PM_EVENTS_LOOPS},
        {"all", PM_EVENTS_ROUTINES | PM_EVENTS_LOOPS},
    };
    struct pm_event_choice *choice = use->to;
    struct pm_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(use->value, names[i].name) == 0) {
            choice->kinds = names[i].kinds;
            return 0;
        }
    pm_fail(&err, "--events takes routines, loops, all or none, not \"%s\"", use->value);
    return pm_complain(&err);
}

int pm_read_start_at(const struct pm_option_use *use) {
    pm_event_choice_add(use->to, use->value, PM_PROBE_SCOPE_STARTS);
    return 0;
}

int pm_read_stop_after(const struct pm_option_use *use) {
    pm_event_choice_add(use->to, use->value, PM_PROBE_SCOPE_STOPS);
    return 0;
}

int pm_read_interval(const struct pm_option_use *use) {
    struct pm_event_choice *choice = use->to;
    *PM_PUSH(choice, intervals) = use->value;
    return 0;
}

/* ---- the command line ------------------------------------------------------------------------ */

void pm_measuring_options(struct pm_measuring *m, struct pm_option table[PM_N_MEASURING_OPTIONS]) {
    struct pm_measure_request *request = &m->request;
    struct pm_copies_request *copies = &request->copies;
    const struct pm_option all[] = {
        PM_OPTION_VALUE(NULL, 'P', pm_read_size_list, &m->design),
        PM_OPTION_VALUE("where", 0, read_owned, &m->design.where),
        PM_OPTION_VALUE("design", 0, read_owned, &m->design.file),
        PM_OPTION_FLAG(NULL, 'q', &m->quiet),
        PM_OPTION_VALUE("build", 0, read_build, &request->build),
        PM_OPTION_VALUE("block", 0, read_blocks, request),
        PM_OPTION_VALUE("bin-width", 0, read_bin_width, &request->bin_width),
        PM_OPTION_VALUE("sample", 0, read_sample, &request->sample),
        PM_OPTION_VALUE("max-blocks", 0, pm_read_count, &request->max_blocks),
        PM_OPTION_TEXT("exe", 0, &request->exe),
        PM_OPTION_VALUE("env", 0, read_environment, request),
        PM_OPTION_VALUE("input", 0, read_input, request),
        PM_OPTION_TEXT("scratch", 0, &request->scratch),
        PM_OPTION_TEXT("classes", 0, &copies->classes_file),
        PM_OPTION_TEXT("include", 0, &copies->include_file),
        PM_OPTION_TEXT("exclude", 0, &copies->exclude_file),
        PM_OPTION_TEXT("weights", 0, &copies->weights_store),
        PM_OPTION_VALUE("lib", 0, read_library, copies),
        PM_OPTION_FLAG("all-libs", 0, &copies->all_libraries),
        PM_OPTION_VALUE("start-at", 0, pm_read_start_at, &copies->events),
        PM_OPTION_VALUE("stop-after", 0, pm_read_stop_after, &copies->events),
        PM_OPTION_VALUE("timeout", 0, pm_read_count, &request->timeout_seconds),
        PM_OPTION_ACTION("carry", 0, read_carry, request),
        PM_OPTION_FLAG("bytes", 0, &request->bytes),
        PM_OPTION_FLAG("no-memory", 0, &copies->no_memory),
        PM_OPTION_FLAG("second-core", 0, &request->second_core),
        PM_OPTION_FLAG("shared", 0, &request->shared),
        PM_OPTION_FLAG("again", 0, &request->again),
        {0},
    };
    _Static_assert(sizeof all / sizeof *all == PM_N_MEASURING_OPTIONS, "room for all and the end");
    memcpy(table, all, sizeof all);
}

/* What contradicts itself; NULL: nothing. */
static const char *find_contradiction(const struct pm_measure_request *request) {
    bool no_memory = request->copies.no_memory, samples = request->sample > 1;
    if (request->build && request->carry)
        return "--build and --carry exclude each other: reuses are carried by loops of one build";
    if (no_memory && request->n_block_sizes)
        return "--no-memory and --block exclude each other";
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
    return NULL;
}

int pm_measuring_check(struct pm_measuring *m, char **argv) {
    m->request.argv = argv;
    if (!argv[0])
        return pm_usage_error(m->command, "give a command after --");
    const char *contradiction = find_contradiction(&m->request);
    return contradiction ? pm_usage_error(m->command, "%s", contradiction) : 0;
}

int pm_measuring_usual_blocks(struct pm_measuring *m) {
    struct pm_measure_request *request = &m->request;
    struct pm_error err = {0};
    if (request->copies.no_memory || request->n_block_sizes ||
        pm_machine_block_sizes(&request->block_sizes, &request->n_block_sizes, &err))
        return 0;
    return pm_complain(&err);
}

void pm_measuring_free(struct pm_measuring *m) {
    pm_size_design_free(&m->design);
    pm_measure_request_free(&m->request);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void say(void *context, const char *sentence) {
    const struct pm_measuring *m = context;
    fprintf(stderr, "pmodel %s: %s\n", m->command, sentence);
}

static void pass_on(void *context, const char *bytes, size_t n_bytes) {
    (void)context;
    fwrite(bytes, 1, n_bytes, stderr);
}

static void fail(void *context, const struct pm_error *why) {
    (void)context;
    pm_complain(why);
}

struct pm_measure_session *pm_measuring_begin(struct pm_measuring *m,
                                              const struct pm_parameters *first,
                                              struct pm_error *err) {
    const struct pm_progress progress = {
        .context = m,
        .say = m->quiet ? NULL : say,
        .pass_on = m->quiet ? NULL : pass_on,
        .fail = fail,
    };
    if (!pm_find_instrumenting(&m->request.copies, err))
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
