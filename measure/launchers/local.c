/* Jobs as processes of this machine, a few at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/launchers/private.h"

struct waiting_job {
    struct pm_job *job;
    pid_t process; /* 0: it waits */
};

struct pm_local {
    char *pmodel; /* borrowed */
    unsigned at_a_time;
    PM_ARRAY(struct waiting_job, jobs);
};

double pm_now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct pm_local *pm_local_new(char *pmodel, unsigned at_a_time) {
    struct pm_local *local = pm_alloc(1, sizeof *local);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    local->pmodel = pmodel;
    local->at_a_time = at_a_time ? at_a_time : n > 0 ? (unsigned)n : 1;
    return local;
}

void pm_local_add(struct pm_local *local, struct pm_job *job) {
    PM_PUSH(local, jobs)->job = job;
    job->state = PM_JOB_SUBMITTED;
}

static pid_t start(const struct pm_local *local, const char *folder) {
    char *const argv[] = {"pmodel", "run-one", (char *)folder, NULL};
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* then it ends its command */
    if (getppid() != parent)
        _exit(1);
    execv(local->pmodel, argv);
    _exit(127);
}

/* Takes the job out of the list. */
static void forget(struct pm_local *local, size_t i) {
    memmove(&local->jobs[i], &local->jobs[i + 1], (--local->n_jobs - i) * sizeof *local->jobs);
}

static size_t reap(struct pm_local *local) {
    size_t n_running = 0;
    for (size_t i = local->n_jobs; i-- > 0;) {
        if (local->jobs[i].process == 0)
            continue;
        pid_t ended = waitpid(local->jobs[i].process, NULL, WNOHANG);
        if (ended == local->jobs[i].process || (ended < 0 && errno == ECHILD)) {
            local->jobs[i].job->gone_since = pm_now_seconds();
            forget(local, i);
        } else {
            n_running++;
        }
    }
    return n_running;
}

void pm_local_look(struct pm_local *local) {
    size_t n_running = reap(local);
    for (size_t i = 0; i < local->n_jobs && n_running < local->at_a_time; i++) {
        struct waiting_job *next = &local->jobs[i];
        if (next->process != 0)
            continue;
        next->process = start(local, next->job->folder);
        if (next->process < 0) {
            next->process = 0; /* the next look tries again */
            return;
        }
        n_running++;
    }
}

void pm_local_cancel(struct pm_local *local) {
    for (size_t i = local->n_jobs; i-- > 0;)
        if (local->jobs[i].process != 0)
            kill(local->jobs[i].process, SIGTERM);
        else
            forget(local, i);
    for (size_t i = 0; i < local->n_jobs; i++)
        while (waitpid(local->jobs[i].process, NULL, 0) < 0 && errno == EINTR)
            ;
    local->n_jobs = 0;
}

void pm_local_free(struct pm_local *local) {
    if (!local)
        return;
    pm_local_cancel(local);
    free(local->jobs);
    free(local);
}
