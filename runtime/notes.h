/* What a user must know about a run: counted while the program runs, written as sentences into the
   raw file at its end. */
#ifndef PM_RUNTIME_NOTES_H
#define PM_RUNTIME_NOTES_H

#include <stddef.h>
#include <stdint.h>

enum pm_note_kind {
    PM_NOTE_FOREIGN_VERSION,    /* modules */
    PM_NOTE_DAMAGED_MODULE,     /* modules */
    PM_NOTE_STARTUP_RECORDS,    /* bytes of records */
    PM_NOTE_UNKNOWN_RECORDS,    /* times that decoding a buffer met an unknown reference */
    PM_NOTE_UNUSABLE_REFERENCE, /* records */
    PM_NOTE_NO_FOOTPRINT,       /* streams whose bytes are not known for want of memory */
    PM_NOTE_OUT_OF_MEMORY,      /* analyses of one thread and block size given up */
    PM_NOTE_SHARED_BLOCK,       /* signal handlers without a control block of their own */
    PM_NOTE_BAD_SETTING,        /* of PMODEL_SAMPLE, PMODEL_MAX_BLOCKS, PMODEL_BIN_WIDTH */
    PM_NOTE_BAD_BLOCK_SIZE,     /* items of PMODEL_BLOCK */
    PM_NOTE_BUSY_THREAD,        /* threads whose last records are missing */
    PM_NOTE_NO_QUICK_EXIT,      /* 1 */
    PM_NOTE_TOO_DEEP,           /* entries of scopes */
    PM_NOTE_LOST_FRAMES,        /* walks over the stack that did not come to their end */
    PM_NOTE_LOST_THREADS,       /* threads in unknown routines */
    PM_NOTE_ONE_CPU,            /* 1 */
    PM_NOTE_NO_SECOND_CORE,     /* times that no analysis thread could be made */
    PM_NOTE_NO_CHECKPOINTS,     /* 1 */
    PM_NOTE_LOST_INTERVALS,     /* ends */
    PM_NOTE_LOST_PATHS,         /* ends */
    PM_NOTE_LOST_BINS,          /* intervals */
    PM_N_NOTES,
};

/* Adds COUNT to the note; any thread, any time. */
void pm_note_add(enum pm_note_kind kind, uint64_t count);

void pm_notes_clear(void);

/* The sentence for KIND; false if there is nothing to say. */
_Bool pm_note_sentence(enum pm_note_kind kind, char *text, size_t size);

#endif
