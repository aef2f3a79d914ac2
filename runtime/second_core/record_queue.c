/* Buffers handed over and analysed; see second_core.h. */
#include "runtime/second_core/second_core.h"

#include "runtime/process.h"
#include "runtime/records/records.h"
#include "runtime/second_core/analysis_threads.h"
#include "runtime/system.h"
#include "runtime/threads.h"

/* Pauses before a wait becomes a system call: about as long as that takes. */
enum { SPINS = 200, LONGEST_SLEEP_NS = 2000000 };

static uint32_t n_done(const struct pm_record_queue *queue) {
    return __atomic_load_n(&queue->done, __ATOMIC_ACQUIRE);
}

static bool is_done(const struct pm_record_queue *queue, uint32_t number) {
    return (int32_t)(n_done(queue) - number) >= 0;
}

/* ---- taking ---------------------------------------------------------------------------------- */

static void wake_waiter(struct pm_record_queue *queue) {
    if (!__atomic_load_n(&queue->waits, __ATOMIC_SEQ_CST) ||
        !is_done(queue, __atomic_load_n(&queue->wake_at, __ATOMIC_RELAXED)))
        return;
    __atomic_store_n(&queue->waits, 0, __ATOMIC_RELAXED);
    pm_futex_wake(&queue->done, 1);
}

/* Analyses items until UNTIL says that enough are done, or all are. */
static void analyse_items(struct pm_record_queue *queue, const uint32_t *until) {
    for (;;) {
        uint32_t number = queue->done;
        if (number == __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) ||
            (until && is_done(queue, *until)))
            return;
        const struct pm_handed_records *item = &queue->items[number % PM_QUEUE_ITEMS];
        pm_analysis_enter();
        pm_decode_records(item->block, item->from, item->to);
        pm_analysis_leave();
        __atomic_store_n(&queue->done, number + 1, __ATOMIC_SEQ_CST);
        wake_waiter(queue);
    }
}

static bool take(struct pm_record_queue *queue, const uint32_t *until) {
    if (n_done(queue) == __atomic_load_n(&queue->handed, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&queue->owned, __ATOMIC_RELAXED) ||
        __atomic_exchange_n(&queue->owned, 1, __ATOMIC_ACQUIRE))
        return false;
    analyse_items(queue, until);
    __atomic_store_n(&queue->owned, 0, __ATOMIC_RELEASE);
    return true;
}

bool pm_queue_take(struct pm_thread *thread) { return take(&thread->queue, NULL); }

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
    queue->owned = 0;
    queue->done = queue->handed;
    return true;
}

/* Waits until NUMBER items are done. */
static void wait_for(struct pm_record_queue *queue, uint32_t number) {
    unsigned n_sleeps = 0; /* for nothing, one after the other */
    while (!spin(queue, number)) {
        pm_analysis_serve();
        if (is_orphan(queue, n_sleeps))
            return;
        if ((n_sleeps == 0 && pm_analysis_has_idle_thread()) || !take(queue, &number))
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
    pm_analysis_wake();
    wait_for(queue, queue->handed);
}

/* ---- handing over ---------------------------------------------------------------------------- */

static struct pm_record_ring *new_ring(const struct pm_control_block *block) {
    enum { MORE = PM_RING_BUFFERS - 1 };
    char *memory = pm_mmap((size_t)MORE * PM_RECORD_BUFFER_BYTES + sizeof(struct pm_record_ring));
    if (!memory)
        return NULL;
    struct pm_record_ring *ring = (void *)(memory + (size_t)MORE * PM_RECORD_BUFFER_BYTES);
    ring->starts[0] = block->start;
    for (unsigned i = 1; i < PM_RING_BUFFERS; i++)
        ring->starts[i] = (uint64_t)memory + (i - 1) * (uint64_t)PM_RECORD_BUFFER_BYTES;
    for (unsigned i = 0; i < PM_RING_BUFFERS; i++)
        ring->numbers[i] = n_done(&block->thread->queue);
    return ring;
}

/* The next buffer of the ring; while it is not free, until half of the ring is: sleeping and waking
   cost as much as analysing a good part of a buffer. */
static void use_next_buffer(struct pm_control_block *block, struct pm_record_queue *queue) {
    struct pm_record_ring *ring = block->ring;
    ring->current = (ring->current + 1) % PM_RING_BUFFERS;
    if (!is_done(queue, ring->numbers[ring->current]))
        wait_for(queue, ring->numbers[(ring->current + PM_RING_BUFFERS / 2) % PM_RING_BUFFERS]);
    block->start = block->next = block->consumed = ring->starts[ring->current];
    block->limit = block->start + PM_RECORD_BUFFER_BYTES - PM_RECORD_SLACK;
}

bool pm_queue_hand_over(struct pm_control_block *block) {
    struct pm_record_queue *queue = &block->thread->queue;
    if (!pm_analysis_is_concurrent() || (!block->ring && !(block->ring = new_ring(block))))
        return false;
    uint32_t number = queue->handed;
    if (!is_done(queue, number + 1 - PM_QUEUE_ITEMS))
        wait_for(queue, number + 1 - PM_QUEUE_ITEMS);
    queue->items[number % PM_QUEUE_ITEMS] =
        (struct pm_handed_records){block, block->consumed, block->next};
    block->ring->numbers[block->ring->current] = number + 1;
    __atomic_store_n(&queue->handed, number + 1, __ATOMIC_SEQ_CST);
    if (number + 1 - n_done(queue) >= PM_RING_BUFFERS / 2)
        pm_analysis_wake();
    pm_analysis_serve();
    use_next_buffer(block, queue);
    return true;
}

void pm_queue_after_fork(struct pm_thread *thread) {
    struct pm_record_queue *queue = &thread->queue;
    queue->owned = 0;
    queue->waits = 0;
    queue->done = queue->handed;
}
