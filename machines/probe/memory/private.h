/* What the files of memory/ share.  Order: tlbs.c, probe_caches.c (sizes and latencies from a
   curve), geometry.c (lines and ways), probe_parallel.c (misses in flight, bandwidths), prefetch.c,
   curves.c. */
#ifndef PM_PROBE_MEMORY_PRIVATE_H
#define PM_PROBE_MEMORY_PRIVATE_H

#include "machines/probe/memory/memory.h"

/* ---- kernels.c ------------------------------------------------------------------------------- */

enum { PM_MOST_CHAINS = 64 };

/* STEPS loads along each of CHAINS chains that begin at STARTS; these are moved on. */
void pm_follow_chains(void **starts, unsigned chains, uint64_t steps, bool writes);

enum { PM_SWEEP_SLICE = 512 << 10 };
/* Goes over BYTES from BUFFER once (pm_sweep); OTHER: where a copy goes.  At random elements so
   many that it takes about as long as a slice does. */
void pm_run_sweep(enum pm_sweep_kind kind, uint8_t *buffer, uint8_t *other, uint64_t bytes,
                  uint64_t stride_bytes, uint64_t *random);

/* ---- orders.c -------------------------------------------------------------------------------- */

/* The next of a generator's numbers, below N. */
uint64_t pm_random_below(uint64_t *state, uint64_t n);
/* Puts N values into a random order. */
void pm_shuffle(uint64_t *values, size_t n, uint64_t *state);
/* Cycles an access of a chain through all blocks of BLOCK_BYTES of BYTES, in a random order. */
struct pm_estimate pm_chase_random(const struct pm_memory_bench *bench, uint64_t bytes,
                                   uint64_t block_bytes, enum pm_probe_pages pages, unsigned chains,
                                   bool writes);
/* The same in pages that are drawn anew from a larger buffer, so that they fall into other sets of
   caches that are indexed by physical addresses. */
struct pm_tlb_costs;
struct pm_estimate pm_chase_pages(const struct pm_memory_bench *bench, uint64_t bytes,
                                  uint64_t block_bytes, const struct pm_tlb_costs *tlbs);
/* The pages in which TLBs are in the way least. */
enum pm_probe_pages pm_largest_pages(const struct pm_memory_bench *bench);

/* ---- probe_conflicts.c ----------------------------------------------------------------------- */

/* Ways of cache LEVEL, whose sets are unknown as they are those of physical addresses. */
struct pm_estimate pm_ways_by_conflicts(const struct pm_memory_bench *bench,
                                        const struct pm_memory_probe *probe, size_t level,
                                        const struct pm_probe_effort *effort);

/* ---- steps.c --------------------------------------------------------------------------------- */

enum { PM_MOST_POINTS = 200, PM_OCTAVE_POINTS = 8 };

/* A latency against a size, ascending in both: a larger working set is never faster, so what one
   shows, the smaller ones are too, however they were disturbed. */
struct pm_step_curve {
    size_t n;
    double size[PM_MOST_POINTS], value[PM_MOST_POINTS];
    double low[PM_MOST_POINTS], high[PM_MOST_POINTS]; /* between which the value lies */
};

/* Sizes from FIRST to MOST, eight an octave, among them all m · 2ᵏ · FIRST with m = 4 … 7; from
   COARSE on every second one. */
void pm_choose_sizes(struct pm_step_curve *curve, double first, double coarse, double most);
/* Measures a curve whose sizes are chosen, in up to PASSES passes, so that visits to a point are
   apart in time; each point until its least repeats.  It ends where the first pass had to. */
void pm_measure_steps(struct pm_step_curve *curve, size_t passes,
                      const struct pm_probe_effort *effort,
                      struct pm_estimate (*visit)(const void *context, double size),
                      const void *context);

struct pm_plateau {
    size_t first, last; /* points */
    double value;       /* their median */
};

/* Runs of points from some size to SPAN times that, at least three, whose values are the same but
   for the share SAME (and SAME_BY, absolutely), from left to right; what lies between is a rise. At
   most MOST; how many. */
size_t pm_find_plateaus(const struct pm_step_curve *curve, double span, double same, double same_by,
                        struct pm_plateau *plateaus, size_t most);

/* The size that stands for the step from plateau A to B: where it begins (a tenth of it is taken),
   if it is sharp, else where a half is taken. */
struct pm_estimate pm_locate_step(const struct pm_step_curve *curve, const struct pm_plateau *a,
                                  const struct pm_plateau *b);

/* ---- tlbs.c ---------------------------------------------------------------------------------- */

/* What the TLBs add to an access at random in so many pages: a step for each level that they do not
   fit, and of the last what was measured. */
struct pm_tlb_costs {
    enum pm_probe_pages pages; /* to measure caches in */
    uint64_t page_bytes;       /* that counts: a guest's huge pages may be small ones of the host */
    size_t n;
    double n_pages[PM_MOST_POINTS], cycles[PM_MOST_POINTS]; /* of accesses to so many in turn */
};

double pm_tlb_cycles(const struct pm_memory_probe *probe, const struct pm_tlb_costs *costs,
                     double bytes);

/* ---- simulate.c ------------------------------------------------------------------------------ */

/* The share of accesses that hit each cache or one nearer the core: of loads of 8 bytes that go
   through BYTES in steps of STRIDE_BYTES, or through all of these places in another order, again
   and again; and of loads of random elements.  SHARES: n_caches of the probe. */
void pm_simulate_turns(const struct pm_memory_probe *probe, uint64_t bytes, uint64_t stride_bytes,
                       double *shares);
void pm_simulate_random(const struct pm_memory_probe *probe, uint64_t bytes, double *shares);

/* ---- the parts: each does what it can in its time (effort.h) --------------------------------- */

bool pm_find_caches(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                    const struct pm_probe_effort *effort, struct pm_memory_probe *probe);
void pm_find_geometry(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                      const struct pm_probe_effort *effort, struct pm_memory_probe *probe);
void pm_find_tlbs(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                  struct pm_tlb_costs *costs, struct pm_memory_probe *probe);
void pm_find_misses_in_flight(const struct pm_memory_bench *bench,
                              const struct pm_probe_effort *effort, struct pm_memory_probe *probe);
void pm_find_prefetching(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                         struct pm_memory_probe *probe);
void pm_measure_curves(const struct pm_memory_bench *bench, const struct pm_probe_effort *effort,
                       struct pm_memory_probe *probe);

/* Cycles of a load from memory where the line that goes is clean, and dirty. */
void pm_sample_memory_latency(const struct pm_memory_bench *bench, const struct pm_tlb_costs *tlbs,
                              const struct pm_memory_probe *probe,
                              const struct pm_probe_effort *effort, struct pm_estimate cycles[2]);
/* The last cache, as large as it is now: others may use a part of it.  Half of a miss's latency is
   paid there. */
struct pm_estimate pm_sample_last_size(const struct pm_memory_bench *bench,
                                       const struct pm_tlb_costs *tlbs,
                                       const struct pm_memory_probe *probe);
/* 10⁹ bytes a second from memory by PM_N_SWEEP_KINDS, of one core and of all. */
void pm_sample_memory_bandwidth(const struct pm_memory_bench *bench,
                                const struct pm_memory_probe *probe,
                                const struct pm_probe_effort *effort, double cycle_seconds,
                                struct pm_estimate *one_gbs, struct pm_estimate *all_gbs);

/* Bytes a cycle from cache LEVEL by PM_N_SWEEP_KINDS. */
void pm_sample_cache_bandwidth(const struct pm_memory_bench *bench,
                               const struct pm_memory_probe *probe,
                               const struct pm_probe_effort *effort, size_t level,
                               struct pm_estimate *bandwidth);

/* A working set that lies in cache I and, but for a small part, in none before it; one past the
   last: in memory. */
uint64_t pm_bytes_in_level(const struct pm_memory_bench *bench, const struct pm_memory_probe *probe,
                           size_t level);

#endif
