/* What was measured, as a machine file with what was said beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/machine/machine.h"
#include "machines/probe/figures.h"
#include "machines/probe/probe.h"

/* ---- heading --------------------------------------------------------------------------------- */

static void write_said(FILE *to, const struct pm_said *said) {
    fprintf(to, "# The processor says of itself: %s, %s, family %u, model %u, stepping %u%s.\n",
            said->vendor, said->brand, said->family, said->model, said->stepping,
            said->is_guest ? "; it is a guest's" : "");
    for (size_t i = 0; i < said->n_caches; i++) {
        const struct pm_said_cache *cache = &said->caches[i];
        fprintf(to,
                "# The system says: level %u, %s: %llu KiB, lines of %llu bytes, %llu ways, of "
                "%llu CPUs.\n",
                cache->level, cache->type, (unsigned long long)cache->size_bytes >> 10,
                (unsigned long long)cache->line_bytes, (unsigned long long)cache->ways,
                (unsigned long long)cache->sharing_cpus);
    }
}

static void write_rates(FILE *to, const struct pm_clock_rates *rates) {
    fprintf(to, "# MHz of one core %.0f, of all at work %.0f, with the widest vectors %.0f.\n",
            rates->one_hz.estimate * 1e-6, rates->all_hz.estimate * 1e-6,
            rates->vectors_hz.estimate * 1e-6);
    if (rates->sibling >= 0)
        fprintf(
            to,
            "# CPU %d is a hardware thread of the same core: what was measured with all CPUs at\n"
            "# work is of a core whose threads share it, not of two cores.\n",
            rates->sibling);
}

static unsigned widest_bits(const struct pm_machine_probe *probe) {
    unsigned widest = 64;
    for (size_t i = 0; i < probe->instructions.n_costs; i++) {
        unsigned bits = probe->instructions.costs[i].form->width_bits;
        widest = bits > widest ? bits : widest;
    }
    return widest;
}

static bool executes(const struct pm_machine_probe *probe, enum pm_op_class op_class) {
    for (size_t i = 0; i < probe->instructions.n_costs; i++)
        if (probe->instructions.costs[i].form->op_class == op_class)
            return true;
    return false;
}

/* Is an instruction of this text renamed: its copies wait for nothing? */
static bool is_eliminated(const struct pm_machine_probe *probe, const char *text) {
    for (size_t i = 0; i < probe->instructions.n_costs; i++)
        if (strcmp(probe->instructions.costs[i].form->text, text) == 0)
            return probe->instructions.costs[i].latency_cycles.estimate < 0.6;
    return false;
}

static void write_core(FILE *to, const struct pm_machine_probe *probe) {
    const struct pm_instruction_costs *instructions = &probe->instructions;
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(to, "title   = \"%s (%s-%u-%u, measured)\"\n",
            probe->said.brand[0] ? probe->said.brand : "processor", probe->said.vendor,
            probe->said.family, probe->said.model);
    fprintf(to, "sources = \"[1] pmodel probe%s, %s\"\nsource  = \"[1]\"\nisa     = x86-64\n\n",
            probe->quick ? " --quick" : "", date);
    pm_write_estimate(to, "", "clock_mhz", probe->rates.one_hz, 1e-6);
    fprintf(to, "\nissue_width = %.4g\n",
            isnan(instructions->issue_width) ? 4 : instructions->issue_width);
    pm_write_whole(to, "", "window", instructions->window);
    fprintf(to, "\nvector_width = %u\nout_of_order = true\nfma = %s\n", widest_bits(probe),
            executes(probe, PM_OP_FP_FMA) ? "true" : "false");
    pm_write_estimate(to, "", "mispredict_penalty", instructions->mispredict_cycles, 1);
    pm_write_estimate(to, "\n", "store_forward_latency", instructions->store_forward_cycles, 1);
    bool moves = is_eliminated(probe, "mov rax, rcx");
    bool vector_moves = is_eliminated(probe, "vmovaps xmm0, xmm1");
    if (moves || vector_moves)
        fprintf(to, "\neliminates = {%s%s%s}", moves ? "moves" : "",
                moves && vector_moves ? ", " : "", vector_moves ? "vector_moves" : "");
    fprintf(to, "\npage = 4KiB\n");
    if (isnan(instructions->issue_width))
        fputs("not_verified = {issue_width}\n", to);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* By how much KIND keeps a resource busy. */
static double load_of(const struct pm_instruction_costs *costs, size_t kind, size_t resource) {
    return costs->resources.loads[kind * costs->resources.n_resources + resource];
}

static bool is_used(const struct pm_instruction_costs *costs, size_t resource) {
    for (size_t kind = 0; kind < costs->n_kinds; kind++)
        if (load_of(costs, kind, resource) > 0)
            return true;
    return false;
}

/* Names the classes whose instructions a resource holds back. */
static void write_units(FILE *to, const struct pm_instruction_costs *costs, const bool *own) {
    const struct pm_resource_model *resources = &costs->resources;
    fputs("\n# Units as inferred from multisets of instructions: where several units share the "
          "work, the set of them\n"
          "# is one resource, and an instruction keeps it busy for its share.\n",
          to);
    if (costs->n_judged)
        fprintf(to,
                "# Of %zu multisets that were not used, half are predicted within %.1f%%, nine of "
                "ten within %.1f%%.\n",
                costs->n_judged, 100 * costs->median_error, 100 * costs->p90_error);
    for (size_t r = 0; r < resources->n_resources; r++) {
        bool named[PM_N_OP_CLASSES] = {false};
        if (!is_used(costs, r))
            continue;
        fprintf(to, "unit r%zu { does = \"", r);
        const char *comma = "";
        for (size_t k = 0; k < costs->n_kinds; k++) {
            const struct pm_instruction_cost *leader = &costs->costs[costs->leaders[k]];
            if (load_of(costs, k, r) < 0.9 * leader->throughput_cycles.estimate ||
                named[leader->form->op_class])
                continue;
            named[leader->form->op_class] = true;
            fprintf(to, "%s%s", comma, pm_op_class_name(leader->form->op_class));
            comma = ", ";
        }
        fputs(*comma ? "\" }\n" : "shared\" }\n", to);
    }
    for (int c = 0; c < PM_N_OP_CLASSES; c++)
        if (own[c])
            fprintf(to, "unit %s_alone { does = \"%s, which was measured alone\" }\n",
                    pm_op_class_name((enum pm_op_class)c), pm_op_class_name((enum pm_op_class)c));
}

static void write_uses(FILE *to, const struct pm_instruction_costs *costs,
                       const struct pm_instruction_cost *cost) {
    if (cost->kind == PM_NONE) {
        fprintf(to, "  uses = {\"%s_alone:%.4g\"}", pm_op_class_name(cost->form->op_class),
                cost->throughput_cycles.estimate);
        return;
    }
    bool uses_any = false;
    for (size_t r = 0; r < costs->resources.n_resources; r++)
        if (load_of(costs, cost->kind, r) > 0) {
            fprintf(to, "%sr%zu:%.4g", uses_any ? " + " : "  uses = {\"", r,
                    load_of(costs, cost->kind, r));
            uses_any = true;
        }
    fputs(uses_any ? "\"}" : "  free = true", to);
}

/* What stands for the latency where none could be measured: that of the first of its class. */
static struct pm_estimate latency_of(const struct pm_instruction_costs *costs,
                                     const struct pm_instruction_cost *cost, bool *marked) {
    struct pm_estimate latency = cost->latency_cycles;
    *marked = isnan(latency.estimate);
    for (size_t i = 0; i < costs->n_costs && isnan(latency.estimate); i++)
        if (costs->costs[i].form->op_class == cost->form->op_class && !cost->form->is_store)
            latency = costs->costs[i].latency_cycles;
    if (isnan(latency.estimate))
        latency = (struct pm_estimate){NAN, 1, NAN};
    return latency;
}

static void write_cost(FILE *to, const struct pm_instruction_costs *costs,
                       const struct pm_instruction_cost *cost, bool by_mnemonic, bool by_element) {
    bool marked;
    struct pm_estimate latency = latency_of(costs, cost, &marked);
    if (by_mnemonic)
        fprintf(to, "cost { mnemonic = {%s}", cost->form->mnemonic);
    else
        fprintf(to, "cost { of = {%s}", pm_op_class_name(cost->form->op_class));
    if (cost->form->width_bits)
        fprintf(to, "  width = %u", cost->form->width_bits);
    if (by_element && cost->form->element_bytes)
        fprintf(to, "  element = %u", cost->form->element_bytes);
    pm_write_estimate(to, "  ", "latency", latency, 1);
    write_uses(to, costs, cost);
    if (cost->slots > 1)
        fprintf(to, "  slots = %.3g", cost->slots);
    if (marked)
        fputs("  not_verified = {latency}", to);
    fprintf(to, "  source = \"[1]\" }   # %s\n", cost->form->text);
}

static bool costs_the_same(const struct pm_instruction_cost *a,
                           const struct pm_instruction_cost *b) {
    double x = a->latency_cycles.estimate, y = b->latency_cycles.estimate;
    return a->kind == b->kind &&
           (a->kind != PM_NONE ||
            fabs(a->throughput_cycles.estimate - b->throughput_cycles.estimate) <
                0.05 * b->throughput_cycles.estimate) &&
           (isnan(x) || isnan(y) || fabs(x - y) < 0.5);
}

/* The first of the class and width, and the first of the class, width and element. */
static const struct pm_instruction_cost *first_of(const struct pm_instruction_costs *costs,
                                                  const struct pm_instruction_cost *cost,
                                                  bool same_element) {
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_form *form = costs->costs[i].form;
        if (form->op_class == cost->form->op_class && form->width_bits == cost->form->width_bits &&
            (!same_element || form->element_bytes == cost->form->element_bytes))
            return &costs->costs[i];
    }
    return cost;
}

static bool was_written(const struct pm_instruction_costs *costs,
                        const struct pm_instruction_cost *cost) {
    for (const struct pm_instruction_cost *before = costs->costs; before < cost; before++)
        if (strcmp(before->form->mnemonic, cost->form->mnemonic) == 0 &&
            before->form->width_bits == cost->form->width_bits &&
            before->form->element_bytes == cost->form->element_bytes)
            return true;
    return false;
}

static void write_instructions(FILE *to, const struct pm_instruction_costs *costs) {
    bool alone[PM_N_OP_CLASSES] = {false};
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_instruction_cost *cost = &costs->costs[i];
        if (cost->kind == PM_NONE && cost->form->leads)
            alone[cost->form->op_class] = true;
    }
    write_units(to, costs, alone);
    fputs("\n# Of each class, by the width of its data, the instruction that stands for it.\n", to);
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_instruction_cost *cost = &costs->costs[i];
        if (isnan(cost->throughput_cycles.estimate) || !cost->form->leads)
            continue;
        const struct pm_instruction_cost *first = first_of(costs, cost, false);
        if (first == cost || !costs_the_same(first, cost))
            write_cost(to, costs, cost, false, first != cost);
    }
    fputs("\n# Instructions that cost something else than the one that stands for their class.\n",
          to);
    for (size_t i = 0; i < costs->n_costs; i++) {
        const struct pm_instruction_cost *cost = &costs->costs[i];
        if (cost->kind == PM_NONE || cost->form->leads || cost->form->is_load ||
            cost->form->is_store || was_written(costs, cost))
            continue;
        if (!costs_the_same(first_of(costs, cost, true), cost))
            write_cost(to, costs, cost, true, cost->form->element_bytes != 0);
    }
}

void pm_machine_probe_write(FILE *to, const struct pm_machine_probe *probe) {
    fprintf(to,
            "# What `pmodel probe` measured in %.0f seconds, in cycles of dependent "
            "multiplications; %llu of %llu rounds\n"
            "# were disturbed and thrown away.%s\n#\n",
            probe->seconds, (unsigned long long)probe->discarded, (unsigned long long)probe->rounds,
            probe->stopped ? "  It was stopped: parts are missing." : "");
    write_said(to, &probe->said);
    write_rates(to, &probe->rates);
    fputs("\n", to);
    write_core(to, probe);
    write_instructions(to, &probe->instructions);
    pm_write_probed_memory(to, &probe->memory);
}
