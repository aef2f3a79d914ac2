/* The profile store: profiles of what is selected.

   Of ranks that is their mean: sums over them, divided by their number.  Of a kind of interval it
   is the sum over its intervals, or the mean one of those of one ordinal.  Strides are the run's.
   Intervals that were measured without reuse distances have as many accesses of each group as they
   executed, with the distances of the whole (core/shares/shares.h). */
#include <stdlib.h>

#include "core/shares/shares.h"
#include "core/store/selection/private.h"

/* ---- edges of ranks -------------------------------------------------------------------------- */

static bool read_rank_edges(struct pm_store *store, int64_t run, const struct pm_selected *selected,
                            size_t n_edges, const double *whole, double *counts,
                            struct pm_error *err) {
    struct pm_streams threads = {0};
    bool ok = pm_store_read_thread_edges(store, run, n_edges, &threads, err);
    for (size_t i = 0; ok && i < selected->ranks.n_ranks; i++) {
        uint32_t process = selected->ranks.ranks[i].process;
        if (pm_selected_takes(selected, process))
            pm_ranks_add_edges(&threads, whole, n_edges, process, counts);
    }
    pm_streams_free(&threads);
    for (size_t e = 0; e < n_edges; e++)
        counts[e] /= selected->n_ranks;
    return ok;
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void put_sums(struct pm_profile *profile, struct pm_histogram_sums *sums, double factor) {
    for (size_t i = 0; i < profile->n_histograms; i++)
        pm_histogram_free(&profile->histograms[i].histogram);
    free(profile->histograms);
    for (size_t i = 0; i < sums->n_rows; i++)
        pm_histogram_multiply(&sums->rows[i].histogram, factor);
    profile->histograms = sums->rows;
    profile->n_histograms = sums->n_rows;
}

static bool read_rank_histograms(struct pm_store *store, int64_t run,
                                 const struct pm_selected *selected, struct pm_profile *profile,
                                 struct pm_error *err) {
    struct pm_histogram_cursor *cursor = pm_store_histograms_of_run(store, run, err);
    struct pm_histogram_place place;
    struct pm_histogram histogram;
    struct pm_histogram_sums sums = {0};
    while (cursor && pm_histogram_cursor_next(cursor, &place, err)) {
        if (place.stream->kind == PM_STREAM_SHARED ||
            !pm_selected_takes(selected, place.stream->process))
            continue;
        if (!pm_histogram_cursor_read(cursor, &histogram, err))
            break;
        pm_histogram_sums_add(&sums, place.group, &histogram);
    }
    pm_histogram_cursor_free(cursor);
    put_sums(profile, &sums, 1.0 / selected->n_ranks);
    return err->kind == PM_ERROR_NONE;
}

/* Scales the histograms of PROFILE from a total with the edge counts WHOLE to the profile's own
   edge counts. */
static bool share_histograms(struct pm_store *store, const double *whole,
                             struct pm_profile *profile, struct pm_error *err) {
    struct pm_structure *structure = pm_store_structure(store, err);
    if (!structure || !pm_profile_fits(profile, structure, err)) {
        if (structure)
            pm_structure_free(structure);
        return false;
    }
    double *accesses = pm_group_executions(structure, whole),
           *shares = pm_group_executions(structure, profile->edge_counts);
    for (size_t g = 0; g < structure->n_groups; g++)
        shares[g] = accesses[g] > 0 ? shares[g] / accesses[g] : 0;
    struct pm_histogram_sums sums = {0};
    sums.rows =
        pm_scaled_histograms(profile->histograms, profile->n_histograms, shares, &sums.n_rows);
    put_sums(profile, &sums, 1);
    free(shares);
    free(accesses);
    pm_structure_free(structure);
    return true;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static int by_group(const void *left, const void *right) {
    const struct pm_group_histogram *a = left, *b = right;
    int order = PM_COMPARE(a->group, b->group);
    return order ? order : PM_COMPARE(a->histogram.block_bytes, b->histogram.block_bytes);
}

/* Takes the histograms out of ROWS. */
static void add_histograms_of_rows(struct pm_intervals *rows, const double *weights,
                                   struct pm_profile *profile) {
    struct pm_histogram_sums all = {0}, sums = {0};
    for (size_t i = 0; i < rows->n_rows; i++)
        for (size_t h = 0; weights[i] > 0 && h < rows->rows[i].n_histograms; h++) {
            struct pm_group_histogram *from = &rows->rows[i].histograms[h];
            pm_histogram_multiply(&from->histogram, weights[i]);
            *PM_PUSH(&all, rows) = *from;
            from->histogram = (struct pm_histogram){0};
        }
    PM_SORT(all.rows, all.n_rows, by_group);
    for (size_t i = 0; i < all.n_rows; i++)
        pm_histogram_sums_add(&sums, all.rows[i].group, &all.rows[i].histogram);
    free(all.rows);
    put_sums(profile, &sums, 1);
}

static bool read_intervals(struct pm_store *store, int64_t run,
                           const struct pm_parameters *parameters,
                           const struct pm_selected *selected, struct pm_profile *profile,
                           struct pm_error *err) {
    bool has_histograms = false;
    struct pm_intervals *rows =
        pm_store_has_intervals(store, parameters, true, &has_histograms, err)
            ? pm_store_intervals(store, parameters, selected->selection->kind, has_histograms, err)
            : NULL;
    double *weights =
        rows ? pm_selected_weights(store, run, parameters, selected, rows, err) : NULL;
    double *whole = profile->edge_counts;
    profile->edge_counts = pm_alloc(profile->n_edges, sizeof *profile->edge_counts);
    for (size_t i = 0; weights && i < rows->n_rows; i++) {
        weights[i] /= selected->n_ranks ? selected->n_ranks : 1;
        for (size_t e = 0; e < rows->rows[i].n_edges; e++)
            if (rows->rows[i].edges[e].edge < profile->n_edges)
                profile->edge_counts[rows->rows[i].edges[e].edge] +=
                    weights[i] * (double)rows->rows[i].edges[e].count;
    }
    bool ok = weights != NULL;
    if (ok && has_histograms)
        add_histograms_of_rows(rows, weights, profile);
    else if (ok)
        ok = share_histograms(store, whole, profile, err);
    free(whole);
    free(weights);
    pm_intervals_free(rows);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static double accesses_of(const struct pm_profile *profile) {
    double sum = 0;
    for (size_t i = 0; i < profile->n_histograms; i++)
        if (profile->histograms[i].histogram.block_bytes == profile->block_sizes[0])
            sum += pm_histogram_accesses(&profile->histograms[i].histogram);
    return sum;
}

/* What no histogram has is taken as shared out like what they have. */
static void share_skipped(struct pm_profile *profile, double share) {
    for (unsigned i = 0; i < PM_N_SKIPPED; i++) {
        profile->skipped[i].loads *= share;
        profile->skipped[i].stores *= share;
        profile->skipped[i].executions *= share;
    }
}

bool pm_store_take_selected(struct pm_store *store, int64_t run,
                            const struct pm_parameters *parameters, struct pm_profile *profile,
                            struct pm_error *err) {
    struct pm_selected selected;
    bool is_there, ok = pm_selected_find(store, run, &selected, &is_there, err);
    double before = accesses_of(profile);
    if (ok && !is_there)
        ok = pm_fail(err, "%s: the run has none of the ranks that were asked for", store->path);
    bool has_ranks = ok && pm_selection_has_ranks(selected.selection);
    double *whole = profile->edge_counts;
    if (has_ranks)
        ok = read_rank_histograms(store, run, &selected, profile, err);
    if (ok && has_ranks) {
        profile->edge_counts = pm_alloc(profile->n_edges, sizeof *profile->edge_counts);
        ok = read_rank_edges(store, run, &selected, profile->n_edges, whole, profile->edge_counts,
                             err);
        free(whole);
    }
    if (ok && selected.selection->kind != PM_NONE)
        ok = read_intervals(store, run, parameters, &selected, profile, err);
    double share = before > 0 ? accesses_of(profile) / before : 1;
    share_skipped(profile, selected.n_ranks && !(before > 0) ? 1.0 / selected.n_ranks : share);
    pm_selected_free(&selected);
    return ok;
}

/* Threads of the same number in all selected processes are one, the mean of them.  Of intervals
   they are not told apart. */
bool pm_store_take_selected_threads(struct pm_store *store, int64_t run, size_t n_edges,
                                    struct pm_streams *threads, struct pm_error *err) {
    struct pm_selected selected;
    struct pm_streams all = {0};
    bool is_there, ok = pm_selected_find(store, run, &selected, &is_there, err);
    ok = ok && (store->selection.kind != PM_NONE ||
                pm_store_read_thread_edges(store, run, n_edges, &all, err));
    for (size_t t = 0; ok && t < all.n_counts; t++) {
        struct pm_stream stream = all.streams[all.counts[t].stream];
        if (!pm_selected_takes(&selected, stream.process))
            continue;
        stream.process = 0;
        uint32_t index = pm_streams_index(threads, &stream);
        size_t at = 0;
        while (at < threads->n_counts && threads->counts[at].stream != index)
            at++;
        if (at == threads->n_counts)
            *PM_PUSH(threads, counts) =
                (struct pm_stream_counts){index, pm_alloc(n_edges, sizeof(double))};
        for (size_t e = 0; e < n_edges; e++)
            threads->counts[at].edge_counts[e] +=
                all.counts[t].edge_counts[e] / (selected.n_ranks ? selected.n_ranks : 1);
    }
    if (threads->n_counts == 1) { /* as of a run with one thread */
        free(threads->counts[0].edge_counts);
        threads->n_counts = 0;
    }
    pm_streams_free(&all);
    pm_selected_free(&selected);
    return ok;
}
