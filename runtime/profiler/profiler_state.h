/* What the files of this folder share; see profile.h. */
#ifndef PM_RUNTIME_PROFILER_PROFILER_STATE_H
#define PM_RUNTIME_PROFILER_PROFILER_STATE_H

#include "core/probe_abi.h"
#include "runtime/arena.h"
#include "runtime/modules.h"
#include "runtime/profiler/simulated_caches.h"
#include "runtime/profiler/profiler.h"
#include "runtime/reuse/reuse.h"
#include "runtime/system.h"

enum {
    PM_MOST_SIMULATED = 16,
    PM_RECORD_WORDS = PM_RECORD_ADDRESSES + 1,
    PM_RECENT = 8, /* a window of up to so many addresses is a row in registers */
    PM_HISTORY_ROOM = 4 * PM_RECORD_ACCESSES,
};

struct pm_profiler_machine {
    struct pm_cache_shape levels[PM_MOST_CACHES];
    unsigned n_levels;
    unsigned first_served; /* of pm_profiler_block.served: of its second level */
};

/* What the environment says; the same for all threads. */
struct pm_profiler_settings {
    uint32_t window; /* 0: no profile */
    unsigned n_machines, n_served, least_line_shift;
    struct pm_profiler_machine machines[PM_MOST_SIMULATED];
};
extern struct pm_profiler_settings pm_profiler_settings;

struct pm_profiler_record;

struct pm_profiler_block {
    struct pm_profiler_block *next;         /* of all of the thread */
    uint32_t first_reference, n_references; /* numbers */
    uint64_t references, bytes;
    uint64_t strides[PM_STRIDE_CLASSES];
    uint64_t *served; /* [n_served]: references that this level, or behind the last one memory, had,
                         machine by machine from the second level on */
    uint64_t *history; /* its addresses, with room for more than the window, which ends behind the
                          n-th of them; if that is up to PM_RECENT, only a row, the newest last */
    uint32_t n;
    struct pm_profiler_record *steady; /* whose last executions are not there yet; NULL: none */
};

struct pm_profiler_access {
    uint64_t offset; /* from the word */
    uint32_t size_bytes;
    uint8_t word, is_store;
};

/* Bytes that executions touch: OFFSET to OFFSET + LAST_BYTE from a word, no more than the smallest
   line of a first level, so that these are one block or two, the first and the last of them. */
struct pm_profiler_span {
    uint64_t offset;
    uint32_t last_byte, word;
};

struct pm_profiler_record {
    /* Of the execution before; words[0], the header, never changes, and stands for fixed addresses,
       whose offsets count from it. */
    uint64_t previous[PM_RECORD_WORDS] __attribute__((aligned(64)));
    uint64_t delta[PM_RECORD_WORDS] __attribute__((aligned(64))); /* by which it moved */
    uint32_t n_words, words_mask;
    uint32_t n_accesses, n_spans;
    bool has_stores;
    bool has_previous; /* it was executed before, */
    bool has_entry;    /* and its row is known */
    uint32_t n_unlike; /* executions in a row that did not move as the one before */
    uint64_t n;        /* executions that are not in the block's counts yet */
    uint64_t safe; /* so many more executions of the same DELTA have the strides of the last one */
    uint64_t n_steady; /* that had them */
    uint64_t n_alike;  /* so many in a row moved by it */
    uint32_t lag;      /* executions that a window may reach back; 0: it shares its block */
    uint64_t classes;  /* references of the last execution by class, a byte each */
    uint64_t pending;  /* the same of n_pending references that are not in the block's counts yet */
    uint32_t n_pending;
    uint64_t bytes; /* of an execution */
    /* Of a window that is a row (PM_RECENT), in place of LAG: the row before the execution and
       behind it, and by how much their addresses move. */
    uint64_t entry[PM_RECENT] __attribute__((aligned(64)));
    uint64_t entry_delta[PM_RECENT] __attribute__((aligned(64)));
    uint64_t exit[PM_RECENT] __attribute__((aligned(64)));
    uint64_t exit_delta[PM_RECENT] __attribute__((aligned(64)));
    int32_t far; /* above 0: its blocks often are not in the first level */
    struct pm_profiler_block *block;
    struct pm_profiler_span *spans;
    struct pm_profiler_access accesses[];
};

struct pm_profiler {
    bool failed;
    enum pm_reuse_variant variant;
    struct pm_caches *caches[PM_MOST_SIMULATED];
    struct pm_profiler_record **address_records; /* by number */
    struct pm_profiler_block **blocks;           /* by the number of its first reference */
    struct pm_profiler_block *first;             /* of all */
    uint64_t *lanes; /* by reference: elements that masked ones and gathers accessed */
    struct pm_arena arena;
};

/* profiler_records.c: the state of the address record NUMBER, made where it is new; NULL: no such
   address record. */
struct pm_profiler_record *pm_profiler_record(struct pm_profiler *profile, uint64_t number);
/* … of the basic block that REFERENCE is in; NULL: no memory. */
struct pm_profiler_block *pm_profiler_block(struct pm_profiler *profile, uint32_t reference);

/* profiler_strides.c: adds N executions with CLASSES to the block's strides. */
void pm_profiler_add_classes(struct pm_profiler_block *block, uint64_t classes, uint64_t n);
/* Room for N more addresses of BLOCK. */
void pm_profiler_make_room(struct pm_profiler_block *block, uint32_t n);
/* Executions of the block's steady address record go to its counts and its history. */
void pm_profiler_end_steady(struct pm_profiler_block *block);
/* How many executions of RECORD, moved by its DELTA again and again (and its row by ENTRY_DELTA),
   have the strides of its last one. */
uint64_t pm_profiler_safe_executions(const struct pm_profiler_record *record);
/* What the history of a block holds before its first addresses: no address is near. */
#define PM_NO_ADDRESS (1ull << 62)
void pm_profiler_begin_history(struct pm_profiler_block *block);

/* The walk over address records, for each vector extension (profiler_walk.h). */
typedef const uint64_t *pm_profiler_walk(struct pm_profiler *profile, const uint64_t *words,
                                         const uint64_t *end);
pm_profiler_walk pm_profiler_walk_sse2, pm_profiler_walk_avx2, pm_profiler_walk_avx512;

/* BLOCK's reference touches SIZE_BYTES from ADDRESS on in all caches; counts what served it. */
typedef void pm_profiler_touch(struct pm_profiler *profile, struct pm_profiler_block *block,
                               uint64_t address, uint64_t size_bytes, enum pm_access access);
pm_profiler_touch pm_profiler_touch_sse2, pm_profiler_touch_avx2, pm_profiler_touch_avx512;

/* The window's addresses. */
static inline const uint64_t *pm_profiler_window(const struct pm_profiler_block *block) {
    return block->history + block->n - pm_profiler_settings.window;
}

/* ADDRESS, for which there is room, is the newest. */
static inline void pm_profiler_keep(struct pm_profiler_block *block, uint64_t address) {
    if (pm_profiler_settings.window > PM_RECENT) {
        block->history[block->n++] = address;
        return;
    }
    for (unsigned i = 0; i + 1 < PM_RECENT; i++)
        block->history[i] = block->history[i + 1];
    block->history[PM_RECENT - 1] = address;
}

/* Which class a reference to SIZE bytes has whose nearest address is DISTANCE away. */
static inline unsigned pm_stride_class(uint64_t distance, uint64_t size) {
    return (unsigned)((distance > 0) + (distance > size) + (distance > 2 * size) +
                      (distance > 4 * size) + (distance > 8 * size));
}

#endif
