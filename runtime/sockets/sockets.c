/* Traffic on sockets, by call path and thread; see sockets.h.

   Nothing here locks or allocates once its tables are there: rows and sockets stand in hash tables
   whose slots are taken by exchanging their 0 for a key.  A socket is known by its inode, which is
   asked for at each transfer: so nobody needs to know when descriptors are closed or copied. */
#include "runtime/sockets/sockets.h"

#include <arpa/inet.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/probe_abi.h"
#include "core/raw_file.h"
#include "runtime/call_site_tree.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/raw_output/raw_output.h"
#include "runtime/system.h"
#include "runtime/append_text.h"
#include "runtime/threads.h"

enum {
    N_SOCKETS = 1 << 16,
    N_ROWS = 1 << 18,
    MOST_TRIES = 1 << 6, /* slots that are looked at */
    SOCKET_BITS = 16,
    THREAD_BITS = 16,
};
_Static_assert(PM_MAX_THREADS <= 1 << THREAD_BITS, "a key has room for the thread");

struct socket {
    uint64_t inode; /* 0: free */
    bool has_text;
    char text[PM_RAW_SOCKET_TEXT];
};

struct row {
    uint64_t key; /* path, thread, socket; 0: free */
    uint64_t sends, receives, bytes_sent, bytes_received;
};

static char *names;            /* one after the other, a NUL behind each and one more at the end */
static struct socket *sockets; /* [N_SOCKETS], only touched pages exist */
static struct row *rows;       /* [N_ROWS] */
static uint64_t n_lost;

void pm_sockets_begin(void) {
    const char *wanted = getenv(PM_ENV_SOCKETS);
    size_t length = wanted ? strlen(wanted) : 0;
    if (!length)
        return;
    char *copy = pm_mmap(length + 2);
    sockets = pm_mmap(N_SOCKETS * sizeof *sockets);
    rows = pm_mmap(N_ROWS * sizeof *rows);
    if (!copy || !sockets || !rows)
        return;
    memcpy(copy, wanted, length);
    for (size_t i = 0; i < length; i++)
        if (copy[i] == ';')
            copy[i] = '\0';
    names = copy;
}

/* ---- which call ------------------------------------------------------------------------------ */

static bool is_named(const char *callee) {
    for (const char *name = names; callee && *name; name += strlen(name) + 1)
        if (fnmatch(name, callee, 0) == 0)
            return true;
    return false;
}

/* The innermost open call of a named routine. */
static uint32_t find_call(void) {
    struct pm_thread *thread = pm_current_thread();
    struct pm_call_frame frame;
    pm_modules_scan();
    pm_unwind_begin(&frame, thread->readable_low, thread->readable_end);
    uint32_t path = pm_call_path_here(&frame, NULL);
    if (path == PM_CALL_PATH_LOST)
        return PM_NO_CALL_PATH;
    /* Of a tail call the stack has nothing: its path is that of the call around it. */
    uint32_t jump = thread->last_jump;
    if (jump != PM_NO_CALL_PATH && pm_call_path_last(jump).parent == path &&
        is_named(pm_call_path_callee(jump)))
        return jump;
    while (path != PM_NO_CALL_PATH && !is_named(pm_call_path_callee(path)))
        path = pm_call_path_last(path).parent;
    return path;
}

/* ---- which socket ---------------------------------------------------------------------------- */

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
    char bytes[sizeof(struct sockaddr_storage)];
};

static void add_address(struct pm_text *text, const union address *address, unsigned n_bytes) {
    char number[INET6_ADDRSTRLEN];
    if (address->any.sa_family == AF_INET) {
        pm_text_add(text, inet_ntop(AF_INET, &address->in.sin_addr, number, sizeof number));
        pm_text_add(text, ":");
        pm_text_number(text, ntohs(address->in.sin_port));
    } else if (address->any.sa_family == AF_INET6) {
        pm_text_add(text, "[");
        pm_text_add(text, inet_ntop(AF_INET6, &address->in6.sin6_addr, number, sizeof number));
        pm_text_add(text, "]:");
        pm_text_number(text, ntohs(address->in6.sin6_port));
    } else if (address->any.sa_family == AF_UNIX) {
        unsigned named = (unsigned)offsetof(struct sockaddr_un, sun_path);
        pm_text_add(text, "unix");
        if (n_bytes > named && address->un.sun_path[0]) {
            pm_text_add(text, " ");
            pm_text_add(text, address->un.sun_path);
        }
    } else {
        pm_text_add(text, "family ");
        pm_text_number(text, address->any.sa_family);
    }
}

/* Its own address, and its peer's if it has one. */
static void describe(struct socket *socket, int file) {
    struct pm_text text = {socket->text, sizeof socket->text, 0};
    for (int i = 0; i < 2; i++) {
        union address address;
        int n_bytes = sizeof address - 1;
        memset(&address, 0, sizeof address);
        long result = pm_syscall3(i ? SYS_getpeername : SYS_getsockname, file, (long)&address,
                                  (long)&n_bytes);
        bool is_unix = address.any.sa_family == AF_UNIX;
        if (result < 0 || (i && is_unix && n_bytes <= (int)sizeof(sa_family_t)))
            continue;
        if (text.used)
            pm_text_add(&text, " to ");
        add_address(&text, &address, (unsigned)n_bytes);
    }
    __atomic_store_n(&socket->has_text, true, __ATOMIC_RELEASE);
}

/* The number of FILE's socket; N_SOCKETS: it is none, N_SOCKETS + 1: there is no room. */
static uint32_t find_socket(int file) {
    struct stat status;
    if (pm_syscall3(SYS_fstat, file, (long)&status, 0) < 0 || !S_ISSOCK(status.st_mode) ||
        status.st_ino == 0)
        return N_SOCKETS;
    uint64_t hash = status.st_ino * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SOCKET_BITS);
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        struct socket *socket = &sockets[(hash + i) % N_SOCKETS];
        uint64_t inode = 0;
        if (__atomic_compare_exchange_n(&socket->inode, &inode, status.st_ino, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            describe(socket, file);
        else if (inode != status.st_ino)
            continue;
        return (uint32_t)(socket - sockets);
    }
    return N_SOCKETS + 1;
}

/* ---- counting -------------------------------------------------------------------------------- */

static struct row *find_row(uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        struct row *row = &rows[(hash + i) % N_ROWS];
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&row->key, &found, key, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            found == key)
            return row;
    }
    return NULL;
}

static void add(uint64_t *count, uint64_t more) {
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

PM_EXPORT void pmodel_socket_transfer(int file, bool is_sent, uint64_t bytes,
                                      uint64_t n_transfers) {
    if (!names || !pm_process_is_measured() || pm_process_is_finished())
        return;
    struct pm_thread *thread = pm_current_thread();
    if (!thread || thread->stopped)
        return;
    uint32_t socket = find_socket(file);
    uint32_t path = socket == N_SOCKETS ? PM_NO_CALL_PATH : find_call();
    if (path == PM_NO_CALL_PATH)
        return;
    uint64_t key = (uint64_t)path << (THREAD_BITS + SOCKET_BITS) |
                   (uint64_t)thread->number << SOCKET_BITS | socket;
    struct row *row = socket < N_SOCKETS ? find_row(key) : NULL;
    if (!row) {
        add(&n_lost, n_transfers);
        return;
    }
    add(is_sent ? &row->bytes_sent : &row->bytes_received, bytes);
    add(is_sent ? &row->sends : &row->receives, n_transfers);
}

void pm_sockets_after_fork(void) {
    if (!names)
        return;
    pm_syscall3(SYS_madvise, (long)rows, N_ROWS * sizeof *rows, MADV_DONTNEED); /* zeros again */
    n_lost = 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static struct pm_raw_socket_traffic content(const struct row *row, uint64_t key) {
    return (struct pm_raw_socket_traffic){
        .path = (uint32_t)(key >> (THREAD_BITS + SOCKET_BITS)),
        .thread = (uint32_t)(key >> SOCKET_BITS) & (PM_MAX_THREADS - 1),
        .socket = (uint32_t)key & (N_SOCKETS - 1),
        .sends = __atomic_load_n(&row->sends, __ATOMIC_RELAXED),
        .receives = __atomic_load_n(&row->receives, __ATOMIC_RELAXED),
        .bytes_sent = __atomic_load_n(&row->bytes_sent, __ATOMIC_RELAXED),
        .bytes_received = __atomic_load_n(&row->bytes_received, __ATOMIC_RELAXED),
    };
}

/* Of sockets only those that have traffic, each right before its first row: a thread may go on
   meanwhile. */
void pm_sockets_add(struct pm_raw_builder *builder) {
    uint32_t *numbers = names ? pm_mmap(N_SOCKETS * sizeof *numbers) : NULL, n_sockets = 0;
    if (!numbers)
        return;
    pm_raw_section_begin(builder, PM_RAW_SOCKETS);
    pm_raw_add_u64(builder, __atomic_load_n(&n_lost, __ATOMIC_RELAXED));
    for (uint32_t i = 0; i < N_ROWS; i++) {
        uint64_t key = __atomic_load_n(&rows[i].key, __ATOMIC_ACQUIRE);
        struct pm_raw_socket_traffic traffic = content(&rows[i], key);
        if (key == 0 || !pm_call_path_is_written(traffic.path))
            continue;
        const struct socket *socket = &sockets[traffic.socket];
        char text[PM_RAW_SOCKET_TEXT] = "";
        if (__atomic_load_n(&socket->has_text, __ATOMIC_ACQUIRE))
            memcpy(text, socket->text, sizeof text);
        traffic.is_new = numbers[traffic.socket] == 0;
        if (traffic.is_new)
            numbers[traffic.socket] = ++n_sockets;
        traffic.socket = numbers[traffic.socket] - 1;
        pm_raw_add(builder, &traffic, sizeof traffic);
        if (traffic.is_new)
            pm_raw_add(builder, text, sizeof text);
    }
    pm_raw_section_end(builder);
    pm_munmap(numbers, N_SOCKETS * sizeof *numbers);
}
