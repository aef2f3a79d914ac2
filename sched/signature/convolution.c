/* The convolution of a signature with what a program does (Snavely, Wolter & Carrington 2001,
   section 7).

       (1)  MetaSim number = Σ Wt. BB_i · Rate BB_i
       (2)  FLOP/s         = Σ Wt. BB_i · Rate BB_i · Intensity BB_i

   BB_i         a basic block, or the own code of a loop
   Wt. BB_i     its share of the program's dynamic memory references, in words
   Rate BB_i    words a second that the signature says it can load and store (read.c): of its
                patterns by their words
   Intensity    floating-point operations for a word

   Both are means of rates weighted by work, so a fast block hides a slow one: of two blocks with
   half the words each, one ten times as fast, (2) says 5.5 where together they reach 1.8.  They are
   given as they stand in the paper.  The prediction is the sum of times,

       seconds = Σ over patterns of  words / rate        FLOP/s = Σ floating-point operations /
   seconds

   Assumed, as in the paper: what is not a load or store is hidden behind these (the memory-bound
   rule), so blocks outside its domain, with fewer than one memory operation for four
   floating-point ones, or less than a tenth of them random, are told apart. */
#include <math.h>
#include <stdlib.h>

#include "sched/signature/private.h"

const double pm_domain_most_flops = 4, pm_domain_least_random = 0.1;

/* ---- one part -------------------------------------------------------------------------------- */

static void add_pattern(const struct pm_signature *signature, int kind, int bin,
                        struct pm_convolved_part *part, double *most_seconds, double *rates) {
    const struct pm_pattern *pattern = &part->part->patterns.of[kind][bin];
    struct pm_read_rate rate;
    if (!(pattern->words > 0))
        return;
    pm_signature_read(signature, kind == PM_PATTERN_STORES, (enum pm_stride_bin)bin, pattern,
                      &rate);
    double seconds = pattern->words * rate.cycles / signature->machine->clock_hz;
    part->references += pattern->references;
    part->words += pattern->words;
    part->seconds += seconds;
    *rates += pattern->words * signature->machine->clock_hz / rate.cycles;
    if (bin == PM_STRIDE_BIN_RANDOM)
        part->random_share += pattern->references;
    for (size_t l = 0; l < signature->n_caches; l++)
        part->hit_rates[l] += pattern->misses[l];
    if (seconds <= *most_seconds)
        return;
    *most_seconds = seconds;
    part->kind = (uint8_t)kind;
    part->bin = (uint8_t)bin;
    part->working_set_bytes = rate.working_set_bytes;
    part->is_beyond = rate.is_beyond;
}

static struct pm_convolved_part convolve_part(const struct pm_signature *signature,
                                              const struct pm_program_part *of) {
    struct pm_convolved_part part = {.part = of};
    double most_seconds = 0, rates = 0;
    for (int kind = 0; kind < PM_N_PATTERN_KINDS; kind++)
        for (int bin = 0; bin < PM_N_STRIDE_BINS; bin++)
            add_pattern(signature, kind, bin, &part, &most_seconds, &rates);
    part.random_share /= part.references;
    for (size_t l = 0; l < signature->n_caches; l++)
        part.hit_rates[l] = 1 - part.hit_rates[l] / part.references;
    part.rate = rates / part.words;
    part.intensity = of->flops / part.words;
    part.in_domain =
        part.intensity <= pm_domain_most_flops && part.random_share >= pm_domain_least_random;
    return part;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_words(const void *left, const void *right) {
    const struct pm_convolved_part *a = left, *b = right;
    return a->words != b->words ? PM_COMPARE(b->words, a->words) : PM_COMPARE(a->part, b->part);
}

static void add_up(struct pm_convolution *c) {
    for (size_t i = 0; i < c->n_parts; i++) {
        struct pm_convolved_part *part = &c->parts[i];
        part->weight = part->words / c->words;
        c->metasim_number += part->weight * part->rate;
        c->mean_flops += part->weight * part->rate * part->intensity;
        c->seconds += part->seconds;
        c->domain_share += part->in_domain ? part->weight : 0;
        c->share_without_flops += part->part->flops > 0 ? 0 : part->weight;
    }
    c->flops_rate = c->flops / c->seconds;
}

bool pm_convolve(const struct pm_signature *signature, const struct pm_program_parts *parts,
                 struct pm_convolution *convolution, struct pm_error *err) {
    *convolution =
        (struct pm_convolution){.signature = signature, .flops = parts->flops_without_references};
    for (size_t i = 0; i < parts->n_parts; i++) {
        struct pm_convolved_part part = convolve_part(signature, &parts->parts[i]);
        convolution->words += part.words;
        convolution->flops += parts->parts[i].flops;
        *PM_PUSH(convolution, parts) = part;
    }
    if (convolution->n_parts == 0)
        return pm_fail(err, "no access to memory was recorded, so there is nothing to convolve");
    PM_SORT(convolution->parts, convolution->n_parts, by_words);
    add_up(convolution);
    return true;
}

void pm_convolution_free(struct pm_convolution *convolution) {
    free(convolution->parts);
    *convolution = (struct pm_convolution){0};
}
