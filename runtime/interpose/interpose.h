/* The C library's own functions under the names that this library stands before. */
#ifndef PM_RUNTIME_INTERPOSE_H
#define PM_RUNTIME_INTERPOSE_H

/* The next function NAME after ours; ends the process with a sentence if there is none. */
void *pm_original_function(const char *name);

/* The C library's dlsym; it looks at who calls it.  The variable, for dlsym_path.S: once it was
   asked for. */
typedef void *pm_dlsym_function(void *, const char *);
extern pm_dlsym_function *pm_original_dlsym __attribute__((visibility("hidden")));
pm_dlsym_function *pm_dlsym(void);

/* The C library's own, whoever stands before it; NULL: it has none. */
void *pm_function_of_c_library(const char *name);

/* pm_original_function, looked up once. */
#define PM_ORIGINAL(name)                                                                          \
    ({                                                                                             \
        static __typeof__(&name) original_##name;                                                  \
        __typeof__(&name) found_##name = __atomic_load_n(&original_##name, __ATOMIC_RELAXED);      \
        if (!found_##name) {                                                                       \
            found_##name = (__typeof__(&name))pm_original_function(#name);                         \
            __atomic_store_n(&original_##name, found_##name, __ATOMIC_RELAXED);                    \
        }                                                                                          \
        found_##name;                                                                              \
    })

#endif
