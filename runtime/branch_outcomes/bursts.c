/* Which outcomes reference predictors judge: bursts of them; see README.md. */
#include "runtime/branch_outcomes/bursts.h"

enum {
    ALL_BUFFERS = 512, /* the first ones, 2,097,152 outcomes, are judged all */
    STRIDE = 16,       /* of so many buffers behind them one is */
};

enum pm_burst pm_branch_burst(uint64_t n) {
    if (n < ALL_BUFFERS)
        return PM_BURST_JUDGES;
    /* In each stride another one, behind one that is learnt only. */
    uint64_t stride = n / STRIDE;
    uint32_t hashed = (uint32_t)((stride * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    unsigned at = 1 + hashed % (STRIDE - 1), place = (unsigned)(n % STRIDE);
    return place == at ? PM_BURST_JUDGES : place + 1 == at ? PM_BURST_LEARNS : PM_BURST_NONE;
}
