/* How far long work is, on a terminal.

     work of a size    =  product of its parameters
     exponent          =  log(t₂ / t₁) / log(work₂ / work₁),  0 to 4; 1 where it is not known yet
     seconds of a size =  t₂ · (work / work₂) ^ exponent

   of the first and the last size that were measured, which took t₁ and t₂ seconds. */
#define _GNU_SOURCE
#include "cmd/progress.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double work_of(const struct pm_parameters *size) {
    double work = 1;
    for (size_t i = 0; i < size->n; i++)
        work *= fmax(fabs(size->values[i]), 1);
    return work;
}

static void end_step(struct pm_steps *steps) {
    enum { FIRST, LAST };
    if (steps->began == 0)
        return;
    double seconds = fmax(now() - steps->began, 1e-3);
    if (steps->seconds[FIRST] == 0) {
        steps->seconds[FIRST] = seconds;
        steps->work[FIRST] = steps->at_work;
    }
    steps->seconds[LAST] = seconds;
    steps->work[LAST] = steps->at_work;
}

/* Of SIZES[done …]; NAN: nothing was measured yet. */
static double seconds_left(const struct pm_steps *steps, const struct pm_parameters *sizes,
                           size_t done, size_t n) {
    const double most = 4; /* what grows faster is seen when it comes */
    double growth = log(steps->work[1] / steps->work[0]), exponent = 1, sum = 0;
    if (steps->seconds[0] == 0)
        return NAN;
    if (growth != 0)
        exponent = fmin(fmax(log(steps->seconds[1] / steps->seconds[0]) / growth, 0), most);
    for (size_t i = done; i < n; i++)
        sum += steps->seconds[1] * pow(work_of(&sizes[i]) / steps->work[1], exponent);
    return sum;
}

void pm_steps_begin(struct pm_steps *steps, const struct pm_parameters *sizes, size_t done,
                    size_t n) {
    end_step(steps);
    steps->began = now();
    steps->at_work = work_of(&sizes[done]);
    if (n < 2 || !isatty(STDERR_FILENO))
        return;
    char *size = pm_parameters_text(&sizes[done]);
    double left = seconds_left(steps, sizes, done, n);
    pm_steps_clear(steps);
    fprintf(stderr, "pmodel %s: %s, %zu of %zu", steps->command, size, done + 1, n);
    if (left >= 60)
        fprintf(stderr, ", about %.0f min left", ceil(left / 60));
    else if (!isnan(left))
        fprintf(stderr, ", about %.0f s left", ceil(left));
    fflush(stderr);
    steps->is_shown = true;
    free(size);
}

void pm_steps_clear(struct pm_steps *steps) {
    if (steps->is_shown)
        fputs("\r\033[K", stderr);
    steps->is_shown = false;
}

/* ---- what a command is at ----------------------------------------------------------------------
   A timer's signal shows it, since what takes long is anywhere in the libraries. */

static const double patience = 1; /* seconds */
static char at_work[200];
static volatile sig_atomic_t is_work_shown;

static void show_work(int signal) {
    (void)signal;
    if (!is_work_shown && write(STDERR_FILENO, at_work, strlen(at_work)) > 0)
        is_work_shown = 1;
}

static void set_timer(double seconds) {
    struct itimerval timer = {
        .it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void pm_work_begin(const char *format, ...) {
    static double first;
    va_list arguments;
    if (!isatty(STDERR_FILENO))
        return;
    first = first == 0 ? now() : first;
    int n = snprintf(at_work, sizeof at_work, "\r\033[Kpmodel: ");
    va_start(arguments, format);
    vsnprintf(at_work + n, sizeof at_work - (size_t)n, format, arguments);
    va_end(arguments);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = show_work, .sa_flags = SA_RESTART}, NULL);
    set_timer(fmax(1e-3, first + patience - now()));
}

void pm_work_end(void) {
    set_timer(0);
    if (is_work_shown)
        fputs("\r\033[K", stderr);
    is_work_shown = 0;
}

static void begin_prediction(const struct pm_parameters *at, const struct pm_question *question) {
    char *size = at ? pm_parameters_text(at) : pm_strdup("the largest measured size");
    pm_work_begin("predicting %s%s%s", size, question->n_machines ? " on " : "",
                  question->n_machines == 1  ? question->machines[0]->name
                  : question->n_machines > 1 ? "several machines"
                                             : "");
    free(size);
}

struct pm_answer *pm_ask_and_say(struct pm_subject *subject, const struct pm_question *question,
                                 struct pm_error *err) {
    begin_prediction(question->at, question);
    struct pm_answer *answer = pm_ask(subject, question, err);
    pm_work_end();
    return answer;
}

bool pm_predict_and_say(struct pm_answer *answer, const struct pm_question *question,
                        struct pm_error *err) {
    begin_prediction(&answer->profile->parameters, question);
    bool ok = pm_answer_predict(answer, question, err);
    pm_work_end();
    return ok;
}
