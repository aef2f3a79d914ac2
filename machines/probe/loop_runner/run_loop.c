/* The parent: starts children, one after the other, until all loops are done. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines/probe/loop_runner/private.h"

/* A child stops a loop that takes too long; if it cannot even do that, it is ended after so long
   without a sign of life. */
enum { SILENCE_MILLISECONDS = 5000 };
static const double WIDE = 0.1;         /* of the estimate */
static const double LEAST_WIDTH = 0.93; /* of the best; a busy sibling leaves half */
enum { TRIES = 2 };

/* A turn of the loop runner. */
struct turn {
    const struct pm_loop_set *set;
    const struct pm_loop_options *options;
    struct pm_loop_shared *shared;
    bool again;   /* it is the second one */
    bool stopped; /* by who watches the progress */
};

/* Reads the child's signs of life until it ends; false: it is to be ended. */
static bool watch(struct turn *turn, int pipe) {
    char bytes[256];
    for (;;) {
        struct pollfd ready = {.fd = pipe, .events = POLLIN};
        int n = poll(&ready, 1, SILENCE_MILLISECONDS);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        if (read(pipe, bytes, sizeof bytes) <= 0)
            return true;
        const struct pm_loop_options *options = turn->options;
        if (options->progress &&
            !options->progress(options->context,
                               turn->again ? turn->set->n_times : turn->shared->next,
                               turn->set->n_times)) {
            turn->stopped = true;
            return false;
        }
    }
}

/* Runs loops from shared->next on until a child ends. */
static bool run_child(struct turn *turn, struct pm_error *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return pm_fail_errno(err, "a pipe to the process that runs loops");
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return pm_fail_errno(err, "a process that runs loops");
    }
    if (pid == 0) {
        close(ends[0]);
        pm_loop_child_main(turn->set, turn->options, turn->shared, ends[1]);
    }
    close(ends[1]);
    if (!watch(turn, ends[0]))
        kill(pid, SIGKILL);
    close(ends[0]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return true;
}

/* For each loop the first one that has the same code: only that is run. */
static uint32_t *first_alike(const struct pm_loop_set *set) {
    uint32_t *first = pm_alloc(set->n_times + 1, sizeof *first);
    struct pm_map map = {0};
    for (uint32_t i = 0; i < set->n_times; i++) {
        uint64_t hash = set->times[i].hash;
        first[i] = i;
        if (set->times[i].why)
            continue;
        for (struct pm_map_entry at = pm_map_find(&map, hash); at.found; pm_map_next(&map, &at))
            if (set->times[at.item].hash == hash)
                first[i] = at.item;
        if (first[i] == i)
            pm_map_add(&map, hash, i);
    }
    pm_map_free(&map);
    return first;
}

static void copy_result(const struct pm_loop_time *from, struct pm_loop_time *to) {
    uint32_t scope = to->scope;
    *to = *from;
    to->scope = scope;
}

/* The wanted loops, by as many children as it takes. */
static bool run_wanted(struct turn *turn, struct pm_error *err) {
    struct pm_loop_shared *shared = turn->shared;
    shared->next = 0;
    while (!turn->stopped && shared->next < turn->set->n_times) {
        shared->has_clock = shared->runs = false;
        if (!run_child(turn, err))
            return false;
        if (!shared->has_clock && !turn->stopped) {
            if (shared->err.text[0])
                *err = shared->err;
            else
                pm_fail(err, "the process that runs loops ended before it had begun");
            return false;
        }
        if (shared->runs && !turn->stopped) /* the loop that was its end */
            shared->times[shared->next++].why = PM_LOOP_CRASHED;
    }
    return true;
}

/* ---- another try ----------------------------------------------------------------------------- */

/* Something that lasts disturbs all settings of a loop: it shows in a wide interval.  Or it does
   not show because the clock has not yet seen the core undisturbed, above all while the core's
   other hardware thread is busy (clock.h); what it saw later tells.  Such loops have another try
   when all are done, and the better figure counts. */

static double width_of(const struct pm_loop_time *time) { /* of the estimate */
    return (time->cycles.high - time->cycles.low) / fmax(time->cycles.estimate, 1e-9);
}

static double best_width(const struct turn *turn) {
    double best = 0;
    for (size_t i = 0; i < turn->set->n_times; i++)
        best = fmax(best, turn->shared->widths[i]);
    return best;
}

static bool is_good(const struct turn *turn, size_t loop, double best) {
    const struct pm_loop_time *time = &turn->shared->times[loop];
    return time->why != PM_LOOP_RAN || (width_of(time) <= WIDE && time->undisturbed &&
                                        turn->shared->widths[loop] >= best * LEAST_WIDTH);
}

/* Runs those that are not good once more, and keeps the figures that are no better now. */
static bool run_again(struct turn *turn, struct pm_error *err) {
    struct pm_loop_shared *shared = turn->shared;
    size_t n = turn->set->n_times, n_wanted = 0;
    double best = best_width(turn);
    for (size_t i = 0; i < n; i++) {
        shared->wanted[i] = !is_good(turn, i, best);
        n_wanted += shared->wanted[i];
    }
    if (n_wanted == 0)
        return true;
    struct pm_loop_time *times = pm_alloc(n, sizeof *times);
    double *widths = pm_alloc(n, sizeof *widths);
    memcpy(times, shared->times, n * sizeof *times);
    memcpy(widths, shared->widths, n * sizeof *widths);
    turn->again = true;
    bool good = run_wanted(turn, err);
    for (size_t i = 0; i < n; i++)
        if (shared->times[i].why || shared->widths[i] < widths[i] * LEAST_WIDTH ||
            (shared->widths[i] < widths[i] / LEAST_WIDTH &&
             width_of(&shared->times[i]) > width_of(&times[i]))) {
            shared->times[i] = times[i];
            shared->widths[i] = widths[i];
        }
    free(times);
    free(widths);
    return good;
}

/* What was measured while the core was not seen to be undisturbed may be too long by so much. */
static void doubt(struct turn *turn) {
    double best = best_width(turn);
    for (size_t i = 0; i < turn->set->n_times; i++) {
        struct pm_loop_time *time = &turn->shared->times[i];
        double share = turn->shared->widths[i] / best;
        if (time->why == PM_LOOP_RAN && share > 0 && share < LEAST_WIDTH) {
            time->undisturbed = false;
            time->cycles.low *= share;
        }
    }
}

bool pm_loops_run(struct pm_loop_set *set, const struct pm_loop_options *given,
                  struct pm_error *err) {
    struct pm_loop_options options = given ? *given : (struct pm_loop_options){0};
    if (set->n_times == 0)
        return true;
    size_t n = set->n_times, widths_at = sizeof(struct pm_loop_shared) + n * sizeof *set->times;
    size_t wanted_at = widths_at + n * sizeof(double), n_bytes = wanted_at + n * sizeof(bool);
    uint8_t *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return pm_fail_errno(err, "memory for times of loops");
    struct pm_loop_shared *shared = (struct pm_loop_shared *)pages;
    struct turn turn = {.set = set, .options = &options, .shared = shared};
    uint32_t *first = first_alike(set);
    shared->widths = (void *)(pages + widths_at);
    shared->wanted = (void *)(pages + wanted_at);
    memcpy(shared->times, set->times, n * sizeof *set->times);
    for (uint32_t i = 0; i < n; i++)
        shared->wanted[i] = first[i] == i && !set->times[i].why;
    bool good = run_wanted(&turn, err);
    for (uint32_t i = shared->next; i < n; i++)
        if (shared->wanted[i])
            shared->times[i].why = PM_LOOP_STOPPED;
    for (unsigned i = 0; i < TRIES && good && !turn.stopped; i++)
        good = run_again(&turn, err);
    doubt(&turn);
    for (uint32_t i = 0; i < n; i++)
        copy_result(&shared->times[first[i]], &set->times[i]);
    free(first);
    munmap(pages, n_bytes);
    return good;
}
