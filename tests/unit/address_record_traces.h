/* Random address records, as a linked program may have them, and traces of their executions, as its
   loops may make them: steps, which are address records and what may come in between.  After
   cmocka.h.
 */
#ifndef PM_TESTS_ADDRESS_RECORD_TRACES_H
#define PM_TESTS_ADDRESS_RECORD_TRACES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/modules.h"
#include "runtime/pmodel_handler.h"
#include "tests/unit/lru_stack.h"

/* Instead of runtime/modules.c. */
struct pm_probe_reference *pm_references;
struct pm_address_record *pm_address_records;
uint32_t pm_n_address_records, pm_n_groups;

enum {
    MOST_ADDRESS_RECORDS = 8,
    NO_ADDRESS_RECORD = MOST_ADDRESS_RECORDS, /* a number that no module has */
    MOST_WORDS = 1 << 16,
    MOST_STEPS = 4000,
    PLAIN_ACCESSES = 20, /* between two address records, at most */
};

/* ---- what a trace may look like -------------------------------------------------------------- */

/* Offsets of accesses. */
enum { ALIGNED = 1, UNALIGNED = 2, LARGE = 4, FIXED = 8 };

/* How an address differs from one execution to the next. */
enum { STANDS = 1, STRIDES = 2, JUMPS = 4, NEAR_ANOTHER = 8, MEETS_ANOTHER = 16 };

/* How it is analysed. */
enum { EXACT = 0, BOUNDED = 1, SAMPLED = 2, LARGER = 4 /* larger blocks as well */ };

struct style {
    unsigned most_addresses, most_accesses, most_size;
    unsigned offsets, motions; /* bits of those above */
    unsigned span_bits;        /* where addresses begin, and jump to */
    unsigned most_turns;       /* of a loop */
    unsigned interrupted;      /* behind one of so many executions comes something else; 0: none */
    unsigned options;          /* of the analysis; bits of those above */
};

/* One of the bits of CHOICES. */
static unsigned choose(unsigned choices) {
    unsigned skip = (unsigned)random_number((uint64_t)__builtin_popcount(choices));
    for (; skip > 0; skip--)
        choices &= choices - 1;
    return choices & -choices;
}

static uint64_t random_size(unsigned most) {
    static const uint64_t usual[] = {8, 4, 8, 16, 1, 2, 32, 64};
    uint64_t size = random_number(8) ? usual[random_number(8)] : 1 + random_number(64);
    return size < most ? size : most;
}

/* ---- address records ------------------------------------------------------------------------- */

struct lane {
    uint64_t base, span;
    int64_t stride;
    unsigned motion;
    uint32_t other; /* which it is near to, or meets */
};

static struct pm_probe_reference references[MOST_ADDRESS_RECORDS * PM_RECORD_ACCESSES];
static struct pm_record_access accesses[MOST_ADDRESS_RECORDS][PM_RECORD_ACCESSES];
static struct pm_address_record address_records[MOST_ADDRESS_RECORDS + 1];
static struct lane lanes[MOST_ADDRESS_RECORDS][PM_RECORD_BASES];
static uint32_t n_address_records, n_early; /* the others are loaded on the way */
static uint32_t n_groups, n_early_groups;

/* An address that 2^34 bytes may be added to or taken away from. */
static uint64_t random_address(unsigned span_bits) {
    return (1ull << 44) + random_number(1ull << span_bits);
}

static uint64_t random_offset(unsigned kinds) {
    switch (choose(kinds)) {
    case ALIGNED:
        return 8 * random_number(12) - 40;
    case UNALIGNED:
        return random_number(200) - 100;
    case LARGE:
        return random_number(2) ? random_number(1 << 20) - (1 << 19)
                                : random_number(1ull << 33) - (1ull << 32);
    default:
        return 0;
    }
}

static struct lane random_lane(const struct style *style, uint32_t number) {
    static const int64_t strides[] = {1,  4,  8,  8,   24,    32, 64, 4096,
                                      -1, -8, -8, -64, -4096, 72, 136};
    struct lane lane = {
        .base = random_address(style->span_bits),
        .span = 1ull << style->span_bits,
        .motion = choose(style->motions),
        .other = number > 1 ? 1 + (uint32_t)random_number(number - 1) : 0,
    };
    lane.stride = strides[random_number(sizeof strides / sizeof *strides)];
    if (lane.motion == NEAR_ANOTHER) /* a[i + 1], or a row above, or nearly too far to follow */
        lane.stride = 8 * ((int64_t)random_number(5) - 2) +
                      (random_number(3) ? 0 : 4096 * ((int64_t)random_number(5) - 2)) +
                      (random_number(4) ? 0 : 64 * ((int64_t)random_number(140) - 70));
    if (!lane.other && lane.motion >= NEAR_ANOTHER)
        lane.motion = STRIDES;
    return lane;
}

static void make_access(const struct style *style, uint32_t b, uint32_t i) {
    struct pm_address_record *address_record = &address_records[b];
    struct pm_record_access *access = &accesses[b][i];
    uint32_t n = address_record->n_addresses;
    bool again = i > 0 && random_number(4) == 0; /* where the access before was */
    uint32_t address = again ? accesses[b][i - 1].address : n ? 1 + (uint32_t)random_number(n) : 0;
    if (i < n)
        address = i + 1; /* each address is somebody's */
    else if (n && style->offsets & FIXED && random_number(4) == 0)
        address = 0;
    *access = (struct pm_record_access){.offset = random_offset(style->offsets),
                                        .reference = b * PM_RECORD_ACCESSES + i};
    access->address = address;
    if (again && address == accesses[b][i - 1].address)
        access->offset = accesses[b][i - 1].offset;
    else if (!address)
        access->offset = random_address(style->span_bits < 20 ? style->span_bits : 20);
    references[access->reference] = (struct pm_probe_reference){
        .group = (uint32_t)random_number(n_groups + 1u),
        .size_bytes = (uint32_t)random_size(style->most_size),
        .access = (uint8_t)(random_number(6) ? 1 + random_number(2) : 3),
    };
    n_groups += references[access->reference].group == n_groups;
}

static void make_address_record(const struct style *style, uint32_t b) {
    uint32_t most = style->most_addresses;
    uint16_t n_addresses = (uint16_t)random_number(most + 1u);
    uint64_t room = style->most_accesses - n_addresses;
    address_records[b] =
        (struct pm_address_record){.accesses = accesses[b], .n_addresses = n_addresses};
    address_records[b].n_accesses = (uint16_t)(n_addresses + random_number(room + 1));
    if (!address_records[b].n_accesses)
        address_records[b].n_accesses = 1;
    for (uint32_t i = 0; i < address_records[b].n_accesses; i++)
        make_access(style, b, i);
    for (uint32_t number = 1; number <= n_addresses; number++)
        lanes[b][number] = random_lane(style, number);
}

static void make_address_records(const struct style *style) {
    n_address_records = 1 + (uint32_t)random_number(MOST_ADDRESS_RECORDS);
    n_early = random_number(3) ? n_address_records : (uint32_t)random_number(n_address_records) + 1;
    n_groups = 0;
    memset(address_records, 0, sizeof address_records);
    for (uint32_t b = 0; b < n_address_records; b++) {
        make_address_record(style, b);
        if (b + 1 == n_early)
            n_early_groups = n_groups;
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

enum what { RECORD, FOREIGN, CUT, PLAIN, SETTLE, FORGET, LOAD };

struct step {
    enum what what;
    uint32_t at, n; /* words of a record; of PLAIN, accesses */
};

static uint64_t words[MOST_WORDS];
static struct step steps[MOST_STEPS];
static struct pmodel_access plain[MOST_STEPS];
static uint32_t n_words, n_steps, n_plain, n_loaded;

static void add_step(enum what what, uint32_t at, uint32_t n) {
    if (n_steps < MOST_STEPS)
        steps[n_steps++] = (struct step){what, at, n};
}

static uint64_t lane_address(const struct lane *lane, const uint64_t *record, uint64_t turn) {
    switch (lane->motion) {
    case STANDS:
        return lane->base;
    case STRIDES:
        return lane->base + turn * (uint64_t)lane->stride;
    case JUMPS:
        return random_number(4) ? lane->base + random_number(lane->span)
                                : lane->base + random_number(64);
    case NEAR_ANOTHER:
        return record[lane->other] + (uint64_t)lane->stride;
    default:
        return random_number(3) ? record[lane->other] : lane->base + 8 * random_number(1 << 10);
    }
}

/* One execution; a address record that is not loaded yet is foreign. */
static void execute(uint32_t b, uint64_t turn) {
    uint32_t n = 1u + address_records[b].n_addresses;
    uint64_t *record = words + n_words;
    if (n_words + n > MOST_WORDS)
        return;
    record[0] = PM_RECORD_IS_ADDRESSES + b;
    for (uint32_t lane = 1; lane < n; lane++)
        record[lane] = lane_address(&lanes[b][lane], record, turn);
    add_step(b < n_loaded ? RECORD : FOREIGN, n_words, n);
    n_words += n;
}

/* An event, the record of a reference, or of an address record that does not exist or is
   damaged. */
static void add_foreign(void) {
    const uint64_t headers[] = {PM_RECORD_IS_EVENT | random_number(1ull << 31),
                                random_number(PM_MAX_REFERENCES),
                                PM_RECORD_IS_ADDRESSES + NO_ADDRESS_RECORD,
                                PM_RECORD_IS_ADDRESSES + PM_MAX_ADDRESS_RECORDS - 1};
    if (n_words + 2 > MOST_WORDS)
        return;
    words[n_words] = headers[random_number(sizeof headers / sizeof *headers)];
    words[n_words + 1] = random_address(20);
    add_step(FOREIGN, n_words, 2);
    n_words += 2;
}

static void add_plain(const struct style *style) {
    uint32_t n = 1 + (uint32_t)random_number(PLAIN_ACCESSES);
    if (n_plain + n > MOST_STEPS)
        return;
    add_step(PLAIN, n_plain, n);
    for (; n > 0; n--)
        plain[n_plain++] = (struct pmodel_access){
            .address = random_address(random_number(2) ? style->span_bits : 12),
            .size_bytes = (uint32_t)random_size(style->most_size),
            .group =
                (uint32_t)random_number(n_loaded == n_address_records ? n_groups : n_early_groups),
            .kind = (uint8_t)(1 + random_number(3)),
        };
}

static void interrupt(const struct style *style) {
    switch (random_number(32)) {
    case 0:
        add_step(SETTLE, 0, 0);
        break;
    case 1:
        add_step(FORGET, 0, 0);
        break;
    case 2:
        n_loaded = n_address_records;
        add_step(LOAD, 0, 0);
        break;
    default:
        if (random_number(3) == 0)
            add_step(CUT, 0, 0);
        else if (random_number(2))
            add_plain(style);
        else
            add_foreign();
    }
}

/* A loop over a few address records, some of them not in every iteration; perhaps begun again. */
static void run_loop(const struct style *style) {
    uint32_t body[4], n_body = 1 + (uint32_t)random_number(4);
    uint64_t turns = 1 + random_number(style->most_turns), rare = 2 + random_number(6);
    for (uint32_t i = 0; i < n_body; i++)
        body[i] = (uint32_t)random_number(n_address_records);
    for (uint64_t rounds = 1 + random_number(3); rounds > 0; rounds--)
        for (uint64_t turn = 0; turn < turns && n_steps < MOST_STEPS; turn++)
            for (uint32_t i = 0; i < n_body; i++) {
                if (i == 3 && random_number(rare))
                    continue;
                execute(body[i], turn);
                if (style->interrupted && random_number(style->interrupted) == 0)
                    interrupt(style);
            }
}

static void make_trace(const struct style *style) {
    n_words = n_steps = n_plain = 0;
    n_loaded = n_early;
    for (unsigned i = 0; i < 30; i++)
        run_loop(style);
}

#endif
