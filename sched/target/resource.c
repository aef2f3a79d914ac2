/* The resource bound: the least cycles in which the machine's units can execute a demand.

       cycles = max( slots / issue_width,  max over S of  D(S) / |S| )

   S runs over sets of units, |S| is the number of units in it, D(S) the busy cycles of all
   reservations that only units of S can serve.  By Hall's condition (in its fractional form: each
   reservation may be shared out between its units over many iterations) this is not only a lower
   bound but reached.  Only unions of the reservations' own unit sets can be the tightest S, and
   only those whose parts overlap (see target.c), so that there are few. Where operations have
   alternatives, how often each is taken is chosen so that the bound is least: a linear program
   (GLPK) of the shares x and the cycles t,

       minimise t    with    Σ over alternatives of x = executions,    D(S, x) ≤ |S| · t  for all S

   Assumes that operations of the demand are independent: recurrence.c and latency.c have the rest.
   Marin & Mellor-Crummey 2004, section 2.4, for units, latency and repeat rate. */
#include <glpk.h>

#include "sched/target/target.h"

static double demand_within(const struct pm_target_machine *target, const struct pm_demand *demand,
                            size_t u) {
    double cycles = 0;
    for (size_t i = 0; i < target->machine->n_costs; i++)
        if (demand->executions[i] > 0)
            cycles += demand->executions[i] * target->within[i * target->n_unions + u];
    return cycles;
}

/* Of several that are as tight the one with the first unit of the machine file. */
static struct pm_resource_bound tightest_union(const struct pm_target_machine *target,
                                               const struct pm_demand *demand) {
    struct pm_resource_bound bound = {0};
    for (size_t u = 0; u < target->n_unions; u++) {
        uint64_t units = target->unions[u];
        double cycles = demand_within(target, demand, u) / __builtin_popcountll(units);
        uint8_t unit = (uint8_t)__builtin_ctzll(units);
        if (cycles > bound.cycles || (bound.is_unit && cycles == bound.cycles && unit < bound.unit))
            bound = (struct pm_resource_bound){.cycles = cycles, .is_unit = true, .unit = unit};
    }
    return bound;
}

/* ---- alternatives ---------------------------------------------------------------------------- */

static bool is_choice(const struct pm_target_machine *target, const struct pm_demand *demand,
                      size_t row) {
    return demand->executions[row] > 0 && target->machine->costs[row].n_alternatives > 1;
}

/* Coefficients of a row of the linear program, from 1 as GLPK counts. */
struct coefficients {
    PM_ARRAY(int, columns);
    PM_ARRAY(double, values);
};

static void clear(struct coefficients *c) {
    c->n_columns = c->n_values = 0;
    *PM_PUSH(c, columns) = 0; /* GLPK leaves the first one out */
    *PM_PUSH(c, values) = 0;
}

static void add(struct coefficients *c, int column, double value) {
    *PM_PUSH(c, columns) = column;
    *PM_PUSH(c, values) = value;
}

/* Column 1 is t; then those of each row with a choice, alternative by alternative. */
static void add_choices(const struct pm_target_machine *target, const struct pm_demand *demand,
                        glp_prob *lp, struct coefficients *c) {
    int column = 2;
    for (size_t i = 0; i < target->machine->n_costs; i++) {
        if (!is_choice(target, demand, i))
            continue;
        int n = (int)target->machine->costs[i].n_alternatives, row = glp_add_rows(lp, 1);
        glp_add_cols(lp, n);
        clear(c);
        for (int a = 0; a < n; a++, column++) {
            glp_set_col_bnds(lp, column, GLP_LO, 0, 0);
            add(c, column, 1);
        }
        glp_set_row_bnds(lp, row, GLP_FX, demand->executions[i], demand->executions[i]);
        glp_set_mat_row(lp, row, n, c->columns, c->values);
    }
}

/* What operations without a choice need of union U is a constant: it goes to the right side. */
static void add_union(const struct pm_target_machine *target, const struct pm_demand *demand,
                      size_t u, glp_prob *lp, struct coefficients *c) {
    uint64_t units = target->unions[u];
    double fixed = 0;
    int column = 2, row = glp_add_rows(lp, 1);
    clear(c);
    add(c, 1, -__builtin_popcountll(units));
    for (size_t i = 0; i < target->machine->n_costs; i++) {
        const struct pm_cost *cost = &target->machine->costs[i];
        if (!is_choice(target, demand, i)) {
            if (demand->executions[i] > 0)
                fixed += demand->executions[i] * target->within[i * target->n_unions + u];
            continue;
        }
        for (size_t a = 0; a < cost->n_alternatives; a++, column++)
            add(c, column, pm_busy_within(&cost->alternatives[a], units));
    }
    glp_set_row_bnds(lp, row, GLP_UP, 0, -fixed);
    glp_set_mat_row(lp, row, (int)c->n_columns - 1, c->columns, c->values);
}

static struct pm_resource_bound best_choice(const struct pm_target_machine *target,
                                            const struct pm_demand *demand) {
    struct coefficients c = {0};
    glp_prob *lp = glp_create_prob();
    glp_set_obj_dir(lp, GLP_MIN);
    glp_add_cols(lp, 1);
    glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, 1, 1);
    add_choices(target, demand, lp, &c);
    int n_choices = glp_get_num_rows(lp);
    for (size_t u = 0; u < target->n_unions; u++)
        add_union(target, demand, u, lp, &c);
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = GLP_ON;
    struct pm_resource_bound bound = tightest_union(target, demand);
    if (glp_simplex(lp, &how) == 0 && glp_get_status(lp) == GLP_OPT &&
        glp_get_obj_val(lp) > bound.cycles) {
        bound = (struct pm_resource_bound){.cycles = glp_get_obj_val(lp), .is_unit = true};
        double price = 0; /* the union that holds the cycles up */
        for (size_t u = 0; u < target->n_unions; u++) {
            double dual = -glp_get_row_dual(lp, n_choices + 1 + (int)u);
            if (dual > price) {
                price = dual;
                bound.unit = (uint8_t)__builtin_ctzll(target->unions[u]);
            }
        }
    }
    glp_delete_prob(lp);
    free(c.columns);
    free(c.values);
    return bound;
}

struct pm_resource_bound pm_resource_bound(const struct pm_target_machine *target,
                                           const struct pm_demand *demand) {
    bool has_choice = false;
    for (size_t i = 0; i < target->machine->n_costs; i++)
        has_choice |= is_choice(target, demand, i);
    struct pm_resource_bound bound =
        has_choice ? best_choice(target, demand) : tightest_union(target, demand);
    double slots = demand->slots / target->machine->issue_width;
    if (slots >= bound.cycles)
        return (struct pm_resource_bound){.cycles = slots};
    return bound;
}
