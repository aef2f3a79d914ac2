/* TLBs: one load in each of N pages, in lines that lie in all sets of the caches alike.  As many
   lines next to each other need few entries, and cost what the caches cost; the difference is the
   TLBs', and rises in steps where one is full. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "machines/probe/memory/private.h"

enum {
    MOST_TLBS = 2 /* a third step is of page tables that leave the caches */,
    FIRST_PAGES = 8,
    PASSES = 3,
    LINE = 64,
};
static const double TLBS_SHARE = 0.1; /* of the time left */
static const double COARSE_PAGES = 128, LEAST_SPAN = 1.4;
static const double MOST_PAGES = 16384, MOST_PAGES_QUICK = 8192;
static const double MOST_HUGE_PAGES = 512, MOST_HUGE_PAGES_QUICK = 96; /* a gibibyte */
static const double SAME_COST = 0.25,
                    SAME_BY = 1.5; /* cycles: hits of the second level take 5 to 9 */

struct cost_of {
    const struct pm_memory_bench *bench;
    enum pm_probe_pages pages;
};

static struct pm_estimate touch_pages(const struct pm_memory_bench *bench, uint64_t n,
                                      uint64_t page_bytes, enum pm_probe_pages pages) {
    static uint64_t state = 4711; /* another order each time */
    uint64_t *offsets = pm_alloc(n, sizeof *offsets);
    uint64_t lines = 4096 / LINE;
    for (uint64_t i = 0; i < n; i++)
        /* Another line from page to page, and from one 64 pages to the next. */
        offsets[i] = i * page_bytes + (i + i / lines) % lines * LINE;
    pm_shuffle(offsets, n, &state);
    const struct pm_chase chase = {.offsets = offsets, .n = n, .chains = 1, .pages = pages};
    struct pm_estimate cycles = bench->chase(bench->context, &chase);
    free(offsets);
    // cppcheck-suppress returnDanglingLifetime ; it takes the call for a constructor
    return cycles;
}

static struct pm_estimate apart(const void *context, double n) {
    const struct cost_of *of = context;
    return touch_pages(of->bench, (uint64_t)n, of->bench->page_bytes[of->pages], of->pages);
}

static struct pm_estimate together(const void *context, double n) {
    const struct cost_of *of = context;
    return pm_chase_random(of->bench, (uint64_t)n * LINE, LINE, pm_largest_pages(of->bench), 1,
                           false);
}

/* MOST: pages.  COSTS gets the curve. */
static void find_in(const struct cost_of *of, const char *what, double most,
                    const struct pm_probe_effort *effort, struct pm_tlb_costs *costs,
                    struct pm_memory_probe *probe) {
    struct pm_step_curve curve, in_lines;
    struct pm_plateau plateaus[MOST_TLBS + 1];
    pm_choose_sizes(&curve, FIRST_PAGES, COARSE_PAGES, most);
    in_lines = curve;
    pm_probe_part(effort, what, TLBS_SHARE, 2 * PASSES * curve.n);
    pm_measure_steps(&in_lines, PASSES, effort, together, of);
    pm_measure_steps(&curve, PASSES, effort, apart, of);
    for (size_t i = 0; i < curve.n && i < in_lines.n; i++) {
        curve.value[i] -= in_lines.value[i];
        curve.low[i] -= in_lines.high[i];
        curve.high[i] -= in_lines.low[i];
    }
    curve.n = curve.n < in_lines.n ? curve.n : in_lines.n;
    costs->n = curve.n;
    memcpy(costs->n_pages, curve.size, curve.n * sizeof *curve.size);
    memcpy(costs->cycles, curve.value, curve.n * sizeof *curve.value);
    size_t n = pm_find_plateaus(&curve, LEAST_SPAN, SAME_COST, SAME_BY, plateaus, MOST_TLBS + 1);
    for (size_t i = 0; i + 1 < n; i++) {
        double cost = plateaus[i + 1].value - plateaus[i].value;
        struct pm_probed_tlb *tlb = PM_PUSH(probe, tlbs);
        tlb->page_bytes = of->bench->page_bytes[of->pages];
        tlb->entries = pm_locate_step(&curve, &plateaus[i], &plateaus[i + 1]);
        tlb->miss_cycles = (struct pm_estimate){cost - SAME_BY, cost, cost + SAME_BY};
    }
    if (n >= 2) {
        double all = plateaus[n - 1].value - plateaus[0].value;
        probe->page_walk_cycles[of->pages] =
            (struct pm_estimate){all - SAME_BY, all, all * (1 + SAME_COST)};
    }
}

double pm_tlb_cycles(const struct pm_memory_probe *probe, const struct pm_tlb_costs *costs,
                     double bytes) {
    double pages = bytes / (double)costs->page_bytes, cycles = 0, before = 0;
    const struct pm_probed_tlb *last = NULL;
    for (size_t i = 0; i < probe->n_tlbs; i++) {
        const struct pm_probed_tlb *tlb = &probe->tlbs[i];
        if (tlb->page_bytes != costs->page_bytes || tlb->entries.estimate >= pages)
            continue;
        cycles += tlb->miss_cycles.estimate * (1 - tlb->entries.estimate / pages);
        if (last)
            before += last->miss_cycles.estimate;
        last = tlb;
    }
    /* Page tables that no longer lie in the caches make the last step higher and higher. */
    for (size_t i = costs->n; last && i-- > 0;)
        if (costs->n_pages[i] <= pages) {
            double more = costs->cycles[i] - before - last->miss_cycles.estimate;
            if (costs->n_pages[i] > last->entries.estimate && more > 0)
                cycles += more * (1 - last->entries.estimate / pages);
            break;
        }
    return cycles;
}

/* Does it cost less to touch many places 4 KiB apart in huge pages than in small ones? */
static bool huge_pages_help(const struct pm_memory_bench *bench, double many) {
    uint64_t small = bench->page_bytes[PM_PAGES_SMALL];
    double in_small = touch_pages(bench, (uint64_t)many, small, PM_PAGES_SMALL).estimate;
    double in_huge = touch_pages(bench, (uint64_t)many, small, PM_PAGES_HUGE).estimate;
    double dense =
        pm_chase_random(bench, (uint64_t)many * LINE, LINE, PM_PAGES_HUGE, 1, false).estimate;
    return in_huge - dense < (in_small - dense) / 2;
}

void pm_find_tlbs(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                  struct pm_tlb_costs *costs, struct pm_memory_probe *probe) {
    struct cost_of small = {bench, PM_PAGES_SMALL}, large = {bench, PM_PAGES_HUGE};
    double most = fmin(effort->quick ? MOST_PAGES_QUICK : MOST_PAGES,
                       (double)bench->most_bytes / (double)bench->page_bytes[PM_PAGES_SMALL]);
    *costs = (struct pm_tlb_costs){.pages = PM_PAGES_SMALL,
                                   .page_bytes = bench->page_bytes[PM_PAGES_SMALL]};
    find_in(&small, "entries of TLBs", most, effort, costs, probe);
    if (!bench->page_bytes[PM_PAGES_HUGE] || !huge_pages_help(bench, most / 2))
        return;
    *costs = (struct pm_tlb_costs){.pages = PM_PAGES_HUGE,
                                   .page_bytes = bench->page_bytes[PM_PAGES_HUGE]};
    most = fmin(effort->quick ? MOST_HUGE_PAGES_QUICK : MOST_HUGE_PAGES,
                (double)bench->most_bytes / (double)bench->page_bytes[PM_PAGES_HUGE]);
    find_in(&large, "entries of TLBs of huge pages", most, effort, costs, probe);
}
