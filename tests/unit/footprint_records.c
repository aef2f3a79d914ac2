/* The bytes that each group was the first to touch are those of the plain definition where address
   records are taken as they are: random address records, executed as programs would, of which every
   access is applied byte by byte to a set of all bytes, with plain accesses, events and settlements
   in between, and after bytes were forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/analyser/footprint.h"
#include "runtime/reuse/address_records/record_state.h"
#include "tests/unit/address_record_traces.h"
#include "tests/unit/rounds.h"

/* ---- the plain definition -------------------------------------------------------------------- */

/* Addresses in an open hash table; 0 is none's. */
enum { ENTRIES = 1 << 21, MOST_BYTES = ENTRIES / 2 };
static uint64_t touched[ENTRIES];
static uint32_t n_touched;
static uint64_t bytes[MOST_ADDRESS_RECORDS * PM_RECORD_ACCESSES];

static void forget(void) {
    memset(touched, 0, sizeof touched);
    n_touched = 0;
}

static void touch_byte(uint64_t address, uint32_t group) {
    uint64_t i = address * 0x9e3779b97f4a7c15 >> 43;
    while (touched[i] && touched[i] != address)
        i = (i + 1) % ENTRIES;
    bytes[group] += !touched[i];
    n_touched += !touched[i];
    touched[i] = address;
}

static void touch(uint64_t address, uint32_t size_bytes, uint32_t group) {
    for (uint32_t i = 0; i < size_bytes; i++)
        touch_byte(address + i, group);
}

static void execute_plainly(const uint64_t *record) {
    const struct pm_address_record *address_record =
        &address_records[*record ^ PM_RECORD_IS_ADDRESSES];
    for (uint32_t i = 0; i < address_record->n_accesses; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        const struct pm_probe_reference *reference = &references[access->reference];
        touch(access->offset + (access->address ? record[access->address] : 0),
              reference->size_bytes, reference->group);
    }
}

static void check_bytes(const struct pm_footprint *footprint, uint64_t seed, uint32_t step) {
    assert_false(footprint->failed);
    for (uint32_t group = 0; group < n_groups; group++)
        if (pm_footprint_bytes(footprint, group) != bytes[group])
            fail_msg("seed %#llx, before step %u: group %u touched %llu bytes, not %llu",
                     (unsigned long long)seed, step, group, (unsigned long long)bytes[group],
                     (unsigned long long)pm_footprint_bytes(footprint, group));
}

/* ---- the analysis ---------------------------------------------------------------------------- */

/* May it stand between address records? */
static bool is_event(const struct step *step) {
    return step->what == FOREIGN && words[step->at] & PM_RECORD_IS_EVENT;
}

/* Records and events from step I on, which are neighbours; the step behind. */
static uint32_t walk_run(struct pm_footprint *footprint, uint32_t i) {
    const uint32_t from = steps[i].at;
    uint32_t to = from;
    for (; i < n_steps && (steps[i].what == RECORD || is_event(&steps[i])); i++) {
        if (steps[i].what == RECORD)
            execute_plainly(words + steps[i].at);
        to = steps[i].at + steps[i].n;
    }
    pm_footprint_records(footprint, words + from, words + to);
    return i;
}

static void take_step(struct pm_footprint *footprint, const struct step *step) {
    switch (step->what) {
    case PLAIN:
        for (uint32_t i = 0; i < step->n; i++)
            touch(plain[step->at + i].address, plain[step->at + i].size_bytes,
                  plain[step->at + i].group);
        pm_footprint_accesses(footprint, pm_n_groups, plain + step->at, step->n);
        break;
    case FORGET:
        forget();
        pm_footprint_forget(footprint);
        break;
    case LOAD:
        pm_n_address_records = NO_ADDRESS_RECORD + 1;
        pm_n_groups = n_groups;
        break;
    default:
        break;
    }
}

static void check_trace(uint64_t seed) {
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    pm_n_address_records = n_early;
    pm_n_groups = n_early_groups;
    memset(bytes, 0, sizeof bytes);
    forget();
    for (uint32_t i = 0; i < n_steps && n_touched < MOST_BYTES;) {
        uint32_t step = i;
        if (steps[i].what == RECORD || is_event(&steps[i]))
            i = walk_run(footprint, i);
        else
            take_step(footprint, &steps[i++]);
        check_bytes(footprint, seed, step);
    }
    pm_footprint_free(footprint);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void check_style(const struct style *style) {
    enum { TRACES = ROUNDS(30, 3) };
    pm_references = references;
    pm_address_records = address_records;
    for (unsigned n = 0; n < TRACES; n++) {
        uint64_t seed = random_state;
        make_address_records(style);
        make_trace(style);
        check_trace(seed);
    }
}

#define STYLE(name, ...)                                                                           \
    static void bytes_are_those_of_the_plain_definition_on_##name(void **state) {                  \
        static const struct style style = {__VA_ARGS__};                                           \
        (void)state;                                                                               \
        random_state = __LINE__;                                                                   \
        check_style(&style);                                                                       \
    }
STYLE(strided_loops, 6, 20, 16, ALIGNED, STANDS | STRIDES, 16, 600, 0, EXACT)
STYLE(neighbouring_addresses, 8, 24, 16, ALIGNED, STRIDES | NEAR_ANOTHER, 15, 400, 200, EXACT)
STYLE(unaligned_accesses, 8, 24, 64, ALIGNED | UNALIGNED, STRIDES | NEAR_ANOTHER, 30, 300, 300,
      EXACT)
STYLE(irregular_addresses, 4, 12, 8, ALIGNED, STRIDES | JUMPS, 14, 1000, 200, EXACT)
STYLE(few_bytes, 5, 16, 8, ALIGNED | UNALIGNED, STRIDES | JUMPS, 9, 300, 100, EXACT)
STYLE(addresses_that_meet, 6, 20, 8, ALIGNED, STRIDES | MEETS_ANOTHER | NEAR_ANOTHER, 13, 200, 100,
      EXACT)
STYLE(distant_offsets, 15, 48, 64, UNALIGNED | LARGE, STRIDES | JUMPS, 12, 200, 100, EXACT)
STYLE(repeats, 15, 48, 32, ALIGNED, STANDS, 12, 2000, 2000, EXACT)
STYLE(fixed_addresses, 3, 24, 64, ALIGNED | FIXED, STANDS | STRIDES, 12, 200, 100, EXACT)
STYLE(no_addresses, 0, 48, 64, FIXED, STRIDES, 12, 200, 60, EXACT)
STYLE(interruptions, 6, 20, 16, ALIGNED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 100, 4, EXACT)
STYLE(anything, 15, 48, 64, 15, 31, 14, 300, 60, EXACT)
STYLE(anything_small, 3, 6, 8, 15, 31, 12, 1000, 30, EXACT)

/* A loop over an array, again and again: intervals grow over several pages, whatever was not
   touched in between ends them, and bytes that were forgotten are first touched again. */
static void gaps_end_what_is_known(void **state) {
    (void)state;
    enum { SPAN = 1 << 15, LOADED = 8, GAP = SPAN / 2 + 24, TURNS = SPAN / LOADED };
    static const uint64_t at = 3ull << 40;
    struct pm_footprint *footprint = pm_footprint_new();
    assert_non_null(footprint);
    pm_references = references;
    pm_address_records = address_records;
    pm_n_address_records = n_groups = pm_n_groups = 1;
    references[0] = (struct pm_probe_reference){.size_bytes = LOADED, .access = 1};
    accesses[0][0] = (struct pm_record_access){.offset = 16, .address = 1};
    address_records[0] =
        (struct pm_address_record){.accesses = accesses[0], .n_accesses = 1, .n_addresses = 1};
    for (uint64_t forgotten = 0, expected = 0; forgotten < 2; forgotten++) {
        for (uint64_t pass = 0; pass < 6; pass++) {
            for (uint64_t turn = 0; turn < TURNS; turn++) {
                uint64_t offset = (pass % 2 ? turn : TURNS - 1 - turn) * LOADED;
                uint64_t record[] = {PM_RECORD_IS_ADDRESSES, at - 16 + offset};
                if (offset != GAP || pass == 4)
                    pm_footprint_records(footprint, record, record + 2);
                if (pass == 0 && offset != GAP)
                    expected += LOADED;
            }
            expected += pass == 4 ? LOADED : 0;
            assert_int_equal(pm_footprint_bytes(footprint, 0), expected);
        }
        pm_footprint_forget(footprint);
    }
    pm_footprint_free(footprint);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_strided_loops),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_neighbouring_addresses),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_unaligned_accesses),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_irregular_addresses),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_few_bytes),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_addresses_that_meet),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_distant_offsets),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_repeats),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_fixed_addresses),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_no_addresses),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_interruptions),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_anything),
        cmocka_unit_test(bytes_are_those_of_the_plain_definition_on_anything_small),
        cmocka_unit_test(gaps_end_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
