/* When the calls of the process's threads began and ended; see private.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "runtime/mpi_events/private.h"
#include "runtime/raw_output/raw_output.h"

enum { FIRST_ROOM = 1 << 16, MOST_OF_A_CALL = 20 /* bytes */ };

static struct pm_raw_mpi_span span;

PM_EXPORT void pmodel_mpi_span(uint64_t begin_ns, uint64_t end_ns) {
    if (begin_ns)
        __atomic_store_n(&span.begin_ns, begin_ns, __ATOMIC_RELAXED);
    if (end_ns)
        __atomic_store_n(&span.end_ns, end_ns, __ATOMIC_RELAXED);
}

/* ---- the log of a thread --------------------------------------------------------------------- */

static bool make_room(struct pm_call_log *log) {
    uint32_t room = log->room ? 2 * log->room : FIRST_ROOM;
    if (log->n_bytes + MOST_OF_A_CALL <= log->room)
        return true;
    if (room > PM_MOST_LOG_BYTES || !pm_mgrow(&log->bytes, log->room, room))
        return false;
    log->room = room;
    return true;
}

static void put(struct pm_call_log *log, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        log->bytes[log->n_bytes++] = (uint8_t)(value | 0x80);
    log->bytes[log->n_bytes++] = (uint8_t)value;
}

void pm_call_log_add(struct pm_call_log *log, uint64_t begin_ns, uint64_t end_ns) {
    /* What comes after a call that is not there could not be told apart from it. */
    log->is_full = log->is_full || begin_ns < log->last_end_ns || !make_room(log);
    if (log->is_full)
        return;
    put(log, begin_ns - log->last_end_ns);
    put(log, end_ns - begin_ns);
    log->last_end_ns = end_ns;
    log->n++;
}

void pm_call_log_free(struct pm_call_log *log) {
    pm_munmap(log->bytes, log->room);
    *log = (struct pm_call_log){0};
}

/* ---- the raw file ---------------------------------------------------------------------------- */

void pm_call_times_add_thread(struct pm_raw_builder *builder, uint32_t thread,
                              const struct pm_counted_events *kinds,
                              const struct pm_call_log *log) {
    pm_raw_section_begin(builder, PM_RAW_CALL_TIMES);
    pm_raw_add_u64(builder, thread);
    pm_raw_add(builder, kinds->times, kinds->n_kinds * sizeof *kinds->times);
    pm_raw_section_end(builder);
    pm_raw_section_begin(builder, PM_RAW_CALL_LOG);
    pm_raw_add_u64(builder, thread);
    pm_raw_add_u64(builder, log->n);
    pm_raw_add(builder, log->bytes, log->n_bytes);
    pm_raw_section_end(builder);
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number that Linux gives itself when it starts: 32 digits, with hyphens.  Zero: unknown. */
static void find_clock(uint64_t clock[2]) {
    char text[64];
    long file = pm_syscall(SYS_open, (long)"/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC,
                           0, 0, 0, 0);
    if (file < 0)
        return;
    long n = pm_syscall3(SYS_read, file, (long)text, sizeof text), n_digits = 0;
    pm_syscall3(SYS_close, file, 0, 0);
    for (long i = 0; i < n; i++)
        if (digit_of(text[i]) >= 0 && n_digits < 32) {
            clock[n_digits / 16] = clock[n_digits / 16] << 4 | (uint64_t)digit_of(text[i]);
            n_digits++;
        }
}

void pm_mpi_span_add(struct pm_raw_builder *builder) {
    struct pm_raw_mpi_span now = span;
    find_clock(now.clock);
    pm_raw_section_begin(builder, PM_RAW_MPI_SPAN);
    pm_raw_add(builder, &now, sizeof now);
    pm_raw_section_end(builder);
}

void pm_mpi_span_clear(void) { span = (struct pm_raw_mpi_span){0}; }
