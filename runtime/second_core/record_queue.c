/* Buffers handed over and analysed; see second_core.h. */
#include "runtime/second_core/second_core.h"

#include "runtime/analyser/analyser.h"
#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/second_core/analysis_threads.h"
#include "runtime/system.h"
#include "runtime/threads.h"

enum {
    SPINS = 200, /* pauses before a wait becomes a system call: about as long as that takes */
    LONGEST_SLEEP_NS = 2000000,
    WAKE_AT = 4, /* items that wait to be analysed in order */
};

static uint32_t n_done(const struct pm_record_queue *queue) {
    return __atomic_load_n(&queue->done, __ATOMIC_ACQUIRE);
}

static bool is_done(const struct pm_record_queue *queue, uint32_t number) {
    return (int32_t)(n_done(queue) - number) >= 0;
}

static void wake_waiter(struct pm_record_queue *queue) {
    if (!__atomic_load_n(&queue->waits, __ATOMIC_SEQ_CST) ||
        !is_done(queue, __atomic_load_n(&queue->wake_at, __ATOMIC_RELAXED)))
        return;
    __atomic_store_n(&queue->waits, 0, __ATOMIC_RELAXED);
    pm_futex_wake(&queue->done, 1);
}

static void set_done(struct pm_record_queue *queue, uint32_t number) {
    __atomic_store_n(&queue->done, number, __ATOMIC_SEQ_CST);
    wake_waiter(queue);
}

static bool own(struct pm_record_queue *queue) {
    return !__atomic_load_n(&queue->owned, __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&queue->owned, 1, __ATOMIC_SEQ_CST);
}

static void disown(struct pm_record_queue *queue) {
    __atomic_store_n(&queue->owned, 0, __ATOMIC_SEQ_CST);
}

/* Is the trace of THREAD cut into pieces?  It changes only when all that was handed over is done.
 */
static bool goes_in_pieces(const struct pm_thread *thread) {
    return pm_analyser_takes_pieces() && !thread->stopped &&
           thread->block->event_path != (uint64_t)pm_event_record;
}

/* ---- in order -------------------------------------------------------------------------------- */

/* Analyses items until UNTIL says that enough are done, or all are. */
static void analyse_items(struct pm_record_queue *queue, const uint32_t *until) {
    for (;;) {
        uint32_t number = queue->done;
        if (number == __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) ||
            (until && is_done(queue, *until)))
            return;
        const struct pm_handed_records *item = &queue->items[number % PM_QUEUE_ITEMS];
        pm_analysis_enter();
        pm_decode_records(&item->block->thread->decoder, item->block, item->from, item->to);
        pm_analysis_leave();
        __atomic_store_n(&queue->taken, number + 1, __ATOMIC_RELAXED);
        set_done(queue, number + 1);
    }
}

static bool take_in_order(struct pm_record_queue *queue, const uint32_t *until) {
    if (n_done(queue) == __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) || !own(queue))
        return false;
    analyse_items(queue, until);
    disown(queue);
    return true;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct pm_decoder decoders[PM_PIECE_STREAMS];

/* How many items the next piece has; 0: there is none yet, or as many as may be are under way. */
static uint32_t next_piece_items(const struct pm_record_queue *queue) {
    uint32_t n = __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) -
                 __atomic_load_n(&queue->taken, __ATOMIC_ACQUIRE);
    uint32_t n_pieces = __atomic_load_n(&queue->n_taken, __ATOMIC_ACQUIRE) -
                        __atomic_load_n(&queue->n_done, __ATOMIC_ACQUIRE);
    if (n_pieces >= PM_QUEUE_PIECES ||
        (n < PM_PIECE_BUFFERS && !__atomic_load_n(&queue->is_wanted, __ATOMIC_ACQUIRE)))
        return 0;
    return n < PM_PIECE_BUFFERS ? n : PM_PIECE_BUFFERS;
}

/* The next piece, which is the caller's; NULL: there is none. */
static struct pm_queue_piece *begin_piece(struct pm_thread *thread) {
    struct pm_record_queue *queue = &thread->queue;
    struct pm_queue_piece *piece = NULL;
    for (int tries = 0; __atomic_exchange_n(&queue->taking, 1, __ATOMIC_ACQUIRE); tries++) {
        if (tries < SPINS)
            __builtin_ia32_pause();
        else
            pm_syscall3(SYS_sched_yield, 0, 0, 0);
    }
    uint32_t n = next_piece_items(queue);
    if (n) {
        piece = &queue->pieces[queue->n_taken % PM_QUEUE_PIECES];
        *piece = (struct pm_queue_piece){.from = queue->taken, .to = queue->taken + n};
        piece->stream = pm_analyser_take_stream(thread->number);
        __atomic_store_n(&queue->taken, piece->to, __ATOMIC_RELEASE);
        __atomic_store_n(&queue->n_taken, queue->n_taken + 1, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&queue->taking, 0, __ATOMIC_RELEASE);
    return piece;
}

static void decode_piece(const struct pm_record_queue *queue, const struct pm_queue_piece *piece,
                         struct pm_decoder *decoder) {
    for (uint32_t number = piece->from; number != piece->to; number++) {
        const struct pm_handed_records *item = &queue->items[number % PM_QUEUE_ITEMS];
        pm_decode_records(decoder, item->block, item->from, item->to);
        pm_analysis_breathe();
    }
}

static void analyse_piece(struct pm_thread *thread, struct pm_queue_piece *piece) {
    if (piece->stream != PM_NO_STREAM) {
        struct pm_decoder *decoder = &decoders[piece->stream - PM_FIRST_PIECE_STREAM];
        decoder->thread = thread;
        decoder->stream = piece->stream;
        decode_piece(&thread->queue, piece, decoder);
        pm_analyser_end_piece(piece->stream);
    }
    __atomic_store_n(&piece->is_analysed, 1, __ATOMIC_SEQ_CST);
}

/* The first piece that is not resolved, if it is analysed. */
static struct pm_queue_piece *resolvable_piece(struct pm_record_queue *queue) {
    uint32_t number = __atomic_load_n(&queue->n_done, __ATOMIC_SEQ_CST);
    struct pm_queue_piece *piece = &queue->pieces[number % PM_QUEUE_PIECES];
    return number != __atomic_load_n(&queue->n_taken, __ATOMIC_SEQ_CST) &&
                   __atomic_load_n(&piece->is_analysed, __ATOMIC_SEQ_CST)
               ? piece
               : NULL;
}

/* Who does not become the owner has analysed his piece before, so that the owner sees it when he
   looks again. */
static void resolve_pieces(struct pm_thread *thread) {
    struct pm_record_queue *queue = &thread->queue;
    while (resolvable_piece(queue) && own(queue)) {
        struct pm_queue_piece *piece;
        while ((piece = resolvable_piece(queue))) {
            uint32_t to = piece->to;
            if (piece->stream == PM_NO_STREAM)
                decode_piece(queue, piece, &thread->decoder);
            else
                pm_analyser_resolve_piece(thread->number, piece->stream);
            __atomic_store_n(&queue->n_done, queue->n_done + 1, __ATOMIC_SEQ_CST);
            set_done(queue, to);
        }
        disown(queue);
    }
}

static bool take_piece(struct pm_thread *thread) {
    if (!next_piece_items(&thread->queue))
        return false;
    pm_analysis_enter_piece();
    struct pm_queue_piece *piece = begin_piece(thread);
    if (piece) {
        analyse_piece(thread, piece);
        resolve_pieces(thread);
    }
    pm_analysis_leave_piece();
    return piece;
}

static bool take(struct pm_thread *thread, const uint32_t *until) {
    return goes_in_pieces(thread) ? take_piece(thread) : take_in_order(&thread->queue, until);
}

bool pm_queue_take(struct pm_thread *thread) { return take(thread, NULL); }

static void forget_items(struct pm_record_queue *queue) {
    queue->owned = queue->taking = 0;
    queue->n_done = queue->n_taken;
    queue->done = queue->taken = queue->handed;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool spin(const struct pm_record_queue *queue, uint32_t number) {
    for (int i = 0; i < SPINS; i++) {
        if (is_done(queue, number))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

/* False if nothing happened for long. */
static bool sleep_until(struct pm_record_queue *queue, uint32_t number) {
    uint32_t done = n_done(queue);
    __atomic_store_n(&queue->wake_at, number, __ATOMIC_RELAXED);
    __atomic_store_n(&queue->waits, 1, __ATOMIC_SEQ_CST);
    if (is_done(queue, number))
        return true;
    return pm_futex_wait(&queue->done, done, LONGEST_SLEEP_NS) || n_done(queue) != done;
}

/* After that many sleeps in which nothing happened: a child with a copy of our memory, made behind
   our back while an analysis thread owned the queue, waits in vain.  It writes nothing, so what it
   measures is thrown away.  (The child of a vfork shares our memory, and with it the threads.) */
static bool is_orphan(struct pm_record_queue *queue, unsigned n_sleeps) {
    enum { MANY_SLEEPS = 250 };
    if (n_sleeps < MANY_SLEEPS || pm_process_is_ours())
        return false;
    forget_items(queue);
    return true;
}

/* Waits until NUMBER items are done. */
static void wait_for(struct pm_thread *thread, uint32_t number) {
    struct pm_record_queue *queue = &thread->queue;
    unsigned n_sleeps = 0; /* for nothing, one after the other */
    while (!spin(queue, number)) {
        pm_analysis_serve();
        if (is_orphan(queue, n_sleeps))
            return;
        if ((n_sleeps == 0 && pm_analysis_has_idle_thread()) || !take(thread, &number))
            n_sleeps = sleep_until(queue, number) ? 0 : n_sleeps + 1;
        else
            n_sleeps = 0;
    }
    queue->waits = 0;
}

void pm_queue_drain(struct pm_thread *thread) {
    struct pm_record_queue *queue = &thread->queue;
    if (n_done(queue) == queue->handed)
        return;
    __atomic_store_n(&queue->is_wanted, 1, __ATOMIC_SEQ_CST);
    pm_analysis_wake();
    wait_for(thread, queue->handed);
    __atomic_store_n(&queue->is_wanted, 0, __ATOMIC_RELEASE);
}

/* ---- handing over ---------------------------------------------------------------------------- */

static struct pm_record_ring *new_ring(const struct pm_control_block *block) {
    uint32_t n = (pm_analysis_most_threads() + 3) * PM_PIECE_BUFFERS;
    if (n > PM_MOST_RING_BUFFERS)
        n = PM_MOST_RING_BUFFERS;
    const size_t more = (n - 1ul) * PM_RECORD_BUFFER_BYTES;
    char *memory = pm_mmap(more + sizeof(struct pm_record_ring));
    if (!memory)
        return NULL;
    struct pm_record_ring *ring = (void *)(memory + more);
    ring->n = n;
    ring->starts[0] = block->start;
    for (uint32_t i = 1; i < n; i++)
        ring->starts[i] = (uint64_t)memory + (i - 1) * (uint64_t)PM_RECORD_BUFFER_BYTES;
    for (uint32_t i = 0; i < n; i++)
        ring->numbers[i] = n_done(&block->thread->queue);
    return ring;
}

/* The next buffer of the ring; while it is not free, until as many are as a piece has: sleeping and
   waking cost as much as analysing a good part of a buffer. */
static void use_next_buffer(struct pm_control_block *block) {
    struct pm_record_ring *ring = block->ring;
    ring->current = (ring->current + 1) % ring->n;
    if (!is_done(&block->thread->queue, ring->numbers[ring->current]))
        wait_for(block->thread, ring->numbers[(ring->current + PM_PIECE_BUFFERS - 1) % ring->n]);
    block->start = block->next = block->consumed = ring->starts[ring->current];
    block->limit = block->start + PM_RECORD_BUFFER_BYTES - PM_RECORD_SLACK;
}

/* An item more waits: is it time to wake a thread? */
static bool is_worth_waking(const struct pm_thread *thread) {
    const struct pm_record_queue *queue = &thread->queue;
    if (!goes_in_pieces(thread))
        return queue->handed - n_done(queue) >= WAKE_AT;
    uint32_t waiting = queue->handed - __atomic_load_n(&queue->taken, __ATOMIC_ACQUIRE);
    return waiting && waiting % PM_PIECE_BUFFERS == 0;
}

bool pm_queue_hand_over(struct pm_control_block *block) {
    struct pm_record_queue *queue = &block->thread->queue;
    if (!pm_analysis_is_concurrent() || (!block->ring && !(block->ring = new_ring(block))))
        return false;
    uint32_t number = queue->handed;
    if (!is_done(queue, number + 1 - PM_QUEUE_ITEMS))
        wait_for(block->thread, number + 1 - PM_QUEUE_ITEMS);
    queue->items[number % PM_QUEUE_ITEMS] =
        (struct pm_handed_records){block, block->consumed, block->next};
    block->ring->numbers[block->ring->current] = number + 1;
    __atomic_store_n(&queue->handed, number + 1, __ATOMIC_SEQ_CST);
    if (is_worth_waking(block->thread))
        pm_analysis_wake();
    pm_analysis_serve();
    use_next_buffer(block);
    return true;
}

void pm_queue_after_fork(struct pm_thread *thread) {
    forget_items(&thread->queue);
    thread->queue.waits = thread->queue.is_wanted = 0;
}
