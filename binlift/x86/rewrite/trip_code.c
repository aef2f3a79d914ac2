/* The code of back edges that are counted outside their loops (counters/counters.h): the register
   that steps waits in a slot of the control block while the loop runs; where it is left

       lea −step(register), R; sub slot, R; (neg R); shr log2 |step|, R; add R, counter */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

static unsigned dead_register(pm_live_set taken) {
    unsigned reg = 0;
    while (reg < 16 && (taken & PM_LIVE_BIT(reg)))
        reg++;
    return reg;
}

/* R = number of times the back edge was taken; changes flags.  HERE: the register at this place is
   in the slot of flags. */
static void put_quotient(struct pm_code *code, const struct pm_trip_count *trip, bool stepped,
                         bool waits, unsigned reg) {
    uint64_t size = trip->step < 0 ? -(uint64_t)trip->step : (uint64_t)trip->step;
    bool wide = trip->bits == 64;
    unsigned shift = (unsigned)__builtin_ctzll(size);
    int32_t back = stepped ? (int32_t)-trip->step : 0;
    unsigned from = trip->number;
    if (waits) {
        pm_put_load_gs(code, reg, PM_SLOT_FLAGS);
        from = reg;
    }
    if (from != reg || back)
        pm_put_lea(code, reg, from, back);
    pm_put_subtract_gs(code, reg, PM_SLOT_TRIP, wide);
    if (trip->step < 0)
        pm_put_negate(code, reg, wide);
    if (shift)
        pm_put_shift_right(code, reg, (uint8_t)shift, wide);
}

static void put_loop_exit(struct pm_rewrite *rewrite, const struct pm_trip_count *trip,
                          bool stepped, pm_live_set live) {
    struct pm_code *code = &rewrite->code;
    uint32_t counter = pm_counter_of(rewrite->plan, trip->edge);
    bool saves_flags = live & PM_LIVE_FLAGS;
    pm_live_set taken = live | PM_LIVE_BIT(PM_RSP);
    if (saves_flags) {
        pm_put_store_gs(code, PM_RAX, PM_SLOT_FLAGS);
        pm_put_save_flags(code);
        taken |= PM_LIVE_BIT(PM_RAX);
    }
    unsigned reg = dead_register(taken);
    bool spills = reg == 16;
    if (spills) {
        reg = trip->number == PM_RCX ? PM_RSI : PM_RCX;
        pm_put_store_gs(code, reg, PM_SLOT_SCRATCH);
    }
    put_quotient(code, trip, stepped, saves_flags && trip->number == PM_RAX, reg);
    pm_put_add_gs(code, reg, pm_x86_counter_offset(rewrite, counter));
    pm_x86_put_visit(rewrite, rewrite->lifted->structure->edges[trip->edge].from, reg, taken);
    if (spills)
        pm_put_load_gs(code, reg, PM_SLOT_SCRATCH);
    if (saves_flags) {
        pm_put_restore_flags(code);
        pm_put_load_gs(code, PM_RAX, PM_SLOT_FLAGS);
    }
}

void pm_x86_put_trip_edge(struct pm_rewrite *rewrite, const struct pm_trip_edge *edge,
                          pm_live_set live) {
    const struct pm_trip_count *trip = &rewrite->plan->counters->trip_counts[edge->trip_count];
    if (edge->is_exit)
        put_loop_exit(rewrite, trip, edge->stepped, live);
    else
        pm_put_store_gs(&rewrite->code, trip->number, PM_SLOT_TRIP);
}
