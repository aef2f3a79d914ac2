/* The raw file: what the runtime writes, the command reads; and a file that is truncated, damaged,
   of another version or absurd gets a sentence with its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "measure/raw/raw.h"
#include "runtime/raw_output/raw_output.h"

/* ---- a small file ---------------------------------------------------------------------------- */

static void add_words(struct pm_raw_builder *builder, const uint64_t *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        pm_raw_add_u64(builder, words[i]);
}

static void add_meta_of(struct pm_raw_builder *builder, uint64_t flags) {
    const uint64_t words[] = {4711, 1, 1700000000000000000, 2000, 1000, 2, 3, flags};
    pm_raw_section_begin(builder, PM_RAW_META);
    add_words(builder, words, 8);
    pm_raw_section_end(builder);
}

static void add_meta(struct pm_raw_builder *builder) { add_meta_of(builder, PM_RAW_FORKED); }

static void add_module(struct pm_raw_builder *builder) {
    const uint64_t build_id[3] = {0x0102, 0, 0};
    pm_raw_section_begin(builder, PM_RAW_MODULE);
    pm_raw_add_u64(builder, 0xabcdef);
    pm_raw_add_u32(builder, 3);  /* counters */
    pm_raw_add_u32(builder, 5);  /* groups */
    pm_raw_add_u32(builder, 10); /* first counter */
    pm_raw_add_u32(builder, 20);
    add_words(builder, build_id, 3);
    pm_raw_section_end(builder);
}

static const struct pm_raw_count usual_counts[2] = {{0, 100}, {2, UINT64_MAX}};

/* BYTES of COUNTS. */
static void add_counters(struct pm_raw_builder *builder, uint64_t module,
                         const struct pm_raw_count *counts, size_t bytes) {
    const uint64_t words[] = {module, 1};
    pm_raw_section_begin(builder, PM_RAW_COUNTERS);
    add_words(builder, words, 2);
    pm_raw_add(builder, counts, bytes);
    pm_raw_section_end(builder);
}

static const struct pm_raw_histogram_head usual_stores = {.block_bytes = 64,
                                                          .thread = 1,
                                                          .group = 4,
                                                          .n_bins = 1,
                                                          .cold_stores = 7,
                                                          .n_blocks = 13,
                                                          .bytes_touched = PM_RAW_UNKNOWN_BYTES,
                                                          .sample = 1};

/* Stores by dirty distance. */
static void add_dirty(struct pm_raw_builder *builder, const struct pm_raw_histogram_head *head,
                      uint64_t loads) {
    const struct pm_raw_bin bin = {8, 8, loads, 61, 8.0 * (61.0 + (double)loads)};
    pm_raw_section_begin(builder, PM_RAW_DIRTY);
    pm_raw_add(builder, head, sizeof *head);
    pm_raw_add(builder, &bin, sizeof bin);
    pm_raw_section_end(builder);
}

/* What goes on from block to block. */
static void add_sequential(struct pm_raw_builder *builder,
                           const struct pm_raw_histogram_head *head) {
    const struct pm_raw_bin bin = {40, 40, 3, 2, 200};
    pm_raw_section_begin(builder, PM_RAW_SEQUENTIAL);
    pm_raw_add(builder, head, sizeof *head);
    pm_raw_add(builder, &bin, sizeof bin);
    pm_raw_section_end(builder);
}

static const struct pm_raw_histogram_head usual_head = {0, 1, 64, 4, 2, 6, 7, 13, 99, 300, 8, 9, 2};
static const struct pm_raw_bin usual_bins[2] = {{0, 0, 50, 60, 0}, {256, 257, 3, 1, 1026}};

static void add_histogram(struct pm_raw_builder *builder, const struct pm_raw_histogram_head *head,
                          const struct pm_raw_bin *bins, size_t n_bins) {
    pm_raw_section_begin(builder, PM_RAW_HISTOGRAM);
    pm_raw_add(builder, head, sizeof *head);
    pm_raw_add(builder, bins, n_bins * sizeof *bins);
    pm_raw_section_end(builder);
}

static const struct pm_raw_carried_head usual_by = {0, 3, 0, 2, 1, 0};
static const struct pm_raw_histogram_head usual_reuses = {.block_bytes = 64,
                                                          .thread = 1,
                                                          .group = 4,
                                                          .n_bins = 2,
                                                          .n_blocks = 13,
                                                          .bytes_touched = PM_RAW_UNKNOWN_BYTES,
                                                          .sample = 1};

static void add_carried(struct pm_raw_builder *builder, const struct pm_raw_carried_head *by,
                        const struct pm_raw_histogram_head *head, size_t n_bins) {
    pm_raw_section_begin(builder, PM_RAW_CARRIED);
    pm_raw_add(builder, by, sizeof *by);
    pm_raw_add(builder, head, sizeof *head);
    pm_raw_add(builder, usual_bins, n_bins * sizeof *usual_bins);
    pm_raw_section_end(builder);
}

static const struct pm_raw_time usual_times[2] = {{0, 7, 12, 1.5e9, 600},
                                                  {PM_RAW_OUTSIDE, 0, 0, 2e6, 0}};

static void add_times(struct pm_raw_builder *builder, uint64_t clock,
                      const struct pm_raw_time *times, size_t n_bytes) {
    pm_raw_section_begin(builder, PM_RAW_TIMES);
    pm_raw_add_u64(builder, 1);
    pm_raw_add_u64(builder, clock);
    pm_raw_add(builder, times, n_bytes);
    pm_raw_section_end(builder);
}

static const struct pm_raw_frame usual_frames[3] = {{0x1000, -2}, {0x1000, 7}, {0x1005, 1}};

static void add_frames(struct pm_raw_builder *builder, uint64_t module, uint64_t n,
                       const struct pm_raw_frame *frames) {
    pm_raw_section_begin(builder, PM_RAW_FRAMES);
    pm_raw_add_u64(builder, module);
    pm_raw_add_u64(builder, n);
    pm_raw_add(builder, frames, sizeof usual_frames);
    pm_raw_section_end(builder);
}

static const uint64_t usual_skipped[4] = {1, 70, 80, 2};

static void add_skipped(struct pm_raw_builder *builder, const uint64_t *words, size_t count) {
    pm_raw_section_begin(builder, PM_RAW_SKIPPED);
    add_words(builder, words, count);
    pm_raw_section_end(builder);
}

/* Misses of caches of 1, 2, 4 … blocks: 100 + 10·i of eighth i, less by one each, down to 70 +
 * 10·i.
 */
static void usual_samples(uint64_t (*misses)[PM_RAW_SUBSAMPLES]) {
    for (unsigned size = 0; size < PM_RAW_SAMPLE_SIZES; size++)
        for (unsigned i = 0; i < PM_RAW_SUBSAMPLES; i++)
            misses[size][i] = (size < 30 ? 100 - size : 70) + 10 * i;
}

static void add_samples(struct pm_raw_builder *builder, uint64_t block_bytes, uint64_t sample,
                        uint64_t (*misses)[PM_RAW_SUBSAMPLES], size_t n_sizes) {
    pm_raw_section_begin(builder, PM_RAW_SAMPLES);
    add_words(builder, (uint64_t[]){1, block_bytes, sample}, 3);
    pm_raw_add(builder, misses, n_sizes * sizeof *misses);
    pm_raw_section_end(builder);
}

/* Two references, the first with two levels, the inner one of which was seen whole, in two
   variants. */
struct strides_content {
    struct pm_raw_walk first;
    struct pm_raw_stride_level levels[2];
    struct pm_raw_variant variants[2];
    struct pm_raw_walk second;
};
static const struct strides_content usual_strides = {
    {3, 2, 2, 100, 4096, 8192},
    {{8, 80, 90, 10, 9, 10, 100}, {-512, 0, 0, 7, 0, 0, 0}},
    {{90, 17, 1, 4096, 8192, 2, {{8, 10}, {-512, 7}}}, {10, 99, 3, 4096, 5000, 1, {{-16, 10}}}},
    {5, 0, 0, 1, 9, 9}};

static void add_strides(struct pm_raw_builder *builder, uint64_t module,
                        const struct strides_content *content, size_t n_bytes) {
    pm_raw_section_begin(builder, PM_RAW_STRIDES);
    add_words(builder, (uint64_t[]){module, 1}, 2);
    pm_raw_add(builder, content, n_bytes);
    pm_raw_section_end(builder);
}

/* Two basic blocks, of machines with two and one levels; and elements of two references. */
struct profile_content {
    struct pm_raw_profile_head head;
    struct pm_raw_block first;
    uint64_t first_served[3];
    struct pm_raw_block second;
    uint64_t second_served[3];
};
static const struct profile_content usual_profile = {{0, 1, 8, 3},
                                                     {2, 100, 800, {10, 20, 0, 0, 0, 70}},
                                                     {50, 20, 100},
                                                     {7, 1, 4, {0, 0, 1, 0, 0, 0}},
                                                     {0, 0, 0}};
static const struct pm_raw_lanes usual_lanes[2] = {{3, 17}, {4, 1}};

static void add_profile(struct pm_raw_builder *builder, const struct profile_content *content,
                        size_t n_bytes) {
    pm_raw_section_begin(builder, PM_RAW_PROFILE);
    pm_raw_add(builder, content, n_bytes);
    pm_raw_section_end(builder);
}

static void add_lanes(struct pm_raw_builder *builder, uint64_t module,
                      const struct pm_raw_lanes *lanes, size_t n_bytes) {
    pm_raw_section_begin(builder, PM_RAW_LANES);
    add_words(builder, (uint64_t[]){module, 1}, 2);
    pm_raw_add(builder, lanes, n_bytes);
    pm_raw_section_end(builder);
}

static const struct pm_raw_branch usual_branches[2] = {{3, 0, 100, 60, 40, {4, 5, 40}},
                                                       {4, 0, 1, 0, 0, {0, 0, 0}}};

static void add_branches(struct pm_raw_builder *builder, uint64_t module,
                         const struct pm_raw_branch *branches, size_t n_bytes) {
    pm_raw_section_begin(builder, PM_RAW_BRANCHES);
    add_words(builder, (uint64_t[]){module, 1}, 2);
    pm_raw_add(builder, branches, n_bytes);
    pm_raw_section_end(builder);
}

static const struct pm_raw_rank usual_rank = {3, 8, PM_RAW_MPICH, "node7"};

static void add_rank(struct pm_raw_builder *builder, const struct pm_raw_rank *rank) {
    pm_raw_section_begin(builder, PM_RAW_RANK);
    add_words(builder, (uint64_t[]){rank->rank, rank->size, rank->library}, 3);
    pm_raw_add(builder, rank->host, sizeof rank->host);
    pm_raw_section_end(builder);
}

/* Two paths, the second within the first, and intervals from the one to the other. */
struct intervals_content {
    struct pm_raw_call_site sites[2];
    char callees[6]; /* of the first one nothing is known */
    uint64_t thread;
    struct pm_raw_interval row;
    struct pm_raw_interval_count count;
    struct pm_raw_interval_frame frame;
    struct pm_raw_interval_head of;
    struct pm_raw_histogram_head histogram;
};
static const struct intervals_content usual_intervals = {
    {{0, 0, 0x1004}, {1, 0, 0x2008}},
    "\0step",
    1,
    {1, 2, 8, 4, 1, 1},
    {0, 2, 77},
    {0, 0x1004, -3},
    {1, 2, 8},
    {.block_bytes = 64, .thread = 1, .group = 4, .n_bins = 2, .cold_loads = 5, .sample = 1}};

static void add_intervals(struct pm_raw_builder *builder, const struct intervals_content *content) {
    pm_raw_section_begin(builder, PM_RAW_PATHS);
    pm_raw_add_u64(builder, 2);
    pm_raw_add(builder, content->sites, sizeof content->sites);
    pm_raw_add(builder, content->callees, sizeof content->callees);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_INTERVALS);
    pm_raw_add_u64(builder, content->thread);
    pm_raw_add(builder, &content->row, sizeof content->row);
    pm_raw_add(builder, &content->count, sizeof content->count);
    pm_raw_add(builder, &content->frame, sizeof content->frame);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_INTERVAL_HISTOGRAM);
    pm_raw_add(builder, &content->of, sizeof content->of);
    pm_raw_add(builder, &content->histogram, sizeof content->histogram);
    pm_raw_add(builder, usual_bins, sizeof usual_bins);
    pm_raw_section_end(builder);
}

static void add_note(struct pm_raw_builder *builder, const char *text, size_t bytes) {
    pm_raw_section_begin(builder, PM_RAW_NOTE);
    pm_raw_add(builder, text, bytes);
    pm_raw_section_end(builder);
}

static void add_usual(struct pm_raw_builder *builder) {
    pm_raw_begin(builder);
    add_meta(builder);
    add_module(builder);
    add_counters(builder, 0, usual_counts, sizeof usual_counts);
    add_histogram(builder, &usual_head, usual_bins, 2);
    add_dirty(builder, &usual_stores, 0);
    add_sequential(builder, &usual_stores);
    add_carried(builder, &usual_by, &usual_reuses, 2);
    add_times(builder, PM_RAW_CLOCK_TSC, usual_times, sizeof usual_times);
    add_skipped(builder, usual_skipped, 4);
    add_frames(builder, 0, 3, usual_frames);
    uint64_t misses[PM_RAW_SAMPLE_SIZES][PM_RAW_SUBSAMPLES];
    usual_samples(misses);
    add_samples(builder, 64, 16, misses, PM_RAW_SAMPLE_SIZES);
    add_strides(builder, 0, &usual_strides, sizeof usual_strides);
    add_profile(builder, &usual_profile, sizeof usual_profile);
    add_lanes(builder, 0, usual_lanes, sizeof usual_lanes);
    add_rank(builder, &usual_rank);
    add_intervals(builder, &usual_intervals);
    add_note(builder, "five words of some note", 24);
}

static char folder[] = "/tmp/pmodel-raw-XXXXXX";
static char path[4400];

static int make_folder(void **state) {
    (void)state;
    const char *parent = getenv("TMP");
    if (parent)
        snprintf(path, sizeof path, "%s/raw-XXXXXX", parent);
    else
        snprintf(path, sizeof path, "%s", folder);
    return mkdtemp(path) ? 0 : -1;
}

/* Saves BUILDER in the folder; the name that it got is the result's. */
static char *save(struct pm_raw_builder *builder, uint64_t id) {
    char *name = calloc(1, 4400);
    pm_raw_save(builder, path, id, name, 4400);
    assert_int_not_equal(name[0], 0);
    pm_raw_builder_free(builder);
    return name;
}

static char *read_bytes(const char *name, size_t *n_bytes) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 16);
    *n_bytes = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return bytes;
}

/* ---- what comes back ------------------------------------------------------------------------- */

static void check_usual(const struct pm_raw *raw) {
    assert_int_equal(raw->process_id, 4711);
    assert_int_equal(raw->wall_ns, 2000);
    assert_int_equal(raw->n_threads, 2);
    assert_int_equal(raw->n_missed_jumps, 3);
    assert_int_equal(raw->flags, PM_RAW_FORKED);
    assert_int_equal(raw->rank.rank, 3);
    assert_int_equal(raw->rank.size, 8);
    assert_int_equal(raw->rank.library, PM_RAW_MPICH);
    assert_string_equal(raw->rank.host, "node7");
    assert_int_equal(raw->n_paths, 3);
    assert_memory_equal(&raw->paths[2].site, &usual_intervals.sites[1],
                        sizeof usual_intervals.sites[1]);
    assert_string_equal(raw->paths[1].callee, "");
    assert_string_equal(raw->paths[2].callee, "step");
    assert_int_equal(raw->n_intervals, 1);
    assert_int_equal(raw->intervals[0].thread, 1);
    assert_memory_equal(&raw->intervals[0].head, &usual_intervals.row, sizeof usual_intervals.row);
    assert_memory_equal(raw->intervals[0].counts, &usual_intervals.count,
                        sizeof usual_intervals.count);
    assert_memory_equal(raw->intervals[0].frames, &usual_intervals.frame,
                        sizeof usual_intervals.frame);
    assert_int_equal(raw->n_interval_parts, 1);
    assert_true(raw->interval_parts[0].of.first == 8);
    assert_true(raw->interval_parts[0].histogram.histogram.cold_loads == 5);
    assert_int_equal(raw->n_modules, 1);
    assert_int_equal(raw->modules[0].structure_hash, 0xabcdef);
    assert_int_equal(raw->modules[0].first_counter, 10);
    assert_int_equal(raw->modules[0].build_id[1], 1);
    assert_int_equal(raw->n_counters, 1);
    assert_int_equal(raw->counters[0].thread, 1);
    assert_int_equal(raw->counters[0].n_counts, 2);
    assert_memory_equal(raw->counters[0].counts, usual_counts, sizeof usual_counts);
    assert_int_equal(raw->n_histograms, 1);
    const struct pm_raw_histogram *histogram = &raw->histograms[0];
    assert_int_equal(histogram->group, 4);
    assert_int_equal(histogram->n_blocks, 13);
    assert_int_equal(histogram->histogram.block_bytes, 64);
    assert_true(histogram->histogram.cold_stores == 7);
    assert_true(histogram->histogram.bytes_touched == 99 && histogram->histogram.at_least == 300);
    assert_true(histogram->histogram.beyond_loads == 8 && histogram->histogram.beyond_stores == 9);
    assert_int_equal(histogram->histogram.sample, 2);
    assert_true(histogram->histogram.bins[1].mean == 256.5);
    assert_true(histogram->histogram.bins[1].loads == 3);
    assert_int_equal(raw->n_sequential, 1);
    assert_int_equal(raw->sequential[0].group, 4);
    assert_true(raw->sequential[0].histogram.bins[0].loads == 3);
    assert_true(raw->sequential[0].histogram.bins[0].stores == 2);
    assert_int_equal(raw->n_dirty, 1);
    assert_int_equal(raw->dirty[0].group, 4);
    assert_true(raw->dirty[0].histogram.cold_stores == 7);
    assert_true(raw->dirty[0].histogram.bins[0].stores == 61);
    assert_int_equal(raw->n_carried, 1);
    assert_memory_equal(&raw->carried[0].by, &usual_by, sizeof usual_by);
    assert_int_equal(raw->carried[0].reuses.group, 4);
    assert_true(raw->carried[0].reuses.histogram.bins[0].stores == 60);
    assert_true(isnan(raw->carried[0].reuses.histogram.bytes_touched));
    assert_int_equal(raw->n_times, 1);
    assert_int_equal(raw->times[0].thread, 1);
    assert_int_equal(raw->times[0].clock, PM_RAW_CLOCK_TSC);
    assert_int_equal(raw->times[0].n_times, 2);
    assert_int_equal(raw->times[0].times[0].scope, 7);
    assert_int_equal(raw->times[0].times[0].entries, 12);
    assert_true(raw->times[0].times[0].ns == 1.5e9 && raw->times[0].times[0].own_ns == 600);
    assert_int_equal(raw->times[0].times[1].module, PM_RAW_OUTSIDE);
    assert_int_equal(raw->n_skipped, 1);
    assert_int_equal(raw->skipped[0].thread, 1);
    assert_int_equal(raw->skipped[0].loads, 70);
    assert_int_equal(raw->skipped[0].stores, 80);
    assert_int_equal(raw->skipped[0].n_stops, 2);
    assert_int_equal(raw->n_strides, 1);
    assert_int_equal(raw->strides[0].n_walks, 2);
    assert_memory_equal(&raw->strides[0].walks[1], &usual_strides.second,
                        sizeof usual_strides.second);
    assert_int_equal(raw->strides[0].n_levels, 2);
    assert_memory_equal(raw->strides[0].levels, usual_strides.levels, sizeof usual_strides.levels);
    assert_int_equal(raw->strides[0].n_variants, 2);
    assert_memory_equal(raw->strides[0].variants, usual_strides.variants,
                        sizeof usual_strides.variants);
    assert_int_equal(raw->n_frames, 1);
    assert_int_equal(raw->frames[0].n_frames, 3);
    assert_int_equal(raw->frames[0].frames[0].count, -2);
    assert_int_equal(raw->frames[0].frames[2].return_address, 0x1005);
    assert_int_equal(raw->n_samples, 1);
    assert_int_equal(raw->samples[0].sample, 16);
    assert_int_equal(raw->samples[0].block_bytes, 64);
    /* 90, 100 … 160: 1000 in all; their deviations' squares sum to 4200. */
    double error;
    assert_true(pm_raw_sampled_misses(&raw->samples[0], 10, &error) == 16 * 1000);
    assert_true(fabs(error - 16 * sqrt(8 * 4200.0 / 7)) < 1e-9);
    assert_int_equal(raw->n_notes, 1);
    assert_string_equal(raw->notes[0], "five words of some note");
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct pm_raw_builder builder = {0};
    struct pm_error err = {0};
    add_usual(&builder);
    char *name = save(&builder, 1);
    struct pm_raw *raw = pm_raw_read(name, &err);
    assert_non_null(raw);
    check_usual(raw);
    pm_raw_free(raw);
    free(name);
}

static void a_second_file_of_a_process_gets_another_name(void **state) {
    (void)state;
    struct pm_raw_builder one = {0}, two = {0};
    add_usual(&one);
    add_usual(&two);
    char *first = save(&one, 77), *second = save(&two, 77);
    assert_string_equal(strrchr(first, '/'), "/77.raw");
    assert_string_equal(strrchr(second, '/'), "/77-2.raw");
    free(first);
    free(second);
}

static void a_file_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    struct pm_raw_builder builder = {0};
    char name[4400] = "unchanged";
    add_usual(&builder);
    pm_raw_save(&builder, "/nonexistent/folder", 1, name, sizeof name);
    assert_string_equal(name, "");
    pm_raw_builder_free(&builder);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void assert_refused(const void *bytes, size_t n_bytes, const char *why) {
    struct pm_error err = {0};
    struct pm_raw *raw = pm_raw_read_memory(bytes, n_bytes, "some.raw", &err);
    assert_null(raw);
    assert_int_equal(strncmp(err.text, "some.raw: ", 10), 0);
    if (why && !strstr(err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static char *exact_copy(const char *bytes, size_t n_bytes) {
    char *copy = malloc(n_bytes ? n_bytes : 1);
    memcpy(copy, bytes, n_bytes);
    return copy;
}

static char *usual_bytes(size_t *n_bytes) {
    struct pm_raw_builder builder = {0};
    add_usual(&builder);
    char *name = save(&builder, 5), *bytes = read_bytes(name, n_bytes);
    unlink(name);
    free(name);
    return bytes;
}

static void a_file_truncated_anywhere_is_refused(void **state) {
    (void)state;
    size_t n_bytes;
    char *bytes = usual_bytes(&n_bytes);
    for (size_t length = 0; length < n_bytes; length++) {
        char *cut = exact_copy(bytes, length);
        assert_refused(cut, length, length < 8 ? "not a raw file" : "damaged raw file");
        free(cut);
    }
    free(bytes);
}

static void a_byte_changed_anywhere_is_refused(void **state) {
    (void)state;
    size_t n_bytes;
    char *bytes = usual_bytes(&n_bytes);
    for (size_t i = 0; i < n_bytes; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            char *damaged = exact_copy(bytes, n_bytes);
            damaged[i] ^= (char)(1 << bit);
            assert_refused(damaged, n_bytes, NULL);
            free(damaged);
        }
    free(bytes);
}

/* The same with a checksum that matches: the sections' own checks must hold, and where a change is
   a possible content, it is read without a fault. */
static void a_wrong_file_with_a_right_checksum_does_no_harm(void **state) {
    (void)state;
    size_t n_bytes, n_refused = 0;
    char *bytes = usual_bytes(&n_bytes);
    for (size_t i = sizeof(struct pm_raw_header); i + 8 < n_bytes; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            char *damaged = exact_copy(bytes, n_bytes);
            damaged[i] ^= (char)(1 << bit);
            uint64_t checksum = XXH3_64bits(damaged, n_bytes - 8);
            memcpy(damaged + n_bytes - 8, &checksum, 8);
            struct pm_error err = {0};
            struct pm_raw *raw = pm_raw_read_memory(damaged, n_bytes, "some.raw", &err);
            n_refused += raw == NULL;
            pm_raw_free(raw);
            free(damaged);
        }
    assert_true(n_refused > 500);
    free(bytes);
}

static void another_version_is_named(void **state) {
    (void)state;
    size_t n_bytes;
    char *bytes = usual_bytes(&n_bytes);
    uint32_t version = PM_RAW_VERSION + 1;
    memcpy(bytes + offsetof(struct pm_raw_header, version), &version, sizeof version);
    assert_refused(bytes, n_bytes, "version 10");
    assert_refused("GIF89a..........................", 32, "not a raw file");
    free(bytes);
}

static void assert_content_refused(struct pm_raw_builder *builder) {
    size_t n_bytes;
    char *name = save(builder, 9), *bytes = read_bytes(name, &n_bytes);
    assert_refused(bytes, n_bytes, "section");
    unlink(name);
    free(name);
    free(bytes);
}

static void sections_that_do_not_fit_each_other_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 18; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_histogram_head head = usual_head;
        struct pm_raw_count counts[2] = {usual_counts[0], usual_counts[1]};
        struct pm_raw_bin bins[2] = {usual_bins[0], usual_bins[1]};
        pm_raw_begin(&builder);
        add_meta(&builder);
        if (fault != 0)
            add_module(&builder);
        counts[1].counter = fault == 2 ? 3 : fault == 13 ? 0 : 2; /* beyond the last, twice */
        counts[1].count = fault == 14 ? 0 : 7;
        counts[0].counter = fault == 15 ? 2 : 0;
        add_counters(&builder, fault == 1, counts, fault == 3 ? 24 : sizeof counts);
        head.module = fault == 4;
        head.group = fault == 5 ? 5 : 4;
        head.n_bins = fault == 6 ? UINT32_MAX : 2;
        head.block_bytes = fault == 7 ? 96 : 64;
        bins[1].low = fault == 8 ? 258 : 256;
        bins[0].high = fault == 9 ? 256 : 0;
        bins[1].distance_sum = fault == 10 ? 5 : 1026;
        head.sample = fault == 16 ? 0 : 1;
        head.at_least = fault == 17 ? 0 : 300;
        add_histogram(&builder, &head, bins, 2);
        if (fault == 11)
            add_meta(&builder);
        add_note(&builder, "text", fault == 12 ? 4 : 5);
        assert_content_refused(&builder);
    }
}

/* The mark of a process that did not come to its end. */
static void an_end_that_cannot_be_is_refused(void **state) {
    (void)state;
    static const struct {
        uint64_t flags;
        int signal; /* -1: refused */
    } ends[] = {
        {0, 0},
        {PM_RAW_TRUNCATED | 15 << PM_RAW_SIGNAL_SHIFT, 15},
        {PM_RAW_FORKED | PM_RAW_TRUNCATED | 64 << PM_RAW_SIGNAL_SHIFT, 64},
        {PM_RAW_FORKED | PM_RAW_CHECKPOINT, 0},
        {PM_RAW_TRUNCATED, -1},
        {15 << PM_RAW_SIGNAL_SHIFT, -1},
        {PM_RAW_TRUNCATED | 65 << PM_RAW_SIGNAL_SHIFT, -1},
        {PM_RAW_CHECKPOINT | PM_RAW_TRUNCATED | 9 << PM_RAW_SIGNAL_SHIFT, -1},
        {PM_RAW_CHECKPOINT | PM_RAW_BEFORE_EXEC, -1},
        {16, -1},
        {UINT64_MAX, -1},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct pm_raw_builder builder = {0};
        struct pm_error err = {0};
        pm_raw_begin(&builder);
        add_meta_of(&builder, ends[i].flags);
        if (ends[i].signal < 0) {
            assert_content_refused(&builder);
            continue;
        }
        char *name = save(&builder, 6);
        struct pm_raw *raw = pm_raw_read(name, &err);
        assert_non_null(raw);
        assert_int_equal(pm_raw_signal(raw), ends[i].signal);
        pm_raw_free(raw);
        unlink(name);
        free(name);
    }
}

static void reuse_patterns_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 9; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_carried_head by = usual_by;
        struct pm_raw_histogram_head head = usual_reuses;
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        by.source_module = fault == 0;
        by.carrier_module = fault == 1 ? 1 : fault == 2 ? PM_RAW_OUTSIDE : 0;
        by.carrier_scope = fault == 2 ? 1 : 2;
        by.across = fault == 3 ? 2 : 1;
        head.cold_loads = fault == 4;
        head.cold_stores = fault == 5;
        head.module = fault == 6;
        head.n_bins = fault == 7 ? 3 : 2;
        if (fault == 8)
            by = (struct pm_raw_carried_head){.carrier_module = PM_RAW_OUTSIDE, .across = 1};
        add_carried(&builder, &by, &head, 2);
        assert_content_refused(&builder);
    }
}

static void times_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 10; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_time times[2] = {usual_times[0], usual_times[1]};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        times[0].module = fault == 0 ? 1 : 0;
        times[1].scope = fault == 1 ? 1 : 0;
        times[0].ns = fault == 2 ? -1 : fault == 3 ? (double)NAN : 1;
        times[1].own_ns = fault == 4 ? -1 : fault == 5 ? (double)INFINITY : 1;
        if (fault == 6)
            times[1] = times[0];
        if (fault == 7)
            times[0] = (struct pm_raw_time){PM_RAW_OUTSIDE, 0, 0, 1, 0};
        add_times(&builder, fault == 8 ? 0 : PM_RAW_CLOCK_SYSTEM, times,
                  fault == 9 ? sizeof times - 8 : sizeof times);
        assert_content_refused(&builder);
    }
}

static void skipped_accesses_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const uint64_t nothing[4] = {1, 0, 0, 0};
    for (unsigned fault = 0; fault < 4; fault++) {
        struct pm_raw_builder builder = {0};
        pm_raw_begin(&builder);
        add_meta(&builder);
        if (fault == 0)
            add_skipped(&builder, nothing, 4);
        else
            add_skipped(&builder, usual_skipped, fault == 1 ? 3 : 4);
        if (fault == 2)
            add_skipped(&builder, usual_skipped, 4);
        if (fault == 3)
            add_skipped(&builder, usual_skipped, 0);
        assert_content_refused(&builder);
    }
}

static void ranks_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 5; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_rank rank = usual_rank;
        pm_raw_begin(&builder);
        add_meta(&builder);
        if (fault == 0)
            rank.rank = rank.size;
        if (fault == 1)
            rank.size = PM_MOST_RANKS + 1;
        if (fault == 2)
            rank.library = PM_RAW_OTHER_MPI + 1;
        if (fault == 3)
            memset(rank.host, 'n', sizeof rank.host);
        add_rank(&builder, &rank);
        if (fault == 4)
            add_rank(&builder, &rank);
        assert_content_refused(&builder);
    }
}

static void intervals_that_cannot_be_are_refused(void **state) {
    (void)state;
    struct intervals_content wrong[14];
    size_t n = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        wrong[i] = usual_intervals;
    wrong[n++].sites[0].parent = 1;
    wrong[n++].sites[1].parent = 2;
    wrong[n++].sites[1].module = 1;
    wrong[n++].callees[5] = 'x'; /* no end */
    wrong[n++].thread = UINT64_C(1) << 32;
    wrong[n++].row.begin = 3;
    wrong[n++].row.n = 0;
    wrong[n++].row.first = INT64_MAX;
    wrong[n++].row.n_counts = UINT32_MAX;
    wrong[n++].row.n_frames = 2;
    wrong[n++].count.counter = 3;
    wrong[n++].count.count = 0;
    wrong[n++].frame.count = 0;
    wrong[n++].of.end = 3;
    assert_int_equal(n, sizeof wrong / sizeof *wrong);
    for (size_t i = 0; i < n; i++) {
        struct pm_raw_builder builder = {0};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        add_intervals(&builder, &wrong[i]);
        assert_content_refused(&builder);
    }
}

static void samples_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 6; fault++) {
        struct pm_raw_builder builder = {0};
        uint64_t misses[PM_RAW_SAMPLE_SIZES][PM_RAW_SUBSAMPLES];
        usual_samples(misses);
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        misses[7][3] += fault == 0 ? 2 : 0; /* more than the smaller cache */
        add_samples(&builder,
                    fault == 1   ? 0
                    : fault == 2 ? 63
                                 : 64,
                    fault == 3   ? 0
                    : fault == 4 ? 1
                                 : 16,
                    misses, PM_RAW_SAMPLE_SIZES - (fault == 5));
        assert_content_refused(&builder);
    }
}

static void frames_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 6; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_frame frames[3] = {usual_frames[0], usual_frames[1], usual_frames[2]};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        frames[0].count = fault == 0 ? 2 : -2;
        frames[1].count = fault == 1 ? 0 : 7;
        frames[2].return_address = fault == 2 ? 0xfff : 0x1005;
        add_frames(&builder, fault == 3, fault == 4 ? 2 : fault == 5 ? UINT64_MAX : 3, frames);
        assert_content_refused(&builder);
    }
}

static struct pm_raw *read_back(struct pm_raw_builder *builder) {
    struct pm_error err = {0};
    size_t n_bytes;
    char *name = save(builder, 9), *bytes = read_bytes(name, &n_bytes);
    struct pm_raw *raw = pm_raw_read_memory(bytes, n_bytes, "rows", &err);
    assert_non_null(raw);
    unlink(name);
    free(name);
    free(bytes);
    return raw;
}

static void branches_come_back_and_those_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 8; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_branch branches[2] = {usual_branches[0], usual_branches[1]};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        branches[0].taken = fault == 1 ? 101 : 60;
        branches[0].analysed = fault == 2 ? 101 : 40;
        branches[0].wrong[PM_PREDICTOR_BIMODAL] = fault == 3 ? 41 : 40;
        branches[1].executions = fault == 4 ? 0 : 1;
        branches[1].block = fault == 5 ? 3 : 4;
        add_branches(&builder, fault == 6, branches, sizeof branches - (fault == 7 ? 8 : 0));
        if (fault > 0) {
            assert_content_refused(&builder);
            continue;
        }
        struct pm_raw *raw = read_back(&builder);
        assert_int_equal(raw->n_branches, 1);
        assert_int_equal(raw->branches[0].n_branches, 2);
        assert_memory_equal(raw->branches[0].branches, branches, sizeof branches);
        pm_raw_free(raw);
    }
}

static void trips_come_back_and_those_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 10; fault++) {
        struct pm_raw_builder builder = {0};
        struct pm_raw_trips trips[3] = {{3, 15, 2, 32}, {3, 16, 2, 64}, {4, 63, 1, 1ull << 60}};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        trips[0].iterations = fault == 1 ? 31 : fault == 2 ? 33 : 32; /* 16 of an entry */
        trips[1].iterations = fault == 3 ? 33 : fault == 4 ? 65 : 64; /* 17 to 32 */
        trips[1].range = fault == 5 ? 15 : 16;
        trips[1].block = fault == 6 ? 2 : 3;
        trips[2].range = fault == 7 ? 64 : 63;
        trips[2].entries = fault == 8 ? 0 : 1;
        pm_raw_section_begin(&builder, PM_RAW_TRIPS);
        add_words(&builder, (uint64_t[]){0, 1}, 2);
        pm_raw_add(&builder, trips, sizeof trips - (fault == 9 ? 8 : 0));
        pm_raw_section_end(&builder);
        if (fault > 0) {
            assert_content_refused(&builder);
            continue;
        }
        struct pm_raw *raw = read_back(&builder);
        assert_int_equal(raw->n_trips, 1);
        assert_int_equal(raw->trips[0].n_trips, 3);
        assert_memory_equal(raw->trips[0].trips, trips, sizeof trips);
        pm_raw_free(raw);
    }
}

static void strides_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 17; fault++) {
        struct pm_raw_builder builder = {0};
        struct strides_content content = usual_strides;
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        content.first.n = fault == 0 ? 0 : 100;
        content.first.n_levels = fault == 1 ? PM_RAW_STRIDE_LEVELS + 1 : 2;
        content.second.reference = fault == 2 ? 3 : 5;
        content.levels[0].stride_weight = fault == 3 ? 91 : 80;
        content.levels[0].count_weight = fault == 4 ? 11 : 9;
        content.levels[0].n_elements = fault == 5 ? 101 : 100;
        content.levels[1].count = fault == 6 ? 0 : 7;
        content.levels[1].n_strides = fault == 7 ? 1 : 0;
        content.first.n_variants = fault == 10 ? 1 : fault == 11 ? PM_RAW_VARIANTS + 1 : 2;
        content.variants[0].weight = fault == 12 ? 0 : 90;
        content.variants[0].n_phases = fault == 13 ? 0 : 1;
        content.variants[0].levels[1].count = fault == 14 ? 0 : 7;
        content.variants[1].n_levels = fault == 15 ? PM_RAW_STRIDE_LEVELS + 1 : 1;
        content.variants[1].lowest = fault == 16 ? 5001 : 4096;
        add_strides(&builder, fault == 8, &content, sizeof content - (fault == 9 ? 8 : 0));
        assert_content_refused(&builder);
    }
}

static void profiles_that_cannot_be_are_refused(void **state) {
    (void)state;
    for (unsigned fault = 0; fault < 10; fault++) {
        struct pm_raw_builder builder = {0};
        struct profile_content content = usual_profile;
        struct pm_raw_lanes lanes[] = {usual_lanes[0], usual_lanes[1]};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        content.head.module = fault == 0;
        content.head.n_served = fault == 1 ? UINT32_MAX : 3;
        content.first.references = fault == 2 ? 99 : 100; /* strides are of one more */
        content.first_served[2] = fault == 3 ? 101 : 100;
        content.second.reference = fault == 4 ? 2 : 7;
        content.second.strides[5] = fault == 5 ? UINT64_MAX : 0;
        lanes[0].n = fault == 6 ? 0 : 17;
        lanes[1].reference = fault == 7 ? 3 : 4;
        add_profile(&builder, &content, sizeof content - (fault == 8 ? 8 : 0));
        add_lanes(&builder, fault == 9, lanes, sizeof lanes);
        assert_content_refused(&builder);
    }
}

static void files_that_are_not_there_or_not_files_are_named(void **state) {
    (void)state;
    struct pm_error err = {0};
    assert_null(pm_raw_read("/nonexistent/1.raw", &err));
    assert_non_null(strstr(err.text, "/nonexistent/1.raw"));
    assert_null(pm_raw_read("/", &err));
    assert_non_null(strstr(err.text, "not a raw file"));
    assert_null(pm_raw_read("/dev/null", &err));
    assert_non_null(strstr(err.text, "/dev/null"));
}

/* Dirty distances are those of stores, and exact. */
static void loads_have_no_dirty_distance(void **state) {
    (void)state;
    struct pm_raw_histogram_head heads[] = {usual_stores, usual_stores, usual_stores, usual_stores};
    heads[1].cold_loads = 1;
    heads[2].sample = 2;
    heads[3].at_least = 100;
    for (size_t i = 0; i < 5; i++) {
        struct pm_raw_builder builder = {0};
        struct pm_error err = {0};
        pm_raw_begin(&builder);
        add_meta(&builder);
        add_module(&builder);
        add_dirty(&builder, &heads[i % 4], i == 4);
        char *name = save(&builder, 60 + i);
        struct pm_raw *raw = pm_raw_read(name, &err);
        assert_true((raw != NULL) == (i == 0));
        pm_raw_free(raw);
        free(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(loads_have_no_dirty_distance),
        cmocka_unit_test(a_second_file_of_a_process_gets_another_name),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(a_file_truncated_anywhere_is_refused),
        cmocka_unit_test(a_byte_changed_anywhere_is_refused),
        cmocka_unit_test(a_wrong_file_with_a_right_checksum_does_no_harm),
        cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(sections_that_do_not_fit_each_other_are_refused),
        cmocka_unit_test(an_end_that_cannot_be_is_refused),
        cmocka_unit_test(reuse_patterns_that_cannot_be_are_refused),
        cmocka_unit_test(times_that_cannot_be_are_refused),
        cmocka_unit_test(skipped_accesses_that_cannot_be_are_refused),
        cmocka_unit_test(ranks_that_cannot_be_are_refused),
        cmocka_unit_test(intervals_that_cannot_be_are_refused),
        cmocka_unit_test(samples_that_cannot_be_are_refused),
        cmocka_unit_test(frames_that_cannot_be_are_refused),
        cmocka_unit_test(branches_come_back_and_those_that_cannot_be_are_refused),
        cmocka_unit_test(trips_come_back_and_those_that_cannot_be_are_refused),
        cmocka_unit_test(strides_that_cannot_be_are_refused),
        cmocka_unit_test(profiles_that_cannot_be_are_refused),
        cmocka_unit_test(files_that_are_not_there_or_not_files_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
