/* Which instructions share execution units, inferred from throughputs alone.

   Model (the port mapping of PMEvo: Ritter & Hack, PLDI 2020): an instruction of kind i makes use
   of sets of units: a use (Q, b) keeps any of the units Q busy for b cycles in all.  With the best
   distribution a multiset that holds n(i) instructions of kind i takes

       max over sets of units R of   Σ_i n(i) · (busy cycles of i's uses within R) / |R|
       and not less than             Σ_i n(i) · slots(i) / width

   cycles; the width of issue is one more resource.  It is enough to look at unions of the Q that
   overlap.

   Inference: kinds are added one after the other, each with the sets that explain best what was
   measured of it together with those before; then all are tried again one at a time, with a second
   use where that explains more, until nothing gets better.  Units that no kind tells apart are
   interchangeable, so that of each such class only the number matters: this keeps the candidates
   few. */
#ifndef PM_PORTS_H
#define PM_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PM_MOST_USES = 3,  /* of a kind */
    PM_MOST_TERMS = 6, /* of a multiset */
    PM_MOST_PORTS = 32,
};

struct pm_port_use {
    uint32_t ports; /* a set, one bit each */
    double busy_cycles;
};

struct pm_port_kind {
    unsigned n_uses;
    struct pm_port_use uses[PM_MOST_USES];
    double slots; /* of the issue width */
};

/* A multiset of instructions and what it took. */
struct pm_port_experiment {
    unsigned n_terms;
    struct {
        uint32_t kind, count;
    } terms[PM_MOST_TERMS];
    double cycles;
};

struct pm_port_model {
    unsigned n_ports;
    double width; /* slots a cycle */
    size_t n_kinds;
    struct pm_port_kind *kinds;
};

/* Cycles of the multiset in the model; its `cycles` is not looked at. */
double pm_port_cycles(const struct pm_port_model *model,
                      const struct pm_port_experiment *experiment);
/* The part of them that the issue width asks for. */
double pm_port_issue_cycles(const struct pm_port_model *model,
                            const struct pm_port_experiment *experiment);

/* Fills n_ports and the uses of MODEL's kinds; width, n_kinds and slots are given.  OWN_CYCLES:
   of each kind alone, its reciprocal throughput.  EXPERIMENTS: pairs of all kinds, and multisets of
   more.  A kind that the width holds back (slots / width is all that it takes) uses nothing. QUICK:
   a shorter search.  UNTIL: when it ends with what it has, by pm_clock_now; INFINITY: never. */
void pm_infer_ports(struct pm_port_model *model, const double *own_cycles,
                    const struct pm_port_experiment *experiments, size_t n_experiments, bool quick,
                    double until);
void pm_port_model_free(struct pm_port_model *model);

/* ---- resources ------------------------------------------------------------------------------- */

/* The same without the best distribution, which real schedulers do not find: each set of ports that
   limits something is a resource of its own, and an instruction loads it for some cycles, although
   it could have gone elsewhere:

       cycles = max over resources r of Σ_i n(i) · load(i, r), not less than slots / width

   (the conjunctive resources of PALMED: Derumigny et al., CGO 2022).  An ideal mapping of ports is
   the case in which load(i, R) = busy cycles within R / |R|. */
struct pm_resource_model {
    size_t n_kinds, n_resources;
    double width;
    double *slots;   /* of each kind */
    double *loads;   /* n_kinds · n_resources: cycles */
    uint32_t *ports; /* of each resource: the set it came from */
};

enum { PM_MOST_LOADS = 8 /* of a kind; the smallest others are dropped */ };

/* Starts from the unions of MODEL's sets and changes the loads until they fit the experiments best
   (mean of |ln (predicted / measured)|, by gradient), in fewer steps if there is only time for them
   until UNTIL. */
struct pm_resource_model pm_refine_resources(const struct pm_port_model *model,
                                             const double *own_cycles,
                                             const struct pm_port_experiment *experiments,
                                             size_t n_experiments, double until);
double pm_resource_cycles(const struct pm_resource_model *model,
                          const struct pm_port_experiment *experiment);
void pm_resource_model_free(struct pm_resource_model *model);

#endif
