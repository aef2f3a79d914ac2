/* Which core the processor has: by cpuid, and, as guests lie, by its instructions.

   Of the instructions that were measured, those tell two described cores apart whose latency or
   reciprocal throughput differs between the two by more than DIFFERS.  The core is the one that
   cpuid names if, beside each other one, more of these are nearer to it. */
#include "machines/probe/known_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machines/probe/probe_figures.h"

static const double DIFFERS = 0.2; /* of |ln| */
enum { FEW = 4 };                  /* fewer figures that differ tell nothing */

/* ---- by cpuid -------------------------------------------------------------------------------- */

char *pm_recognise_core(const char *cores_path, const struct pm_said *said, bool may_be_near,
                        struct pm_error *err) {
    char line[256], vendor[32], machine[64], how[16], *found = NULL;
    unsigned family, low, high;
    FILE *file = fopen(cores_path, "re");
    if (!file) {
        pm_fail_errno(err, "%s", cores_path);
        return NULL;
    }
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#")] = '\0';
        strcpy(how, "");
        if (sscanf(line, "%31s %u %u-%u %63s %15s", vendor, &family, &low, &high, machine, how) <
            5) {
            if (sscanf(line, "%31s %u %u %63s %15s", vendor, &family, &low, machine, how) < 4)
                continue;
            high = low;
        }
        if (strcmp(vendor, said->vendor) == 0 && family == said->family && said->model >= low &&
            said->model <= high && (may_be_near || strcmp(how, "near") != 0))
            found = pm_strdup(machine);
    }
    fclose(file);
    return found;
}

/* ---- by instructions ------------------------------------------------------------------------- */

const struct pm_cost *pm_row_of_form(const struct pm_machine *core, const struct pm_form *form) {
    /* How long a division takes hangs on the numbers. */
    if (form->op_class == PM_OP_UNKNOWN || form->op_class == PM_OP_INT_DIV ||
        form->op_class == PM_OP_MOVE_INT || form->op_class == PM_OP_FP_MOVE || form->is_control)
        return NULL;
    const char *mnemonic = form->mnemonic;
    const struct pm_cost *row = NULL;
    if (!form->is_load && !form->is_store)
        row = pm_machine_mnemonic_cost(core, "x86-64", mnemonic, form->width_bits,
                                       form->element_bytes);
    if (!row)
        row = pm_machine_cost(core, form->op_class, form->width_bits, form->element_bytes);
    return row && row->operations <= 1 && row->n_alternatives ? row : NULL;
}

double pm_row_throughput(const struct pm_machine *core, const struct pm_cost *row) {
    return fmax(pm_cost_throughput(row), pm_cost_slots(row) / core->issue_width);
}

/* What an instruction measured at CYCLES says of two cores: 1, it is nearer to the first; −1, to
   the second; 0, they do not differ. */
static int nearer(double cycles, double first, double second) {
    if (isnan(cycles) || !(cycles > 0) || !(first > 0) || !(second > 0) ||
        fabs(log(first / second)) <= DIFFERS)
        return 0;
    return fabs(log(cycles / first)) < fabs(log(cycles / second)) ? 1 : -1;
}

bool pm_core_is(const struct pm_machine *core, const struct pm_machine *other,
                const struct pm_instruction_costs *costs, struct pm_core_check *check) {
    *check = (struct pm_core_check){.other = other->name};
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_instruction_cost *cost = &costs->costs[i];
        const struct pm_cost *ours = pm_row_of_form(core, cost->form);
        const struct pm_cost *theirs = pm_row_of_form(other, cost->form);
        if (!ours || !theirs)
            continue;
        int by[] = {cost->form->is_store ? 0
                                         : nearer(cost->latency_cycles.estimate,
                                                  ours->latency_cycles, theirs->latency_cycles),
                    nearer(cost->throughput_cycles.estimate, pm_row_throughput(core, ours),
                           pm_row_throughput(other, theirs))};
        for (int j = 0; j < 2; j++) {
            check->agree += by[j] > 0;
            check->differ += by[j] != 0;
        }
    }
    return check->differ < FEW || 2 * check->agree > check->differ;
}

/* ---- contradictions -------------------------------------------------------------------------- */

/* Of a figure without an interval: tables round. */
static const double AS_WRITTEN = 0.05;

bool pm_contradicts(const struct pm_machine *core, const char *name, double value,
                    struct pm_estimate measured) {
    double low = value * (1 - AS_WRITTEN), high = value * (1 + AS_WRITTEN);
    for (size_t i = 0; i < core->n_intervals; i++)
        if (strcmp(core->intervals[i].name, name) == 0) {
            low = core->intervals[i].low;
            high = core->intervals[i].high;
        }
    return pm_is_known(measured) && (measured.low > high || measured.high < low);
}

/* Loops have a little more in them than the instruction: what is slower by less is no
 * contradiction.
 */
static const double LOOP_OVERHEAD = 0.1;

static bool throughput_contradicts(double said, struct pm_estimate measured) {
    return pm_is_known(measured) && said > 0 &&
           (measured.low > said * (1 + LOOP_OVERHEAD) ||
            measured.high < said * (1 - LOOP_OVERHEAD));
}

static void write_uses(FILE *to, const struct pm_machine *core, const struct pm_cost *row,
                       double factor) {
    fputs("  uses = {", to);
    for (size_t a = 0; a < row->n_alternatives; a++) {
        struct pm_reservation_table scaled = row->alternatives[a];
        for (size_t r = 0; r < scaled.n_reservations; r++)
            scaled.reservations[r].busy_cycles =
                round(1000 * factor * scaled.reservations[r].busy_cycles) / 1000;
        char *text = pm_reservation_table_text(core, &scaled);
        fprintf(to, "%s\"%s\"", a ? ", " : "", text);
        free(text);
    }
    fputs("}", to);
}

/* Has a row of the same name been written? */
static bool was_written(const struct pm_instruction_costs *costs, const bool *written, size_t i) {
    const struct pm_form *form = costs->costs[i].form;
    for (size_t j = 0; j < i; j++) {
        const struct pm_form *other = costs->costs[j].form;
        if (written[j] && strcmp(other->mnemonic, form->mnemonic) == 0 &&
            other->width_bits == form->width_bits && other->element_bytes == form->element_bytes)
            return true;
    }
    return false;
}

static void write_row(FILE *to, const struct pm_machine *core, const struct pm_cost *row,
                      const struct pm_instruction_cost *cost, bool latency, bool throughput) {
    const struct pm_form *form = cost->form;
    double said = pm_row_throughput(core, row);
    double factor = throughput ? cost->throughput_cycles.estimate / said : 1;
    bool by_class = !row->mnemonic && form->leads;
    fprintf(to, "cost { %s = {%s}", by_class ? "of" : "mnemonic",
            by_class ? pm_op_class_name(form->op_class) : form->mnemonic);
    if (form->width_bits)
        fprintf(to, "  width = %u", form->width_bits);
    if (form->element_bytes)
        fprintf(to, "  element = %u", form->element_bytes);
    if (latency)
        pm_write_estimate(to, "  ", "latency", cost->latency_cycles, 1);
    else
        fprintf(to, "  latency = %.5g", row->latency_cycles);
    write_uses(to, core, row, factor);
    if (row->slots > 0)
        fprintf(to, "  slots = %.4g", row->slots);
    fprintf(to, "  source = \"[1]\" }   # %s: %s says", form->text, core->name);
    if (latency)
        fprintf(to, " latency %.4g", row->latency_cycles);
    if (throughput)
        fprintf(to, "%s throughput %.4g, measured %.4g (%.4g to %.4g)", latency ? "," : "", said,
                cost->throughput_cycles.estimate, cost->throughput_cycles.low,
                cost->throughput_cycles.high);
    fputs("\n", to);
}

void pm_write_contradictions(FILE *to, const struct pm_machine *core,
                             const struct pm_instruction_costs *costs) {
    bool any = false, *written = pm_alloc(costs->n_costs + 1, sizeof *written);
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_instruction_cost *cost = &costs->costs[i];
        const struct pm_cost *row = pm_row_of_form(core, cost->form);
        if (!row || was_written(costs, written, i))
            continue;
        char *name = pm_cost_name(row), *of_latency = pm_sprintf("%s.latency", name);
        /* Of a way to another register file only there and back is measured. */
        bool latency = cost->form->can_chain &&
                       pm_contradicts(core, of_latency, row->latency_cycles, cost->latency_cycles);
        bool throughput =
            throughput_contradicts(pm_row_throughput(core, row), cost->throughput_cycles);
        free(name);
        free(of_latency);
        if (!latency && !throughput)
            continue;
        if (!any)
            fprintf(to, "\n# What was measured of instructions and contradicts %s.\n", core->name);
        any = written[i] = true;
        write_row(to, core, row, cost, latency, throughput);
    }
    free(written);
}
