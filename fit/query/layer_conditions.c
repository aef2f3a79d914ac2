/* The sizes up to which reuses hit, from the models of their distances.

   A bin's accesses have distances from  low · D (p)  to  high · D (p),  D being the model of its
   mean distance at size p, low ≤ 1 ≤ high shares of it. They hit in a cache of C blocks while these
   are below C.  A bin that is wide against its mean is a step at the mean, as in instantiate.c; no
   distance is longer than all blocks that there are, L (p), so that all hit while L (p) < C.  So

       p (e) = max { p in the range : e · D (p) < C  or  L (p) < C }     for e = high, 1, low

   are the sizes at which all, half and any of the bin's reuses still hit.  How many they are says
   the profile at the scanned size below p (1), where the bin stands at its distance: there the
   counts are those that misses are made of, scaled to the group's accesses.  A bin that is not
   found there (held back by the longest distance that there is) is left out.

   Bins at one p (1), within a tenth from one to the next, are one cluster: its sizes are quantiles,
   by accesses, of the bins'. */
#include "fit/query/query.h"

#include <math.h>
#include <stdlib.h>

#include "fit/private.h"

/* Of sizes: neighbours up to it are one cluster of layer conditions. */
static const double cluster_ratio = 1.1;
/* Of the least share told: bins that together have less are not looked at. */
static const double cluster_noise = 0.2;
/* Of a distance: where a bin of a profile is the one of a model. */
static const double cluster_near = 0.01;
/* Of a cluster's accesses: what "nearly all" leaves out. */
static const double cluster_nearly = 0.05;
/* At which layer conditions are looked for. */
enum { scanned_sizes = 65 };

struct search {
    const struct pm_query_surface *surface;
    const struct pm_model_set *models;
    uint64_t indices[scanned_sizes];
    size_t n_indices;
    double *basis;   /* at the indices, models->basis->n values each; owned */
    double *between; /* one more; owned */
};

static bool basis_at(const struct search *search, uint64_t index, double *values,
                     struct pm_error *err) {
    struct pm_parameters at = search->surface->fixed;
    return pm_parameters_set(&at, search->surface->name,
                             pm_query_range_value(&search->surface->range, index), err) &&
           pm_basis_evaluate(search->models->basis, &at, values, err);
}

static bool set_up(struct search *search, struct pm_error *err) {
    size_t n = search->models->basis->n;
    search->n_indices = pm_query_scan(&search->surface->range, scanned_sizes, search->indices);
    search->basis = pm_alloc(search->n_indices * n + 1, sizeof *search->basis);
    search->between = pm_alloc(n + 1, sizeof *search->between);
    bool ok = true;
    for (size_t i = 0; i < search->n_indices && ok; i++)
        ok = basis_at(search, search->indices[i], search->basis + i * n, err);
    return ok;
}

/* ---- where something stays below the capacity ------------------------------------------------ */

/* A function of the size: of a distance model, or of all blocks that there are. */
struct growth {
    const struct pm_model *distance; /* NULL: the longest distance in blocks of BLOCK_BYTES */
    uint64_t block_bytes;
};

static double grown(const struct search *search, const struct growth *growth, const double *basis) {
    if (growth->distance)
        return pm_model_value(growth->distance, basis);
    const struct pm_model_point point = {.there = basis};
    return pm_model_set_longest_distance(search->models, growth->block_bytes, &point);
}

enum { BELOW_RANGE = -1, IN_RANGE = 0, BEYOND_RANGE = 1 };
struct border {
    int place;      /* of the above */
    uint64_t index; /* IN_RANGE: the largest at which it is below */
    size_t scanned; /* IN_RANGE: the last of the search's indices up to it */
};

static bool find_border(const struct search *search, const struct growth *growth, double factor,
                        double blocks, struct border *border, struct pm_error *err) {
    size_t n = search->models->basis->n, i = search->n_indices;
    while (i > 0 && factor * grown(search, growth, search->basis + (i - 1) * n) >= blocks)
        i--;
    *border = (struct border){0};
    border->place = i == 0 ? BELOW_RANGE : i == search->n_indices ? BEYOND_RANGE : IN_RANGE;
    if (border->place != IN_RANGE)
        return true;
    border->scanned = i - 1;
    uint64_t low = search->indices[i - 1], high = search->indices[i];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (!basis_at(search, middle, search->between, err))
            return false;
        bool below = factor * grown(search, growth, search->between) < blocks;
        *(below ? &low : &high) = middle;
    }
    border->index = low;
    return true;
}

static struct border later(struct border a, struct border b) {
    if (a.place != b.place)
        return a.place > b.place ? a : b;
    return a.index > b.index ? a : b;
}

static double size_of(const struct search *search, struct border border) {
    return border.place == IN_RANGE ? pm_query_range_value(&search->surface->range, border.index)
                                    : border.place * INFINITY;
}

/* ---- the bins of a part ---------------------------------------------------------------------- */

struct entry {
    double all_hit, half_hit, some_hit; /* as in pm_query_step */
    double share;
    uint32_t histogram, bin;
    size_t scanned; /* the index of the search that its share is taken at */
    size_t found;   /* its place in the profile's histogram there */
};

struct entries { /* of one part and cache; those of a histogram are neighbours */
    PM_ARRAY(struct entry, entries);
};

static bool add_bin(const struct search *search, const struct pm_query_cache *cache,
                    struct border all_blocks, uint32_t h, uint32_t b, struct entries *entries,
                    struct pm_error *err) {
    const struct pm_bin_model *bin = &search->models->histograms[h].bins[b];
    struct growth growth = {.distance = &bin->distance};
    double ends[3] = {bin->high, 1, bin->low};
    struct border borders[3];
    for (size_t i = 0; i < 3; i++) {
        if (!find_border(search, &growth, ends[i], cache->blocks, &borders[i], err))
            return false;
        borders[i] = later(borders[i], all_blocks);
    }
    if (borders[1].place == IN_RANGE)
        *PM_PUSH(entries, entries) = (struct entry){
            .all_hit = size_of(search, borders[0]),
            .half_hit = size_of(search, borders[1]),
            .some_hit = size_of(search, borders[2]),
            .histogram = h,
            .bin = b,
            .scanned = borders[1].scanned,
        };
    return true;
}

/* The models of (group, block size); models->n_histograms if there are none. */
static size_t find_models(const struct pm_model_set *models, uint32_t group, uint64_t block_bytes) {
    const struct pm_histogram_model *all = models->histograms;
    size_t at = PM_LOWER_BOUND(models->n_histograms, i,
                               all[i].group < group ||
                                   (all[i].group == group && all[i].block_bytes < block_bytes));
    bool found =
        at < models->n_histograms && all[at].group == group && all[at].block_bytes == block_bytes;
    return found ? at : models->n_histograms;
}

/* ---- how many they are ----------------------------------------------------------------------- */

/* The bin of HISTOGRAM at DISTANCE; n_bins if none is near. */
static size_t find_bin(const struct pm_histogram *histogram, double distance) {
    size_t at = PM_LOWER_BOUND(histogram->n_bins, i, histogram->bins[i].mean < distance);
    if (at == histogram->n_bins ||
        (at > 0 && distance - histogram->bins[at - 1].mean < histogram->bins[at].mean - distance))
        at -= at > 0;
    bool near = at < histogram->n_bins &&
                fabs(histogram->bins[at].mean - distance) <= cluster_near * distance;
    return near ? at : histogram->n_bins;
}

/* Accesses of the entry in PROFILE, of size BASIS; 0 if an entry before it has them. */
static double entry_accesses(const struct search *search, const struct entries *list, size_t number,
                             const struct pm_profile *profile, const double *basis,
                             double longest) {
    struct entry *entry = &list->entries[number];
    const struct pm_histogram_model *model = &search->models->histograms[entry->histogram];
    const struct pm_histogram *histogram =
        pm_profile_histogram(profile, model->group, model->block_bytes);
    if (!histogram)
        return 0;
    double distance = pm_model_value(&model->bins[entry->bin].distance, basis);
    entry->found = find_bin(histogram, fmin(distance, longest));
    if (entry->found == histogram->n_bins)
        return 0;
    for (size_t i = number; i-- > 0 && list->entries[i].histogram == entry->histogram;)
        if (list->entries[i].scanned == entry->scanned && list->entries[i].found == entry->found)
            return 0;
    return pm_bin_accesses(&histogram->bins[entry->found]);
}

static void add_shares(const struct search *search, size_t scanned,
                       const struct pm_profile *profile, const struct pm_query_groups *part,
                       const struct pm_query_cache *cache, double longest, struct entries *list,
                       struct pm_query_fits *fits) {
    const double *basis = search->basis + scanned * search->models->basis->n;
    struct pm_query_counts counts = pm_query_count(profile, part, cache);
    if (counts.accesses <= 0)
        return;
    if (scanned == 0)
        fits->missed_share = (counts.misses - counts.cold) / counts.accesses;
    if (scanned + 1 == search->n_indices)
        fits->hit_share = (counts.accesses - counts.misses) / counts.accesses;
    for (size_t i = 0; i < list->n_entries; i++)
        if (list->entries[i].scanned == scanned)
            list->entries[i].share =
                entry_accesses(search, list, i, profile, basis, longest) / counts.accesses;
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Ties by the bin, so that no order depends on how qsort works. */
static int compare(double x, double y, const struct entry *a, const struct entry *b) {
    return x != y                         ? PM_COMPARE(x, y)
           : a->histogram != b->histogram ? PM_COMPARE(a->histogram, b->histogram)
                                          : PM_COMPARE(a->bin, b->bin);
}

#define COMPARE_BY(field)                                                                          \
    static int compare_##field(const void *left, const void *right) {                              \
        const struct entry *a = left, *b = right;                                                  \
        return compare(a->field, b->field, a, b);                                                  \
    }
COMPARE_BY(share)
COMPARE_BY(all_hit)
COMPARE_BY(half_hit)
COMPARE_BY(some_hit)

/* The entry at PART of the accesses, in that ORDER. */
static const struct entry *quantile(struct entry *entries, size_t n, double share, double part,
                                    int (*order)(const void *, const void *)) {
    qsort(entries, n, sizeof *entries, order);
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        sum += entries[i].share;
        if (sum > part * share)
            return &entries[i];
    }
    return &entries[n - 1];
}

static void add_cluster(struct pm_query_fits *fits, struct entry *entries, size_t n,
                        double least_share) {
    double share = 0;
    const struct entry *heaviest = entries;
    for (size_t i = 0; i < n; i++) {
        share += entries[i].share;
        if (entries[i].share > heaviest->share)
            heaviest = &entries[i];
    }
    if (share < least_share)
        return;
    struct pm_query_step *step = PM_PUSH(fits, steps);
    step->share = share;
    step->histogram = heaviest->histogram;
    step->bin = heaviest->bin;
    step->all_hit = quantile(entries, n, share, cluster_nearly, compare_all_hit)->all_hit;
    step->some_hit = quantile(entries, n, share, 1 - cluster_nearly, compare_some_hit)->some_hit;
    step->half_hit = quantile(entries, n, share, 0.5, compare_half_hit)->half_hit;
}

static void make_clusters(struct pm_query_fits *fits, struct entries *all, double least_share) {
    if (all->n_entries == 0)
        return;
    struct entry *entries = all->entries;
    qsort(entries, all->n_entries, sizeof *entries, compare_share);
    size_t noise = 0;
    for (double sum = entries[0].share;
         noise + 1 < all->n_entries && sum < cluster_noise * least_share;)
        sum += entries[++noise].share;
    entries += noise;
    size_t n = all->n_entries - noise, first = 0;
    qsort(entries, n, sizeof *entries, compare_half_hit);
    for (size_t i = 1; i <= n; i++)
        if (i == n || entries[i].half_hit > cluster_ratio * entries[i - 1].half_hit) {
            add_cluster(fits, entries + first, i - first, least_share);
            first = i;
        }
}

double pm_query_least_share(uint64_t block_bytes) {
    return fmin(0.01, 0.1 * 8 / (double)block_bytes);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool find_entries(const struct search *search, const struct pm_query_groups *part,
                         const struct pm_query_cache *cache, struct border all_blocks,
                         struct entries *entries, struct pm_error *err) {
    bool ok = true;
    for (size_t g = 0; g < part->n_groups && ok; g++) {
        size_t h = find_models(search->models, part->groups[g], cache->block_bytes);
        if (h == search->models->n_histograms)
            continue;
        for (size_t b = 0; b < search->models->histograms[h].n_bins && ok; b++)
            ok = add_bin(search, cache, all_blocks, (uint32_t)h, (uint32_t)b, entries, err);
    }
    return ok;
}

/* What is asked: entry and fit of (part, cache) have number part · n_caches + cache. */
struct asked {
    const struct pm_query_groups *const *parts;
    size_t n_parts;
    const struct pm_query_cache *caches;
    size_t n_caches;
};

static bool find_all(const struct search *search, const struct asked *asked,
                     struct entries *entries, struct pm_error *err) {
    bool ok = true;
    for (size_t c = 0; c < asked->n_caches && ok; c++) {
        const struct pm_query_cache *cache = &asked->caches[c];
        struct growth all = {.block_bytes = cache->block_bytes};
        struct border all_blocks;
        ok = find_border(search, &all, 1, cache->blocks, &all_blocks, err);
        for (size_t p = 0; p < asked->n_parts && ok; p++)
            ok = find_entries(search, asked->parts[p], cache, all_blocks,
                              &entries[p * asked->n_caches + c], err);
    }
    return ok;
}

static bool count_all(const struct search *search, const struct asked *asked,
                      struct entries *entries, struct pm_query_fits *fits, struct pm_error *err) {
    for (size_t i = 0; i < search->n_indices; i++) {
        struct pm_profile *profile = pm_query_profile(
            search->surface, pm_query_range_value(&search->surface->range, search->indices[i]),
            err);
        if (!profile)
            return false;
        for (size_t c = 0; c < asked->n_caches; c++) {
            struct growth all = {.block_bytes = asked->caches[c].block_bytes};
            double longest = grown(search, &all, search->basis + i * search->models->basis->n);
            for (size_t p = 0; p < asked->n_parts; p++)
                add_shares(search, i, profile, asked->parts[p], &asked->caches[c], longest,
                           &entries[p * asked->n_caches + c], &fits[p * asked->n_caches + c]);
        }
        pm_profile_free(profile);
    }
    return true;
}

bool pm_query_fits(const struct pm_query_surface *surface, const struct pm_model_set *models,
                   const struct pm_query_groups *const *parts, size_t n_parts,
                   const struct pm_query_cache *caches, size_t n_caches, struct pm_query_fits *fits,
                   struct pm_error *err) {
    struct search search = {.surface = surface, .models = models};
    struct asked asked = {parts, n_parts, caches, n_caches};
    size_t n = n_parts * n_caches;
    struct entries *entries = pm_alloc(n, sizeof *entries);
    for (size_t i = 0; i < n; i++)
        fits[i] = (struct pm_query_fits){0};
    bool ok = set_up(&search, err) && find_all(&search, &asked, entries, err) &&
              count_all(&search, &asked, entries, fits, err);
    for (size_t i = 0; i < n; i++) {
        if (ok)
            make_clusters(&fits[i], &entries[i],
                          pm_query_least_share(caches[i % n_caches].block_bytes));
        free(entries[i].entries);
    }
    free(entries);
    free(search.basis);
    free(search.between);
    return ok;
}

void pm_query_fits_free(struct pm_query_fits *fits) { free(fits->steps); }
