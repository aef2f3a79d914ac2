/* The machine's signature: latency and bandwidth of loads and stores against the working set, by
   stride and at random (MAPS: Snavely, Wolter & Carrington 2001, section 4, figures 1 and 2).  Each
   point has the share of its accesses that hit each cache or one nearer the core, by which a loop
   can be mapped to it (section 7). */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum { FIRST_BYTES = 1024, MOST_POINTS = 64, ELEMENT = 8, BLOCK = 64 };

/* Of elements of 8 bytes; 0: random. */
static const double STRIDES[] = {8, 16, 32, 64, 128, 0};
static const double STRIDES_QUICK[] = {8, 0};

struct curve_kind {
    const char *of;
    bool is_latency;
    enum pm_sweep_kind sweep;
};

static const struct curve_kind KINDS[] = {
    {"load_latency", true, PM_SWEEP_LOAD},
    {"store_latency", true, PM_SWEEP_STORE},
    {"read_bandwidth", false, PM_SWEEP_LOAD},
    {"write_bandwidth", false, PM_SWEEP_STORE},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

/* A store goes behind the link that says the next place: no two of them in one element. */
static bool has_room(const struct curve_kind *kind, double stride) {
    return !kind->is_latency || kind->sweep == PM_SWEEP_LOAD || stride == 0 ||
           stride >= 2 * ELEMENT;
}

/* Dependent accesses, STRIDE bytes apart or at random. */
static struct pm_estimate latency(const struct pm_memory_bench *bench, uint64_t bytes,
                                  double stride, enum pm_probe_pages pages, bool writes) {
    if (stride == 0)
        return pm_chase_random(bench, bytes, BLOCK, pages, 1, writes);
    uint64_t apart = (uint64_t)stride;
    size_t n = bytes / apart;
    uint64_t *offsets = pm_alloc(n + 1, sizeof *offsets);
    for (size_t i = 0; i < n; i++)
        offsets[i] = i * apart;
    const struct pm_chase chase = {
        .offsets = offsets, .n = n, .chains = 1, .writes = writes, .pages = pages};
    struct pm_estimate cycles = n ? bench->chase(bench->context, &chase) : pm_estimate_unknown();
    free(offsets);
    return cycles;
}

static struct pm_estimate bandwidth(const struct pm_memory_bench *bench, uint64_t bytes,
                                    const struct pm_probed_curve *curve, enum pm_sweep_kind kind) {
    const struct pm_sweep sweep = {.kind = kind,
                                   .bytes = bytes,
                                   .stride_bytes = (uint64_t)curve->stride_bytes,
                                   .threads = curve->threads,
                                   .pages = curve->pages};
    return pm_estimate_inverse(ELEMENT, bench->sweep(bench->context, &sweep));
}

/* The last cache as it was found, and not less than what all others have to be beside. */
static double most_bytes(const struct pm_memory_bench *bench, const struct pm_memory_probe *probe,
                         unsigned threads) {
    double last = probe->caches[probe->n_caches - 1].size_bytes.high;
    return fmin(fmax(4 * last, 32 << 20), (double)bench->most_bytes / (2 * threads));
}

static void measure_point(const struct pm_memory_bench *bench, const struct curve_kind *kind,
                          struct pm_memory_probe *probe, struct pm_probed_curve *curve,
                          uint64_t bytes) {
    double shares[PM_MOST_CACHES] = {0};
    size_t at = curve->n_points++;
    curve->working_set_bytes[at] = (double)bytes;
    curve->value[at] = kind->is_latency ? latency(bench, bytes, curve->stride_bytes, curve->pages,
                                                  kind->sweep != PM_SWEEP_LOAD)
                                        : bandwidth(bench, bytes, curve, kind->sweep);
    /* A chain at random comes to each line once a turn, as one in order does. */
    if (kind->is_latency)
        pm_simulate_turns(probe, bytes,
                          curve->stride_bytes == 0 ? BLOCK : (uint64_t)curve->stride_bytes, shares);
    else if (curve->stride_bytes > 0)
        pm_simulate_turns(probe, bytes, (uint64_t)curve->stride_bytes, shares);
    else
        pm_simulate_random(probe, bytes, shares);
    for (size_t level = 0; level < probe->n_caches; level++)
        curve->hits[level].share[at] = shares[level];
    if (isnan(curve->value[at].estimate))
        curve->n_points--;
}

static void measure_curve(const struct pm_memory_bench *bench, const struct curve_kind *kind,
                          const struct pm_probe_effort *effort, double stride, unsigned threads,
                          enum pm_probe_pages pages, struct pm_memory_probe *probe) {
    double factor = effort->quick ? 4 : sqrt(2), most = most_bytes(bench, probe, threads);
    struct pm_probed_curve curve = {
        .of = kind->of, .stride_bytes = stride, .threads = threads, .pages = pages};
    curve.working_set_bytes = pm_alloc(MOST_POINTS, sizeof *curve.working_set_bytes);
    curve.value = pm_alloc(MOST_POINTS, sizeof *curve.value);
    curve.hits = pm_alloc(probe->n_caches, sizeof *curve.hits);
    for (size_t level = 0; level < probe->n_caches; level++)
        curve.hits[level].share = pm_alloc(MOST_POINTS, sizeof *curve.hits[level].share);
    for (double bytes = FIRST_BYTES; bytes <= most && curve.n_points < MOST_POINTS;
         bytes *= factor) {
        uint64_t whole = (uint64_t)bytes / 512 * 512; /* of the widest vectors, eight a turn */
        if (!pm_probe_goes_on(effort))
            break;
        if (curve.n_points == 0 || (double)whole > curve.working_set_bytes[curve.n_points - 1])
            measure_point(bench, kind, probe, &curve, whole);
    }
    *PM_PUSH(probe, curves) = curve; /* what there is of it */
}

void pm_measure_curves(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                       struct pm_memory_probe *probe) {
    const double *strides = effort->quick ? STRIDES_QUICK : STRIDES;
    size_t n_strides = effort->quick ? sizeof STRIDES_QUICK / sizeof *STRIDES_QUICK
                                     : sizeof STRIDES / sizeof *STRIDES;
    /* Huge pages first: what a shared level serves is taken from these (response.c). */
    for (int pages = PM_N_PROBE_PAGES - 1; pages >= 0; pages--)
        for (int many = 0; many < 2; many++)
            for (int kind = 0; kind < N_KINDS; kind++)
                for (size_t i = 0; i < n_strides; i++) {
                    unsigned threads = many ? bench->threads : 1;
                    bool skips = bench->page_bytes[pages] == 0 || (many && threads == 1) ||
                                 (many && KINDS[kind].is_latency) ||
                                 !has_room(&KINDS[kind], strides[i]) ||
                                 (effort->quick && (many || pages != PM_PAGES_SMALL));
                    if (!skips && pm_probe_goes_on(effort))
                        measure_curve(bench, &KINDS[kind], effort, strides[i], threads,
                                      (enum pm_probe_pages)pages, probe);
                }
}
