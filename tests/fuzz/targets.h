/* The readers of what comes from outside, each as a function of any bytes; shared by the fuzzing
   program (fuzz.c) and by the test that replays kept inputs (tests/unit/fuzz_found.c).

   A target must survive every input: a damaged file is a sentence in pm_error, never a crash.  What
   it was able to read is used once, as the commands use it, and must survive being written and read
   again.  Where a checksum stands before a reader, the target makes it fit, so that the input
   gets behind it. */
#ifndef PM_FUZZ_TARGETS_H
#define PM_FUZZ_TARGETS_H

#include "tests/fuzz/programs.h"
#include "tests/fuzz/replays.h"
#include "tests/fuzz/stores.h"
#include "tests/fuzz/texts.h"

static const struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} fuzz_targets[] = {
    {"elf", fuzz_elf},
    {"rewrite", fuzz_rewrite},
    {"dwarf", fuzz_dwarf},
    {"unwinding", fuzz_unwinding},
    {"section", fuzz_section},
    {"raw", fuzz_raw},
    {"store", fuzz_store},
    {"structure", fuzz_structure},
    {"histogram", fuzz_histogram},
    {"carried", fuzz_carried},
    {"strides", fuzz_strides},
    {"models", fuzz_models},
    {"machine", fuzz_machine},
    {"classes", fuzz_classes},
    {"probes", fuzz_probes},
    {"expression", fuzz_expression},
    {"basis", fuzz_basis},
    {"size", fuzz_size},
    {"launcher", fuzz_launcher},
    {"sheet", fuzz_sheet},
    {"names", fuzz_names},
    {"points", fuzz_points},
    {"trace", fuzz_trace},
    {"result", fuzz_result},
    {"pingpong", fuzz_pingpong},
};

/* The target NAME, or NULL. */
static const struct fuzz_target *fuzz_find_target(const char *name) {
    for (size_t i = 0; i < sizeof fuzz_targets / sizeof *fuzz_targets; i++)
        if (strcmp(fuzz_targets[i].name, name) == 0)
            return &fuzz_targets[i];
    return NULL;
}

#endif
