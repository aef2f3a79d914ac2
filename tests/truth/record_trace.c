/* An event handler that writes every access, as it comes, to the file that TRACE_FILE names: an
   array of struct pmodel_access.  One thread.  Where TRACE_FILE begins with '-' it declines, and
   the runtime goes on with its own analysis: so two runs, one recorded and one analysed, have the
   same memory layout but for whole pages. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/pmodel_handler.h"

static int trace = -1;
static bool damaged;

static int begin(const struct pmodel_program *program) {
    (void)program;
    const char *path = getenv("TRACE_FILE");
    if (!path || path[0] == '-')
        return 1;
    trace = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return trace < 0;
}

static void record(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    const char *bytes = (const char *)batch;
    size_t left = count * sizeof *batch;
    damaged |= thread != 0;
    while (left && !damaged) {
        ssize_t written = write(trace, bytes, left);
        if (written <= 0) {
            damaged = true;
            break;
        }
        bytes += written;
        left -= (size_t)written;
    }
}

/* A trace that is not whole is removed, so that nobody takes it for one. */
static void end(void) {
    if (damaged && ftruncate(trace, 0) != 0)
        abort();
    close(trace);
}

__attribute__((visibility("default"))) const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION,
    .begin = begin,
    .accesses = record,
    .end = end,
};
