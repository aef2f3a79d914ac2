/* Event handler that writes the accesses between PM_TEST_LOW and PM_TEST_HIGH, byte by byte, to
   PM_TEST_OUT: "L offset", "S offset" or "B offset" a line.  It uses only system calls at work. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/pmodel_handler.h"

static uint64_t low, high;
static int out = -1;
static char buffer[4096];
static size_t n_buffered;

static int begin(const struct pmodel_program *program) {
    (void)program;
    const char *path = getenv("PM_TEST_OUT"), *from = getenv("PM_TEST_LOW");
    const char *to = getenv("PM_TEST_HIGH");
    if (!path || !from || !to)
        return 1;
    low = strtoull(from, NULL, 16);
    high = strtoull(to, NULL, 16);
    out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return out < 0;
}

static void flush(void) {
    if (write(out, buffer, n_buffered) != (ssize_t)n_buffered)
        _exit(99);
    n_buffered = 0;
}

static void put_byte(char kind, uint64_t offset) {
    char digits[16];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[offset & 15];
    while (offset >>= 4);
    if (n_buffered + 24 > sizeof buffer)
        flush();
    buffer[n_buffered++] = kind;
    buffer[n_buffered++] = ' ';
    while (n > 0)
        buffer[n_buffered++] = digits[--n];
    buffer[n_buffered++] = '\n';
}

static void accesses(uint32_t thread, const struct pmodel_access *batch, size_t count) {
    (void)thread;
    for (size_t i = 0; i < count; i++)
        for (uint32_t b = 0; b < batch[i].size_bytes; b++)
            if (batch[i].address + b >= low && batch[i].address + b < high)
                put_byte("?LSB"[batch[i].kind], batch[i].address + b - low);
}

const struct pmodel_handler pmodel_handler = {
    .version = PMODEL_HANDLER_VERSION, .begin = begin, .accesses = accesses, .end = flush};
