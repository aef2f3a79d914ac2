/* The first elements of a walk as a few boxes, and the runs of a box that lie in slices of memory.

   A box is all of  start + Σ i·stride  with 0 ≤ i < count in each of its dimensions, each the begin
   of a run of bytes.  As a set of blocks it does not hang on the order of its dimensions: they
   ascend by stride, and those are joined that leave no block out.  Which elements of a long box lie
   in slices, every so many bytes one, follows without a look at the others: where a dimension steps
   round the modulus, it comes back into an interval after one of two numbers of steps, or their
   sum (the three gaps of a rotation; Slater 1967). */
#include <math.h>
#include <stdlib.h>

#include "fit/sets/private.h"

/* Of an address or a length: twice as much is a number still. */
static const int64_t FAR = (int64_t)1 << 60;

/* ---- boxes of a walk ------------------------------------------------------------------------- */

static int64_t near(__int128 bytes) {
    return bytes > FAR ? FAR : bytes < -FAR ? -FAR : (int64_t)bytes;
}

static void add_dimension(struct pm_box *box, int64_t stride, uint64_t count) {
    const int64_t size = llabs(near(stride)), extent = near((__int128)size * (count - 1));
    uint32_t at = box->n++;
    if (stride < 0)
        box->start -= extent;
    for (; at && box->dimensions[at - 1].stride_bytes > size; at--)
        box->dimensions[at] = box->dimensions[at - 1];
    box->dimensions[at] = (struct pm_walk_level){size, (uint64_t)(extent / size) + 1};
}

static void remove_dimension(struct pm_box *box, uint32_t at) {
    box->n--;
    for (; at < box->n; at++)
        box->dimensions[at] = box->dimensions[at + 1];
}

/* The runs of the first dimension leave no block between them out: they are one. */
static bool join_runs(struct pm_box *box, int64_t block_bytes) {
    const struct pm_walk_level *first = box->dimensions;
    if (!box->n || first->stride_bytes >= box->run_bytes + block_bytes)
        return false;
    box->run_bytes += first->stride_bytes * (int64_t)(first->count - 1);
    remove_dimension(box, 0);
    return true;
}

/* The steps of dimension B are some of those of A, so that both are one. */
static bool join_steps(struct pm_box *box, uint32_t a, uint32_t b) {
    struct pm_walk_level *of = &box->dimensions[a];
    const struct pm_walk_level *with = &box->dimensions[b];
    uint64_t times = (uint64_t)(with->stride_bytes / of->stride_bytes);
    if (with->stride_bytes % of->stride_bytes || times > of->count)
        return false;
    of->count += times * (with->count - 1);
    remove_dimension(box, b);
    return true;
}

static bool join_dimensions(struct pm_box *box) {
    for (uint32_t b = 1; b < box->n; b++)
        for (uint32_t a = 0; a < b; a++)
            if (join_steps(box, a, b))
                return true;
    return false;
}

/* The box of EXECUTIONS in dimension LEVEL of WALK, and the levels below it as a whole. */
static struct pm_box box_of(const struct pm_walk *walk, int64_t base, uint32_t level,
                            uint64_t executions, int64_t block_bytes) {
    struct pm_box box = {.start = base, .run_bytes = walk->size_bytes};
    for (uint32_t l = 0; l < level; l++) {
        uint64_t count = l + 1 < level ? walk->levels[l].count : executions;
        if (walk->levels[l].stride_bytes && count > 1)
            add_dimension(&box, walk->levels[l].stride_bytes, count);
    }
    while (join_runs(&box, block_bytes) || join_dimensions(&box))
        ;
    return box;
}

uint32_t pm_walk_levels_of(const struct pm_walk *walk, uint64_t executions) {
    uint32_t level = 0;
    for (uint64_t spanned = 1; level < walk->n_levels && spanned < executions; level++) {
        uint64_t count = walk->levels[level].count;
        spanned = count && spanned > executions / count ? executions : spanned * count;
    }
    return level;
}

/* Elements of the levels below LEVEL of WALK, from 1. */
static uint64_t elements_below(const struct pm_walk *walk, uint32_t level) {
    uint64_t below = 1;
    for (uint32_t l = 0; l + 1 < level; l++)
        below *= walk->levels[l].count;
    return below;
}

uint32_t pm_walk_boxes(const struct pm_walk *walk, uint64_t executions, uint64_t block_bytes,
                       struct pm_box boxes[PM_MOST_STRIDE_LEVELS + 1]) {
    uint32_t n = 0, level = pm_walk_levels_of(walk, executions);
    int64_t base = near(walk->start);
    for (; level && executions; level--) {
        const struct pm_walk_level *of = &walk->levels[level - 1];
        const uint64_t below = elements_below(walk, level), whole = executions / below;
        if (whole)
            boxes[n++] = box_of(walk, base, level, whole, (int64_t)block_bytes);
        executions -= whole * below;
        if (whole && !of->stride_bytes)
            return n;
        base += near((__int128)of->stride_bytes * whole);
    }
    if (executions)
        boxes[n++] = box_of(walk, base, 0, 1, (int64_t)block_bytes);
    return n;
}

double pm_box_runs(const struct pm_box *box) {
    double runs = 1;
    for (uint32_t d = 0; d < box->n; d++)
        runs *= (double)box->dimensions[d].count;
    return runs;
}

/* ---- their runs in slices -------------------------------------------------------------------- */

static int64_t modulo(int64_t a, int64_t m) {
    int64_t rest = a % m;
    return rest < 0 ? rest + m : rest;
}

/* The least x ≥ 0 with LOW ≤ A·x mod M ≤ HIGH, where 0 ≤ A < M and 0 ≤ LOW ≤ HIGH < M; −1: there is
   none.  As Euclid's algorithm goes on: logarithmic. */
static int64_t first_within(int64_t a, int64_t m, int64_t low, int64_t high) {
    if (!low)
        return 0;
    if (!a)
        return -1;
    if (a > m - a)
        return first_within(m - a, m, m - high, m - low);
    int64_t steps = (low + a - 1) / a;
    if (a * steps <= high)
        return steps;
    int64_t rounds = first_within(modulo(-m, a), a, low % a, high % a);
    return rounds < 0 ? -1 : (int64_t)(((__int128)rounds * m + low + a - 1) / a);
}

/* The least x ≥ 0 with (PLACE + STEP·x) mod M < WIDTH; −1: there is none. */
static int64_t first_below(int64_t place, int64_t step, int64_t m, int64_t width) {
    return place < width ? 0 : first_within(step, m, m - place, m - place + width - 1);
}

/* How a dimension comes back into an interval of WIDTH bytes, modulo M. */
struct rotation {
    int64_t width;                /* M or more: it is always in it */
    int64_t step;                 /* of the dimension, modulo M */
    int64_t up, down;             /* after so many steps it is a little further on, or back … */
    int64_t bytes_up, bytes_down; /* … by so much */
};

struct visit {
    const struct pm_box *box;
    const struct pm_slices *slices;
    struct rotation rotations[PM_MOST_STRIDE_LEVELS];
    pm_run_seen *seen;
    void *context;
    bool stopped;
};

static struct rotation rotation_of(int64_t stride, int64_t extent, const struct pm_slices *slices) {
    const int64_t m = slices->apart, step = modulo(stride, m), back = modulo(-stride, m);
    struct rotation r = {.width = extent + slices->width - 1, .step = step};
    if (r.width >= m)
        return r;
    r.up = first_below(step, step, m, r.width) + 1;
    r.down = first_below(back, back, m, r.width) + 1;
    r.bytes_up = (int64_t)((__int128)step * r.up % m);
    r.bytes_down = (int64_t)((__int128)back * r.down % m);
    return r;
}

static void see_run(struct visit *v, int64_t base) {
    const struct pm_slices *slices = v->slices;
    const int64_t end = base + v->box->run_bytes;
    if (slices->apart == slices->width) {
        v->stopped = !v->seen(v->context, base, end - 1);
        return;
    }
    int64_t at = base - modulo(base - slices->first, slices->apart);
    for (; at < end && !v->stopped; at += slices->apart) {
        int64_t from = at > base ? at : base,
                to = at + slices->width < end ? at + slices->width : end;
        v->stopped = from < to && !v->seen(v->context, from, to - 1);
    }
}

/* The first N dimensions of the box, from BASE on. */
static void visit(struct visit *v, uint32_t n, int64_t base) {
    if (!n) {
        see_run(v, base);
        return;
    }
    const struct rotation *r = &v->rotations[n - 1];
    const int64_t m = v->slices->apart, stride = v->box->dimensions[n - 1].stride_bytes,
                  count = (int64_t)v->box->dimensions[n - 1].count;
    if (r->width >= m) {
        for (int64_t i = 0; i < count && !v->stopped; i++)
            visit(v, n - 1, base + i * stride);
        return;
    }
    int64_t place = modulo(base - v->slices->first + r->width - v->slices->width, m);
    int64_t i = first_below(place, r->step, m, r->width);
    place = i < 0 ? 0 : (int64_t)((place + (__int128)r->step * i) % m);
    while (i >= 0 && i < count && !v->stopped) {
        visit(v, n - 1, base + i * stride);
        bool is_up = place + r->bytes_up < r->width, is_down = place >= r->bytes_down;
        is_up &= !is_down || r->up < r->down;
        i += is_up ? r->up : is_down ? r->down : r->up + r->down;
        place += is_up ? r->bytes_up : is_down ? -r->bytes_down : r->bytes_up - r->bytes_down;
    }
}

void pm_box_visit(const struct pm_box *box, const struct pm_slices *slices, pm_run_seen *seen,
                  void *context) {
    struct visit v = {.box = box, .slices = slices, .seen = seen, .context = context};
    int64_t extent = box->run_bytes;
    for (uint32_t d = 0; d < box->n; d++) {
        const struct pm_walk_level *of = &box->dimensions[d];
        v.rotations[d] = rotation_of(of->stride_bytes, extent, slices);
        extent += of->stride_bytes * (int64_t)(of->count - 1);
    }
    visit(&v, box->n, box->start);
}
