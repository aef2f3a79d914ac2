/* Markers for user code: measure only a part of a run.
     pmodel_stop ();  …set-up, not measured…  pmodel_start ();
   In a plain build (not instrumented) they do nothing and need no library.  Measuring is on when a
   program starts.  Callable from C and C++; from Fortran through the C names
   (`call pmodel_start ()` with bind(C) interfaces).  Each acts on the calling thread. */
#ifndef PMODEL_H
#define PMODEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by the runtime of an instrumented program. */
void pmodel_runtime_start(void) __attribute__((weak));
void pmodel_runtime_stop(void) __attribute__((weak));

static inline void pmodel_start(void) {
    if (pmodel_runtime_start)
        pmodel_runtime_start();
}

static inline void pmodel_stop(void) {
    if (pmodel_runtime_stop)
        pmodel_runtime_stop();
}

#ifdef __cplusplus
}
#endif

#endif
