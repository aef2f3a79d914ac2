/* What sequences of touches count (reuse/carriers.h): begun, found, and turned into counts of
 * patterns. */
#include <string.h>

#include "runtime/reuse/address_records/record_state.h"
#include "runtime/reuse/carriers_touch.h"

enum { LOAD = 0, STORE = 1, BOTH = 2 };

static unsigned first_kind(unsigned kind) { return kind == BOTH ? LOAD : kind; }

static uint32_t scope_of(const struct pm_carried *carried,
                         const struct pm_probe_reference *reference) {
    return carried->group_scopes[reference->group];
}

static void add_near(struct pm_carried *carried, uint32_t group, uint64_t key, unsigned kind,
                     unsigned distance, uint64_t n) {
    uint32_t number = pm_carried_histogram(carried, group, key);
    if (number == PM_NO_PATTERN)
        carried->failed = true;
    else
        carried->histograms[number].stack_top[kind][distance] += n;
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct flushed {
    struct pm_carried *carried;
    const struct pm_carried_count *count;
};

static void flush_touch(void *context, const struct pm_record_touch *touch) {
    const struct flushed *flushed = context;
    const struct pm_carried_count *count = flushed->count;
    const unsigned kind = touch->reference->access - 1u;
    struct pm_carried *carried = flushed->carried;
    uint32_t group = touch->reference->group, source = scope_of(carried, touch->before);
    if (touch->again)
        add_near(carried, group, pm_carried_key(source, count->scope, false), first_kind(kind),
                 touch->distance, count->n);
    else if (count->first)
        add_near(carried, group, count->first | source, first_kind(kind), touch->distance,
                 count->n);
    if (kind == BOTH)
        add_near(carried, group,
                 pm_carried_key(scope_of(carried, touch->reference), count->scope, false), STORE, 0,
                 count->n);
}

static void flush_count(struct pm_carried *carried, const struct pm_carried_sequence *sequence,
                        struct pm_carried_count *count) {
    struct flushed flushed = {carried, count};
    if (count->n)
        pm_record_each_touch(sequence->address_record, sequence->sequence, carried->reuse->shift,
                             flush_touch, &flushed);
    count->n = 0;
}

uint32_t pm_carried_find_count(struct pm_carried *carried, struct pm_carried_sequence *sequence,
                               uint64_t first, uint32_t scope) {
    uint32_t i = 0, n = sequence->n_counts;
    for (n = n < PM_CARRIED_COUNTS ? n : PM_CARRIED_COUNTS; i < n; i++)
        if (sequence->counts[i].first == first && sequence->counts[i].scope == scope)
            return i;
    i = sequence->n_counts++ % PM_CARRIED_COUNTS;
    if (sequence->n_counts == 2 * PM_CARRIED_COUNTS)
        sequence->n_counts = PM_CARRIED_COUNTS;
    flush_count(carried, sequence, &sequence->counts[i]);
    sequence->counts[i] = (struct pm_carried_count){first, 0, scope};
    return i;
}

/* ---- carryings ------------------------------------------------------------------------------- */

static void flush_carrying(struct pm_carried *carried, const struct pm_touch_sequence *sequence,
                           struct pm_carrying *carrying) {
    for (uint32_t m = 0; m < sequence->n_blocks && carrying->n; m++) {
        struct pm_touch_histogram *histogram = &carried->histograms[carrying->histograms[m]];
        const unsigned kind = first_kind(sequence->kind[m]);
        if (carrying->distance[m] < PM_STACK_TOP)
            histogram->stack_top[kind][carrying->distance[m]] += carrying->n;
        else if (!pm_bin_cache_flush(&carrying->far[m], histogram, &carried->reuse->arena, kind))
            carried->failed = true;
    }
    if (carrying->far)
        memset(carrying->far, 0, PM_STACK_TOP * sizeof *carrying->far);
    carrying->n = 0;
}

static struct pm_carrying *take_carrying(struct pm_carried *carried,
                                         struct pm_carried_sequence *sequence) {
    uint32_t n = sequence->n_carryings, replaced;
    if (n < PM_CARRYINGS) {
        struct pm_carrying *carrying = pm_record_take(carried->address_records, sizeof *carrying);
        if (carrying)
            sequence->carryings[sequence->n_carryings++] = carrying;
        return carrying;
    }
    if (sequence->n_replaced++ % PM_CARRYINGS_KEPT)
        return NULL;
    replaced = sequence->n_replaced / PM_CARRYINGS_KEPT % PM_CARRYINGS;
    flush_carrying(carried, sequence->sequence, sequence->carryings[replaced]);
    return sequence->carryings[replaced];
}

struct pm_carrying *pm_carried_make(struct pm_carried *carried,
                                    struct pm_carried_sequence *sequence, const uint8_t *distance,
                                    const uint64_t *keys, bool has_far) {
    struct pm_carrying *carrying = take_carrying(carried, sequence);
    if (!carrying)
        return NULL;
    if (has_far && !carrying->far) {
        carrying->far =
            pm_record_take(carried->address_records, PM_STACK_TOP * sizeof *carrying->far);
        if (!carrying->far)
            return NULL;
    }
    memcpy(carrying->keys, keys, sizeof carrying->keys);
    memcpy(carrying->distance, distance, sizeof carrying->distance);
    for (uint32_t m = 0; m < sequence->sequence->n_blocks; m++) {
        if (!keys[m])
            continue;
        uint32_t group = sequence->sequence->group[m];
        carrying->histograms[m] = pm_carried_histogram(carried, group, keys[m]);
        carried->failed |= carrying->histograms[m] == PM_NO_PATTERN;
    }
    return carried->failed ? NULL : carrying;
}

/* ---- sequences ------------------------------------------------------------------------------- */

struct begun {
    struct pm_carried *carried;
    struct pm_carried_sequence *sequence;
};

static void begin_touch(void *context, const struct pm_record_touch *touch) {
    struct begun *begun = context;
    struct pm_carried_sequence *sequence = begun->sequence;
    sequence->scopes[touch->block] = scope_of(begun->carried, touch->reference);
    sequence->touches_again |= touch->again || touch->reference->access - 1u == BOTH;
}

struct pm_carried_sequence *pm_carried_sequence(struct pm_carried *carried,
                                                const struct pm_record_state *state,
                                                struct pm_touch_sequence *sequence) {
    struct pm_carried_sequence *made = pm_record_take(carried->address_records, sizeof *made);
    struct begun begun = {carried, made};
    if (!made || !pm_carried_make_groups(carried))
        return NULL;
    made->address_record = state->record;
    made->sequence = sequence;
    made->next = carried->sequences;
    carried->sequences = made;
    pm_record_each_touch(state->record, sequence, carried->reuse->shift, begin_touch, &begun);
    for (uint32_t place = 0; place < PM_STACK_TOP; place++) {
        bool stays = place >= sequence->n_blocks;
        made->below[place] = stays ? UINT64_MAX : 0;
        made->ordered[place] = stays ? 0 : made->scopes[sequence->order[place]];
    }
    return sequence->carried = made;
}

void pm_carried_flush(struct pm_carried *carried) {
    for (struct pm_carried_sequence *s = carried->sequences; s; s = s->next) {
        for (uint32_t i = 0; i < PM_CARRIED_COUNTS; i++)
            flush_count(carried, s, &s->counts[i]);
        for (uint32_t i = 0; i < s->n_carryings; i++)
            flush_carrying(carried, s->sequence, s->carryings[i]);
    }
}
