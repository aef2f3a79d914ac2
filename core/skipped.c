/* Accesses that were not analysed, for people. */
#include "core/skipped.h"

#include <stddef.h>

#include "core/base/base.h"

char *pm_skipped_sentence(const struct pm_skipped_accesses *skipped,
                          enum pm_skipped_reason reason) {
    if (skipped->loads == 0 && skipped->stores == 0 && skipped->executions == 0)
        return NULL;
    if (reason == PM_SKIPPED_STOPPED)
        return pm_sprintf("%.0f loads and %.0f stores were not analysed because measuring was off",
                          skipped->loads, skipped->stores);
    if (reason == PM_SKIPPED_UNMATCHED)
        return pm_sprintf("%.0f loads and %.0f stores are left out because their code is not the "
                          "same in the builds for other sizes",
                          skipped->loads, skipped->stores);
    return pm_sprintf("%.0f loads and %.0f stores were not analysed because their routines are "
                      "left out, which were entered %.0f times",
                      skipped->loads, skipped->stores, skipped->executions);
}
