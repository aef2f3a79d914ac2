/* The reference predictors; see reference_predictors.h. */
#include "runtime/branch_outcomes/reference_predictors.h"

#include <stddef.h>

static const uint8_t lengths[PM_TAGE_TABLES] = {5, 9, 15, 25, 44, 76, PM_TAGE_LONGEST};
static const uint8_t tag_bits[PM_TAGE_TABLES] = {8, 8, 9, 10, 10, 11, 12};

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

static void learn_counter(uint8_t *counter, bool taken) {
    if (taken)
        *counter = (uint8_t)(*counter + (*counter < 3));
    else
        *counter = (uint8_t)(*counter - (*counter > 0));
}

/* ---- histories ------------------------------------------------------------------------------- */

/* The newest outcome comes in and the one LENGTH before it goes (Seznec & Michaud, section 4). */
static void fold(struct pm_folded_history *folded, unsigned bits, unsigned length, bool in,
                 bool out) {
    uint32_t value = folded->value << 1 | in;
    value ^= (uint32_t)out << length % bits;
    value ^= value >> bits;
    folded->value = value & ((1u << bits) - 1);
}

static void remember(struct pm_predictors *p, bool taken) {
    for (unsigned t = 0; t < PM_TAGE_TABLES; t++) {
        bool out = p->history[(p->last + 1 - lengths[t]) % PM_HISTORY_SIZE];
        fold(&p->for_index[t], PM_TAGE_BITS, lengths[t], taken, out);
        fold(&p->for_tag[t][0], tag_bits[t], lengths[t], taken, out);
        fold(&p->for_tag[t][1], tag_bits[t] - 1u, lengths[t], taken, out);
    }
    p->last = (p->last + 1) % PM_HISTORY_SIZE;
    p->history[p->last] = taken;
    p->recent = p->recent << 1 | taken;
}

/* ---- TAGE ------------------------------------------------------------------------------------ */

/* Where ADDRESS is looked up, and what is found there. */
struct lookup {
    struct pm_tage_entry *entries[PM_TAGE_TABLES];
    uint16_t tags[PM_TAGE_TABLES];
    uint8_t *base;
    int provider, other; /* tables; −1: the base */
    bool of_provider, of_other, prediction;
    bool is_new; /* the provider has not been of use yet */
};

static bool predicts(const struct lookup *lookup, int table) {
    return table < 0 ? counter_predicts(*lookup->base) : lookup->entries[table]->counter >= 0;
}

static void look_up(struct pm_predictors *p, uint64_t address, struct lookup *lookup) {
    uint32_t pc = (uint32_t)(address ^ address >> 16);
    lookup->base = &p->base[pc & ((1u << PM_TAGE_BASE_BITS) - 1)];
    lookup->provider = lookup->other = -1;
    for (int t = 0; t < PM_TAGE_TABLES; t++) {
        uint32_t index = pc ^ pc >> (PM_TAGE_BITS - t) ^ p->for_index[t].value;
        uint32_t tag = pc ^ p->for_tag[t][0].value ^ p->for_tag[t][1].value << 1;
        lookup->entries[t] = &p->tagged[t][index & ((1u << PM_TAGE_BITS) - 1)];
        /* Never 0, which is the tag of an entry that is empty. */
        lookup->tags[t] = (uint16_t)((tag & ((1u << tag_bits[t]) - 1)) + 1);
        if (lookup->entries[t]->tag != lookup->tags[t])
            continue;
        lookup->other = lookup->provider;
        lookup->provider = t;
    }
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

static void learn_entry(struct pm_tage_entry *entry, bool taken) {
    if (taken)
        entry->counter = (int8_t)(entry->counter + (entry->counter < 3));
    else
        entry->counter = (int8_t)(entry->counter - (entry->counter > -4));
}

static void learn_provider(struct pm_predictors *p, const struct lookup *lookup, bool taken) {
    if (lookup->provider < 0) {
        learn_counter(lookup->base, taken);
        return;
    }
    struct pm_tage_entry *entry = lookup->entries[lookup->provider];
    if (lookup->is_new && lookup->of_provider != lookup->of_other) {
        if (lookup->of_other == taken)
            p->use_other = (int8_t)(p->use_other + (p->use_other < 7));
        else
            p->use_other = (int8_t)(p->use_other - (p->use_other > -8));
    }
    if (lookup->of_provider != lookup->of_other) {
        if (lookup->of_provider == taken)
            entry->useful = (uint8_t)(entry->useful + (entry->useful < MOST_USEFUL));
        else
            entry->useful = (uint8_t)(entry->useful - (entry->useful > 0));
    }
    learn_entry(entry, taken);
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
