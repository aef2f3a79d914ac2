/* Names for people, and whom a clone belongs to; see elf.h.  C++ names are demangled by
   libiberty, which is part of pmodel itself, so that names do not depend on the machine; names that
   are deeper than its limit stay as they are.  gfortran's names of procedures in modules are
   `__MODULE_MOD_NAME`. */

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/elf/elf.h"
#include "core/base/base.h"

static size_t without_number(const char *name, size_t length) {
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < length && at > 1 && name[at - 1] == '.' ? at - 1 : length;
}

/* Whether the LENGTH bytes at WORD are a suffix that GCC or LLVM give to a part or clone. */
static bool is_clone_word(const char *word, size_t length) {
    static const char *const whole[] = {
        "cold",      "part",    "isra",       "constprop", "lto_priv", "localalias",
        "simdclone", "_omp_fn", "_omp_cpyfn", "resolver",  "default",  "llvm",
    };
    static const char *const beginnings[] = {"arch_", "avx", "sse"}; /* target_clones */
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strlen(whole[i]) == length && memcmp(whole[i], word, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strlen(beginnings[i]) <= length &&
            memcmp(beginnings[i], word, strlen(beginnings[i])) == 0)
            return true;
    return false;
}

size_t pm_source_name_length(const char *linkage_name, size_t length) {
    size_t end = without_number(linkage_name, length), at = end;
    while (at > 0 && linkage_name[at - 1] != '.')
        at--;
    if (at < 2 || !is_clone_word(linkage_name + at, end - at))
        return length;
    return at - 1;
}

char *pm_display_name(const char *linkage_name) {
    size_t length = strlen(linkage_name), shorter;
    while ((shorter = pm_source_name_length(linkage_name, length)) != length)
        length = shorter;
    length = without_number(linkage_name, length); /* a routine nested in another */
    char *name = pm_sprintf("%.*s", (int)length, linkage_name);
    char *in_module = strstr(name, "_MOD_"), *readable = NULL;
    if (strncmp(name, "__", 2) == 0 && in_module && in_module > name + 2)
        readable = pm_sprintf("%.*s::%s", (int)(in_module - name - 2), name + 2, in_module + 5);
    else if (strncmp(name, "_Z", 2) == 0)
        readable = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES);
    if (!readable)
        return name;
    free(name);
    return readable;
}
