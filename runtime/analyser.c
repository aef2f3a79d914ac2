/* The runtime's own event handler; see analyser.h.  Every thread works on its own analyses only. */
#include "runtime/analyser.h"

#include <stdlib.h>

#include "core/probe_abi.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/records.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum { FIRST_STAMPS = 1 << 14 };

unsigned pm_n_block_sizes;
static unsigned shifts[PM_MAX_BLOCK_SIZES];
static enum pm_reuse_variant variant;
static struct pm_reuse_options options;
bool pm_analyser_carries;
/* By thread; the last is of all threads together. */
enum { N_STREAMS = PM_MAX_THREADS + 1 };
static struct pm_carried *carried[N_STREAMS][PM_MAX_BLOCK_SIZES];
static struct pm_reuse *analyses[N_STREAMS][PM_MAX_BLOCK_SIZES];
static bool begun[N_STREAMS];

static void add_block_size(uint64_t bytes) {
    if (bytes == 0 || (bytes & (bytes - 1)) != 0 || bytes > 1u << PM_MAX_BLOCK_SHIFT) {
        pm_note(PM_NOTE_BAD_BLOCK_SIZE, 1);
        return;
    }
    unsigned shift = (unsigned)__builtin_ctzll(bytes);
    for (unsigned i = 0; i < pm_n_block_sizes; i++)
        if (shifts[i] == shift)
            return;
    shifts[pm_n_block_sizes++] = shift;
}

/* What the environment says of NAME, a number from LEAST to MOST; USUAL if it says nothing. */
static uint64_t read_number(const char *name, uint64_t least, uint64_t most, uint64_t usual) {
    const char *text = getenv(name);
    if (!text || !*text)
        return usual;
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && value >= least && value <= most)
        return value;
    pm_note(PM_NOTE_BAD_SETTING, 1);
    return usual;
}

static double read_bin_width(void) {
    const char *text = getenv(PM_ENV_BIN_WIDTH);
    if (!text || !*text)
        return PM_USUAL_BIN_WIDTH;
    char *end;
    double width = strtod(text, &end);
    if (*end == '\0' && width >= 0 && width <= 1)
        return width;
    pm_note(PM_NOTE_BAD_SETTING, 1);
    return PM_USUAL_BIN_WIDTH;
}

static int begin(const struct pmodel_program *program) {
    (void)program;
    const char *text = getenv(PM_ENV_BLOCK);
    while (text && *text) {
        char *end;
        unsigned long bytes = strtoul(text, &end, 10);
        add_block_size(end == text || (*end && *end != ',') ? 0 : bytes);
        for (text = end; *text && *text != ',';)
            text++;
        if (*text)
            text++;
    }
    options.sample = read_number(PM_ENV_SAMPLE, 1, PM_MAX_SAMPLE, 1);
    options.max_blocks = read_number(PM_ENV_MAX_BLOCKS, 1, PM_MOST_BLOCKS, 0);
    options.bin_width = read_bin_width();
    variant = pm_reuse_best_variant();
    pm_analyser_carries = pm_n_block_sizes > 0 && getenv(PM_ENV_CARRY) != NULL;
    if (pm_analyser_carries && options.sample > 1) {
        pm_note(PM_NOTE_BAD_SETTING, 1); /* carriers are of all blocks */
        options.sample = 1;
    }
    return pm_n_block_sizes == 0;
}

static void free_analysis(uint32_t thread, unsigned size) {
    pm_reuse_free(analyses[thread][size]);
    pm_carried_free(carried[thread][size]);
    analyses[thread][size] = NULL;
    carried[thread][size] = NULL;
}

/* What carries a reuse is a thread's own matter. */
static bool carries(uint32_t thread) { return pm_analyser_carries && thread != PM_SHARED_STREAM; }

static void begin_stream(uint32_t thread) {
    begun[thread] = true;
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        if (carries(thread))
            carried[thread][i] = pm_carried_new(shifts[i], FIRST_STAMPS, variant);
        else
            analyses[thread][i] = pm_reuse_new(shifts[i], FIRST_STAMPS, variant);
        struct pm_reuse *reuse =
            carried[thread][i] ? carried[thread][i]->reuse : analyses[thread][i];
        if (!reuse || !pm_reuse_choose(reuse, &options)) {
            free_analysis(thread, i);
            pm_note(PM_NOTE_OUT_OF_MEMORY, 1);
        }
    }
}

static void carried_accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        struct pm_carried *analysis = carried[thread][i];
        if (!analysis || analysis->failed)
            continue;
        pm_carried_accesses(analysis, pm_n_groups, pm_group_scopes, batch, count);
        if (analysis->failed)
            pm_note(PM_NOTE_OUT_OF_MEMORY, 1);
    }
}

static void analyse(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    if (!begun[thread])
        begin_stream(thread);
    if (carries(thread)) {
        carried_accesses(thread, batch, count);
        return;
    }
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        struct pm_reuse *reuse = analyses[thread][i];
        if (!reuse || reuse->failed)
            continue;
        pm_reuse_accesses(reuse, pm_n_groups, batch, count);
        if (reuse->failed)
            pm_note(PM_NOTE_OUT_OF_MEMORY, 1);
    }
}

/* The same without the events of an analysis that carries. */
static void analyse_only_accesses(uint32_t thread, const struct pmodel_access *batch,
                                  size_t count) {
    for (size_t from = 0, to; from < count; from = to + 1) {
        for (to = from; to < count && batch[to].kind < PM_CARRIED_ENTER;)
            to++;
        if (to > from)
            analyse(thread, batch + from, to - from);
    }
}

static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    analyse(thread, batch, count);
    if (pm_records_are_shared)
        analyse_only_accesses(PM_SHARED_STREAM, batch, count);
}

const struct pmodel_handler pm_analyser = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .accesses = accesses,
};

void pm_analyser_sum(void) {
    for (uint32_t thread = 0; thread < pm_n_threads; thread++)
        for (unsigned i = 0; i < pm_n_block_sizes; i++)
            if (carried[thread][i] && !carried[thread][i]->failed)
                pm_carried_sum(carried[thread][i]);
}

const struct pm_carried *pm_analyser_carried(uint32_t thread, unsigned size) {
    const struct pm_carried *analysis = carried[thread][size];
    return analysis && !analysis->failed ? analysis : NULL;
}

const struct pm_reuse *pm_analyser_result(uint32_t thread, unsigned size) {
    const struct pm_reuse *reuse = analyses[thread][size];
    const struct pm_carried *analysis = pm_analyser_carried(thread, size);
    if (analysis)
        return analysis->reuse;
    return reuse && !reuse->failed ? reuse : NULL;
}

void pm_analyser_thread_end(uint32_t thread) {
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        if (carried[thread][i])
            pm_carried_forget_blocks(carried[thread][i]);
        if (analyses[thread][i])
            pm_reuse_forget_blocks(analyses[thread][i]);
    }
}

void pm_analyser_after_fork(void) {
    for (uint32_t thread = 0; thread < N_STREAMS; thread++) {
        if (!begun[thread])
            continue;
        begun[thread] = false;
        for (unsigned i = 0; i < pm_n_block_sizes; i++)
            free_analysis(thread, i);
    }
}
