/* What a target makes of its input: a file, a text, a copy; and what it demands. */
#ifndef PM_FUZZ_INPUTS_H
#define PM_FUZZ_INPUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

/* Ends the process, which the fuzzer and the test both take for a failure. */
static void fuzz_demand(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "fuzzing: %s\n", what);
    abort();
}

static char fuzz_file[4096];

static void fuzz_remove_file(void) { unlink(fuzz_file); }

/* Path of a file that holds DATA: one file in $TMPDIR (/tmp), written anew each time. */
static const char *fuzz_file_of(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(fuzz_file, sizeof fuzz_file, "%s/pmodel-fuzz-XXXXXX", folder ? folder : "/tmp");
        file = mkstemp(fuzz_file);
        fuzz_demand(file >= 0, "a temporary file cannot be made");
        atexit(fuzz_remove_file);
    }
    fuzz_demand(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
                "a temporary file cannot be written");
    return fuzz_file;
}

/* An owned copy, as long as the input so that a sanitizer sees every byte too many. */
static void *fuzz_copy(const uint8_t *data, size_t size) {
    void *copy = pm_alloc(size, 1);
    return size ? memcpy(copy, data, size) : copy;
}

static char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = pm_alloc(size + 1, 1);
    memcpy(text, data, size);
    return text;
}

#endif
