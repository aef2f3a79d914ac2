/* How long a call waits for other ranks; see call_times.h. */
#include "core/call_times/call_times.h"

#include <math.h>

double pm_waiting(double length, double late) {
    return isnan(late) ? NAN : fmin(fmax(late, 0), length);
}

double pm_waiting_of_send(double length, double late) {
    return late >= length ? 0 : pm_waiting(length, late);
}

double pm_longer_waiting(double a, double b) { return isnan(a) || isnan(b) ? NAN : fmax(a, b); }

void pm_meet(enum pm_meeting meeting, const double *begins, size_t n, bool is_all, size_t root,
             double *comes) {
    double last = -INFINITY, before = -INFINITY;
    for (size_t i = 0; i < n; i++)
        last = fmax(last, begins[i]);
    for (size_t i = 0; i < n; i++) {
        before = fmax(before, begins[i]);
        switch (meeting) {
        case PM_MEETING_NONE:
            comes[i] = PM_NEVER_LATE;
            break;
        case PM_MEETING_ALL:
            comes[i] = is_all ? last : NAN;
            break;
        case PM_MEETING_ROOT:
            comes[i] = root < n ? begins[root] : NAN;
            break;
        case PM_MEETING_AT_ROOT:
            comes[i] = i != root ? PM_NEVER_LATE : is_all ? last : NAN;
            break;
        case PM_MEETING_BEFORE:
            comes[i] = is_all ? before : NAN;
            break;
        case PM_MEETING_UNKNOWN:
            comes[i] = NAN;
            break;
        }
    }
}
