/* The runtime's own event handler; see analyser.h.  Every thread works on its own analyses only. */
#include "runtime/analyser/analyser.h"

#include <stdlib.h>

#include "core/probe_abi.h"
#include "core/raw_file.h"
#include "runtime/analyser/footprint.h"
#include "runtime/modules.h"
#include "runtime/notes.h"
#include "runtime/process.h"
#include "runtime/profiler/profiler.h"
#include "runtime/records/records.h"
#include "runtime/reuse/address_records/address_records.h"
#include "runtime/reuse/carried_reuse/carried_reuse.h"
#include "runtime/reuse/larger/larger.h"
#include "runtime/reuse/reuse.h"
#include "runtime/reuse/dirty_distances/dirty_distances.h"
#include "runtime/analyser/run_strides.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum { FIRST_STAMPS = 1 << 14 };

unsigned pm_n_block_sizes;
static unsigned shifts[PM_MAX_BLOCK_SIZES]; /* ascending */
static uint32_t follow; /* bit i: size i follows from the smallest one, size 0 (larger.h) */
static enum pm_reuse_variant variant;
static struct pm_reuse_options options;
bool pm_analyser_carries;
static bool counts_bytes;          /* PM_ENV_BYTES */
static bool counts_write_backs;    /* PM_ENV_WRITE_BACKS */
static bool counts_sequential;     /* PM_ENV_BEHAVIOUR: for the smallest size */
static bool takes_address_records; /* not with that, nor with PM_ENV_ACCESSES */

/* Of one stream of accesses for one block size.  Without memory all is NULL. */
struct analysis {
    struct pm_reuse *reuse;
    struct pm_larger *larger; /* it follows from the smallest size; all else is NULL */
    struct pm_record_reuse
        *address_records; /* above it; NULL: address records come as accesses, or to `carried` */
    struct pm_carried *carried;         /* owns `reuse`; NULL: nobody asked for carriers */
    struct pm_write_backs *write_backs; /* the same, for write-backs */
};

/* By thread, then of all threads together, then of pieces. */
enum { N_STREAMS = PM_FIRST_PIECE_STREAM + PM_PIECE_STREAMS };
static struct analysis analyses[N_STREAMS][PM_MAX_BLOCK_SIZES];
static struct pm_footprint *footprints[N_STREAMS]; /* NULL: not asked for, or no memory */
static bool begun[N_STREAMS];
static struct pm_strides *strides[PM_MAX_THREADS]; /* NULL: no memory */
static bool makes_profiles; /* PM_ENV_PROFILE: of basic blocks, and nothing else */
static struct pm_profiler *profiles[PM_MAX_THREADS]; /* NULL: no memory */

/* Streams of pieces, from PM_FIRST_PIECE_STREAM on. */
static struct piece_stream {
    uint32_t thread; /* atomic: its number + 1, whose touches are counted here; 0: nobody's */
    uint32_t in_use; /* atomic: there is a piece in it */
} piece_streams[PM_PIECE_STREAMS];

/* The sizes of NAME's list, a bit for each shift. */
static uint32_t read_block_sizes(const char *name) {
    const char *text = getenv(name);
    uint32_t sizes = 0;
    while (text && *text) {
        char *end;
        unsigned long bytes = strtoul(text, &end, 10);
        if (end == text || (*end && *end != ',') || bytes == 0 || (bytes & (bytes - 1)) != 0 ||
            bytes > 1u << PM_MAX_BLOCK_SHIFT)
            pm_note_add(PM_NOTE_BAD_BLOCK_SIZE, 1);
        else
            sizes |= (uint32_t)bytes;
        for (text = end; *text && *text != ',';)
            text++;
        if (*text)
            text++;
    }
    return sizes;
}

/* Sizes follow from the smallest one unless each is analysed by itself: where blocks are sampled,
   all distances are told apart, or carriers or write-backs are asked for. */
static void choose_block_sizes(void) {
    const uint32_t sizes = read_block_sizes(PM_ENV_BLOCK);
    const bool each_by_itself = options.sample > 1 || pm_analyser_carries || counts_write_backs ||
                                pm_reuse_keeps_every_distance(&options);
    uint32_t by_itself = (sizes & -sizes) | read_block_sizes(PM_ENV_APART);
    if (each_by_itself)
        by_itself = sizes;
    for (uint32_t rest = sizes; rest; rest &= rest - 1) {
        uint32_t size = rest & -rest;
        follow |= (uint32_t) !(by_itself & size) << pm_n_block_sizes;
        shifts[pm_n_block_sizes++] = (unsigned)__builtin_ctz(size);
    }
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
    pm_note_add(PM_NOTE_BAD_SETTING, 1);
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
    pm_note_add(PM_NOTE_BAD_SETTING, 1);
    return PM_USUAL_BIN_WIDTH;
}

static int begin(const struct pmodel_program *program) {
    (void)program;
    options.sample = read_number(PM_ENV_SAMPLE, 1, PM_MAX_SAMPLE, 1);
    options.max_blocks = read_number(PM_ENV_MAX_BLOCKS, 1, PM_MOST_BLOCKS, 0);
    options.bin_width = read_bin_width();
    variant = pm_reuse_best_variant();
    makes_profiles = pm_profiler_wanted();
    if (makes_profiles) {
        takes_address_records = true;
        return 0;
    }
    pm_analyser_carries = getenv(PM_ENV_CARRY) != NULL;
    if (pm_analyser_carries && options.sample > 1) {
        pm_note_add(PM_NOTE_BAD_SETTING, 1); /* carriers are of all blocks */
        options.sample = 1;
    }
    counts_write_backs = getenv(PM_ENV_WRITE_BACKS) != NULL;
    if (counts_write_backs && (options.sample > 1 || options.max_blocks || pm_analyser_carries)) {
        pm_note_add(PM_NOTE_BAD_SETTING, 1); /* they need every distance of every block */
        counts_write_backs = false;
    }
    counts_sequential = getenv(PM_ENV_BEHAVIOUR) != NULL && options.sample <= 1;
    choose_block_sizes();
    pm_analyser_carries &= pm_n_block_sizes > 0;
    counts_bytes = pm_n_block_sizes > 0 && getenv(PM_ENV_BYTES) != NULL;
    takes_address_records = getenv(PM_ENV_ACCESSES) == NULL && !counts_write_backs;
    return pm_n_block_sizes == 0;
}

static void free_analysis(struct analysis *analysis) {
    pm_record_reuse_free(analysis->address_records);
    if (!analysis->carried && !analysis->write_backs)
        pm_reuse_free(analysis->reuse);
    pm_carried_free(analysis->carried);
    pm_write_backs_free(analysis->write_backs);
    *analysis = (struct analysis){NULL, NULL, NULL, NULL, NULL};
}

static bool begin_analysis(struct analysis *analysis, unsigned shift, bool is_private) {
    bool carries = pm_analyser_carries && is_private;
    if (carries) {
        analysis->carried = pm_carried_new(shift, FIRST_STAMPS, variant);
        analysis->reuse = analysis->carried ? pm_carried_reuse(analysis->carried) : NULL;
    } else if (counts_write_backs && is_private) {
        analysis->write_backs = pm_write_backs_new(shift, FIRST_STAMPS, variant);
        analysis->reuse =
            analysis->write_backs ? pm_write_backs_reuse(analysis->write_backs) : NULL;
    } else {
        analysis->reuse = pm_reuse_new(shift, FIRST_STAMPS, variant);
    }
    if (!analysis->reuse || !pm_reuse_choose(analysis->reuse, &options) ||
        (counts_sequential && is_private && shift == shifts[0] &&
         !pm_reuse_count_sequential(analysis->reuse)))
        return false;
    if (!takes_address_records || carries)
        return true;
    analysis->address_records = pm_record_reuse_new(analysis->reuse);
    return analysis->address_records;
}

static bool begin_larger(struct analysis *analysis, struct pm_reuse *smallest, unsigned shift) {
    analysis->larger = smallest ? pm_larger_new(smallest, shift, FIRST_STAMPS) : NULL;
    return analysis->larger;
}

static bool begin_pieces(struct analysis *analysis, uint32_t stream) {
    return stream < PM_FIRST_PIECE_STREAM || pm_piece_make_analysis(analysis->reuse);
}

/* Pieces of a thread, whose strides are in one place, may begin before the thread's own stream. */
static void begin_strides(uint32_t thread) {
    if (thread < PM_MAX_THREADS && !strides[thread])
        strides[thread] = pm_strides_new();
}

/* Of the thread that STREAM is of; NULL: none, of all threads together. */
static struct pm_strides *strides_of(uint32_t stream) {
    if (stream >= PM_FIRST_PIECE_STREAM)
        stream = piece_streams[stream - PM_FIRST_PIECE_STREAM].thread - 1;
    return stream < PM_MAX_THREADS ? strides[stream] : NULL;
}

/* ---- profiles of basic blocks ----------------------------------------------------------------
 */

/* Of the thread STREAM; NULL: no memory, which is noted, or of all threads together. */
static struct pm_profiler *profile_of(uint32_t stream) {
    if (stream >= PM_MAX_THREADS)
        return NULL;
    if (!begun[stream]) {
        begun[stream] = true;
        profiles[stream] = pm_profiler_new();
        if (!profiles[stream])
            pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
    }
    struct pm_profiler *profile = profiles[stream];
    return profile && !pm_profiler_has_failed(profile) ? profile : NULL;
}

static void profile_accesses(uint32_t stream, const struct pmodel_access *batch, size_t count) {
    struct pm_profiler *profile = profile_of(stream);
    if (!profile)
        return;
    pm_profiler_accesses(profile, batch, count);
    if (pm_profiler_has_failed(profile))
        pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
}

static const uint64_t *profile_records(uint32_t stream, const uint64_t *words,
                                       const uint64_t *end) {
    struct pm_profiler *profile = profile_of(stream);
    if (!profile)
        return words;
    const uint64_t *to = pm_profiler_records(profile, words, end);
    if (pm_profiler_has_failed(profile))
        pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
    return to;
}

/* ---- streams ---------------------------------------------------------------------------------
 */

static void begin_stream(uint32_t stream) {
    /* What carries a reuse is a thread's own matter, and so is what is dirty in its caches. */
    bool is_private = stream != PM_SHARED_STREAM;
    begun[stream] = true;
    begin_strides(stream);
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        if (follow >> i & 1
                ? begin_larger(&analyses[stream][i], analyses[stream][0].reuse, shifts[i])
                : begin_analysis(&analyses[stream][i], shifts[i], is_private) &&
                      begin_pieces(&analyses[stream][i], stream))
            continue;
        free_analysis(&analyses[stream][i]);
        pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
    }
    footprints[stream] = counts_bytes ? pm_footprint_new() : NULL;
    if (counts_bytes && !footprints[stream])
        pm_note_add(PM_NOTE_NO_FOOTPRINT, 1);
}

static bool has_failed(const struct analysis *analysis) {
    return !analysis->reuse || pm_reuse_has_failed(analysis->reuse) ||
           (analysis->carried && pm_carried_has_failed(analysis->carried)) ||
           (analysis->write_backs && pm_write_backs_failed(analysis->write_backs));
}

static void add_bytes(struct pm_footprint *footprint, const struct pmodel_access *batch,
                      size_t count) {
    if (!footprint || footprint->failed)
        return;
    pm_footprint_accesses(footprint, pm_n_groups, batch, count);
    if (footprint->failed)
        pm_note_add(PM_NOTE_NO_FOOTPRINT, 1);
}

static void add_bytes_of_records(struct pm_footprint *footprint, const uint64_t *words,
                                 const uint64_t *end) {
    if (!footprint || footprint->failed)
        return;
    pm_footprint_records(footprint, words, end);
    if (footprint->failed)
        pm_note_add(PM_NOTE_NO_FOOTPRINT, 1);
}

static void analyse(uint32_t stream, const struct pmodel_access *batch, size_t count) {
    if (!begun[stream])
        begin_stream(stream);
    add_bytes(footprints[stream], batch, count);
    if (strides_of(stream))
        pm_strides_accesses(strides_of(stream), stream, batch, count);
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        struct analysis *analysis = &analyses[stream][i];
        if (has_failed(analysis))
            continue;
        if (analysis->address_records)
            pm_record_reuse_interrupt(analysis->address_records);
        if (analysis->carried)
            pm_carried_accesses(analysis->carried, pm_n_groups, pm_group_scopes, batch, count);
        else if (analysis->write_backs)
            pm_write_backs_accesses(analysis->write_backs, pm_n_groups, batch, count);
        else
            pm_reuse_accesses(analysis->reuse, pm_n_groups, batch, count);
        if (has_failed(analysis))
            pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
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
    if (makes_profiles) {
        profile_accesses(thread, batch, count);
        return;
    }
    analyse(thread, batch, count);
    if (pm_records_are_shared)
        analyse_only_accesses(PM_SHARED_STREAM, batch, count);
}

const struct pmodel_handler pm_analyser = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .accesses = accesses,
};

/* All block sizes as far as the first one, although a library may become known meanwhile. */
static const uint64_t *analyse_address_records(uint32_t stream, const uint64_t *words,
                                               const uint64_t *end,
                                               const struct pm_carried_iteration *iteration) {
    const uint64_t *to = NULL;
    if (!begun[stream])
        begin_stream(stream);
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        struct analysis *analysis = &analyses[stream][i];
        if (has_failed(analysis))
            continue;
        const uint64_t *most = to ? to : end;
        const uint64_t *reached =
            analysis->carried
                ? pm_carried_records(analysis->carried, pm_group_scopes, words, most, iteration)
                : pm_record_reuse_walk(analysis->address_records, words, most);
        if (has_failed(analysis))
            pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
        else
            to = reached;
    }
    if (to)
        add_bytes_of_records(footprints[stream], words, to);
    if (to && strides_of(stream))
        pm_strides_records(strides_of(stream), stream, words, to);
    return to ? to : words;
}

bool pm_analyser_takes_records(void) {
    return takes_address_records && pm_process_handler == &pm_analyser;
}

const uint64_t *pm_analyser_records(uint32_t thread, const uint64_t *words, const uint64_t *end,
                                    const struct pm_carried_iteration *iteration) {
    static const struct pm_carried_iteration none = {.record = PM_CARRIED_NO_RECORD};
    if (makes_profiles)
        return profile_records(thread, words, end);
    if (!pm_records_are_shared)
        return analyse_address_records(thread, words, end, iteration);
    const uint64_t *to = analyse_address_records(thread, words, end, &none);
    analyse_address_records(PM_SHARED_STREAM, words, to, &none);
    return to;
}

bool pm_analyser_event(uint32_t thread, enum pm_carried_event event, uint32_t scope) {
    if (!begun[thread] || pm_process_handler != &pm_analyser)
        return false;
    for (unsigned i = 0; i < pm_n_block_sizes; i++)
        if (analyses[thread][i].carried)
            pm_carried_event(analyses[thread][i].carried, event, scope);
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

bool pm_analyser_takes_pieces(void) {
    return pm_analyser_takes_records() && !makes_profiles && options.sample <= 1 &&
           !pm_analyser_carries && !counts_bytes && !counts_sequential && !pm_records_are_shared;
}

/* The first that the thread has already: the fewer, the more of them stay in a cache. */
uint32_t pm_analyser_take_stream(uint32_t thread) {
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < PM_PIECE_STREAMS; i++) {
            struct piece_stream *stream = &piece_streams[i];
            uint32_t owner = others ? 0 : thread + 1;
            if (__atomic_load_n(&stream->thread, __ATOMIC_ACQUIRE) != owner ||
                __atomic_load_n(&stream->in_use, __ATOMIC_ACQUIRE) ||
                !__atomic_compare_exchange_n(&stream->thread, &owner, thread + 1, false,
                                             __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                continue;
            __atomic_store_n(&stream->in_use, 1, __ATOMIC_RELEASE);
            begin_strides(thread);
            return PM_FIRST_PIECE_STREAM + i;
        }
    return PM_NO_STREAM;
}

void pm_analyser_end_piece(uint32_t stream) {
    if (strides_of(stream))
        pm_strides_interrupt(strides_of(stream), stream);
    for (unsigned i = 0; begun[stream] && i < pm_n_block_sizes; i++)
        if (!has_failed(&analyses[stream][i]))
            pm_piece_end(analyses[stream][i].reuse, analyses[stream][i].address_records);
}

/* A size is lost, and with the smallest one those that follow from it. */
static void lose(uint32_t thread, unsigned size) {
    for (unsigned i = 0; size == 0 && i < pm_n_block_sizes; i++)
        analyses[thread][i].larger = NULL;
    free_analysis(&analyses[thread][size]);
}

static void resolve(uint32_t thread, uint32_t stream, unsigned size) {
    struct analysis *whole = &analyses[thread][size], *piece = &analyses[stream][size];
    if (has_failed(whole))
        return;
    if (has_failed(piece)) { /* which was noted */
        lose(thread, size);
        return;
    }
    pm_piece_resolve(whole->reuse, whole->address_records, piece->reuse);
    if (has_failed(whole))
        pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
}

void pm_analyser_resolve_piece(uint32_t thread, uint32_t stream) {
    if (!begun[thread])
        begin_stream(thread);
    for (unsigned i = 0; begun[stream] && i < pm_n_block_sizes; i++)
        resolve(thread, stream, i);
    __atomic_store_n(&piece_streams[stream - PM_FIRST_PIECE_STREAM].in_use, 0, __ATOMIC_RELEASE);
}

/* What was counted in pieces becomes the threads' that they are of. */
static void move_counts(uint32_t stream) {
    uint32_t owner = piece_streams[stream - PM_FIRST_PIECE_STREAM].thread;
    for (unsigned i = 0; owner && begun[stream] && begun[owner - 1] && i < pm_n_block_sizes; i++) {
        struct analysis *whole = &analyses[owner - 1][i], *piece = &analyses[stream][i];
        if (has_failed(whole) || has_failed(piece))
            continue;
        pm_record_reuse_flush(piece->address_records);
        pm_piece_move_counts(whole->reuse, piece->reuse);
    }
}

static void give_streams_back(uint32_t thread) {
    for (uint32_t i = 0; i < PM_PIECE_STREAMS; i++)
        if (__atomic_load_n(&piece_streams[i].thread, __ATOMIC_ACQUIRE) == thread + 1) {
            move_counts(PM_FIRST_PIECE_STREAM + i);
            __atomic_store_n(&piece_streams[i].thread, 0, __ATOMIC_RELEASE);
        }
}

/* ---- what was found -------------------------------------------------------------------------- */

static void flush_stream(uint32_t stream) {
    for (unsigned i = 0; begun[stream] && i < pm_n_block_sizes; i++) {
        struct analysis *analysis = &analyses[stream][i];
        if (analysis->larger && (pm_reuse_has_failed(pm_larger_reuse(analysis->larger)) ||
                                 has_failed(&analyses[stream][0]))) {
            analysis->larger = NULL; /* the smallest size's */
            pm_note_add(PM_NOTE_OUT_OF_MEMORY, 1);
        }
        if (has_failed(analysis))
            continue;
        if (analysis->carried)
            pm_carried_sum(analysis->carried);
        if (analysis->address_records)
            pm_record_reuse_flush(analysis->address_records);
        pm_larger_flush(analysis->reuse);
    }
}

void pm_analyser_flush_thread(uint32_t thread) {
    for (uint32_t i = 0; i < PM_PIECE_STREAMS; i++)
        if (__atomic_load_n(&piece_streams[i].thread, __ATOMIC_ACQUIRE) == thread + 1)
            move_counts(PM_FIRST_PIECE_STREAM + i);
    flush_stream(thread);
}

void pm_analyser_flush(void) {
    for (uint32_t stream = PM_FIRST_PIECE_STREAM; stream < N_STREAMS; stream++)
        move_counts(stream);
    for (uint32_t thread = 0; thread < PM_MAX_THREADS; thread++)
        if (profiles[thread])
            pm_profiler_flush(profiles[thread]);
    for (uint32_t thread = 0; thread < PM_MAX_THREADS; thread++)
        if (strides[thread])
            pm_strides_flush(strides[thread]);
    for (uint32_t stream = 0; stream < PM_FIRST_PIECE_STREAM; stream++)
        flush_stream(stream);
}

const struct pm_carried *pm_analyser_carried(uint32_t thread, unsigned size) {
    const struct analysis *analysis = &analyses[thread][size];
    return has_failed(analysis) ? NULL : analysis->carried;
}

const struct pm_write_backs *pm_analyser_write_backs(uint32_t thread, unsigned size) {
    const struct analysis *analysis = &analyses[thread][size];
    return has_failed(analysis) ? NULL : analysis->write_backs;
}

const struct pm_reuse *pm_analyser_result(uint32_t thread, unsigned size) {
    const struct analysis *analysis = &analyses[thread][size];
    if (analysis->larger)
        return pm_larger_reuse(analysis->larger);
    return has_failed(analysis) ? NULL : analysis->reuse;
}

const struct pm_profiler *pm_analyser_profile(uint32_t thread) {
    return profiles[thread] && !pm_profiler_has_failed(profiles[thread]) ? profiles[thread] : NULL;
}

const struct pm_strides *pm_analyser_strides(uint32_t thread) {
    return strides[thread] && !pm_strides_have_failed(strides[thread]) ? strides[thread] : NULL;
}

uint64_t pm_analyser_bytes(uint32_t thread, uint32_t group) {
    const struct pm_footprint *footprint = footprints[thread];
    return footprint && !footprint->failed ? pm_footprint_bytes(footprint, group)
                                           : PM_RAW_UNKNOWN_BYTES;
}

void pm_analyser_thread_end(uint32_t thread) {
    give_streams_back(thread);
    if (profiles[thread])
        pm_profiler_forget(profiles[thread]);
    if (strides[thread])
        pm_strides_interrupt(strides[thread], thread);
    if (footprints[thread])
        pm_footprint_forget(footprints[thread]);
    for (unsigned i = 0; i < pm_n_block_sizes; i++) {
        struct analysis *analysis = &analyses[thread][i];
        if (analysis->address_records)
            pm_record_reuse_interrupt(analysis->address_records);
        if (analysis->carried)
            pm_carried_forget_blocks(analysis->carried);
        else if (analysis->write_backs)
            pm_write_backs_forget_blocks(analysis->write_backs);
        else if (analysis->reuse)
            pm_reuse_forget_blocks(analysis->reuse);
    }
}

void pm_analyser_after_fork(void) {
    for (uint32_t i = 0; i < PM_PIECE_STREAMS; i++)
        piece_streams[i] = (struct piece_stream){0, 0};
    for (uint32_t thread = 0; thread < PM_MAX_THREADS; thread++) {
        pm_strides_free(strides[thread]);
        strides[thread] = NULL;
        pm_profiler_free(profiles[thread]);
        profiles[thread] = NULL;
    }
    for (uint32_t thread = 0; thread < N_STREAMS; thread++) {
        if (!begun[thread])
            continue;
        begun[thread] = false;
        pm_footprint_free(footprints[thread]);
        footprints[thread] = NULL;
        for (unsigned i = 0; i < pm_n_block_sizes; i++)
            free_analysis(&analyses[thread][i]);
    }
}
