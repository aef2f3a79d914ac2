/* Calls of routines of the C library whose accesses follow from their arguments: memcpy and its
   like. The C library itself is never instrumented (it is what the runtime runs on), so these are
   recorded where they are called, from code that is (runtime/records/library_calls.c).

   A call counts if it goes straight, through the PLT or through the GOT to a routine of another
   file with a known name, and so does a jump that takes its place.  Calls through other pointers
   are not seen.  Needs relocations. */
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>

#include "core/probe_abi.h"

enum { LOAD = PM_ACCESS_LOAD, STORE = PM_ACCESS_STORE, BOTH = PM_ACCESS_BOTH };

/* Ascending by name. */
static const struct pm_called_routine known[] = {
    {"__bzero", PM_CALLED_CLEAR, STORE, 0},
    {"__memcpy_chk", PM_CALLED_COPY, BOTH, 0},
    {"__memmove_chk", PM_CALLED_COPY, BOTH, 0},
    {"__mempcpy", PM_CALLED_COPY, BOTH, 0},
    {"__mempcpy_chk", PM_CALLED_COPY, BOTH, 0},
    {"__memset_chk", PM_CALLED_FILL, STORE, 0},
    {"__rawmemchr", PM_CALLED_FIND_ALWAYS, LOAD, 0},
    {"__stpcpy", PM_CALLED_COPY_TEXT, BOTH, 0},
    {"__stpcpy_chk", PM_CALLED_COPY_TEXT, BOTH, 0},
    {"__stpncpy", PM_CALLED_FILL_TEXT, BOTH, 0},
    {"__stpncpy_chk", PM_CALLED_FILL_TEXT, BOTH, 0},
    {"__strcat_chk", PM_CALLED_APPEND, BOTH, 0},
    {"__strcpy_chk", PM_CALLED_COPY_TEXT, BOTH, 0},
    {"__strncat_chk", PM_CALLED_APPEND_AT_MOST, BOTH, 0},
    {"__strncpy_chk", PM_CALLED_FILL_TEXT, BOTH, 0},
    {"__wmemcpy_chk", PM_CALLED_COPY, BOTH, 2},
    {"__wmemmove_chk", PM_CALLED_COPY, BOTH, 2},
    {"__wmempcpy_chk", PM_CALLED_COPY, BOTH, 2},
    {"__wmemset_chk", PM_CALLED_FILL, STORE, 2},
    {"bcmp", PM_CALLED_COMPARE, LOAD, 0},
    {"bcopy", PM_CALLED_COPY_BACK, BOTH, 0},
    {"bzero", PM_CALLED_CLEAR, STORE, 0},
    {"explicit_bzero", PM_CALLED_CLEAR, STORE, 0},
    {"index", PM_CALLED_FIND_IN_TEXT, LOAD, 0},
    {"memchr", PM_CALLED_FIND, LOAD, 0},
    {"memcmp", PM_CALLED_COMPARE, LOAD, 0},
    {"memcpy", PM_CALLED_COPY, BOTH, 0},
    {"memmove", PM_CALLED_COPY, BOTH, 0},
    {"mempcpy", PM_CALLED_COPY, BOTH, 0},
    {"memrchr", PM_CALLED_FIND_LAST, LOAD, 0},
    {"memset", PM_CALLED_FILL, STORE, 0},
    {"rawmemchr", PM_CALLED_FIND_ALWAYS, LOAD, 0},
    {"rindex", PM_CALLED_TEXT, LOAD, 0},
    {"stpcpy", PM_CALLED_COPY_TEXT, BOTH, 0},
    {"stpncpy", PM_CALLED_FILL_TEXT, BOTH, 0},
    {"strcat", PM_CALLED_APPEND, BOTH, 0},
    {"strchr", PM_CALLED_FIND_IN_TEXT, LOAD, 0},
    {"strchrnul", PM_CALLED_FIND_IN_TEXT, LOAD, 0},
    {"strcmp", PM_CALLED_COMPARE_TEXT, LOAD, 0},
    {"strcpy", PM_CALLED_COPY_TEXT, BOTH, 0},
    {"strlen", PM_CALLED_TEXT, LOAD, 0},
    {"strncat", PM_CALLED_APPEND_AT_MOST, BOTH, 0},
    {"strncmp", PM_CALLED_COMPARE_TEXT_AT_MOST, LOAD, 0},
    {"strncpy", PM_CALLED_FILL_TEXT, BOTH, 0},
    {"strnlen", PM_CALLED_TEXT_AT_MOST, LOAD, 0},
    {"strrchr", PM_CALLED_TEXT, LOAD, 0},
    {"wmemcpy", PM_CALLED_COPY, BOTH, 2},
    {"wmemmove", PM_CALLED_COPY, BOTH, 2},
    {"wmempcpy", PM_CALLED_COPY, BOTH, 2},
    {"wmemset", PM_CALLED_FILL, STORE, 2},
};

/* By which what one thread did becomes known to others, ascending by name. */
static const char *const synchronising[] = {
    "GOMP_atomic_end",
    "GOMP_barrier",
    "GOMP_barrier_cancel",
    "GOMP_critical_end",
    "GOMP_critical_name_end",
    "GOMP_ordered_end",
    "GOMP_parallel",
    "GOMP_sections_end",
    "GOMP_task",
    "GOMP_taskwait",
    "MPI_Barrier",
    "cnd_broadcast",
    "cnd_signal",
    "cnd_timedwait",
    "cnd_wait",
    "mtx_unlock",
    "omp_unset_lock",
    "omp_unset_nest_lock",
    "pthread_barrier_wait",
    "pthread_cond_broadcast",
    "pthread_cond_clockwait",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_join",
    "pthread_mutex_unlock",
    "pthread_rwlock_unlock",
    "pthread_spin_unlock",
    "sem_post",
    "thrd_create",
    "thrd_join",
};

static int compare_names(const void *name, const void *routine) {
    return strcmp(name, ((const struct pm_called_routine *)routine)->name);
}

/* The routine of another file that INSN calls; NULL: none, or it is not known. */
static const char *called_name(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    uint64_t address;
    const char *name;
    bool leaves = pm_is_call(insn->control) || insn->control == PM_CONTROL_JUMP ||
                  insn->control == PM_CONTROL_JUMP_INDIRECT;
    return leaves && pm_call_target(lifted, insn, &address, &name) && !address ? name : NULL;
}

const struct pm_called_routine *pm_called_routine(const struct pm_lifted *lifted,
                                                  const struct pm_insn *insn) {
    const char *name = called_name(lifted, insn);
    return name ? bsearch(name, known, sizeof known / sizeof *known, sizeof *known, compare_names)
                : NULL;
}

static int compare_texts(const void *name, const void *text) {
    return strcmp(name, *(const char *const *)text);
}

bool pm_call_synchronises(const struct pm_lifted *lifted, const struct pm_insn *insn) {
    const char *name = called_name(lifted, insn);
    return name && bsearch(name, synchronising, sizeof synchronising / sizeof *synchronising,
                           sizeof *synchronising, compare_texts);
}
