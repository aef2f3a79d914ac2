/* A machine's signature: the curves of its file that one thread measured with pages of the size in
   use, or, if there are none, those that its description lets expect (synthesis.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/signature/private.h"

/* ---- which curves ---------------------------------------------------------------------------- */

bool pm_curve_is_of_writes(const struct pm_curve *curve) {
    return strcmp(curve->of, "write_bandwidth") == 0;
}

static bool is_rate(const struct pm_curve *curve) {
    return pm_curve_is_of_writes(curve) || strcmp(curve->of, "read_bandwidth") == 0;
}

/* The share of the accesses at the points of CURVE that hit LEVEL or one before; NULL: not known.
 */
const double *pm_curve_hits_of(const struct pm_curve *curve, const struct pm_level *level) {
    for (size_t i = 0; i < curve->n_hits; i++)
        if (strcmp(curve->hits[i].level, level->name) == 0)
            return curve->hits[i].share;
    return NULL;
}

static bool knows_hits(const struct pm_machine *machine, const struct pm_curve *curve) {
    for (size_t l = 0; l <= pm_last_cache(machine); l++)
        if (!pm_curve_hits_of(curve, &machine->levels[l]))
            return false;
    return true;
}

static bool is_usable(const struct pm_machine *machine, const struct pm_curve *curve,
                      bool any_page) {
    return is_rate(curve) && curve->threads == 1 && curve->n_points > 1 &&
           knows_hits(machine, curve) &&
           (any_page || machine->page_bytes == 0 || curve->page_bytes == 0 ||
            curve->page_bytes == machine->page_bytes);
}

/* Reads first, ascending strides, random last. */
static int by_kind_and_stride(const void *left, const void *right) {
    const struct pm_curve *a = left, *b = right;
    bool a_writes = pm_curve_is_of_writes(a), b_writes = pm_curve_is_of_writes(b);
    if (a_writes != b_writes)
        return a_writes ? 1 : -1;
    double first = a->stride_bytes > 0 ? a->stride_bytes : INFINITY;
    double second = b->stride_bytes > 0 ? b->stride_bytes : INFINITY;
    return PM_COMPARE(first, second);
}

static void take_measured(struct pm_signature *signature) {
    const struct pm_machine *machine = signature->machine;
    for (int any_page = 0; any_page < 2 && signature->n_curves == 0; any_page++)
        for (size_t i = 0; i < machine->n_curves; i++)
            if (is_usable(machine, &machine->curves[i], any_page))
                *PM_PUSH(signature, curves) = machine->curves[i];
    PM_SORT(signature->curves, signature->n_curves, by_kind_and_stride);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool has_caches(const struct pm_machine *machine) {
    return machine->n_levels > 0 && machine->levels[0].kind == PM_LEVEL_CACHE;
}

/* The least a word takes that is loaded by itself: of the curves of longer strides, whose accesses
   are no vectors, the best point. */
static double fastest_word(const struct pm_signature *signature) {
    double best = 0;
    for (size_t i = 0; i < signature->n_curves; i++) {
        const struct pm_curve *curve = &signature->curves[i];
        bool is_single = curve->stride_bytes > PM_WORD_BYTES && !pm_curve_is_of_writes(curve);
        for (size_t k = 0; k < curve->n_points && is_single; k++)
            best = fmax(best, curve->value[k]);
    }
    return best > 0 ? PM_WORD_BYTES / best : pm_load_cycles(signature->machine);
}

bool pm_signature_make(const struct pm_machine *machine, struct pm_signature *signature,
                       struct pm_error *err) {
    *signature = (struct pm_signature){.machine = machine};
    if (!has_caches(machine) || !(machine->clock_hz > 0))
        return pm_fail(err,
                       "machine %s has no curves and no caches to make some of: `pmodel probe` "
                       "measures those of this machine",
                       machine->name);
    signature->n_caches = pm_last_cache(machine) + 1;
    take_measured(signature);
    signature->is_synthesised = signature->n_curves == 0;
    if (signature->is_synthesised && !pm_synthesise(signature, err))
        return false;
    signature->word_cycles = fastest_word(signature);
    return true;
}

void pm_signature_free(struct pm_signature *signature) {
    if (signature->is_synthesised)
        pm_synthesis_free(signature);
    free(signature->curves);
    *signature = (struct pm_signature){0};
}

/* ---- looking up ------------------------------------------------------------------------------ */

/* The stride in bytes whose curve stands for a bin: in words, since the curves' elements are. */
static double bin_stride(enum pm_stride_bin bin) {
    switch (bin) {
    case PM_STRIDE_BIN_2:
        return 2 * PM_WORD_BYTES;
    case PM_STRIDE_BIN_4:
        return 4 * PM_WORD_BYTES;
    case PM_STRIDE_BIN_8:
        return 8 * PM_WORD_BYTES;
    case PM_STRIDE_BIN_RANDOM:
        return INFINITY;
    default:
        return PM_WORD_BYTES;
    }
}

const struct pm_curve *pm_signature_curve(const struct pm_signature *signature, bool stores,
                                          enum pm_stride_bin bin) {
    const struct pm_curve *best = NULL;
    double wanted = bin_stride(bin), nearest = INFINITY;
    bool is_random = isinf(wanted);
    for (size_t i = 0; i < signature->n_curves; i++) {
        const struct pm_curve *curve = &signature->curves[i];
        double stride = curve->stride_bytes;
        /* Stores where only loads were measured cost what loads do; random is only like random. */
        double far = pm_curve_is_of_writes(curve) == stores ? 0 : 1e6;
        far += (stride == 0) == is_random ? 0 : 1e3;
        if (stride > 0 && !is_random)
            far += fabs(log2(stride / wanted));
        if (far < nearest) {
            nearest = far;
            best = curve;
        }
    }
    return best;
}

double pm_signature_plateau(const struct pm_signature *signature, const struct pm_curve *curve,
                            size_t level) {
    double *values = pm_alloc(curve->n_points, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < curve->n_points; i++) {
        bool is_served = true; /* by LEVEL: those before miss, those from it on hit */
        for (size_t l = 0; l < signature->n_caches; l++) {
            const double *share = pm_curve_hits_of(curve, &signature->machine->levels[l]);
            is_served &= l < level ? share[i] < 1 : share[i] >= 1;
        }
        if (is_served)
            values[n++] = curve->value[i];
    }
    double median = pm_estimate_of(values, n, 0).estimate;
    free(values);
    return median;
}
