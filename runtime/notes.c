/* What a user must know about a run; see notes.h. */
#include "runtime/notes.h"

#include "core/probe_abi.h"
#include "runtime/append_text.h"

static uint64_t counts[PM_N_NOTES];

/* After the number. */
static const char *const sentences[PM_N_NOTES] = {
    [PM_NOTE_FOREIGN_VERSION] =
        " module(s) were instrumented by another version of pmodel and are not in this file: "
        "instrument them again",
    [PM_NOTE_DAMAGED_MODULE] =
        " module(s) have damaged or too large probe tables and are not in this file: "
        "instrument them again",
    [PM_NOTE_STARTUP_RECORDS] =
        " bytes of memory records from before the first constructor were lost: reuse distances "
        "leave these accesses out",
    [PM_NOTE_UNKNOWN_RECORDS] =
        " time(s) the rest of a buffer of memory records was lost because it named a reference "
        "that no loaded module has",
    [PM_NOTE_UNUSABLE_REFERENCE] =
        " access(es) were left out of the reuse distances because their size or group is unknown",
    [PM_NOTE_OUT_OF_MEMORY] =
        " reuse distance analyses (one for each thread and block size) ran out of memory and are "
        "not in this file: use fewer or larger block sizes",
    [PM_NOTE_NO_FOOTPRINT] = " thread(s) had no memory for " PM_ENV_BYTES
                             ": which bytes they were the first to touch is not known",
    [PM_NOTE_SHARED_BLOCK] =
        " signal handler(s) ran without memory for a control block of their own: counts and "
        "accesses around them may be wrong",
    [PM_NOTE_BAD_SETTING] = " of " PM_ENV_SAMPLE ", " PM_ENV_MAX_BLOCKS ", " PM_ENV_BIN_WIDTH
                            ", " PM_ENV_PROFILE " and " PM_ENV_SIMULATE
                            " could not be read or is out of range, and the usual value was taken",
    [PM_NOTE_BAD_BLOCK_SIZE] =
        " item(s) of " PM_ENV_BLOCK " are not powers of two from 1 to 2097152 and were left out",
    [PM_NOTE_BUSY_THREAD] =
        " thread(s) were still busy when the process ended: their last accesses are missing",
    [PM_NOTE_NO_QUICK_EXIT] =
        " handler of quick_exit could not be installed: a process that ends by quick_exit writes "
        "nothing",
    [PM_NOTE_TOO_DEEP] =
        " entries of loops and routines were not told because too many were open already",
    [PM_NOTE_LOST_FRAMES] =
        " time(s) routines were left in a way that could not be followed (through code without "
        "unwinding information, or by a signal): their counts may be too high by as many",
    [PM_NOTE_LOST_THREADS] = " thread(s) still ran when another ended the process: counts of the "
                             "routines that they were "
                             "in may be too high by one each",
    [PM_NOTE_ONE_CPU] = " CPU is all that the process may use: the analysis did not run beside it",
    [PM_NOTE_NO_SECOND_CORE] =
        " time(s) no thread could be made for the analysis, which then ran within the program's",
    [PM_NOTE_LOST_INTERVALS] =
        " call(s) ended no interval, because there was no room for another call path or kind: the "
        "interval went on",
    [PM_NOTE_LOST_BINS] =
        " time(s) there was no memory for the reuse distances of intervals, which "
        "lack some of the run's",
    [PM_NOTE_LOST_PATHS] =
        " interval(s) ended in routines whose callers could not be followed to the thread's begin: "
        "the outer calls of their paths are missing",
    [PM_NOTE_NO_CHECKPOINTS] = " time(s) no thread could be made to write checkpoints",
};

void pm_note_add(enum pm_note_kind kind, uint64_t count) {
    __atomic_fetch_add(&counts[kind], count, __ATOMIC_RELAXED);
}

void pm_notes_clear(void) {
    for (unsigned i = 0; i < PM_N_NOTES; i++)
        counts[i] = 0;
}

_Bool pm_note_sentence(enum pm_note_kind kind, char *text, size_t size) {
    if (counts[kind] == 0)
        return 0;
    struct pm_text writer = {text, size, 0};
    pm_text_number(&writer, counts[kind]);
    pm_text_add(&writer, sentences[kind]);
    return 1;
}
