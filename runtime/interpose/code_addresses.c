/* Addresses of code that a program asks about by its own names.  A call that moved returns to the
   new code, which no symbol covers; `backtrace` and `dladdr` answer as for where it returned to in
   the plain program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include "runtime/interpose/interpose.h"
#include "runtime/modules.h"
#include "runtime/system.h"

static void *old_address(const void *address) {
    uint64_t at = (uint64_t)address;
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        const struct pm_loaded_module *module = &pm_modules[i];
        if (!module->gone && pm_module_has_new_frame(module, at))
            return (void *)(module->load_bias + pm_module_old_return(module, at));
    }
    return (void *)at;
}

/* The first address is this function's own; the program's are those behind it. */
static int take_addresses(void **found, int n_found, void **addresses) {
    pm_modules_scan();
    for (int i = 1; i < n_found; i++)
        addresses[i - 1] = old_address(found[i]);
    return n_found > 0 ? n_found - 1 : 0;
}

PM_EXPORT int backtrace(void **addresses, int size) {
    enum { FEW = 256 };
    void *few[FEW + 1];
    if (size <= 0)
        return PM_ORIGINAL(backtrace)(addresses, size);
    if (size <= FEW)
        return take_addresses(few, PM_ORIGINAL(backtrace)(few, size + 1), addresses);
    size_t n_bytes = ((size_t)size + 1) * sizeof(void *);
    void **many = pm_mmap(n_bytes);
    if (!many)
        return take_addresses(few, PM_ORIGINAL(backtrace)(few, FEW + 1), addresses);
    int n = take_addresses(many, PM_ORIGINAL(backtrace)(many, size + 1), addresses);
    pm_munmap(many, n_bytes);
    return n;
}

PM_EXPORT int dladdr(const void *address, Dl_info *info) {
    pm_modules_scan();
    return PM_ORIGINAL(dladdr)(old_address(address), info);
}

PM_EXPORT int dladdr1(const void *address, Dl_info *info, void **more, int flags) {
    pm_modules_scan();
    return PM_ORIGINAL(dladdr1)(old_address(address), info, more, flags);
}
