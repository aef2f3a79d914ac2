/* What the misses of a scope take, by the model of time that was asked for: a simulated window
   (exposure.c), curves of a signature (signature/), or the papers' formula, as it is or for a
   window that is not simulated (memory.c); and what first touches of pages take. */
#include <math.h>

#include "sched/schedule.h"
#include "sched/constants.h"
#include "sched/signature/signature.h"

static bool is_region(const struct pm_mapped *mapped, uint32_t scope) {
    const struct pm_lists *regions = &mapped->frequencies->regions;
    return regions->first[scope] < regions->first[scope + 1];
}

static void add_misses(const struct pm_mapped *mapped, struct pm_scope_prediction *p) {
    const struct pm_machine *machine = mapped->target->machine;
    struct pm_cost_sum *self = &p->self;
    struct pm_cost_sum simple = *self;
    if (isnan(self->memory_cycles)) {
        self->lower_cycles = self->upper_cycles = self->schedule_cycles;
        return;
    }
    pm_simple_memory_cycles(machine, &simple);
    if (mapped->patterns) {
        pm_signature_memory_cycles(mapped->signature, &mapped->patterns[p->scope], self);
        self->lower_cycles = simple.lower_cycles;
        self->upper_cycles = fmax(simple.upper_cycles, self->schedule_cycles + self->memory_cycles);
        return;
    }
    if (mapped->simple || !machine->out_of_order) {
        *self = simple;
        return;
    }
    bool is_hot = simple.upper_cycles >= pm_sched_constants.share_simulated * mapped->all_cycles;
    bool is_known = 2 * self->unknown_operations <= self->operations;
    if (!is_hot || !is_known || !is_region(mapped, p->scope)) {
        pm_fallback_memory_cycles(machine, &mapped->prefetched[(size_t)p->scope * PM_MAX_LEVELS],
                                  self);
        self->fallback_cycles = self->schedule_cycles + self->memory_cycles;
        return;
    }
    bool is_brief = mapped->is_end ||
                    self->schedule_cycles < pm_sched_constants.share_in_full * mapped->all_cycles;
    pm_exposed_memory_cycles(&(struct pm_region_request){.frequencies = mapped->frequencies,
                                                         .target = mapped->target,
                                                         .known = mapped->known,
                                                         .region = p->scope,
                                                         .entries = p->entries,
                                                         .is_brief = is_brief,
                                                         .pessimistic = mapped->pessimistic},
                             &mapped->schedules[p->scope], mapped->profile, mapped->groups,
                             pm_sched_constants.share_of_path * mapped->all_cycles, self);
}

static void add_first_touches(const struct pm_machine *machine, struct pm_scope_prediction *p) {
    double cycles = p->self.first_touches * machine->page_fault_cycles;
    p->self.causes[PM_CAUSE_FIRST_TOUCHES] = cycles;
    p->gains[PM_CAUSE_FIRST_TOUCHES] = cycles;
    p->self.memory_cycles += cycles;
    p->self.lower_cycles += cycles;
    p->self.upper_cycles += cycles;
}

void pm_add_memory_cycles(const struct pm_mapped *mapped, struct pm_scope_prediction *p) {
    struct pm_cost_sum *self = &p->self;
    add_misses(mapped, p);
    add_first_touches(mapped->target->machine, p);
    self->cycles = self->schedule_cycles + (isnan(self->memory_cycles) ? 0 : self->memory_cycles);
    /* Inlined code's schedule is in that of the region, but reported by itself. */
    self->lower_cycles = fmin(self->lower_cycles, self->cycles);
    self->upper_cycles = fmax(self->upper_cycles, self->cycles);
}

bool pm_is_worth_simulating(double cycles, double most, double whole) {
    return most >= pm_sched_constants.simulated_change * cycles &&
           most >= pm_sched_constants.simulated_share * whole;
}
