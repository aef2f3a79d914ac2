/* Times of calls of MPI; see call_times.h. */
#include "core/call_times/call_times.h"

#include <math.h>
#include <stdlib.h>

#include "core/mpi_operations.h"

/* Of a sum, above which its waiting is not known. */
static const double most_unknown_share = 0.01;

void pm_call_times_free(struct pm_call_times *times) {
    if (!times)
        return;
    pm_call_paths_free(&times->paths);
    free(times->calls);
    free(times->spans);
    free(times);
}

void pm_call_seconds_add(struct pm_call_seconds *sum, const struct pm_call_time *time) {
    sum->least = sum->n > 0 ? fmin(sum->least, time->least_seconds) : time->least_seconds;
    sum->n += (double)time->n;
    sum->seconds += time->seconds;
    sum->waiting += time->waiting_seconds;
    sum->unknown += time->unknown_seconds;
}

double pm_call_seconds_waiting(const struct pm_call_seconds *sum) {
    return sum->unknown > most_unknown_share * sum->seconds ? NAN : sum->waiting;
}

static bool is_time(double seconds) { return isfinite(seconds) && seconds >= 0; }

/* Parts of a time that were added up one by one may be above it by rounding. */
static bool is_right(const struct pm_call_time *time, const struct pm_call_times *of) {
    double most = time->seconds * (1 + 1e-9) + 1e-9;
    return time->operation < PM_N_OPERATIONS &&
           (time->path == PM_NO_PATH || time->path < of->paths.n_sites) && is_time(time->seconds) &&
           is_time(time->least_seconds) && is_time(time->waiting_seconds) &&
           is_time(time->unknown_seconds) && time->least_seconds <= most &&
           time->waiting_seconds + time->unknown_seconds <= most;
}

bool pm_call_times_are_valid(const struct pm_call_times *times, struct pm_error *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < times->n_calls; i++)
        ok = is_right(&times->calls[i], times) &&
             (i == 0 || times->calls[i - 1].rank <= times->calls[i].rank);
    for (size_t i = 0; ok && i < times->n_spans; i++)
        ok = is_time(times->spans[i].seconds) &&
             (i == 0 || times->spans[i - 1].rank < times->spans[i].rank);
    return ok || pm_fail(err, "times of calls of MPI are damaged: run that size again");
}
