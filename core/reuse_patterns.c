/* Reuse patterns of a run; see reuse_patterns.h. */
#include "core/reuse_patterns.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/base/base.h"

void pm_group_patterns_free(struct pm_group_patterns *group) {
    for (size_t i = 0; i < group->n_patterns; i++)
        pm_histogram_free(&group->patterns[i].histogram);
    free(group->patterns);
    *group = (struct pm_group_patterns){0};
}

void pm_run_patterns_free(struct pm_run_patterns *patterns) {
    if (!patterns)
        return;
    for (size_t i = 0; i < patterns->n_groups; i++)
        pm_group_patterns_free(&patterns->groups[i]);
    free(patterns->groups);
    free(patterns);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static struct pm_group_patterns *last_group(struct pm_run_patterns *patterns, uint32_t group,
                                            uint64_t block_bytes) {
    struct pm_group_patterns *last =
        patterns->n_groups ? &patterns->groups[patterns->n_groups - 1] : NULL;
    if (last && last->group == group && last->block_bytes == block_bytes)
        return last;
    last = PM_PUSH(patterns, groups);
    *last = (struct pm_group_patterns){.group = group, .block_bytes = block_bytes};
    return last;
}

void pm_run_patterns_add(struct pm_run_patterns *patterns, uint32_t group, uint32_t source,
                         uint32_t carrier, bool across, const struct pm_histogram *histogram) {
    struct pm_group_patterns *into = last_group(patterns, group, histogram->block_bytes);
    struct pm_reuse_pattern *pattern = PM_PUSH(into, patterns);
    *pattern = (struct pm_reuse_pattern){
        .source = source,
        .carrier = carrier,
        .across = across,
        .histogram = {.block_bytes = histogram->block_bytes},
    };
    pm_histogram_add(&pattern->histogram, histogram);
}

static int compare_groups(const void *a, const void *b) {
    const struct pm_group_patterns *x = a, *y = b;
    int order = PM_COMPARE(x->group, y->group);
    return order ? order : PM_COMPARE(x->block_bytes, y->block_bytes);
}

static int compare_patterns(const void *a, const void *b) {
    const struct pm_reuse_pattern *x = a, *y = b;
    int order = PM_COMPARE(x->source, y->source);
    if (order == 0)
        order = PM_COMPARE(x->carrier, y->carrier);
    return order ? order : PM_COMPARE(x->across, y->across);
}

/* The patterns of FROM go to INTO, which is of the same group. */
static void move_patterns(struct pm_group_patterns *into, struct pm_group_patterns *from) {
    for (size_t i = 0; i < from->n_patterns; i++)
        *PM_PUSH(into, patterns) = from->patterns[i];
    free(from->patterns);
}

static void join_patterns(struct pm_group_patterns *group) {
    size_t n = 0;
    PM_SORT(group->patterns, group->n_patterns, compare_patterns);
    for (size_t i = 0; i < group->n_patterns; i++) {
        struct pm_reuse_pattern *from = &group->patterns[i];
        if (n && compare_patterns(&group->patterns[n - 1], from) == 0) {
            pm_histogram_add(&group->patterns[n - 1].histogram, &from->histogram);
            pm_histogram_free(&from->histogram);
        } else {
            group->patterns[n++] = *from;
        }
    }
    group->n_patterns = n;
}

void pm_run_patterns_sort(struct pm_run_patterns *patterns) {
    size_t n = 0;
    PM_SORT(patterns->groups, patterns->n_groups, compare_groups);
    for (size_t i = 0; i < patterns->n_groups; i++)
        if (n && compare_groups(&patterns->groups[n - 1], &patterns->groups[i]) == 0)
            move_patterns(&patterns->groups[n - 1], &patterns->groups[i]);
        else
            patterns->groups[n++] = patterns->groups[i];
    patterns->n_groups = n;
    for (size_t i = 0; i < n; i++)
        join_patterns(&patterns->groups[i]);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A blob: this header, then the zstd-compressed payload of words: block size, number of patterns;
   for each pattern its head; then the five columns of the bins of all patterns one after the other.
 */
struct blob_header {
    char magic[4];
    uint32_t version;
    uint64_t n_words;
    uint64_t checksum; /* XXH3 of the payload before compression, seeded with n_words */
};
enum { BLOB_VERSION = 1, COMPRESSION_LEVEL = 3 };
static const char blob_magic[4] = "PMC";

struct pattern_head {
    uint32_t source, carrier;
    uint64_t n_bins_and_across; /* n_bins << 1 | across */
    double at_least, beyond_loads, beyond_stores;
    uint64_t sample;
};
enum { N_FIRST = 2, N_HEAD = sizeof(struct pattern_head) / 8 };

static void put_words(const struct pm_group_patterns *group, size_t n_bins, double *words) {
    double *bins = words + N_FIRST + N_HEAD * group->n_patterns;
    uint64_t first[N_FIRST] = {group->block_bytes, group->n_patterns};
    memcpy(words, first, sizeof first);
    for (size_t i = 0; i < group->n_patterns; i++) {
        const struct pm_reuse_pattern *pattern = &group->patterns[i];
        const struct pm_histogram *histogram = &pattern->histogram;
        struct pattern_head head = {pattern->source,
                                    pattern->carrier,
                                    (uint64_t)histogram->n_bins << 1 | pattern->across,
                                    histogram->at_least,
                                    histogram->beyond_loads,
                                    histogram->beyond_stores,
                                    histogram->sample};
        memcpy(words + N_FIRST + N_HEAD * i, &head, sizeof head);
        for (size_t b = 0; b < histogram->n_bins; b++, bins++)
            for (unsigned column = 0; column < PM_BIN_COLUMNS; column++)
                bins[column * n_bins] = *pm_bin_column(&histogram->bins[b], column);
    }
}

void pm_group_patterns_encode(const struct pm_group_patterns *group, void **bytes,
                              size_t *n_bytes) {
    size_t n_bins = 0;
    for (size_t i = 0; i < group->n_patterns; i++)
        n_bins += group->patterns[i].histogram.n_bins;
    size_t n_words = N_FIRST + N_HEAD * group->n_patterns + PM_BIN_COLUMNS * n_bins;
    double *words = pm_alloc(n_words, sizeof *words);
    put_words(group, n_bins, words);

    struct blob_header header = {.version = BLOB_VERSION, .n_words = n_words};
    memcpy(header.magic, blob_magic, sizeof header.magic);
    header.checksum = XXH3_64bits_withSeed(words, n_words * sizeof *words, n_words);
    size_t room = ZSTD_compressBound(n_words * sizeof *words);
    char *blob = pm_alloc(sizeof header + room, 1);
    memcpy(blob, &header, sizeof header);
    size_t used = ZSTD_compress(blob + sizeof header, room, words, n_words * sizeof *words,
                                COMPRESSION_LEVEL);
    free(words);
    *bytes = blob;
    *n_bytes = sizeof header + used; /* the room suffices for any input, so this cannot fail */
}

static bool check_header(const void *bytes, size_t n_bytes, struct blob_header *header,
                         struct pm_error *err) {
    if (n_bytes < sizeof *header)
        return pm_fail(err, "reuse patterns: truncated after %zu bytes", n_bytes);
    memcpy(header, bytes, sizeof *header);
    if (memcmp(header->magic, blob_magic, sizeof header->magic) != 0)
        return pm_fail(err, "reuse patterns: these bytes are none");
    if (header->version != BLOB_VERSION)
        return pm_fail(err, "reuse patterns: version %u, this pmodel reads version %u",
                       header->version, (unsigned)BLOB_VERSION);
    return true;
}

/* Takes the pattern whose head stands at WORDS and whose bins begin at *FIRST of the N_BINS. */
static bool take_pattern(struct pm_group_patterns *group, const double *words,
                         const double *columns, size_t n_bins, size_t *first) {
    struct pattern_head head;
    memcpy(&head, words, sizeof head);
    uint64_t n = head.n_bins_and_across >> 1;
    if (n > n_bins - *first)
        return false;
    struct pm_reuse_pattern *pattern = PM_PUSH(group, patterns);
    *pattern = (struct pm_reuse_pattern){
        .source = head.source,
        .carrier = head.carrier,
        .across = head.n_bins_and_across & 1,
        .histogram = {.block_bytes = group->block_bytes,
                      .n_bins = n,
                      .bins = pm_alloc(n + 1, sizeof(struct pm_bin)),
                      .at_least = head.at_least,
                      .beyond_loads = head.beyond_loads,
                      .beyond_stores = head.beyond_stores,
                      .sample = head.sample},
    };
    for (size_t b = 0; b < n; b++)
        for (unsigned column = 0; column < PM_BIN_COLUMNS; column++)
            *pm_bin_column(&pattern->histogram.bins[b], column) =
                columns[column * n_bins + *first + b];
    *first += n;
    return pm_histogram_is_valid(&pattern->histogram) &&
           (group->n_patterns == 1 || compare_patterns(pattern - 1, pattern) < 0);
}

/* N_WORDS, at least N_FIRST; false if they are no whole patterns. */
static bool take_patterns(struct pm_group_patterns *group, const double *words, size_t n_words) {
    uint64_t start[N_FIRST];
    memcpy(start, words, sizeof start);
    uint64_t n_patterns = start[1];
    group->block_bytes = start[0];
    if (n_patterns > (n_words - N_FIRST) / N_HEAD)
        return false;
    size_t n_columns = n_words - N_FIRST - N_HEAD * n_patterns, n_bins = n_columns / PM_BIN_COLUMNS;
    const double *columns = words + N_FIRST + N_HEAD * n_patterns;
    size_t first = 0;
    for (uint64_t i = 0; i < n_patterns; i++)
        if (!take_pattern(group, words + N_FIRST + N_HEAD * i, columns, n_bins, &first))
            return false;
    return first == n_bins && n_columns % PM_BIN_COLUMNS == 0;
}

bool pm_group_patterns_decode(const void *bytes, size_t n_bytes, struct pm_group_patterns *group,
                              struct pm_error *err) {
    struct blob_header header;
    *group = (struct pm_group_patterns){0};
    if (!check_header(bytes, n_bytes, &header, err))
        return false;
    size_t got = 0;
    double *words = pm_unpack((const char *)bytes + sizeof header, n_bytes - sizeof header, &got);
    if (!words || got % sizeof *words != 0 || got / sizeof *words != header.n_words ||
        header.n_words < N_FIRST ||
        header.checksum != XXH3_64bits_withSeed(words, got, header.n_words)) {
        free(words);
        return pm_fail(err, "reuse patterns: damaged: the checksum does not match");
    }
    bool ok = take_patterns(group, words, header.n_words);
    free(words);
    if (ok)
        return true;
    pm_group_patterns_free(group);
    return pm_fail(err, "reuse patterns: not in order, or not counts of distances");
}

/* ---- whose they are -------------------------------------------------------------------------- */

bool pm_run_patterns_fit(const struct pm_run_patterns *patterns,
                         const struct pm_structure *structure, struct pm_error *err) {
    for (size_t i = 0; i < patterns->n_groups; i++) {
        const struct pm_group_patterns *group = &patterns->groups[i];
        bool fits = group->group < structure->n_groups;
        for (size_t p = 0; fits && p < group->n_patterns; p++)
            fits = group->patterns[p].source < structure->n_scopes &&
                   (group->patterns[p].carrier == PM_NONE ||
                    group->patterns[p].carrier < structure->n_scopes);
        if (!fits)
            return pm_fail(err, "the reuse patterns are not of this structure: run that size "
                                "again with --carry");
    }
    return true;
}
