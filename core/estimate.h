/* A figure and between what it lies. */
#ifndef PM_ESTIMATE_H
#define PM_ESTIMATE_H

/* One unit for all three; low ≤ estimate ≤ high, between which the figure lies with a probability
   of 80%.  NAN: not known. */
struct pm_estimate {
    double low, estimate, high;
};

#endif
