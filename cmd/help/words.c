/* The words of the reports, as `pmodel help WORD` explains them.  docs/reading-a-report.md has the
   equations. */
#include "cmd/help/help.h"

#define READING "docs/reading-a-report.md"

const struct pm_help_entry pm_help_words[] = {
    {"TIME",
     "Predicted seconds of the code that is directly in the loop, not in loops inside it. Rows add "
     "up to the whole.",
     READING},
    {"TOTAL", "Predicted seconds of a loop or routine with all loops in it (`report --tree`).",
     READING},
    {"MEASURED",
     "Seconds that timers measured on the machine that ran the program (`pmodel run --time`). "
     "\"in step/2 :124\": too short to be timed, so its time is in that loop's, which is marked <.",
     READING},
    {"LOWER BOUND",
     "What a loop nest would take if nothing missed a cache, measured by `pmodel bound -o`.",
     "man pmodel-bound"},
    {"AT LEAST", "Predicted seconds as if every miss had been prefetched in time.", READING},
    {"AT MOST", "Predicted seconds as if each miss stood alone, hidden by nothing.", READING},
    {"BOUND BY",
     "What most of the row's time goes to: misses of a level, an execution unit, front end, "
     "recurrence, retirement, latency, mispredictions, bandwidth.",
     READING},
    {"L1/it", "Misses of a level for each iteration of the loop; of a routine, for each call.",
     READING},
    {"L1/ki", "Misses of a level for each thousand instructions (`report --fields +L1/ki`).",
     READING},
    {"?", "Not known. It never stands for zero.", READING},
    {">", "A lower bound: at least 1% of the operations or accesses of the row are not known.",
     READING},
    {"~", "Interpolated from another block size (`report --interpolate`).", "man pmodel-report"},
    {"front end", "Operations that can begin in a cycle, and jumps taken, hold the loop back.",
     READING},
    {"recurrence", "Each iteration waits for the result of the one before.", READING},
    {"latency", "Chains of dependent operations that the core's window does not hide.", READING},
    {"bandwidth", "Bytes that a level of the memory moves take longer than all else.", READING},
    {"reuse distance",
     "How many distinct blocks are touched between two touches of a block. An access hits a fully "
     "associative LRU cache of C blocks if its reuse distance is below C.",
     "docs/architecture.md"},
    {"block", "A block of memory: a cache line or a page. A basic block is always called so.",
     "docs/architecture.md"},
    {"carrier",
     "The innermost loop or routine that was entered before the last touch of a block and is still "
     "open at its reuse (`run --carry`, `report --carried`).",
     "man pmodel-report"},
    {"reference group",
     "References of one loop with the same stride at every level and the same object; what "
     "histograms are kept for.",
     "docs/architecture.md"},
    {"interval",
     "(80%: 15.1 s to 16.4 s) holds the truth with a probability of about 80%, as far as models "
     "are wrong by what they are wrong by at the measured sizes.",
     "man pmodel-fit"},
    {"extrapolated 4.0x", "The size is so many times the largest measured one.", READING},
    {"problem size", "The named parameters of a run, as -P gives them: N=40.", "man pmodel-run"},
    {"store", "NAME.pmdb: one file with a program's structure, runs, and models.", "man pmodel"},
    {"machine file",
     "Text that describes a machine; `pmodel probe -o here.conf` writes this one's.",
     "machines/README.md"},
    {NULL, NULL, NULL},
};
