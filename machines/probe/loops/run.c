/* The parent: starts children, one after the other, until all loops are done. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines/probe/loops/private.h"

/* A child stops a loop that takes too long; if it cannot even do that, it is ended after so long
   without a sign of life. */
enum { SILENCE_MILLISECONDS = 5000 };

/* A turn of the loop runner. */
struct turn {
    const struct pm_loop_set *set;
    const struct pm_loop_options *options;
    struct pm_loop_shared *shared;
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
            !options->progress(options->context, turn->shared->next, turn->set->n_times)) {
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

bool pm_loops_run(struct pm_loop_set *set, const struct pm_loop_options *given,
                  struct pm_error *err) {
    struct pm_loop_options options = given ? *given : (struct pm_loop_options){0};
    size_t n_bytes = sizeof(struct pm_loop_shared) + set->n_times * sizeof *set->times;
    struct pm_loop_shared *shared =
        mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return pm_fail_errno(err, "memory for times of loops");
    struct turn turn = {set, &options, shared, false};
    bool good = true;
    uint32_t *first = first_alike(set);
    memcpy(shared->times, set->times, set->n_times * sizeof *set->times);
    for (uint32_t i = 0; i < set->n_times; i++)
        if (first[i] != i)
            shared->times[i].why = PM_LOOP_STOPPED; /* for the child: not its turn */
    while (good && !turn.stopped && shared->next < set->n_times) {
        shared->has_clock = shared->runs = false;
        good = run_child(&turn, err);
        if (good && !shared->has_clock && !turn.stopped) {
            if (shared->err.text[0])
                *err = shared->err;
            else
                pm_fail(err, "the process that runs loops ended before it had begun");
            good = false;
        }
        if (shared->runs && !turn.stopped) /* the loop that was its end */
            shared->times[shared->next++].why = PM_LOOP_CRASHED;
    }
    for (; shared->next < set->n_times; shared->next++)
        if (!shared->times[shared->next].why)
            shared->times[shared->next].why = PM_LOOP_STOPPED;
    for (uint32_t i = 0; i < set->n_times; i++)
        copy_result(&shared->times[first[i]], &set->times[i]);
    free(first);
    munmap(shared, n_bytes);
    return good;
}
