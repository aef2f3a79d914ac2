/* Finds the functions that this library stands before.

   Where the program itself is instrumented, this library comes before the C library, and what
   stands next is meant: another library may have put itself in between.  Where only a library of
   the program is, this one comes last, nothing stands next, and the C library is asked by its name.
 */
#define _GNU_SOURCE
#include "runtime/interpose/interpose.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string.h>

#include "runtime/system.h"
#include "runtime/append_text.h"

pm_dlsym_function *pm_original_dlsym;

/* It is there already: this only asks for it, and it stays. */
static void *loaded_library(const char *file) { return dlopen(file, RTLD_LAZY | RTLD_NOLOAD); }

pm_dlsym_function *pm_dlsym(void) {
    static const char version[] = "GLIBC_2.2.5"; /* of all that the C library has had */
    if (!pm_original_dlsym)
        pm_original_dlsym = (pm_dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", version);
    if (!pm_original_dlsym)
        pm_original_dlsym = (pm_dlsym_function *)dlvsym(loaded_library(LIBC_SO), "dlsym", version);
    return pm_original_dlsym;
}

static void *in_library(const char *file, const char *name) {
    void *library = loaded_library(file);
    return library ? pm_dlsym()(library, name) : NULL;
}

void *pm_function_of_c_library(const char *name) { return in_library(LIBC_SO, name); }

void *pm_original_function(const char *name) {
    void *function = pm_dlsym()(RTLD_NEXT, name);
    if (!function)
        function = pm_function_of_c_library(name);
    if (!function) /* where the C library loads it only to end a thread */
        function = in_library(LIBGCC_S_SO, name);
    if (function)
        return function;
    char line[256];
    struct pm_text text = {line, sizeof line, 0};
    pm_text_add(&text, "pmodel: no library has the function ");
    pm_text_add(&text, name);
    pm_text_add(&text, "; this program cannot run instrumented with it\n");
    pm_syscall3(SYS_write, 2, (long)line, (long)text.used);
    for (;;)
        pm_syscall3(SYS_exit_group, 127, 0, 0);
}
