/* What happens before and after each call of MPI; see call.h.

   The program gets what it would get without us: arguments, results, statuses and errors are passed
   on as they are.  Where it wants no status we ask for one of our own, because only a status tells
   where a message came from and how long it was.  We send nothing. */
#define _GNU_SOURCE
#include "runtime/mpi/call.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/read_clock.h"
#include "runtime/mpi/library.h"

struct pm_mpi_runtime pm_mpi_runtime;
bool pm_mpi_has_threads;

enum state { NOT_ASKED, NOT_WANTED, WANTED, BEGUN, ENDED };
static int state; /* enum state, atomic */

/* Calls within calls are the library's. */
static __thread int depth __attribute__((tls_model("initial-exec")));

typedef void pmodel_rank_function(uint32_t, uint32_t, uint32_t);

/* Of a library that was loaded for a part of the process only there is no next one. */
void *pm_mpi_next(const char *symbol) {
    void *next = dlsym(RTLD_NEXT, symbol);
    void *library = next ? NULL : dlopen(PM_MPI_FILE, RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, symbol) : next;
}

/* ---- the library itself ---------------------------------------------------------------------- */

static bool is_library_file(const char *path) {
    static const char *const begins[] = {"libmpi.so", "libmpich.so", "mca_",
                                         "libmca_",   "libopen-",    "libpmpi"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* What each page of code that called was found to be. */
bool pm_mpi_is_library(const void *address) {
    enum { N_PAGES = 64, IS_LIBRARY = 1, PAGE_BITS = 12 };
    static uint64_t pages[N_PAGES]; /* page << 1 | IS_LIBRARY */
    uint64_t page = (uint64_t)address >> PAGE_BITS;
    uint64_t found = __atomic_load_n(&pages[page % N_PAGES], __ATOMIC_RELAXED);
    if (found >> 1 == page && page)
        return found & IS_LIBRARY;
    Dl_info info;
    bool is_library = dladdr(address, &info) && info.dli_fname && is_library_file(info.dli_fname);
    __atomic_store_n(&pages[page % N_PAGES], page << 1 | is_library, __ATOMIC_RELAXED);
    return is_library;
}

/* The C library asks the kernel's page for this, without a system call; errno stays as it is. */
static uint64_t now_ns(void) { return pm_clock_ns(CLOCK_MONOTONIC); }

/* ---- begin and end --------------------------------------------------------------------------- */

/* Every function of the runtime, or none. */
static bool find_runtime(void) {
    pmodel_communication_wanted_function *wanted =
        (pmodel_communication_wanted_function *)dlsym(RTLD_DEFAULT, "pmodel_communication_wanted");
    pmodel_call_times_wanted_function *wants_times =
        (pmodel_call_times_wanted_function *)dlsym(RTLD_DEFAULT, "pmodel_call_times_wanted");
    struct pm_mpi_runtime found = {
        (pmodel_event_function *)dlsym(RTLD_DEFAULT, "pmodel_event"),
        (pmodel_event_complete_function *)dlsym(RTLD_DEFAULT, "pmodel_event_complete"),
        (pmodel_communicator_function *)dlsym(RTLD_DEFAULT, "pmodel_communicator"),
        (pmodel_mpi_span_function *)dlsym(RTLD_DEFAULT, "pmodel_mpi_span"),
        wants_times && wants_times(),
    };
    int (*volatile rank)(MPI_Comm, int *) = PMPI_Comm_rank; /* weak: is the library there for us? */
    if (!rank || !wanted || !found.event || !found.complete || !found.communicator || !found.span ||
        !wanted())
        return false;
    pm_mpi_runtime = found;
    return true;
}

static void tell_rank(void) {
    pmodel_rank_function *rank = (pmodel_rank_function *)dlsym(RTLD_DEFAULT, "pmodel_rank");
    int number, size;
    if (rank && PMPI_Comm_rank(MPI_COMM_WORLD, &number) == MPI_SUCCESS &&
        PMPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS)
        rank((uint32_t)number, (uint32_t)size, PM_MPI_LIBRARY);
}

/* MPI is there.  One thread at a time may begin it. */
static void begin_world(void) {
    static int begins;
    if (__atomic_exchange_n(&begins, 1, __ATOMIC_ACQ_REL))
        return;
    tell_rank();
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != WANTED)
        return;
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    pm_mpi_has_threads = level == MPI_THREAD_MULTIPLE;
    pm_mpi_begin_world();
    if (pm_mpi_runtime.wants_times)
        pm_mpi_runtime.span(now_ns(), 0);
    __atomic_store_n(&state, BEGUN, __ATOMIC_RELEASE);
}

static bool is_initialised(void) {
    int is_begun = 0, is_ended = 0;
    return PMPI_Initialized(&is_begun) == MPI_SUCCESS && is_begun &&
           PMPI_Finalized(&is_ended) == MPI_SUCCESS && !is_ended;
}

static __attribute__((noinline)) bool begin_late(enum pm_mpi_does does) {
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == NOT_ASKED)
        __atomic_store_n(&state, find_runtime() ? WANTED : NOT_WANTED, __ATOMIC_RELEASE);
    if (does == PM_DOES_INIT)
        return true;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == WANTED && is_initialised()) {
        depth++;
        begin_world();
        depth--;
    }
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == BEGUN;
}

bool pm_mpi_enter(enum pm_mpi_does does) {
    if (depth > 0)
        return false;
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == ENDED || (now == NOT_WANTED && does != PM_DOES_INIT))
        return false;
    if (now != BEGUN && !begin_late(does))
        return false;
    depth++;
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct pm_mpi_comm *comm_of(const struct pm_mpi_call *call) {
    return call->win != MPI_WIN_NULL ? pm_mpi_comm_of_window(call->win) : pm_mpi_comm(call->comm);
}

static int32_t tag_of(int tag) {
    return tag == PM_MPI_NO_RANK ? PM_NO_TAG : tag == MPI_ANY_TAG ? PM_ANY_TAG : tag;
}

static uint32_t number_of(const struct pm_mpi_comm *comm) {
    return comm ? comm->number : PM_MPI_NO_NUMBER;
}

static bool is_receive(const struct pm_mpi_call *call) {
    return call->volume == PM_VOLUME_RECEIVE || call->does == PM_DOES_RECEIVES ||
           call->does == PM_DOES_MRECEIVES;
}

/* By the arguments alone. */
static struct pmodel_event event_of(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    struct pmodel_event event = {
        .operation = call->operation,
        .communicator = number_of(comm),
        .partner = pm_mpi_world_rank(comm, call->dest),
        .source = PM_NO_PARTNER,
        .tag = tag_of(call->tag),
        .source_tag = PM_NO_TAG,
        .begin_ns = call->begin_ns,
        .end_ns = call->end_ns,
        .frame = call->frame,
        .callee = call->callee,
    };
    pm_mpi_volume(call, comm, &event.bytes_sent, &event.bytes_received);
    if (call->root != PM_MPI_NO_RANK)
        event.partner = comm && comm->is_inter ? pm_mpi_world_rank(comm, call->root)
                        : comm                 ? comm->members[call->root]
                                               : PM_UNKNOWN_PARTNER;
    if (call->does == PM_DOES_EXCHANGES) {
        event.source = pm_mpi_world_rank(comm, call->source);
        event.source_tag = tag_of(call->rtag);
    } else if (call->source != PM_MPI_NO_RANK) {
        event.partner = pm_mpi_world_rank(comm, call->source);
    }
    return event;
}

/* What STATUS tells of a message that was received in COMM (NULL: not known). */
struct told {
    int32_t from, tag;
    uint64_t bytes;
};
static struct told told_by(const MPI_Status *status, const struct pm_mpi_comm *comm) {
    struct told told = {PM_UNKNOWN_PARTNER, tag_of(status->MPI_TAG), PM_UNKNOWN_BYTES};
    MPI_Count bytes = MPI_UNDEFINED;
    int is_cancelled = 0;
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return (struct told){PM_NULL_PARTNER, PM_ANY_TAG, 0};
    if (comm)
        told.from = pm_mpi_world_rank(comm, status->MPI_SOURCE);
    if (PMPI_Test_cancelled(status, &is_cancelled) == MPI_SUCCESS && is_cancelled)
        told = (struct told){PM_ANY_SOURCE, PM_ANY_TAG, 0};
    else if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0)
        told.bytes = (uint64_t)bytes;
    return told;
}

static void give(const struct pmodel_event *event) { pm_mpi_runtime.event(event, false); }

/* ---- requests of a call ---------------------------------------------------------------------- */

static const MPI_Request *requests_of(const struct pm_mpi_call *call, int *n) {
    *n = call->requests ? call->n : call->request ? 1 : 0;
    return call->requests ? call->requests : call->request;
}

static size_t taken_bytes(int n) { return (size_t)n * sizeof(struct pm_mpi_taken); }
static size_t statuses_bytes(int n) { return (size_t)n * sizeof(MPI_Status); }

static void take_requests(struct pm_mpi_call *call) {
    int n;
    const MPI_Request *requests = requests_of(call, &n);
    call->taken = n <= PM_MPI_FEW ? call->few_taken : pm_mmap(taken_bytes(n));
    call->n_taken = call->taken && n > 0 ? n : 0;
    for (int i = 0; i < call->n_taken; i++) {
        struct pm_mpi_request *request = pm_mpi_request_take(requests[i]);
        call->taken[i].request = request;
        if (request && !request->is_active) {
            pm_mpi_request_put_back(request);
            call->taken[i].request = NULL;
        }
    }
    if (!call->has_statuses || call->statuses != MPI_STATUSES_IGNORE || call->n_taken == 0)
        return;
    call->own_statuses = n <= PM_MPI_FEW ? call->few_statuses : pm_mmap(statuses_bytes(n));
    if (call->own_statuses)
        call->statuses = call->own_statuses;
}

static void put_back_requests(struct pm_mpi_call *call) {
    for (int i = 0; i < call->n_taken; i++)
        if (call->taken[i].request)
            pm_mpi_request_put_back(call->taken[i].request);
    if (call->taken != call->few_taken)
        pm_munmap(call->taken, taken_bytes(call->n_taken));
    if (call->own_statuses != call->few_statuses)
        pm_munmap(call->own_statuses, statuses_bytes(call->n_taken));
}

/* The I-th request of the call is complete; STATUS NULL: nothing is known of it. */
static void complete(struct pm_mpi_call *call, int i, const MPI_Status *status) {
    struct pm_mpi_request *request = call->taken[i].request;
    if (request->ticket && status) {
        struct told told = told_by(status, request->comm);
        pm_mpi_runtime.complete(request->ticket, told.from, told.tag, told.bytes);
    } else if (request->ticket) {
        pm_mpi_runtime.complete(request->ticket, request->event.partner, request->event.tag,
                                PM_UNKNOWN_BYTES);
    }
    request->ticket = 0;
    request->is_active = false;
    if (!request->is_persistent) {
        pm_mpi_request_end(request);
        call->taken[i].request = NULL;
    }
}

/* Which of its requests the call has completed: how many, and which is the I-th. */
static int count_completed(const struct pm_mpi_call *call) {
    if (call->outcount)
        return *call->outcount == MPI_UNDEFINED ? 0 : *call->outcount;
    if (call->flag && !*call->flag)
        return 0;
    if (call->index)
        return *call->index == MPI_UNDEFINED ? 0 : 1;
    return call->n_taken;
}

static int completed_at(const struct pm_mpi_call *call, int i) {
    return call->indices ? call->indices[i] : call->index ? *call->index : i;
}

static const MPI_Status *status_at(const struct pm_mpi_call *call, int i) {
    if (!call->has_statuses)
        return call->status;
    return call->statuses == MPI_STATUSES_IGNORE ? NULL : &call->statuses[i];
}

/* One event for all that are complete. */
static void after_completion(struct pm_mpi_call *call) {
    int n = count_completed(call);
    uint32_t few[PM_MPI_FEW], *numbers = n <= PM_MPI_FEW ? few : pm_mmap((size_t)n * sizeof *few);
    uint32_t n_numbers = 0;
    bool is_test = call->flag || call->outcount;
    for (int i = 0; i < n && call->n_taken > 0; i++) {
        int at = completed_at(call, i);
        if (at < 0 || at >= call->n_taken || !call->taken[at].request)
            continue;
        if (numbers && call->taken[at].request->number != PM_MPI_NO_NUMBER)
            numbers[n_numbers++] = call->taken[at].request->number;
        complete(call, at, status_at(call, i));
    }
    if (n_numbers > 0 || !is_test) {
        struct pmodel_event event = event_of(call, NULL);
        event.requests = numbers;
        event.n_requests = n_numbers;
        give(&event);
    }
    if (numbers != few)
        pm_munmap(numbers, (size_t)n * sizeof *few);
}

/* Some of a call that failed may be complete all the same: those whose handles are gone. */
static void after_failed_completion(struct pm_mpi_call *call) {
    int n;
    const MPI_Request *requests = requests_of(call, &n);
    for (int i = 0; i < call->n_taken; i++)
        if (call->taken[i].request && requests[i] == MPI_REQUEST_NULL)
            complete(call, i, NULL);
}

static void begin_request(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    struct pm_mpi_request request = {.number = pm_mpi_request_number(),
                                     .is_active = true,
                                     .comm = comm,
                                     .is_receive = is_receive(call),
                                     .event = event_of(call, comm)};
    bool is_null = request.event.partner == PM_NULL_PARTNER;
    bool is_open = request.is_receive && !is_null;
    if (request.is_receive && is_null)
        request.event.bytes_received = 0;
    request.event.requests = &request.number;
    request.event.n_requests = request.number != PM_MPI_NO_NUMBER;
    request.ticket = pm_mpi_runtime.event(&request.event, is_open);
    pm_mpi_request_add(*call->request, &request);
}

static void make_request(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    struct pm_mpi_request request = {.number = pm_mpi_request_number(),
                                     .is_persistent = true,
                                     .comm = comm,
                                     .is_receive = is_receive(call),
                                     .event = event_of(call, comm)};
    pm_mpi_request_add(*call->request, &request);
}

/* An event for each, of which the first has the time of the call. */
static void start_requests(const struct pm_mpi_call *call) {
    int n;
    const MPI_Request *requests = requests_of(call, &n);
    uint64_t begin_ns = call->begin_ns;
    for (int i = 0; i < n; i++) {
        struct pm_mpi_request *request = pm_mpi_request_take(requests[i]);
        if (!request)
            continue;
        struct pmodel_event event = request->event;
        bool is_null = event.partner == PM_NULL_PARTNER;
        event.bytes_received = request->is_receive && is_null ? 0 : event.bytes_received;
        event.requests = &request->number;
        event.n_requests = request->number != PM_MPI_NO_NUMBER;
        event.begin_ns = begin_ns;
        event.end_ns = begin_ns = call->end_ns;
        event.frame = call->frame;
        event.callee = call->callee;
        request->ticket = pm_mpi_runtime.event(&event, request->is_receive && !is_null);
        request->is_active = true;
        pm_mpi_request_put_back(request);
    }
}

/* Before the call, because its handle may be another request's right after it. */
static void free_request(const struct pm_mpi_call *call) {
    struct pm_mpi_request *request = pm_mpi_request_take(*call->request);
    if (!request)
        return;
    if (request->ticket)
        pm_mpi_runtime.complete(request->ticket, request->event.partner, request->event.tag,
                                PM_UNKNOWN_BYTES);
    pm_mpi_request_end(request);
}

/* ---- messages that were found before they are received ----------------------------------------
 */

/* Kept in place of a request, by the message's handle. */
static MPI_Request as_request(MPI_Message message) {
    MPI_Request handle;
    memset(&handle, 0, sizeof handle);
    memcpy(&handle, &message, sizeof handle < sizeof message ? sizeof handle : sizeof message);
    return handle;
}

static void keep_message(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    struct pm_mpi_request request = {.number = PM_MPI_NO_NUMBER, .is_active = true, .comm = comm};
    if (*call->message != MPI_MESSAGE_NO_PROC && *call->message != MPI_MESSAGE_NULL)
        pm_mpi_request_add(as_request(*call->message), &request);
}

/* The communicator that the message was found in. */
static struct pm_mpi_comm *take_message(const struct pm_mpi_call *call) {
    struct pm_mpi_request *kept = pm_mpi_request_take(as_request(*call->message));
    struct pm_mpi_comm *comm = kept ? (struct pm_mpi_comm *)kept->comm : NULL;
    if (kept)
        pm_mpi_request_end(kept);
    return comm;
}

/* ---- before and after ------------------------------------------------------------------------ */

void pm_mpi_before(struct pm_mpi_call *call) {
    if (call->status == MPI_STATUS_IGNORE)
        call->status = &call->own_status;
    switch ((enum pm_mpi_does)call->does) {
    case PM_DOES_COMPLETES:
        take_requests(call);
        break;
    case PM_DOES_FREES_REQUEST:
        free_request(call);
        break;
    case PM_DOES_FREES_COMM:
        pm_mpi_forget_comm(*call->oldcomm);
        break;
    case PM_DOES_FREES_WIN:
        call->win = *call->oldwin;
        call->comm_before = pm_mpi_comm_of_window(call->win);
        pm_mpi_forget_window(call->win);
        break;
    case PM_DOES_MRECEIVES:
    case PM_DOES_MBEGINS:
        call->comm_before = take_message(call);
        break;
    case PM_DOES_FINALIZE:
        if (pm_mpi_runtime.wants_times)
            pm_mpi_runtime.span(0, now_ns());
        __atomic_store_n(&state, ENDED, __ATOMIC_RELEASE);
        break;
    default:
        break;
    }
    if (pm_mpi_runtime.wants_times)
        call->begin_ns = now_ns();
}

static void receive(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    struct pmodel_event event = event_of(call, comm);
    struct told told = told_by(call->status, comm);
    if (call->does == PM_DOES_EXCHANGES) {
        event.source = told.from;
        event.source_tag = told.tag;
    } else {
        event.partner = told.from;
        event.tag = told.tag;
    }
    event.bytes_received = told.bytes;
    give(&event);
}

/* The message that was found: no bytes are moved, but whose it is, is known. */
static void probe(const struct pm_mpi_call *call, struct pm_mpi_comm *comm) {
    if (call->flag && !*call->flag)
        return;
    struct pmodel_event event = event_of(call, comm);
    struct told told = told_by(call->status, comm);
    event.partner = told.from;
    event.tag = told.tag;
    give(&event);
    if (call->does == PM_DOES_MPROBES)
        keep_message(call, comm);
}

static void make_event(struct pm_mpi_call *call) {
    struct pmodel_event event;
    struct pm_mpi_comm *comm;
    switch ((enum pm_mpi_does)call->does) {
    case PM_DOES_INIT:
        begin_world();
        return;
    case PM_DOES_MOVES:
    case PM_DOES_AT_WINDOW:
        event = event_of(call, comm_of(call));
        give(&event);
        return;
    case PM_DOES_BEGINS:
        begin_request(call, comm_of(call));
        return;
    case PM_DOES_MBEGINS:
        call->source = MPI_ANY_SOURCE;
        begin_request(call, call->comm_before);
        return;
    case PM_DOES_MAKES_REQUEST:
        make_request(call, comm_of(call));
        return;
    case PM_DOES_STARTS:
        start_requests(call);
        return;
    case PM_DOES_COMPLETES:
        after_completion(call);
        return;
    case PM_DOES_RECEIVES:
    case PM_DOES_EXCHANGES:
        receive(call, comm_of(call));
        return;
    case PM_DOES_MRECEIVES:
        receive(call, call->comm_before);
        return;
    case PM_DOES_PROBES:
    case PM_DOES_MPROBES:
        probe(call, comm_of(call));
        return;
    case PM_DOES_MAKES_COMM:
        comm = comm_of(call);
        event = event_of(call, comm);
        give(&event);
        pm_mpi_new_comm(*call->newcomm, call->operation);
        return;
    case PM_DOES_MAKES_WIN:
        event = event_of(call, comm_of(call));
        give(&event);
        pm_mpi_new_window(*call->newwin, call->comm);
        return;
    case PM_DOES_FREES_WIN:
        event = event_of(call, call->comm_before);
        give(&event);
        return;
    case PM_DOES_FINALIZE:
    case PM_DOES_FREES_REQUEST:
    case PM_DOES_FREES_COMM:
        return;
    }
}

int pm_mpi_after(struct pm_mpi_call *call, int result) {
    if (pm_mpi_runtime.wants_times)
        call->end_ns = now_ns();
    if (result == MPI_SUCCESS)
        make_event(call);
    else if (call->does == PM_DOES_COMPLETES)
        after_failed_completion(call);
    if (call->does == PM_DOES_COMPLETES)
        put_back_requests(call);
    depth--;
    return result;
}
