/* The prediction of a program with several threads, from those of its threads; see cores.h. */
#include "sched/cores/cores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more cores than that nobody has compared predicted times with a clock (docs/threads.md). */
static const unsigned most_checked = 2;

struct mapping {
    const struct pm_structure *structure;
    const struct pm_machine *machine;
    const struct pm_profile *profile;
    const struct pm_predict_options *options;
    struct pm_machine *share; /* the machine as one of the cores sees it */
    struct pm_profile total;  /* without waiting, as the next one */
    struct pm_profile *threads;
    size_t n_threads;
    struct pm_parts parts;
    double **shares;              /* of each thread: pm_parts_shares */
    struct pm_prediction *serial; /* the first thread with the machine to itself */
    struct pm_prediction **each;  /* the threads at work together */
    double *cycles;               /* [part][core] */
    struct pm_cores *result;
};

/* ---- counts without waiting ------------------------------------------------------------------ */

/* The profiles, whose edge counts are copies. */
static void leave_waiting_out(struct mapping *m, const struct pm_profile *profile) {
    size_t n_edges = profile->n_edges;
    double **edges = pm_alloc(m->n_threads, sizeof *edges);
    m->threads = pm_alloc(m->n_threads, sizeof *m->threads);
    for (size_t t = 0; t < m->n_threads; t++) {
        m->threads[t] = *profile->threads[t];
        edges[t] = pm_alloc(n_edges, sizeof **edges);
        memcpy(edges[t], m->threads[t].edge_counts, n_edges * sizeof **edges);
        m->threads[t].edge_counts = edges[t];
    }
    pm_take_out_spin_loops(m->structure, edges, m->n_threads, &m->result->spin);
    m->total = *profile;
    m->total.n_threads = 0;
    m->total.edge_counts = pm_alloc(n_edges, sizeof *m->total.edge_counts);
    for (size_t t = 0; t < m->n_threads; t++)
        for (size_t e = 0; e < n_edges; e++)
            m->total.edge_counts[e] += edges[t][e];
    free(edges);
}

/* ---- the time of each part ------------------------------------------------------------------- */

/* A first thread that only waits for the others is no core's. */
static unsigned core_of(const struct mapping *m, size_t thread) {
    size_t among_workers = thread > 0 && !m->parts.first_works ? thread - 1 : thread;
    return (unsigned)(among_workers % m->result->n_cores);
}

/* What the parts hold of the scopes of a routine; scopes outside routines are serial. */
static double share_of(const struct mapping *m, const double *shares, uint32_t scope, size_t part) {
    uint32_t routine = m->structure->scopes[scope].routine;
    if (routine == PM_NONE)
        return part == 0;
    return shares[routine * m->parts.n_routines + part];
}

static void add_thread(struct mapping *m, size_t t) {
    size_t n_parts = m->parts.n_routines;
    for (uint32_t s = 0; s < m->structure->n_scopes; s++)
        for (size_t p = 0; p < n_parts; p++) {
            const struct pm_prediction *of = p > 0 ? m->each[t] : m->serial;
            double share = p == 0 && t > 0 ? 0 : share_of(m, m->shares[t], s, p);
            if (share > 0)
                m->cycles[p * m->result->n_cores + core_of(m, t)] +=
                    share * of->scopes[s].self.cycles;
        }
}

static void time_part(const struct mapping *m, size_t p) {
    struct pm_parallel_part part = {.routine = m->parts.routines[p]};
    const double *cycles = &m->cycles[p * m->result->n_cores];
    double sum = 0, most = 0;
    for (unsigned c = 0; c < m->result->n_cores; c++) {
        if (cycles[c] > most) {
            most = cycles[c];
            part.slowest_core = c;
        }
        sum += cycles[c];
    }
    part.seconds = most / m->machine->clock_hz;
    part.mean_seconds = p > 0 ? sum / m->result->n_cores / m->machine->clock_hz : part.seconds;
    *PM_PUSH(m->result, parts) = part;
}

/* ---- costs of scopes ------------------------------------------------------------------------- */

static void add_scope(struct pm_scope_prediction *to, const struct pm_scope_prediction *from,
                      double share) {
    if (share * from->self.cycles > to->self.cycles || to->bound == PM_BOUND_NONE) {
        to->bound = from->bound;
        to->bound_unit = from->bound_unit;
        to->bound_level = from->bound_level;
        to->resource_cycles_per_iteration = from->resource_cycles_per_iteration;
        to->recurrence_cycles_per_iteration = from->recurrence_cycles_per_iteration;
    }
    for (int c = 0; c < PM_N_CAUSES; c++)
        if (!isnan(from->gains[c]))
            to->gains[c] = share * from->gains[c] + (isnan(to->gains[c]) ? 0 : to->gains[c]);
    pm_cost_sum_add_share(&to->self, &from->self, share);
    to->entries += share * from->entries;
    to->iterations += share * from->iterations;
    to->is_assumed |= from->is_assumed;
}

/* What thread T adds where its core is the one that takes longest. */
static void add_slowest(const struct mapping *m, size_t t, struct pm_scope_prediction *scopes) {
    for (size_t p = 0; p < m->parts.n_routines; p++) {
        const struct pm_prediction *of = p > 0 ? m->each[t] : m->serial;
        bool counts = p > 0 ? m->result->parts[p].slowest_core == core_of(m, t) : t == 0;
        for (uint32_t s = 0; counts && s < m->structure->n_scopes; s++) {
            double share = share_of(m, m->shares[t], s, p);
            if (share > 0)
                add_scope(&scopes[s], &of->scopes[s], share);
        }
    }
}

/* Of the cores that take longest; the caller frees. */
static struct pm_scope_prediction *join_scopes(const struct mapping *m) {
    size_t n = m->structure->n_scopes;
    struct pm_scope_prediction *scopes = pm_alloc(n, sizeof *scopes);
    for (uint32_t s = 0; s < n; s++) {
        scopes[s].scope = s;
        for (int c = 0; c < PM_N_CAUSES; c++)
            scopes[s].gains[c] = NAN;
    }
    for (size_t t = 0; t < m->n_threads; t++)
        add_slowest(m, t, scopes);
    pm_add_totals(m->structure, scopes);
    return scopes;
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note_cores(const struct mapping *m, const struct pm_profile *profile,
                       struct pm_prediction *p) {
    const struct pm_cores *cores = m->result;
    pm_prediction_note_of(
        p, NAN,
        "Time on %u cores with %u threads: what is serial, and of each parallel part the core that "
        "takes longest, %.2f times the mean. Rows and misses are of these cores; `pmodel query` "
        "has "
        "the misses of all threads together. What beginning and ending "
        "parallel parts, locks and data that go from core to core cost is not in it.",
        cores->n_cores, cores->n_threads, cores->imbalance);
    if (!cores->is_checked)
        pm_prediction_note_of(p, NAN,
                              "Not checked: times on more than %u cores were not compared with a "
                              "clock.",
                              most_checked);
    if (profile->threads_as)
        pm_prediction_note_of(p, NAN, "The threads' shares of the work are those of the run %s.",
                              profile->threads_as);
    for (size_t l = 0; l < m->machine->n_levels; l++) {
        const struct pm_level *level = &m->machine->levels[l];
        unsigned sharing = pm_cores_at_level(level, cores->n_cores);
        if (sharing > 1)
            pm_prediction_note_of(
                p, NAN,
                "%s is shared by %u cores: each of those at work has 1/%u of it, as "
                "if they had no data in common.",
                level->name, (unsigned)level->shared_by, sharing);
    }
    if (cores->n_cores > m->machine->cores && m->machine->cores > 0)
        pm_prediction_note_of(p, NAN, "The machine has %u cores, fewer than %u.",
                              (unsigned)m->machine->cores, cores->n_cores);
}

static void note_bandwidth(const struct mapping *m, struct pm_prediction *p) {
    double gbs_of_byte = m->machine->clock_hz / 1e9; /* a cycle */
    double alone = m->machine->memory_bandwidth_bytes_per_cycle * gbs_of_byte;
    double beside = m->share->memory_bandwidth_bytes_per_cycle * gbs_of_byte;
    if (!(alone > 0))
        return;
    if (!(m->machine->memory.bandwidth_all_gbs > 0))
        pm_prediction_note_of(p, NAN,
                              "The machine file does not say the bandwidth of memory of all cores: "
                              "each has what one alone has.");
    else if (beside < alone)
        pm_prediction_note_of(
            p, NAN,
            "Bandwidth of memory is saturated: one core alone has %.3g GB/s, each "
            "of %u %.3g GB/s.",
            alone, m->result->n_cores, beside);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* The prediction of the total says on what the times hang. */
static bool predict_threads(struct mapping *m, struct pm_error *err) {
    struct pm_predict_options options = *m->options;
    struct pm_threads_misses *own =
        options.threads_misses ? NULL : pm_threads_misses_new(m->profile, NULL);
    double *levels[2 * PM_MAX_LEVELS];
    bool ok = true;
    options.without_doubts = true;
    options.dumping = NULL; /* the whole is dumped */
    m->each = pm_alloc(m->n_threads, sizeof *m->each);
    for (size_t t = 0; ok && t < m->n_threads; t++) {
        bool is_known =
            pm_threads_misses_of(own ? own : options.threads_misses, m->structure, m->profile, t,
                                 &m->threads[t], m->machine, m->share, m->result->n_cores, levels);
        options.misses = is_known ? levels : NULL;
        if (t == 0) {
            m->serial = pm_predict(m->structure, &m->threads[0], m->machine, &options, err);
            options.known = pm_known_paths_of_share(m->options->known, m->result->n_cores);
            options.misses = is_known ? levels + m->machine->n_levels : NULL;
        }
        m->each[t] = pm_predict(m->structure, &m->threads[t], m->share, &options, err);
        ok = m->serial && m->each[t];
    }
    pm_threads_misses_free(own);
    return ok;
}

static void time_parts(struct mapping *m) {
    struct pm_cores *cores = m->result;
    size_t n_parts = m->parts.n_routines;
    double parallel = 0, mean = 0;
    m->cycles = pm_alloc(n_parts * cores->n_cores, sizeof *m->cycles);
    for (size_t t = 0; t < m->n_threads; t++)
        add_thread(m, t);
    for (size_t p = 0; p < n_parts; p++)
        time_part(m, p);
    for (size_t p = 1; p < n_parts; p++) {
        parallel += cores->parts[p].seconds;
        mean += cores->parts[p].mean_seconds;
    }
    cores->imbalance = mean > 0 ? parallel / mean : 1;
    for (size_t t = 0; t < m->n_threads; t++)
        cores->thread_seconds += m->each[t]->seconds;
}

/* Notes and unverified figures of the machine are those of the total. */
static struct pm_prediction *predict_total(struct mapping *m, const struct pm_profile *profile,
                                           struct pm_error *err) {
    struct pm_predict_options options = *m->options;
    struct pm_scope_prediction *scopes = join_scopes(m);
    options.scopes = scopes;
    options.known = pm_known_paths_of_share(m->options->known, m->result->n_cores);
    struct pm_prediction *total = pm_predict(m->structure, &m->total, m->share, &options, err);
    free(scopes);
    if (!total)
        return NULL;
    total->cores = m->result;
    note_cores(m, profile, total);
    note_bandwidth(m, total);
    return total;
}

static void choose_cores(struct mapping *m) {
    struct pm_cores *cores = m->result;
    unsigned wanted = m->options->n_cores ? m->options->n_cores : UINT32_MAX;
    cores->n_threads = (unsigned)m->n_threads - !m->parts.first_works;
    cores->n_cores = wanted < cores->n_threads ? wanted : cores->n_threads;
    cores->is_checked = cores->n_cores <= most_checked;
    m->share = pm_machine_share(m->machine, cores->n_cores);
}

struct pm_prediction *pm_predict_cores(const struct pm_structure *structure,
                                       const struct pm_profile *profile,
                                       const struct pm_machine *machine,
                                       const struct pm_predict_options *options,
                                       struct pm_error *err) {
    struct mapping m = {.structure = structure,
                        .machine = machine,
                        .profile = profile,
                        .options = options,
                        .n_threads = profile->n_threads,
                        .result = pm_alloc(1, sizeof *m.result)};
    leave_waiting_out(&m, profile);
    pm_parts_find(structure, profile, &m.parts);
    m.shares = pm_alloc(m.n_threads, sizeof *m.shares);
    for (size_t t = 0; t < m.n_threads; t++)
        m.shares[t] = pm_parts_shares(&m.parts, m.threads[t].edge_counts);
    choose_cores(&m);
    struct pm_prediction *total = NULL;
    if (predict_threads(&m, err)) {
        time_parts(&m);
        total = predict_total(&m, profile, err);
    }
    if (!total)
        pm_cores_free(m.result);
    pm_prediction_free(m.serial);
    for (size_t t = 0; t < m.n_threads; t++) {
        pm_prediction_free(m.each ? m.each[t] : NULL);
        free(m.threads[t].edge_counts);
        free(m.shares[t]);
    }
    free(m.shares);
    free(m.each);
    free(m.threads);
    free(m.total.edge_counts);
    free(m.cycles);
    pm_parts_free(&m.parts);
    pm_machine_copy_free(m.share);
    return total;
}
