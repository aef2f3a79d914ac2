/* What was measured, as a machine file with what was said beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binlift/binlift.h"
#include "core/machine/machine.h"
#include "machines/probe/known_core.h"
#include "machines/probe/probe_figures.h"
#include "machines/probe/probe.h"

enum { MOST_MNEMONIC = 32 };

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

/* What the user should know of what disturbed: figures that could not be pinned down have wide
   intervals. */
static void write_load(FILE *to, const struct pm_clock_load *load) {
    static const double MUCH = 0.02;
    if (load->sibling > MUCH)
        fprintf(to, "# The other thread of the core was busy %.0f%% of the time.\n",
                100 * load->sibling);
    if (load->programs > MUCH)
        fprintf(to, "# Other programs had this CPU %.0f%% of the time.\n", 100 * load->programs);
    if (load->stolen > MUCH)
        fprintf(to, "# The hypervisor took %.0f%% of the time away.\n", 100 * load->stolen);
    if (load->sibling > MUCH || load->programs > MUCH || load->stolen > MUCH)
        fputs("# What could not be pinned down for that has a wide interval.\n", to);
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

static void write_check(FILE *to, const struct pm_machine_probe *probe) {
    const struct pm_core_check *check = &probe->check;
    if (probe->core) {
        fprintf(to, "# The core is that of %s by what it says of itself", probe->core->name);
        if (check->other)
            fprintf(to,
                    ", and by its instructions: of %zu figures that tell it\n"
                    "# from %s, %zu agree",
                    check->differ, check->other, check->agree);
        fputs(".  What was measured stands here where it contradicts that file, is unverified\n"
              "# there, or is not said.\n",
              to);
    } else if (check->other)
        fprintf(to,
                "# It is not what it says that it is: of %zu figures that tell that core from %s, "
                "%zu agree.\n",
                check->differ, check->other, check->agree);
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

static const struct pm_instruction_cost *cost_of(const struct pm_machine_probe *probe,
                                                 const char *text) {
    for (size_t i = 0; i < probe->instructions.n_costs; i++)
        if (strcmp(probe->instructions.costs[i].form->text, text) == 0)
            return &probe->instructions.costs[i];
    return NULL;
}

/* Is an instruction of this text renamed: do its copies wait for nothing? */
static bool waits_for_nothing(const struct pm_machine_probe *probe, const char *text) {
    const struct pm_instruction_cost *cost = cost_of(probe, text);
    return cost && cost->latency_cycles.estimate < 0.6;
}

/* … or for no unit: are as many executed a cycle as are issued? */
static bool is_eliminated(const struct pm_machine_probe *probe, const char *text) {
    const struct pm_instruction_cost *cost = cost_of(probe, text);
    return waits_for_nothing(probe, text) ||
           (cost && cost->throughput_cycles.estimate * probe->instructions.issue_width < 1.1);
}

/* What is not measured, but true of all x86 cores of the last ten years. */
static void write_customs(FILE *to, const struct pm_machine_probe *probe) {
    bool moves = is_eliminated(probe, "mov rax, rcx");
    bool vector_moves = is_eliminated(probe, "vmovaps xmm0, xmm1");
    bool additions = waits_for_nothing(probe, "inc rax");
    fprintf(to, "\npage = 4KiB\neliminates = {%s%s%szeroing, stack_moves}\n",
            moves ? "moves, " : "", vector_moves ? "vector_moves, " : "",
            additions ? "additions, " : "");
    fputs("fuses_memory = true\nfuses_branch = {int_compare, int_add, logical}\n", to);
    fprintf(to, "not_verified = {%seliminates, fuses_memory, fuses_branch}\n",
            isnan(probe->instructions.issue_width) ? "issue_width, " : "");
}

static void write_core(struct pm_probe_writing *w, const struct pm_machine_probe *probe) {
    const struct pm_instruction_costs *instructions = &probe->instructions;
    FILE *to = w->to;
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(to, "title   = \"%s (%s-%u-%u, measured)\"\n",
            probe->said.brand[0] ? probe->said.brand : "processor", probe->said.vendor,
            probe->said.family, probe->said.model);
    fprintf(to, "sources = \"[1] pmodel probe%s, %s\"\nsource  = \"[1]\"\n",
            probe->quick ? " --quick" : "", date);
    pm_write_estimate(to, "\n", "clock_mhz", probe->rates.one_hz, 1e-6);
    pm_write_of_unknown(w, "\nisa = x86-64\nissue_width = %.4g\nout_of_order = true",
                        isnan(instructions->issue_width) ? 4 : instructions->issue_width);
    /* A guest may hide vectors that the core has. */
    if (!w->core || widest_bits(probe) != w->core->vector_width_bits)
        fprintf(to, "\nvector_width = %u", widest_bits(probe));
    if (!w->core || executes(probe, PM_OP_FP_FMA) != w->core->has_fma)
        fprintf(to, "\nfma = %s", executes(probe, PM_OP_FP_FMA) ? "true" : "false");
    pm_write_whole(w, "window", instructions->window);
    pm_write_whole(w, "scheduler", instructions->scheduler);
    pm_write_figure(w, "mispredict_penalty", instructions->mispredict_cycles, 1);
    pm_write_figure(w, "store_forward_latency", instructions->store_forward_cycles, 1);
    pm_write_figure(w, "store_block_latency", instructions->store_block_cycles, 1);
    pm_write_figure(w, "store_line", instructions->store_line_cycles, 1);
    pm_write_figure(w, "page_fault", probe->page_fault_cycles, 1);
    if (!w->core && instructions->taken_jumps > 1.1)
        fprintf(to, "\ntaken_jumps = %.2g", instructions->taken_jumps);
    if (!w->core)
        write_customs(to, probe);
    fputs("\n", to);
    pm_end_section(w);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* By how much KIND keeps a resource busy: whole cycles where it is nearly so, and what is less than
   the fit can tell is none. */
static double load_of(const struct pm_instruction_costs *costs, size_t kind, size_t resource) {
    static const double least = 0.03, nearly = 0.02;
    double load = costs->resources.loads[kind * costs->resources.n_resources + resource];
    if (load < least)
        return 0;
    return load > 0.9 && fabs(load - round(load)) < nearly * load ? round(load) : load;
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
                                     const struct pm_instruction_cost *cost, bool *unverified) {
    struct pm_estimate latency = cost->latency_cycles;
    *unverified = isnan(latency.estimate);
    for (size_t i = 0; i < costs->n_costs && isnan(latency.estimate); i++)
        if (costs->costs[i].form->op_class == cost->form->op_class && !cost->form->is_store)
            latency = costs->costs[i].latency_cycles;
    if (isnan(latency.estimate))
        latency = (struct pm_estimate){NAN, 1, NAN};
    return latency;
}

static bool is_probed(const struct pm_instruction_costs *costs, const char *mnemonic) {
    for (size_t i = 0; i < costs->n_costs; i++)
        if (strcmp(costs->costs[i].form->mnemonic, mnemonic) == 0)
            return true;
    return false;
}

static bool exists(const char *mnemonic) { return pm_isa_knows_mnemonic("x86-64", mnemonic); }

/* With and without `v`, where there are both. */
static void write_name(FILE *to, const char *mnemonic) {
    bool is_both = mnemonic[0] == 'v' && exists(mnemonic + 1);
    fprintf(to, is_both ? "\"(v)%s\"" : "%s", mnemonic + is_both);
}

/* OTHER (MOST_MNEMONIC): the name with TO in place of FROM; false: it has none. */
static bool renamed(const char *mnemonic, const char *from, const char *to, char *other) {
    snprintf(other, MOST_MNEMONIC, "%s", mnemonic);
    char *place = strstr(other, from);
    if (place)
        memcpy(place, to, strlen(to));
    return place != NULL;
}

/* "vmaxsd" stands for maxsd, vminsd and minsd, too: the same unit executes them in the same way. */
static void write_mnemonics(FILE *to, const struct pm_instruction_costs *costs,
                            const char *mnemonic) {
    char other[MOST_MNEMONIC];
    fputs("cost { mnemonic = {", to);
    write_name(to, mnemonic);
    if (renamed(mnemonic, "max", "min", other) && !is_probed(costs, other) && exists(other)) {
        fputs(", ", to);
        write_name(to, other);
    }
    fputs("}", to);
}

static void write_cost(FILE *to, const struct pm_instruction_costs *costs,
                       const struct pm_instruction_cost *cost, bool by_mnemonic, bool by_element) {
    bool unverified;
    struct pm_estimate latency = latency_of(costs, cost, &unverified);
    if (by_mnemonic)
        write_mnemonics(to, costs, cost->form->mnemonic);
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
    if (unverified)
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

/* The same with elements of the other precision, if that was not measured itself. */
static void write_other_precision(FILE *to, const struct pm_instruction_costs *costs,
                                  const struct pm_instruction_cost *cost) {
    char mnemonic[MOST_MNEMONIC], most[MOST_MNEMONIC];
    size_t length = strlen(cost->form->mnemonic);
    struct pm_form form = *cost->form;
    struct pm_instruction_cost other = *cost;
    bool is_single = form.element_bytes == 4;
    if (length < 4 || length >= sizeof mnemonic || (!is_single && form.element_bytes != 8))
        return;
    memcpy(mnemonic, form.mnemonic, length + 1);
    char *last = &mnemonic[length - 1];
    if (*last != (is_single ? 's' : 'd') || !strchr("ps", last[-1]) || strstr(mnemonic, "cvt"))
        return;
    *last = is_single ? 'd' : 's';
    bool is_told = is_probed(costs, mnemonic) || (renamed(mnemonic, "min", "max", most) &&
                                                  is_probed(costs, most)); /* write_mnemonics */
    if (is_told || !exists(mnemonic))
        return;
    form.mnemonic = mnemonic;
    form.element_bytes = is_single ? 8 : 4;
    if (form.width_bits <= 64)
        form.width_bits = 8 * form.element_bytes;
    other.form = &form;
    write_cost(to, costs, &other, true, true);
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
    fputs("\n# Branches are not measured: a slot each, as all x86 processors have it.\n"
          "cost { of = {branch, jump, call, return}  latency = 1  free = true  "
          "not_verified = {latency} }\n",
          to);
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
        if (!costs_the_same(first_of(costs, cost, true), cost)) {
            write_cost(to, costs, cost, true, cost->form->element_bytes != 0);
            write_other_precision(to, costs, cost);
        }
    }
}

void pm_machine_probe_write(FILE *to, const struct pm_machine_probe *probe) {
    fprintf(to,
            "# What `pmodel probe` measured in %.0f seconds, in cycles of dependent "
            "multiplications.%s\n",
            probe->seconds, probe->stopped ? "  It was stopped: parts are missing." : "");
    write_load(to, &probe->load);
    fputs("#\n", to);
    write_said(to, &probe->said);
    write_rates(to, &probe->rates);
    write_check(to, probe);
    struct pm_probe_writing w;
    pm_begin_writing(&w, to, probe->core);
    if (probe->core)
        fprintf(to, "\ninclude = \"%s\"\n", probe->core->name);
    fputs("\n", to);
    write_core(&w, probe);
    if (probe->core)
        pm_write_contradictions(to, probe->core, &probe->instructions);
    else
        write_instructions(to, &probe->instructions);
    pm_write_probed_memory(&w, &probe->memory, &probe->said);
    pm_end_writing(&w);
}
