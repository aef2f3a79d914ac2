/* `dlclose`: what a module counted is kept although it goes, and its traps are not read any more.
   (Modules that are opened need no interposed function: their counters and records work at once,
   and the runtime looks for them when it meets one of their records or traps, and at the end.) */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "runtime/interpose/interpose.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/system.h"

PM_EXPORT int dlclose(void *handle) {
    bool is_measured = pm_process_is_measured();
    if (is_measured)
        pm_modules_scan();
    int result = PM_ORIGINAL(dlclose)(handle);
    if (is_measured)
        pm_modules_scan();
    return result;
}
