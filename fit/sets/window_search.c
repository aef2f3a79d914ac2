/* The window that touches about as many blocks as are asked for.

   The blocks of windows of lengths that are a fixed ratio apart are kept; between the two that
   enclose the number a few more are tried.  So what is found hangs on the number alone, and not on
   what was asked before. */
#include <math.h>
#include <stdlib.h>

#include "fit/sets/private.h"

/* Ratio of lengths whose blocks are kept. */
static const double step_ratio = 1.25;
/* What may lack of a number of blocks, as a share of it, or a block: it counts as spread evenly. */
static const double close_share = 0.01;

enum {
    MOST_LENGTHS = 256, /* 1.25^256: more than any program's accesses */
    MOST_TRIES = 12,
};

struct pm_window_search {
    struct pm_window_walks *walks;
    double most_accesses;
    double blocks[MOST_LENGTHS]; /* NAN: not known yet */
    struct pm_window best, tried;
};

struct pm_window_search *pm_window_search_new(struct pm_window_walks *walks, double most_accesses) {
    struct pm_window_search *search = pm_alloc(1, sizeof *search);
    search->walks = walks;
    search->most_accesses = most_accesses;
    for (int i = 0; i < MOST_LENGTHS; i++)
        search->blocks[i] = NAN;
    return search;
}

void pm_window_search_free(struct pm_window_search *search) {
    if (!search)
        return;
    pm_window_free(&search->best);
    pm_window_free(&search->tried);
    free(search);
}

static double length_of(const struct pm_window_search *search, int i) {
    return fmin(pow(step_ratio, i), search->most_accesses);
}

static bool is_last(const struct pm_window_search *search, int i) {
    return i + 1 == MOST_LENGTHS || length_of(search, i) >= search->most_accesses;
}

static double blocks_of(struct pm_window_search *search, int i) {
    if (isnan(search->blocks[i])) {
        pm_window_make(search->walks, length_of(search, i), &search->tried);
        search->blocks[i] = search->tried.blocks;
    }
    return search->blocks[i];
}

/* The last length that touches BLOCKS at most, as far as lengths about GUESS say it; −1: none. */
static int length_below(struct pm_window_search *search, double blocks, double guess) {
    int low = (int)fmin(MOST_LENGTHS - 1, fmax(0, log(guess) / log(step_ratio)));
    while (low && length_of(search, low - 1) >= search->most_accesses)
        low--;
    int high = low, step = 1;
    for (; low >= 0 && blocks_of(search, low) > blocks; step *= 2) {
        high = low;
        low = low - step > 0 ? low - step : low ? 0 : -1;
    }
    if (high == low)
        for (step = 1; !is_last(search, high) && blocks_of(search, high) <= blocks; step *= 2) {
            low = high;
            for (int i = 0; i < step && !is_last(search, high); i++)
                high++;
        }
    if (low >= 0 && blocks_of(search, high) <= blocks)
        return high;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(blocks_of(search, middle) > blocks ? &high : &low) = middle;
    }
    return low;
}

static void take_tried(struct pm_window_search *search) {
    struct pm_window tried = search->tried;
    search->tried = search->best;
    search->best = tried;
}

const struct pm_window *pm_window_search_for(struct pm_window_search *search, double blocks,
                                             double guess, double *accesses) {
    const int at = length_below(search, blocks, guess);
    const double close = fmax(1, close_share * blocks);
    double low = at < 0 ? 0 : length_of(search, at), low_blocks = at < 0 ? 0 : search->blocks[at];
    bool is_made = false;
    if (at < 0 || !is_last(search, at)) {
        double high = length_of(search, at + 1), high_blocks = search->blocks[at + 1];
        for (int n = 0; n < MOST_TRIES && blocks - low_blocks > close && high_blocks > blocks;
             n++) {
            /* Blocks grow by steps, on which a line between the ends alone lands again and again.
             */
            double share = n % 2 ? 0.5 : (blocks - low_blocks) / (high_blocks - low_blocks);
            double length = low + fmin(fmax(share, 0.05), 0.95) * (high - low);
            pm_window_make(search->walks, length, &search->tried);
            bool fits = search->tried.blocks <= blocks;
            *(fits ? &low : &high) = length;
            *(fits ? &low_blocks : &high_blocks) = search->tried.blocks;
            if (fits)
                take_tried(search);
            is_made |= fits;
        }
    }
    if (!is_made)
        pm_window_make(search->walks, low, &search->best);
    *accesses = low;
    return &search->best;
}
