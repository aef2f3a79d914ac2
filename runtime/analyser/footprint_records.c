/* Which bytes the executions of address records touch first; see footprint.h.

   An address record touches, from each address of its record, bytes at constant offsets: a few runs
   of bytes without a gap.  All of them are known to be touched as long as the address lies in an
   interval around one for which that was looked up: it reaches as far as touched bytes go on around
   each run.  So an execution whose addresses all lie in their intervals is done.  For each other
   address the bits of its runs are looked at: if they are set, its interval moves there; if not,
   its accesses go one by one, together with those of such other addresses, in their order.  What
   the accesses of the remaining addresses touch is touched already, and they are left out.

   How far an interval reaches is adapted: finding its ends costs time for each page, and it pays
   only if the address stays inside for a while. */
#include "runtime/analyser/footprint.h"

#include <string.h>

#include "core/probe_abi.h"
#include "runtime/modules.h"
#include "runtime/system.h"

enum {
    BASES = PM_RECORD_ADDRESSES + 1, /* base 0 is for fixed addresses */
    WORD_BYTES = PM_FOOTPRINT_WORD_BYTES,
    PAGE_BYTES = PM_FOOTPRINT_PAGE_BYTES,
    LEAST_REACH = 8 * WORD_BYTES,
    MOST_REACH = 2048 * PAGE_BYTES,
    /* An interval that lasted LONG executions and one for each page within its reach was worth its
       price: the next reaches twice as far.  One that lasted less than a quarter of that is
       followed by the shortest; after FIRST_PATIENCE of these, and each time twice as many, the
       largest reach is tried, as random addresses may all lie in one array. */
    LONG = 8,
    FIRST_PATIENCE = 64,
    MOST_PATIENCE = 1 << 13,
};

/* Bytes that are touched from an address: FROM it on, SIZE of them. */
struct run {
    uint64_t from, size;
};

struct base {
    uint32_t first_run, n_runs;
    uint32_t reach;      /* bytes around a run */
    uint32_t short_ones; /* intervals, since the largest reach was tried */
    uint32_t patience;   /* so many until it is tried again */
    uint64_t moved;      /* in which execution the interval was to begin */
    struct pm_page page; /* found last */
};

/* Of one address record. */
struct address_record_state {
    uint64_t low[BASES], length[BASES]; /* each word's interval */
    uint32_t n_words;
    uint64_t n; /* executions */
    const struct pm_address_record *record;
    struct address_record_state *next;
    struct base bases[BASES];
    struct run runs[]; /* [n_accesses] */
};

struct pm_footprint_address_records {
    struct address_record_state **states; /* by number of the record; NULL: not executed yet */
    struct address_record_state *first;   /* of all of them */
    struct pm_arena arena;
};

/* ---- begin and end --------------------------------------------------------------------------- */

static struct pm_footprint_address_records *make_address_records(void) {
    struct pm_footprint_address_records *address_records = pm_mmap(sizeof *address_records);
    if (!address_records)
        return NULL;
    address_records->states = pm_mmap(PM_MAX_ADDRESS_RECORDS * sizeof *address_records->states);
    if (address_records->states)
        return address_records;
    pm_footprint_free_records(address_records);
    return NULL;
}

void pm_footprint_free_records(struct pm_footprint_address_records *address_records) {
    if (!address_records)
        return;
    pm_arena_free(&address_records->arena);
    pm_munmap(address_records->states, PM_MAX_ADDRESS_RECORDS * sizeof *address_records->states);
    pm_munmap(address_records, sizeof *address_records);
}

void pm_footprint_forget_records(struct pm_footprint_address_records *address_records) {
    for (struct address_record_state *state = address_records ? address_records->first : NULL;
         state; state = state->next) {
        memset(state->length, 0, sizeof state->length);
        for (uint32_t base = 0; base < BASES; base++)
            state->bases[base].page = (struct pm_page){0};
    }
}

/* Adds RUN to the N of a base, ascending from the lowest offset, as offsets are signed; those that
   meet become one.  How many there are. */
static uint32_t add_run(struct run *runs, uint32_t n, struct run run) {
    uint32_t at = 0, behind;
    while (at < n && (int64_t)(runs[at].from + runs[at].size - run.from) < 0)
        at++;
    for (behind = at; behind < n && (int64_t)(runs[behind].from - run.from - run.size) <= 0;
         behind++) {
        uint64_t end = run.from + run.size, other_end = runs[behind].from + runs[behind].size;
        if ((int64_t)(runs[behind].from - run.from) < 0)
            run.from = runs[behind].from;
        run.size = ((int64_t)(other_end - end) > 0 ? other_end : end) - run.from;
    }
    memmove(runs + at + 1, runs + behind, (n - behind) * sizeof *runs);
    runs[at] = run;
    return n - (behind - at) + 1;
}

static void make_base(struct address_record_state *state, uint32_t number, uint32_t first_run) {
    const struct pm_address_record *record = state->record;
    struct base *base = &state->bases[number];
    *base = (struct base){.first_run = first_run, .reach = LEAST_REACH, .patience = FIRST_PATIENCE};
    for (unsigned i = 0; i < record->n_accesses; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        uint64_t size = pm_references[access->reference].size_bytes;
        if (access->address == number && size != 0)
            base->n_runs =
                add_run(state->runs + first_run, base->n_runs, (struct run){access->offset, size});
    }
}

static struct address_record_state *make_state(struct pm_footprint *footprint, uint64_t number) {
    struct pm_footprint_address_records *address_records = footprint->address_records;
    const struct pm_address_record *record = &pm_address_records[number];
    struct address_record_state *state = pm_arena_take(
        &address_records->arena, sizeof *state + record->n_accesses * sizeof *state->runs);
    if (!state || !pm_footprint_make_groups(footprint, pm_n_groups)) {
        footprint->failed = true;
        return NULL;
    }
    state->record = record;
    state->n_words = 1u + record->n_addresses;
    for (uint32_t base = 1, n_runs = 0; base < state->n_words; base++) {
        make_base(state, base, n_runs);
        n_runs += state->bases[base].n_runs;
    }
    state->next = address_records->first;
    address_records->first = state;
    return address_records->states[number] = state;
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* The bits of the page of ADDRESS; NULL: nothing of it was touched. */
static const uint64_t *look_at(const struct pm_footprint *footprint, struct pm_page *page,
                               uint64_t address) {
    const uint64_t key = pm_footprint_key(address);
    if (PM_UNLIKELY(page->key != key)) {
        uint64_t *bits = pm_page_table_look(&footprint->pages, key);
        if (!bits)
            return NULL;
        *page = (struct pm_page){key, bits};
    }
    return page->words;
}

/* How many bytes from ADDRESS upwards are touched, without a gap; the count ends at a word's end
   behind MOST. */
static uint64_t touched_above(const struct pm_footprint *footprint, struct pm_page *page,
                              uint64_t address, uint64_t most) {
    uint64_t n = 0;
    while (n < most) {
        const uint64_t *bits = look_at(footprint, page, address + n);
        uint64_t in_page = (address + n) % PAGE_BYTES, in_word = in_page % WORD_BYTES;
        if (!bits)
            break;
        if (bits[PM_FOOTPRINT_N_TOUCHED] == PAGE_BYTES) {
            n += PAGE_BYTES - in_page;
            continue;
        }
        uint64_t gaps = ~(bits[in_page / WORD_BYTES] >> in_word);
        uint64_t touched = gaps ? (uint64_t)__builtin_ctzll(gaps) : WORD_BYTES;
        n += touched;
        if (touched < WORD_BYTES - in_word)
            break;
    }
    return n;
}

/* The same downwards, from the byte before ADDRESS. */
static uint64_t touched_below(const struct pm_footprint *footprint, struct pm_page *page,
                              uint64_t address, uint64_t most) {
    uint64_t n = 0;
    while (n < most) {
        const uint64_t *bits = look_at(footprint, page, address - n - 1);
        uint64_t in_page = (address - n - 1) % PAGE_BYTES, in_word = in_page % WORD_BYTES;
        if (!bits)
            break;
        if (bits[PM_FOOTPRINT_N_TOUCHED] == PAGE_BYTES) {
            n += in_page + 1;
            continue;
        }
        uint64_t gaps = ~(bits[in_page / WORD_BYTES] << (WORD_BYTES - 1 - in_word));
        uint64_t touched = gaps ? (uint64_t)__builtin_clzll(gaps) : WORD_BYTES;
        n += touched;
        if (touched < in_word + 1)
            break;
    }
    return n;
}

static void adapt_reach(struct base *base, uint64_t lasted) {
    const uint64_t worth = LONG + base->reach / PAGE_BYTES;
    if (lasted >= worth) {
        base->reach = base->reach < MOST_REACH ? 2 * base->reach : MOST_REACH;
        base->short_ones = 0;
        base->patience = FIRST_PATIENCE;
    } else if (4 * lasted < worth) {
        base->reach = LEAST_REACH;
        if (++base->short_ones < base->patience)
            return;
        base->reach = MOST_REACH;
        base->short_ones = 0;
        base->patience *= base->patience < MOST_PATIENCE ? 2 : 1;
    }
}

/* Moves the interval of base NUMBER to ADDRESS; false: some of its bytes are not touched. */
static bool move_interval(const struct pm_footprint *footprint, struct address_record_state *state,
                          uint32_t number, uint64_t address) {
    struct base *base = &state->bases[number];
    const struct run *run = state->runs + base->first_run, *end = run + base->n_runs;
    uint64_t below = MOST_REACH, above = MOST_REACH;
    adapt_reach(base, state->n - base->moved);
    base->moved = state->n;
    for (; run < end; run++) {
        uint64_t from = address + run->from, most = above < base->reach ? above : base->reach;
        uint64_t touched = touched_above(footprint, &base->page, from, run->size + most);
        if (touched < run->size)
            return false;
        most = below < base->reach ? below : base->reach;
        above = above < touched - run->size ? above : touched - run->size;
        touched = touched_below(footprint, &base->page, from, most);
        below = below < touched ? below : touched;
    }
    state->low[number] = address - below;
    state->length[number] = below + above + 1;
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* The accesses of the bases in NEW, a bit for each. */
static void touch_one_by_one(struct pm_footprint *footprint, const struct pm_address_record *record,
                             const uint64_t *words, uint32_t new) {
    for (unsigned i = 0; i < record->n_accesses && !footprint->failed; i++) {
        const struct pm_record_access *access = &record->accesses[i];
        const struct pm_probe_reference *reference = &pm_references[access->reference];
        if (new >> access->address & 1)
            pm_footprint_touch(footprint, reference->group,
                               access->offset + (access->address ? words[access->address] : 0),
                               reference->size_bytes);
    }
}

/* An execution of which the words in OUTSIDE are not in their intervals. */
static __attribute__((noinline)) void execute_outside(struct pm_footprint *footprint,
                                                      struct address_record_state *state,
                                                      const uint64_t *words, uint32_t outside) {
    uint32_t new = outside & 1;
    for (uint32_t rest = outside & ~1u; rest; rest &= rest - 1) {
        uint32_t base = (uint32_t)__builtin_ctz(rest);
        if (!move_interval(footprint, state, base, words[base]))
            new |= 1u << base;
    }
    if (!new)
        return;
    touch_one_by_one(footprint, state->record, words, new);
    if (new & 1) { /* fixed addresses are touched from now on */
        state->low[0] = words[0];
        state->length[0] = 1;
    }
}

static inline uint32_t words_outside(const uint64_t *words,
                                     const struct address_record_state *state) {
    uint32_t outside = 0;
    for (uint32_t i = 0; i < state->n_words; i++)
        outside |= (uint32_t)(words[i] - state->low[i] >= state->length[i]) << i;
    return outside;
}

void pm_footprint_records(struct pm_footprint *footprint, const uint64_t *words,
                          const uint64_t *end) {
    if (!footprint->address_records && !(footprint->address_records = make_address_records()))
        footprint->failed = true;
    while (words < end && !footprint->failed) {
        if (PM_UNLIKELY(*words & PM_RECORD_IS_EVENT)) {
            words += 2;
            continue;
        }
        const uint64_t number = *words ^ PM_RECORD_IS_ADDRESSES;
        struct address_record_state *state = footprint->address_records->states[number];
        if (PM_UNLIKELY(!state) && !(state = make_state(footprint, number)))
            return;
        state->n++;
        uint32_t outside = words_outside(words, state);
        if (PM_UNLIKELY(outside))
            execute_outside(footprint, state, words, outside);
        words += state->n_words;
    }
}
