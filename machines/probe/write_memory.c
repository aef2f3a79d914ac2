/* The part of the machine file on memory: caches, TLBs, memory, prefetchers, curves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/machine.h"
#include "machines/probe/probe_figures.h"

/* What no probe tells, and is unverified: the share of a penalty that the core cannot hide. */
static const double EXPOSED_OF_CACHES = 0.3, EXPOSED_OF_TLBS = 0.5;
static const double MOSTLY = 0.5;
enum { USUAL_LINE = 64 };

/* Of A, which is not less, and B. */
static struct pm_estimate difference(struct pm_estimate a, struct pm_estimate b) {
    return (struct pm_estimate){fmax(0, a.low - b.high), fmax(0, a.estimate - b.estimate),
                                fmax(0, a.high - b.low)};
}

/* CPUs that the system says share the data cache of LEVEL, 0 unknown. */
static uint64_t sharing_cpus(const struct pm_said *said, unsigned level) {
    for (size_t i = 0; i < said->n_caches; i++)
        if (said->caches[i].level == level && strcmp(said->caches[i].type, "Instruction") != 0)
            return said->caches[i].sharing_cpus;
    return 0;
}

/* Hardware threads of one core share its first cache. */
static uint64_t sharing_cores(const struct pm_said *said, unsigned level) {
    uint64_t first = sharing_cpus(said, 1);
    return first ? sharing_cpus(said, level) / first : 0;
}

static void write_caches(struct pm_probe_writing *w, const struct pm_memory_probe *memory,
                         const struct pm_said *said) {
    for (size_t i = 0; i < memory->n_caches; i++) {
        const struct pm_probed_cache *cache = &memory->caches[i];
        struct pm_estimate next = i + 1 < memory->n_caches ? memory->caches[i + 1].latency_cycles
                                                           : memory->memory_latency_cycles;
        char name[] = {'L', (char)('1' + i), '\0'};
        bool knows_ways = pm_is_known(cache->ways), knows_line = pm_is_known(cache->line_bytes);
        pm_begin_section(w, "cache", name);
        bool size = pm_write_whole(w, "size", cache->size_bytes);
        uint64_t sharing = size ? sharing_cores(said, (unsigned)i + 1) : 0;
        if (size && w->core) /* lines that are in no whole number of sets are none */
            fprintf(w->to, "  ways = %.0f%s", knows_ways ? cache->ways.estimate : 0,
                    knows_ways ? "" : "  not_verified = {ways}");
        /* Unknown ways are taken for enough. */
        pm_write_of_unknown(w, "  line = %.0f  ways = %.0f",
                            knows_line ? cache->line_bytes.estimate : USUAL_LINE,
                            knows_ways ? cache->ways.estimate : 0);
        pm_write_figure(w, "latency", cache->latency_cycles, 1);
        if (pm_is_known(next) && pm_is_known(cache->latency_cycles))
            pm_write_figure(w, "miss_penalty", difference(next, cache->latency_cycles), 1);
        pm_write_of_unknown(w, "  exposed = %g\n          ", EXPOSED_OF_CACHES);
        pm_write_figure(w, "read_bandwidth", cache->bandwidth[PM_SWEEP_LOAD], 1);
        pm_write_figure(w, "write_bandwidth", cache->bandwidth[PM_SWEEP_STORE], 1);
        pm_write_figure(w, "copy_bandwidth", cache->bandwidth[PM_SWEEP_COPY], 1);
        pm_write_whole(w, "misses_in_flight", cache->misses_in_flight);
        if (sharing > 1)
            fprintf(w->to, "  shared_by = %llu", (unsigned long long)sharing);
        struct pm_response serves;
        if (i + 1 == memory->n_caches && pm_probed_response(memory, &serves)) {
            char *text = pm_response_text(&serves);
            pm_write_text(w, "\n           serves = %s\n          ", text);
            free(text);
        }
        pm_write_of_unknown(w, "  indexed = %s  not_verified = {exposed%s%s%s}",
                            i ? "physical" : "virtual", knows_ways ? "" : ", ways",
                            knows_line ? "" : ", line", sharing > 1 ? ", shared_by" : "");
        pm_end_section(w);
    }
}

/* The name of CORE's TLB of this level (from 1) for this page; NULL: it has none. */
static const char *tlb_of_core(const struct pm_machine *core, uint64_t page, unsigned level) {
    for (size_t i = 0; i < core->n_all_levels; i++)
        if (core->levels[i].kind == PM_LEVEL_TLB && core->levels[i].block_bytes == page &&
            --level == 0)
            return core->levels[i].name;
    return NULL;
}

static void write_tlbs(struct pm_probe_writing *w, const struct pm_memory_probe *memory) {
    unsigned level = 0;
    uint64_t page = 0;
    for (size_t i = 0; i < memory->n_tlbs; i++) {
        const struct pm_probed_tlb *tlb = &memory->tlbs[i];
        bool knows_cycles = pm_is_known(tlb->miss_cycles);
        if (!pm_is_known(tlb->entries))
            continue;
        level = tlb->page_bytes == page ? level + 1 : 1;
        page = tlb->page_bytes;
        char *own = pm_sprintf("TLB%u%s", level, page > 65536 ? "H" : "");
        const char *name = w->core ? tlb_of_core(w->core, page, level) : own;
        if (name) {
            pm_begin_section(w, "tlb", name);
            if (pm_write_whole(w, "entries", tlb->entries) && w->core)
                fputs("  ways = 0  not_verified = {ways}", w->to);
            pm_write_of_unknown(w, "  page = %llu  ways = 0", (unsigned long long)page);
            if (!pm_write_figure(w, "miss_penalty", tlb->miss_cycles, 1))
                pm_write_of_unknown(w, "  miss_penalty = 0");
            pm_write_of_unknown(w, "  exposed = %g  not_verified = {ways, exposed%s}",
                                EXPOSED_OF_TLBS, knows_cycles ? "" : ", miss_penalty");
            pm_end_section(w);
        }
        free(own);
    }
}

static void write_memory(struct pm_probe_writing *w, const struct pm_memory_probe *memory) {
    static const char *const one[PM_N_SWEEP_KINDS] = {[PM_SWEEP_LOAD] = "bandwidth_gbs",
                                                      [PM_SWEEP_STORE] = "write_bandwidth_gbs",
                                                      [PM_SWEEP_COPY] = "copy_bandwidth_gbs"};
    static const char *const all[PM_N_SWEEP_KINDS] = {[PM_SWEEP_LOAD] = "bandwidth_all_gbs",
                                                      [PM_SWEEP_STORE] = "write_bandwidth_all_gbs",
                                                      [PM_SWEEP_COPY] = "copy_bandwidth_all_gbs"};
    if (!pm_is_known(memory->memory_latency_cycles))
        return;
    pm_begin_section(w, "memory", NULL);
    pm_write_figure(w, "latency", memory->memory_latency_cycles, 1);
    pm_write_figure(w, "latency_dirty", memory->memory_latency_dirty_cycles, 1);
    pm_write_whole(w, "misses_in_flight", memory->memory_misses_in_flight);
    for (int kind = 0; kind < PM_N_SWEEP_KINDS; kind++) {
        pm_write_figure(w, one[kind], memory->memory_gbs[kind], 1);
        pm_write_figure(w, all[kind], memory->memory_all_gbs[kind], 1);
    }
    pm_end_section(w);
}

/* The strides in one direction, from LEAST_STRIDE to MOST_STRIDE bytes, of which more than half is
   hidden: one prefetcher. */
static void write_prefetcher(FILE *to, const struct pm_memory_probe *memory, const char *name,
                             int direction, double least_stride, double most_stride) {
    double most = 0, covered = 0;
    unsigned streams = 0, n = 0;
    for (size_t i = 0; i < memory->n_prefetches; i++) {
        const struct pm_probed_prefetch *prefetch = &memory->prefetches[i];
        double stride = (double)prefetch->stride_bytes * direction;
        if (stride < least_stride || stride > most_stride || !(prefetch->covered.estimate > MOSTLY))
            continue;
        most = fmax(most, stride);
        streams = prefetch->streams > streams ? prefetch->streams : streams;
        covered += prefetch->covered.estimate;
        n++;
    }
    if (n > 0)
        fprintf(to,
                "prefetcher %s { level = L1  min_stride = %.0f  max_stride = %.0f  streams = %u  "
                "covers = %.2f  down = %s }\n",
                name, least_stride, most, streams, covered / n, direction > 0 ? "false" : "true");
}

/* Of a known core's prefetchers, what they cover. */
static void write_covers(struct pm_probe_writing *w, const struct pm_memory_probe *memory) {
    for (size_t i = 0; i < w->core->n_prefetchers; i++) {
        const struct pm_prefetcher *prefetcher = &w->core->prefetchers[i];
        double covered = 0;
        unsigned n = 0;
        for (size_t j = 0; j < memory->n_prefetches; j++) {
            const struct pm_probed_prefetch *found = &memory->prefetches[j];
            double stride = (double)llabs(found->stride_bytes);
            if (stride < (double)prefetcher->min_stride_bytes ||
                stride > (double)prefetcher->max_stride_bytes || isnan(found->covered.estimate))
                continue;
            covered += fmax(0, found->covered.estimate);
            n++;
        }
        if (n && covered > 0)
            fprintf(w->to, "prefetcher %s { covers = %.2f  source = \"[1]\" }\n", prefetcher->name,
                    covered / n);
    }
}

/* From line to line they follow further than over larger strides. */
static void write_prefetchers(struct pm_probe_writing *w, const struct pm_memory_probe *memory) {
    FILE *to = w->to;
    double line = memory->n_caches && pm_is_known(memory->caches[0].line_bytes)
                      ? memory->caches[0].line_bytes.estimate
                      : USUAL_LINE;
    if (w->core)
        write_covers(w, memory);
    else {
        write_prefetcher(to, memory, "ascending", 1, 1, line);
        write_prefetcher(to, memory, "ascending_far", 1, line + 1, INFINITY);
        write_prefetcher(to, memory, "descending", -1, 1, line);
        write_prefetcher(to, memory, "descending_far", -1, line + 1, INFINITY);
    }
    for (size_t i = 0; i < memory->n_prefetches; i++)
        fprintf(to, "# stride %+lld, %u streams: %.0f%% of a miss hidden (%.0f to %.0f)\n",
                (long long)memory->prefetches[i].stride_bytes, memory->prefetches[i].streams,
                100 * memory->prefetches[i].covered.estimate,
                100 * memory->prefetches[i].covered.low, 100 * memory->prefetches[i].covered.high);
}

static void write_list(FILE *to, const char *name, const double *values, size_t n) {
    fprintf(to, "%s = {", name);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%.10g", i ? ", " : "", values[i]);
    fputs("}", to);
}

static void write_curve(FILE *to, const struct pm_memory_probe *memory,
                        const struct pm_probed_curve *curve) {
    size_t n = curve->n_points;
    double *values = pm_alloc(n + 1, sizeof *values);
    char *stride =
        curve->stride_bytes > 0 ? pm_sprintf("%.0f", curve->stride_bytes) : pm_strdup("random");
    fprintf(to, "curve %s_%s_%ut%s { of = %s  stride = %.0f  threads = %u  page = %s\n    ",
            curve->of, stride, curve->threads, curve->pages == PM_PAGES_HUGE ? "_huge" : "",
            curve->of, curve->stride_bytes, curve->threads,
            curve->pages == PM_PAGES_HUGE ? "2MiB" : "4KiB");
    write_list(to, "working_set", curve->working_set_bytes, n);
    for (int bound = 0; bound < 3; bound++) {
        static const char *const names[] = {"\n    value", "\n    low", "\n    high"};
        for (size_t i = 0; i < n; i++)
            values[i] = bound == 0   ? curve->value[i].estimate
                        : bound == 1 ? curve->value[i].low
                                     : curve->value[i].high;
        write_list(to, names[bound], values, n);
    }
    for (size_t i = 0; curve->hits && i < memory->n_caches; i++) {
        fprintf(to, "\n    hits L%zu { ", i + 1);
        write_list(to, "share", curve->hits[i].share, n);
        fputs(" }", to);
    }
    fputs(" }\n", to);
    free(stride);
    free(values);
}

void pm_write_probed_memory(struct pm_probe_writing *w, const struct pm_memory_probe *memory,
                            const struct pm_said *said) {
    fprintf(w->to, "\n# Memory.%s\n",
            w->core ? "" : "  Unknown ways are written as fully associative, and unverified.");
    write_caches(w, memory, said);
    write_tlbs(w, memory);
    write_memory(w, memory);
    write_prefetchers(w, memory);
    for (size_t i = 0; i < memory->n_curves; i++)
        write_curve(w->to, memory, &memory->curves[i]);
}
