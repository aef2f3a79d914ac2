/* Markers for user code: measure only a part of a run.

     #include <pmodel.h>
     pmodel_stop ();  …set-up, not measured…  pmodel_start ();

   In a plain build they do nothing, and no library is needed; in an instrumented copy they switch
   measuring off and on, for all threads of the process.  Measuring is on when a program starts.  A
   second stop or start in a row does nothing.  For C and C++; pmodel.f90, beside this file, has the
   same for Fortran. */
#ifndef PMODEL_H
#define PMODEL_H

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls NAME of the runtime if it is there: it comes into the process with an instrumented copy
   only. A weak reference would not do: the linker of a program at a fixed address makes it 0 for
   good. */
static inline void pmodel_call(const char *name, void (**action)(void), int *is_known) {
    if (!*is_known) {
        void *address = dlsym((void *)0 /* RTLD_DEFAULT */, name);
        __builtin_memcpy(action, &address, sizeof address);
        *is_known = 1;
    }
    if (*action)
        (*action)();
}

static inline void pmodel_start(void) {
    static void (*action)(void);
    static int is_known;
    pmodel_call("pmodel_runtime_start", &action, &is_known);
}

static inline void pmodel_stop(void) {
    static void (*action)(void);
    static int is_known;
    pmodel_call("pmodel_runtime_stop", &action, &is_known);
}

#ifdef __cplusplus
}
#endif

#endif
