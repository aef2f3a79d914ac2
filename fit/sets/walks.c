/* How references go through memory: the strides of the run, as far as they describe it.

   A level whose number of elements is the same in most runs has that number, else the mean one.
   A walk downwards is turned round where its length is known: it touches the same blocks.

   Addresses of one run say less than they seem to: stack, heap, static data and mapped memory lie
   at other pages in each run, and the stack at other places in its pages.  What lies close to each
   other is one space (core/strides/strides.h); predicted strides have theirs from their models.

   At sizes of which no memory could hold the data there are addresses that no number has: such
   walks are not known. */
#include <math.h>
#include <stdlib.h>

#include "fit/heuristics.h"
#include "fit/sets/private.h"

/* Bytes: data further apart are of another part of memory. */
static const double space_gap = 1048576.0;

/* Do the strides say where the next access is?  Runs of fewer than three elements, of different
   strides, are what any addresses have, unless they come back. */
static bool is_walk(const struct pm_run_strides *run, const struct pm_reference_strides *strides) {
    const struct pm_stride_level *inner = &strides->levels[0];
    double alike = 0;
    for (uint32_t v = 0; v < strides->n_variants; v++)
        alike += run->variants[strides->first_variant + v].share;
    return alike >= 0.5 || !strides->n_levels || inner->count_share <= 0 ||
           inner->stride_share >= 0.5 || inner->count >= 3;
}

/* Bytes; what addresses lie between, so that sums of a few are whole numbers too.  Also elements of
   the levels of a walk, all but the last one, which it goes through before it is where it was. */
static const double address_limit = 0x1p60;

static bool is_address(double bytes) { return fabs(bytes) <= address_limit; /* not NAN */ }

/* False: the level is too large for addresses. */
static bool add_level(struct pm_walk *walk, double stride_bytes, double count) {
    count = fmax(1, floor(count + 0.5));
    if (!is_address(stride_bytes) || !is_address(count))
        return false;
    walk->levels[walk->n_levels++] = (struct pm_walk_level){(int64_t)stride_bytes, (uint64_t)count};
    return true;
}

/* Are all of its addresses, between LOWEST and HIGHEST and as far as its levels go, such? */
static bool has_addresses(const struct pm_walk *walk, double lowest, double highest) {
    double span = 0, elements = 1;
    for (uint32_t l = 0; l + 1 < walk->n_levels; l++) {
        span += fabs((double)walk->levels[l].stride_bytes) * (double)(walk->levels[l].count - 1);
        elements *= (double)walk->levels[l].count;
    }
    return is_address(lowest) && is_address(highest) && is_address(span) && is_address(elements);
}

/* WALK, which has its levels, goes from the LOWEST to the HIGHEST of its addresses, or back. False:
   these are no addresses. */
static bool place_walk(struct pm_walk *walk, double lowest, double highest) {
    const uint32_t n = walk->n_levels;
    if (!has_addresses(walk, lowest, highest))
        return false;
    for (uint32_t l = 0; l + 1 < n; l++)
        walk->levels[l].stride_bytes = llabs(walk->levels[l].stride_bytes);
    walk->start = (int64_t)lowest;
    if (!n || walk->levels[n - 1].stride_bytes >= 0)
        return true;
    walk->start = (int64_t)highest;
    for (uint32_t l = 0; l + 1 < n; l++)
        walk->start -= walk->levels[l].stride_bytes * (int64_t)(walk->levels[l].count - 1);
    return true;
}

/* False: it has no addresses. */
static bool make_walk(const struct pm_reference_strides *strides, struct pm_walk *walk) {
    for (uint32_t l = 0; l < strides->n_levels; l++)
        if (!add_level(walk, strides->levels[l].stride_bytes,
                       pm_stride_level_elements(&strides->levels[l])))
            return false;
    return place_walk(walk, strides->lowest, strides->highest);
}

/* The stride levels that a variant covers; unknown figures are those of the usual walk.  False: it
   has no addresses. */
static bool make_variant(const struct pm_reference_strides *strides,
                         const struct pm_stride_variant *from, struct pm_walk *walk) {
    double spanned = 1;
    walk->n_levels = 0;
    for (uint32_t l = 0; l < from->n_levels && spanned < from->phase; l++) {
        if (!add_level(walk, from->levels[l].stride_bytes, from->levels[l].count))
            return false;
        spanned *= from->levels[l].count;
    }
    if (spanned < from->phase && walk->n_levels < strides->n_levels) {
        const struct pm_stride_level *level = &strides->levels[walk->n_levels];
        if (!add_level(walk, level->stride_bytes, pm_stride_level_elements(level)))
            return false;
    }
    return place_walk(walk, from->lowest, from->highest);
}

/* Behind find_spaces: they are where WALK is. */
static void make_variants(const struct pm_run_strides *strides, struct pm_walks *walks,
                          struct pm_walk *walk) {
    const struct pm_reference_strides *of = pm_strides_of_reference(strides, walk->reference);
    walk->first_variant = walks->n_variants;
    for (uint32_t v = 0; v < of->n_variants; v++) {
        const struct pm_stride_variant *from = &strides->variants[of->first_variant + v];
        struct pm_walk_variant *variant = PM_PUSH(walks, variants);
        *variant = (struct pm_walk_variant){*walk, from->share, from->since, from->phase};
        variant->walk.n_variants = 0;
        if (!make_variant(of, from, &variant->walk))
            walks->n_variants--;
    }
    walk->n_variants = (uint32_t)(walks->n_variants - walk->first_variant);
}

/* ---- spaces of a run ------------------------------------------------------------------------- */

struct placed_walk {
    double lowest, highest;
    struct pm_walk *walk;
    bool is_stack;
};
struct placed_walks {
    PM_ARRAY(struct placed_walk, walks);
};

static int compare_places(const void *left, const void *right) {
    return PM_COMPARE(((const struct placed_walk *)left)->lowest,
                      ((const struct placed_walk *)right)->lowest);
}

static void find_spaces(const struct pm_structure *structure, const struct pm_profile *profile,
                        struct pm_walks *walks) {
    enum { OF_STACK = PM_GROUP_STACK | PM_GROUP_PUSHED };
    struct placed_walks placed = {0};
    for (size_t w = 0; w < walks->n_walks; w++) {
        struct pm_walk *walk = &walks->walks[w];
        const struct pm_reference_strides *strides =
            pm_strides_of_reference(&profile->strides, walk->reference);
        *PM_PUSH(&placed, walks) = (struct placed_walk){
            strides->lowest, strides->highest, walk,
            (structure->groups[structure->references[walk->reference].group].flags & OF_STACK) !=
                0};
    }
    PM_SORT(placed.walks, placed.n_walks, compare_places);
    uint32_t space = 0;
    for (size_t first = 0, end; first < placed.n_walks; first = end, space++) {
        double highest = placed.walks[first].highest;
        bool is_stack = false;
        for (end = first; end < placed.n_walks && placed.walks[end].lowest <= highest + space_gap;
             end++) {
            highest = fmax(highest, placed.walks[end].highest);
            is_stack |= placed.walks[end].is_stack;
        }
        for (size_t w = first; w < end; w++) {
            placed.walks[w].walk->space = space;
            placed.walks[w].walk->page_known = !is_stack;
        }
    }
    free(placed.walks);
}

/* ---- areas of data --------------------------------------------------------------------------- */

static uint32_t area_of(uint32_t *area, uint32_t group) {
    while (area[group] != group)
        group = area[group] = area[area[group]];
    return group;
}

static int compare_in_spaces(const void *left, const void *right) {
    const struct placed_walk *a = left, *b = right;
    return a->walk->space != b->walk->space ? PM_COMPARE(a->walk->space, b->walk->space)
                                            : PM_COMPARE(a->lowest, b->lowest);
}

/* Joins the areas of groups whose walks overlap. */
static void find_areas(const struct pm_structure *structure, const struct pm_profile *profile,
                       struct pm_walks *walks) {
    struct placed_walks placed = {0};
    walks->area = pm_alloc(structure->n_groups, sizeof *walks->area);
    for (uint32_t g = 0; g < structure->n_groups; g++)
        walks->area[g] = g;
    for (size_t w = 0; w < walks->n_walks; w++) {
        const struct pm_reference_strides *strides =
            pm_strides_of_reference(&profile->strides, walks->walks[w].reference);
        *PM_PUSH(&placed, walks) =
            (struct placed_walk){strides->lowest, strides->highest, &walks->walks[w], false};
    }
    PM_SORT(placed.walks, placed.n_walks, compare_in_spaces);
    double highest = 0;
    for (size_t w = 0; w < placed.n_walks; w++) {
        const struct placed_walk *at = &placed.walks[w];
        const struct pm_walk *before = w ? at[-1].walk : at->walk;
        bool overlaps = before->space == at->walk->space && at->lowest <= highest;
        highest = overlaps ? fmax(highest, at->highest) : at->highest;
        if (overlaps)
            walks->area[area_of(walks->area, at->walk->group)] =
                area_of(walks->area, before->group);
    }
    for (uint32_t g = 0; g < structure->n_groups; g++)
        walks->area[g] = area_of(walks->area, g);
    free(placed.walks);
}

/* ---- all walks ------------------------------------------------------------------------------- */

/* Shares of a group's executions. */
struct described {
    double regular, random;
};

void pm_walks_make(const struct pm_structure *structure, const struct pm_profile *profile,
                   const double *executions, struct pm_walks *walks) {
    *walks = (struct pm_walks){.is_regular = pm_alloc(structure->n_groups, sizeof(bool)),
                               .is_random = pm_alloc(structure->n_groups, sizeof(bool))};
    struct described *described = pm_alloc(structure->n_groups, sizeof *described);
    for (size_t i = 0; i < profile->strides.n_references; i++) {
        const struct pm_reference_strides *strides = &profile->strides.references[i];
        if (strides->reference >= structure->n_references)
            continue; /* models of another build */
        const struct pm_reference *reference = &structure->references[strides->reference];
        double executed = executions[reference->block];
        uint32_t group =
            reference->group == PM_NONE ? PM_NONE : pm_group_holder(structure, reference->group);
        if (group == PM_NONE || executed <= 0 || reference->kind != PM_ACCESS_PLAIN)
            continue;
        struct pm_walk walk = {.reference = strides->reference,
                               .group = group,
                               .space = strides->space,
                               .page_known = strides->page_known,
                               .executions = executed,
                               .size_bytes = reference->size_bytes ? reference->size_bytes : 1};
        if (!is_walk(&profile->strides, strides) || !make_walk(strides, &walk)) {
            described[group].random += executed;
            continue;
        }
        described[group].regular += executed;
        *PM_PUSH(walks, walks) = walk;
    }
    for (uint32_t g = 0; g < structure->n_groups; g++) {
        walks->is_random[g] = described[g].random > described[g].regular;
        walks->is_regular[g] = !walks->is_random[g] && described[g].regular > 0;
    }
    free(described);
    if (!profile->predicted)
        find_spaces(structure, profile, walks);
    for (size_t w = 0; w < walks->n_walks; w++)
        make_variants(&profile->strides, walks, &walks->walks[w]);
    find_areas(structure, profile, walks);
}

void pm_walks_free(struct pm_walks *walks) {
    free(walks->walks);
    free(walks->variants);
    free(walks->is_random);
    free(walks->is_regular);
    free(walks->area);
    *walks = (struct pm_walks){0};
}
