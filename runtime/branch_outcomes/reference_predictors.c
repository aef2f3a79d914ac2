/* The reference predictors; see reference_predictors.h. */
#include "runtime/branch_outcomes/reference_predictors.h"

#include <stddef.h>

/* Of the tagged tables: how long their histories are, and how many bits a tag has. */
enum { L0 = 5, L1 = 9, L2 = 15, L3 = 25, L4 = 44, L5 = 76, L6 = PM_TAGE_LONGEST };
enum { T0 = 8, T1 = 8, T2 = 9, T3 = 10, T4 = 10, T5 = 11, T6 = 12 };

enum { WEAKLY_NOT_TAKEN = 1, WEAKLY_TAKEN = 2, MOST_USEFUL = 3, USEFUL_PERIOD_BITS = 18 };

void pm_predictors_begin(struct pm_predictors *predictors) {
    for (size_t i = 0; i < sizeof predictors->bimodal; i++)
        predictors->bimodal[i] = WEAKLY_NOT_TAKEN;
    for (size_t i = 0; i < sizeof predictors->gshare; i++)
        predictors->gshare[i] = WEAKLY_NOT_TAKEN;
    for (size_t i = 0; i < sizeof predictors->base; i++)
        predictors->base[i] = WEAKLY_NOT_TAKEN;
    predictors->random = 1;
}

/* ---- two-bit counters ------------------------------------------------------------------------ */

static bool counter_predicts(uint8_t counter) { return counter >= WEAKLY_TAKEN; }

/* NUMBER moved by one within LEAST … MOST; without branches, which outcomes would make slow. */
static int moved(int number, bool up, int least, int most) {
    return number + (up & (number < most)) - (!up & (number > least));
}

static void learn_counter(uint8_t *counter, bool taken) {
    *counter = (uint8_t)moved(*counter, taken, 0, 3);
}

/* ---- histories ------------------------------------------------------------------------------- */

/* How a history is folded into bits: where an outcome stands that is as old as the history is long,
   and the bit above the highest, which is folded into the lowest. */
struct folding {
    pm_tage_lanes oldest, above;
};
#define FOLDING(b0, b1, b2, b3, b4, b5, b6)                                                        \
    {                                                                                              \
        {1 << L0 % (b0), 1 << L1 % (b1), 1 << L2 % (b2), 1 << L3 % (b3),                           \
         1 << L4 % (b4), 1 << L5 % (b5), 1 << L6 % (b6), 0},                                       \
        {                                                                                          \
            1 << (b0), 1 << (b1), 1 << (b2), 1 << (b3), 1 << (b4), 1 << (b5), 1 << (b6), 0         \
        }                                                                                          \
    }
static const struct folding for_index =
    FOLDING(PM_TAGE_BITS, PM_TAGE_BITS, PM_TAGE_BITS, PM_TAGE_BITS, PM_TAGE_BITS, PM_TAGE_BITS,
            PM_TAGE_BITS);
static const struct folding for_tag[2] = {
    FOLDING(T0, T1, T2, T3, T4, T5, T6),
    FOLDING(T0 - 1, T1 - 1, T2 - 1, T3 - 1, T4 - 1, T5 - 1, T6 - 1)};

/* The newest outcome comes in, and of each table the one that is too old goes: GOES has all bits of
   its lane set if that was taken (Seznec & Michaud, section 4). */
static void fold(pm_tage_lanes *folded, const struct folding *as, pm_tage_lanes comes,
                 pm_tage_lanes goes) {
    pm_tage_lanes value = ((*folded + *folded) | comes) ^ (as->oldest & goes);
    pm_tage_lanes over = (pm_tage_lanes)((value & as->above) != 0);
    *folded = value ^ (over & (as->above | 1));
}

static uint16_t outcome_before(const struct pm_predictors *p, unsigned length) {
    return (uint16_t)-p->history[(p->last + 1 - length) % PM_HISTORY_SIZE];
}

static void remember(struct pm_predictors *p, bool taken) {
    const pm_tage_lanes comes = (pm_tage_lanes){0} + (uint16_t)taken;
    const pm_tage_lanes goes = {
        outcome_before(p, L0), outcome_before(p, L1), outcome_before(p, L2), outcome_before(p, L3),
        outcome_before(p, L4), outcome_before(p, L5), outcome_before(p, L6), 0};
    fold(&p->for_index, &for_index, comes, goes);
    fold(&p->for_tag[0], &for_tag[0], comes, goes);
    fold(&p->for_tag[1], &for_tag[1], comes, goes);
    p->last = (p->last + 1) % PM_HISTORY_SIZE;
    p->history[p->last] = taken;
    p->recent = p->recent << 1 | taken;
}

/* ---- TAGE ------------------------------------------------------------------------------------ */

/* Where ADDRESS is looked up, and what is found there. */
struct lookup {
    struct pm_tage_entry *entries[PM_TAGE_TABLES];
    pm_tage_lanes tags;
    uint8_t *base;
    int provider, other; /* tables; −1: the base */
    bool of_provider, of_other, prediction;
    bool is_new; /* the provider has not been of use yet */
};

static bool predicts(const struct lookup *lookup, int table) {
    return table < 0 ? counter_predicts(*lookup->base) : lookup->entries[table]->counter >= 0;
}

/* The highest number in SET; −1: there is none. */
static int last_of(uint32_t set) { return 31 - (set ? __builtin_clz(set) : 32); }

/* An address's bits, mixed in another way for each table. */
static const pm_tage_lanes mixing = {0x9e37, 0x79b9, 0x7f4b, 0x7c15, 0xbf59, 0x1ce5, 0x94d1, 0};
static const pm_tage_lanes tag_masks = {(1 << T0) - 1, (1 << T1) - 1, (1 << T2) - 1, (1 << T3) - 1,
                                        (1 << T4) - 1, (1 << T5) - 1, (1 << T6) - 1, 0};

static void look_up(struct pm_predictors *p, uint64_t address, struct lookup *lookup) {
    const uint32_t pc = (uint32_t)(address ^ address >> 16);
    const pm_tage_lanes pcs = (pm_tage_lanes){0} + (uint16_t)pc;
    const pm_tage_lanes indices = (pcs * mixing >> (16 - PM_TAGE_BITS)) ^ p->for_index;
    /* Never 0, which is the tag of an entry that is empty. */
    lookup->tags = ((pcs ^ p->for_tag[0] ^ (p->for_tag[1] + p->for_tag[1])) & tag_masks) + 1;
    uint32_t found = 0;
    for (unsigned t = 0; t < PM_TAGE_TABLES; t++) {
        lookup->entries[t] = &p->tagged[t][indices[t]];
        found |= (uint32_t)(lookup->entries[t]->tag == lookup->tags[t]) << t;
    }
    lookup->base = &p->base[pc & ((1u << PM_TAGE_BASE_BITS) - 1)];
    lookup->provider = last_of(found);
    lookup->other = last_of(found & ~(1u << (lookup->provider & 31)));
    lookup->of_provider = predicts(lookup, lookup->provider);
    lookup->of_other = predicts(lookup, lookup->other);
    lookup->is_new = false;
    if (lookup->provider >= 0) {
        const struct pm_tage_entry *entry = lookup->entries[lookup->provider];
        lookup->is_new = entry->useful == 0 && (entry->counter == 0 || entry->counter == -1);
    }
    lookup->prediction =
        lookup->is_new && p->use_other >= 0 ? lookup->of_other : lookup->of_provider;
}

static uint32_t draw(struct pm_predictors *p) {
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    p->random ^= p->random << 5;
    return p->random;
}

/* An entry of a longer history, of no use to anybody, learns the branch; of two such the shorter
   one twice as often. */
static void allocate(struct pm_predictors *p, const struct lookup *lookup, bool taken) {
    int chosen = -1;
    for (int t = lookup->provider + 1; t < PM_TAGE_TABLES; t++) {
        if (lookup->entries[t]->useful)
            continue;
        if (chosen >= 0) {
            if (draw(p) % 3 == 0)
                chosen = t;
            break;
        }
        chosen = t;
    }
    if (chosen >= 0)
        *lookup->entries[chosen] = (struct pm_tage_entry){.tag = lookup->tags[chosen],
                                                          .counter = (int8_t)(taken ? 0 : -1)};
    for (int t = lookup->provider + 1; chosen < 0 && t < PM_TAGE_TABLES; t++)
        lookup->entries[t]->useful--;
}

static void learn_provider(struct pm_predictors *p, const struct lookup *lookup, bool taken) {
    if (lookup->provider < 0) {
        learn_counter(lookup->base, taken);
        return;
    }
    struct pm_tage_entry *entry = lookup->entries[lookup->provider];
    if (lookup->of_provider != lookup->of_other) {
        if (lookup->is_new)
            p->use_other = (int8_t)moved(p->use_other, lookup->of_other == taken, -8, 7);
        entry->useful = (uint8_t)moved(entry->useful, lookup->of_provider == taken, 0, MOST_USEFUL);
    }
    entry->counter = (int8_t)moved(entry->counter, taken, -4, 3);
    if (entry->useful == 0 && lookup->other < 0)
        learn_counter(lookup->base, taken);
}

/* Now and then one bit of all `useful`, in turns, is cleared. */
static void age(struct pm_predictors *p) {
    if (++p->n_learnt & ((1u << USEFUL_PERIOD_BITS) - 1))
        return;
    uint8_t kept = p->n_learnt >> USEFUL_PERIOD_BITS & 1 ? 1 : 2;
    for (unsigned t = 0; t < PM_TAGE_TABLES; t++)
        for (uint32_t i = 0; i < 1u << PM_TAGE_BITS; i++)
            p->tagged[t][i].useful &= kept;
}

static bool learn_tage(struct pm_predictors *p, uint64_t address, bool taken) {
    struct lookup lookup;
    look_up(p, address, &lookup);
    bool is_wrong = lookup.prediction != taken;
    learn_provider(p, &lookup, taken);
    if (is_wrong && lookup.of_provider != taken)
        allocate(p, &lookup, taken);
    age(p);
    return is_wrong;
}

/* ---- all of them ----------------------------------------------------------------------------- */

unsigned pm_predictors_learn(struct pm_predictors *p, uint64_t address, bool taken) {
    uint8_t *bimodal = &p->bimodal[address & ((1u << PM_BIMODAL_BITS) - 1)];
    uint8_t *gshare = &p->gshare[(address ^ p->recent) & ((1u << PM_GSHARE_BITS) - 1)];
    unsigned wrong = (counter_predicts(*bimodal) != taken) << PM_PREDICTOR_BIMODAL |
                     (counter_predicts(*gshare) != taken) << PM_PREDICTOR_GSHARE;
    learn_counter(bimodal, taken);
    learn_counter(gshare, taken);
    wrong |= (unsigned)learn_tage(p, address, taken) << PM_PREDICTOR_TAGE;
    remember(p, taken);
    return wrong;
}
