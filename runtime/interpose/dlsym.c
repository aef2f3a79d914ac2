/* A library that stands before the C library asks dlsym for the next pthread_create, as allocators
   do for threads of their own, or for the C library's by its handle.  It would pass by ours, and
   its thread would share the control block of the one that makes it. So it gets ours. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "runtime/interpose/interpose.h"
#include "runtime/threads.h"

/* What dlsym of HANDLE and NAME is to give; NULL: what the C library says. */
void *pm_symbol_of_ours(void *handle, const char *name) __attribute__((visibility("hidden")));
void *pm_symbol_of_ours(void *handle, const char *name) {
    pm_dlsym_function *original = pm_dlsym();
    if (handle == RTLD_DEFAULT || strcmp(name, "pthread_create") != 0)
        return NULL;
    if (handle != RTLD_NEXT && original(handle, name) != pm_function_of_c_library("pthread_create"))
        return NULL;
    return (void *)pm_create_thread_below;
}
