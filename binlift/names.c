/* Names for people: `_ZN3foo3barEi.constprop.0` → `foo::bar(int)`, `__solver_MOD_step` →
   `solver::step`.  C++ names are demangled by the C++ library where the machine has one (it is
   loaded when first needed, so that pmodel itself does not depend on it); else they stay. */
#include "binlift/lifted.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

static demangle_function *find_demangler(void) {
    static demangle_function *found;
    static bool tried;
    if (!tried) {
        tried = true;
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        if (library)
            found = (demangle_function *)dlsym(library, "__cxa_demangle");
    }
    return found;
}

/* Length without the suffixes that GCC gives to clones and parts of a function. */
static size_t length_without_suffixes(const char *name) {
    static const char *const suffixes[] = {".cold",       ".part.",     ".isra.",
                                           ".constprop.", ".lto_priv.", ".simdclone."};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *at = strstr(name, suffixes[i]);
        if (at && at != name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

char *pm_display_name(const char *linkage_name) {
    char *name = pm_strdup(linkage_name);
    name[length_without_suffixes(name)] = 0;
    char *in_module = strstr(name, "_MOD_");
    if (strncmp(name, "__", 2) == 0 && in_module && in_module > name + 2) {
        char *fortran =
            pm_sprintf("%.*s::%s", (int)(in_module - name - 2), name + 2, in_module + 5);
        free(name);
        return fortran;
    }
    if (strncmp(name, "_Z", 2) == 0 && find_demangler()) {
        int status = -1;
        char *demangled = find_demangler()(name, NULL, NULL, &status);
        if (status == 0 && demangled) {
            free(name);
            return demangled;
        }
        free(demangled);
    }
    return name;
}
