/* What a profile of basic blocks has where address records are taken as they are is what the
   definitions say of every access: strides from the nearest of the last addresses of the block, and
   misses of simulated caches; in each vector extension. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/profiler/profiler_state.h"
#include "runtime/reuse/address_records/record_state.h"
#include "tests/truth/caches.h"
#include "tests/unit/address_record_traces.h"
#include "tests/unit/rounds.h"

uint32_t *pm_reference_blocks;
uint32_t pm_n_references;

enum { MOST_REFERENCES = MOST_ADDRESS_RECORDS * PM_RECORD_ACCESSES, MOST_WINDOW = 40 };

/* ---- the plain definition -------------------------------------------------------------------- */

/* Of a block, by its first reference. */
static struct plain_block {
    uint64_t last[MOST_WINDOW]; /* the newest first */
    uint32_t n;
    uint64_t references, strides[PM_STRIDE_CLASSES], misses[2];
} blocks[MOST_REFERENCES];
static uint32_t first_of[MOST_REFERENCES], window;
static struct caches *truth;

static void add_stride(struct plain_block *block, uint64_t address, uint64_t size) {
    static const uint64_t elements[] = {0, 1, 2, 4, 8};
    unsigned class = 5;
    for (unsigned c = 5; c-- > 0;)
        for (uint32_t i = 0; i < block->n; i++) {
            const uint64_t other = block->last[i];
            if ((address > other ? address - other : other - address) <= elements[c] * size)
                class = c;
        }
    block->strides[class]++;
    memmove(block->last + 1, block->last, (window - 1) * sizeof *block->last);
    block->last[0] = address;
    block->n += block->n < window;
}

static uint64_t all_misses(unsigned level) {
    const struct caches_counts counts = caches_counts(truth, level);
    return counts.load_misses + counts.store_misses;
}

static void access_plainly(uint32_t reference, uint64_t address) {
    struct plain_block *block = &blocks[first_of[reference]];
    const uint64_t before[2] = {all_misses(0), all_misses(1)};
    block->references++;
    add_stride(block, address, references[reference].size_bytes);
    caches_access(truth, address, references[reference].size_bytes,
                  references[reference].access == PM_ACCESS_STORE);
    for (unsigned level = 0; level < 2; level++)
        block->misses[level] += all_misses(level) > before[level];
}

static void execute_plainly(const uint64_t *record) {
    const struct pm_address_record *address_record =
        &address_records[*record ^ PM_RECORD_IS_ADDRESSES];
    for (uint32_t i = 0; i < address_record->n_accesses; i++) {
        const struct pm_record_access *access = &address_record->accesses[i];
        access_plainly(access->reference,
                       access->offset + (access->address ? record[access->address] : 0));
    }
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* Some address records share a block with the one before. */
static void begin(bool shares) {
    struct pm_error err = {0};
    const struct pm_level levels[] = {
        {.size_bytes = 4096, .block_bytes = 64, .associativity = 4, .write_allocate = true},
        {.size_bytes = 32768, .block_bytes = 64, .associativity = 16, .write_allocate = true}};
    memset(blocks, 0, sizeof blocks);
    for (uint32_t r = 0, first = 0; r < MOST_REFERENCES; r++) {
        const uint32_t b = r / PM_RECORD_ACCESSES, i = r % PM_RECORD_ACCESSES;
        if (i == 0 && !(shares && b % 2))
            first = r;
        first_of[r] = first;
        /* A block's references stand one behind the other. */
        references[r].reserved =
            i < address_records[b].n_accesses || (shares && b % 2 == 0) ? PM_REFERENCE_KNOWN : 0;
    }
    pm_references = references;
    pm_address_records = address_records;
    pm_n_address_records = n_loaded;
    pm_n_references = MOST_REFERENCES;
    pm_reference_blocks = first_of;
    caches_free(truth);
    truth = caches_new(levels, 2, 7, &err);
    assert_non_null(truth);
}

static void compare(const struct pm_profiler *profile, uint64_t seed) {
    for (uint32_t r = 0; r < MOST_REFERENCES; r++) {
        const struct plain_block *plain = &blocks[r];
        const struct pm_profiler_block *block = profile->blocks[r];
        if (!block && !plain->references)
            continue;
        assert_non_null(block);
        const uint64_t served = block->served[0] + block->served[1];
        bool same = block->references == plain->references && served == plain->misses[0] &&
                    block->served[1] == plain->misses[1];
        for (unsigned c = 0; c < PM_STRIDE_CLASSES; c++)
            same &= block->strides[c] == plain->strides[c];
        if (!same)
            fail_msg("seed %#llx, window %u: block %u is not as it should be",
                     (unsigned long long)seed, window, r);
    }
}

static void run(const struct style *style, enum pm_reuse_variant variant, bool shares) {
    const uint64_t seed = random_state;
    char text[16];
    snprintf(text, sizeof text, "%u", window);
    setenv(PM_ENV_PROFILE, text, 1);
    setenv(PM_ENV_SIMULATE, "4096/64/4l,32768/64/16l", 1);
    assert_true(pm_profiler_wanted());
    make_address_records(style);
    n_early = n_address_records;
    make_trace(style);
    n_loaded = n_address_records;
    begin(shares);
    struct pm_profiler *profile = pm_profiler_new();
    assert_non_null(profile);
    profile->variant = variant;
    for (uint32_t i = 0; i < n_steps;) {
        const uint32_t from = steps[i].at;
        uint32_t to = from;
        for (; i < n_steps && steps[i].what == RECORD && steps[i].at == to; i++) {
            execute_plainly(words + steps[i].at);
            to += steps[i].n;
        }
        if (to > from)
            assert_ptr_equal(pm_profiler_records(profile, words + from, words + to), words + to);
        else
            i++;
        if (random_number(20) == 0)
            pm_profiler_flush(profile);
    }
    pm_profiler_flush(profile);
    compare(profile, seed);
    pm_profiler_free(profile);
}

static void profiles_of_address_records_are_exact(void **state) {
    (void)state;
    static const struct style styles[] = {
        {3, 4, 8, ALIGNED, STANDS | STRIDES, 20, 200, 0, 0},
        {4, 8, 32, ALIGNED | UNALIGNED | FIXED, STRIDES | NEAR_ANOTHER, 16, 100, 30, 0},
        {6, 12, 64, ALIGNED | UNALIGNED | FIXED, STANDS | STRIDES | JUMPS | NEAR_ANOTHER, 14, 40,
         20, 0},
        {15, 48, 64, ALIGNED | UNALIGNED | LARGE | FIXED,
         STANDS | STRIDES | JUMPS | NEAR_ANOTHER | MEETS_ANOTHER, 20, 30, 15, 0},
        {2, 3, 8, ALIGNED, STRIDES | MEETS_ANOTHER, 12, 400, 0, 0},
    };
    static const uint32_t windows[] = {8, 8, 3, 1, MOST_WINDOW, 17};
    const unsigned rounds = ROUNDS(40, 4);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t s = 0; s < sizeof styles / sizeof *styles; s++)
            for (unsigned variant = 0; variant <= (unsigned)pm_reuse_best_variant(); variant++) {
                window = windows[random_number(sizeof windows / sizeof *windows)];
                run(&styles[s], (enum pm_reuse_variant)variant, random_number(3) == 0);
            }
    caches_free(truth);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles_of_address_records_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
