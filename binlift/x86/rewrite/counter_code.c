/* The code of a counter: one increment through %gs where the flags are dead, else without touching
   them, in a dead register if there is one. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

uint32_t pm_x86_counter_offset(const struct pm_rewrite *rewrite, uint32_t counter) {
    return PM_CB_COUNTERS + 8 * (rewrite->plan->options->first_counter + counter);
}

void pm_x86_put_counter(struct pm_rewrite *rewrite, uint32_t counter, pm_live_set live,
                        pm_live_set reserved) {
    struct pm_code *code = &rewrite->code;
    uint32_t offset = pm_x86_counter_offset(rewrite, counter);
    if (!(live & PM_LIVE_FLAGS)) {
        pm_put_increment_gs(code, offset);
        return;
    }
    unsigned reg = 0;
    while (reg < 16 && ((live | reserved) & PM_LIVE_BIT(reg)))
        reg++;
    bool spills = reg == 16;
    if (spills) {
        reg = (unsigned)__builtin_ctz(~(reserved | PM_LIVE_BIT(PM_RSP)));
        pm_put_store_gs(code, reg, PM_SLOT_SCRATCH);
    }
    pm_put_load_gs(code, reg, offset);
    pm_put_lea(code, reg, reg, 1);
    pm_put_store_gs(code, reg, offset);
    if (spills)
        pm_put_load_gs(code, reg, PM_SLOT_SCRATCH);
}
