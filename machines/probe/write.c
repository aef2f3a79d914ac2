/* What was measured, as a machine file with what was said beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/machine/machine.h"
#include "machines/probe/probe.h"

/* NAME = "ESTIMATE (LOW to HIGH)" times SCALE, nothing if it is not known. */
static void write_estimate(FILE *to, const char *before, const char *name,
                           struct pm_estimate estimate, double scale) {
    if (isnan(estimate.estimate))
        return;
    if (isnan(estimate.low) || isnan(estimate.high))
        fprintf(to, "%s%s = %.5g", before, name, estimate.estimate * scale);
    else
        fprintf(to, "%s%s = \"%.5g (%.5g to %.5g)\"", before, name, estimate.estimate * scale,
                estimate.low * scale, estimate.high * scale);
}

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
    write_estimate(to, "", "clock_mhz", probe->rates.one_hz, 1e-6);
    fprintf(to, "\nissue_width = %.4g\n",
            isnan(instructions->issue_width) ? 4 : instructions->issue_width);
    if (!isnan(instructions->window.estimate))
        fprintf(to, "window = \"%.0f (%.0f to %.0f)\"\n", instructions->window.estimate,
                floor(instructions->window.low), ceil(instructions->window.high));
    fprintf(to, "vector_width = %u\nout_of_order = true\nfma = %s\n", widest_bits(probe),
            executes(probe, PM_OP_FP_FMA) ? "true" : "false");
    write_estimate(to, "", "mispredict_penalty", instructions->mispredict_cycles, 1);
    write_estimate(to, "\n", "store_forward_latency", instructions->store_forward_cycles, 1);
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

static bool is_used(const struct pm_instruction_costs *costs, size_t resource) {
    for (size_t k = 0; k < costs->n_kinds; k++)
        if (costs->resources.loads[k * costs->resources.n_resources + resource] > 0)
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
            if (resources->loads[k * resources->n_resources + r] <
                    0.9 * leader->throughput_cycles.estimate ||
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

static bool has_loads(const struct pm_instruction_costs *costs, uint32_t kind) {
    for (size_t r = 0; r < costs->resources.n_resources; r++)
        if (costs->resources.loads[kind * costs->resources.n_resources + r] > 0)
            return true;
    return false;
}

static void write_uses(FILE *to, const struct pm_instruction_costs *costs,
                       const struct pm_instruction_cost *cost) {
    const struct pm_resource_model *resources = &costs->resources;
    if (cost->kind == PM_NONE) {
        fprintf(to, "  uses = {\"%s_alone:%.4g\"}", pm_op_class_name(cost->form->op_class),
                cost->throughput_cycles.estimate);
        return;
    }
    if (!has_loads(costs, cost->kind)) {
        fputs("  free = true", to);
        return;
    }
    fputs("  uses = {\"", to);
    const char *plus = "";
    for (size_t r = 0; r < resources->n_resources; r++) {
        double load = resources->loads[cost->kind * resources->n_resources + r];
        if (load > 0) {
            fprintf(to, "%sr%zu:%.4g", plus, r, load);
            plus = " + ";
        }
    }
    fputs("\"}", to);
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
    write_estimate(to, "  ", "latency", latency, 1);
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

/* ---- memory ---------------------------------------------------------------------------------- */

static bool known(struct pm_estimate estimate) { return !isnan(estimate.estimate); }

static void write_whole(FILE *to, const char *name, struct pm_estimate estimate) {
    if (known(estimate))
        fprintf(to, "  %s = \"%.0f (%.0f to %.0f)\"", name, estimate.estimate, floor(estimate.low),
                ceil(estimate.high));
}

/* Of A, which is not less, and B. */
static struct pm_estimate difference(struct pm_estimate a, struct pm_estimate b) {
    return (struct pm_estimate){fmax(0, a.low - b.high), fmax(0, a.estimate - b.estimate),
                                fmax(0, a.high - b.low)};
}

static void write_caches(FILE *to, const struct pm_memory_probe *memory) {
    for (size_t i = 0; i < memory->n_caches; i++) {
        const struct pm_probed_cache *cache = &memory->caches[i];
        struct pm_estimate next = i + 1 < memory->n_caches ? memory->caches[i + 1].latency_cycles
                                                           : memory->memory_latency_cycles;
        fprintf(to, "cache L%zu {", i + 1);
        write_whole(to, "size", cache->size_bytes);
        fprintf(to, "  line = %.0f", known(cache->line_bytes) ? cache->line_bytes.estimate : 64);
        /* Unknown ways are taken for enough. */
        fprintf(to, "  ways = %.0f", known(cache->ways) ? cache->ways.estimate : 0);
        write_estimate(to, "  ", "latency", cache->latency_cycles, 1);
        if (known(next) && known(cache->latency_cycles))
            write_estimate(to, "  ", "miss_penalty", difference(next, cache->latency_cycles), 1);
        fputs("  exposed = 0.3\n          ", to);
        write_estimate(to, "", "read_bandwidth", cache->bandwidth[PM_SWEEP_LOAD], 1);
        write_estimate(to, "  ", "write_bandwidth", cache->bandwidth[PM_SWEEP_STORE], 1);
        write_whole(to, "misses_in_flight", cache->misses_in_flight);
        fprintf(to, "  indexed = %s  not_verified = {exposed%s%s}\n", i ? "physical" : "virtual",
                known(cache->ways) ? "" : ", ways", known(cache->line_bytes) ? "" : ", line");
        fputs("           source = \"[1]\" }\n", to);
    }
}

static void write_tlbs(FILE *to, const struct pm_memory_probe *memory) {
    unsigned level = 0;
    uint64_t page = 0;
    for (size_t i = 0; i < memory->n_tlbs; i++) {
        const struct pm_probed_tlb *tlb = &memory->tlbs[i];
        if (!known(tlb->entries))
            continue;
        level = tlb->page_bytes == page ? level + 1 : 1;
        page = tlb->page_bytes;
        fprintf(to, "tlb TLB%u%s {", level, page > 65536 ? "H" : "");
        write_whole(to, "entries", tlb->entries);
        fprintf(to, "  page = %llu  ways = 0", (unsigned long long)tlb->page_bytes);
        if (known(tlb->miss_cycles))
            write_estimate(to, "  ", "miss_penalty", tlb->miss_cycles, 1);
        else
            fputs("  miss_penalty = 0", to);
        fprintf(to, "  exposed = 0.5  not_verified = {ways, exposed%s}  source = \"[1]\" }\n",
                known(tlb->miss_cycles) ? "" : ", miss_penalty");
    }
}

static void write_memory(FILE *to, const struct pm_memory_probe *memory) {
    if (!known(memory->memory_latency_cycles))
        return;
    fputs("memory {", to);
    write_estimate(to, " ", "latency", memory->memory_latency_cycles, 1);
    write_estimate(to, "  ", "latency_dirty", memory->memory_latency_dirty_cycles, 1);
    write_whole(to, "misses_in_flight", memory->memory_misses_in_flight);
    write_estimate(to, "\n         ", "bandwidth_gbs", memory->memory_gbs[PM_SWEEP_LOAD], 1);
    write_estimate(to, "  ", "bandwidth_all_gbs", memory->memory_all_gbs[PM_SWEEP_LOAD], 1);
    fputs("  source = \"[1]\" }\n", to);
}

/* One prefetcher for each direction: the strides of which more than half is hidden. */
static void write_prefetchers(FILE *to, const struct pm_memory_probe *memory) {
    for (int direction = 1; direction >= -1; direction -= 2) {
        double least = INFINITY, most = 0;
        unsigned streams = 0;
        for (size_t i = 0; i < memory->n_prefetches; i++) {
            const struct pm_probed_prefetch *prefetch = &memory->prefetches[i];
            double stride = (double)prefetch->stride_bytes * direction;
            if (stride <= 0 || !(prefetch->covered.estimate > 0.5))
                continue;
            least = fmin(least, stride);
            most = fmax(most, stride);
            streams = prefetch->streams > streams ? prefetch->streams : streams;
        }
        if (most > 0)
            fprintf(to,
                    "prefetcher %s { level = L1  min_stride = %.0f  max_stride = %.0f  streams = "
                    "%u  down = %s }\n",
                    direction > 0 ? "ascending" : "descending", least, most, streams,
                    direction > 0 ? "false" : "true");
    }
    for (size_t i = 0; i < memory->n_prefetches; i++)
        fprintf(to, "# stride %+lld, %u streams: %.0f%% of a miss hidden (%.0f to %.0f)\n",
                (long long)memory->prefetches[i].stride_bytes, memory->prefetches[i].streams,
                100 * memory->prefetches[i].covered.estimate,
                100 * memory->prefetches[i].covered.low, 100 * memory->prefetches[i].covered.high);
}

static void write_list(FILE *to, const char *name, const double *values, size_t n) {
    fprintf(to, "%s = {", name);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%.10g", i ? ", " : "", values[i]);
    fputs("}", to);
}

static void write_curve(FILE *to, const struct pm_memory_probe *memory,
                        const struct pm_probed_curve *curve) {
    size_t n = curve->n_points;
    double *values = pm_alloc(n + 1, sizeof *values);
    char *stride =
        curve->stride_bytes > 0 ? pm_sprintf("%.0f", curve->stride_bytes) : pm_strdup("random");
    fprintf(to, "curve %s_%s_%ut%s { of = %s  stride = %.0f  threads = %u  page = %s\n    ",
            curve->of, stride, curve->threads, curve->pages == PM_PAGES_HUGE ? "_huge" : "",
            curve->of, curve->stride_bytes, curve->threads,
            curve->pages == PM_PAGES_HUGE ? "2MiB" : "4KiB");
    write_list(to, "working_set", curve->working_set_bytes, n);
    for (int bound = 0; bound < 3; bound++) {
        static const char *const names[] = {"\n    value", "\n    low", "\n    high"};
        for (size_t i = 0; i < n; i++)
            values[i] = bound == 0   ? curve->value[i].estimate
                        : bound == 1 ? curve->value[i].low
                                     : curve->value[i].high;
        write_list(to, names[bound], values, n);
    }
    for (size_t i = 0; curve->hits && i < memory->n_caches; i++) {
        fprintf(to, "\n    hits L%zu { ", i + 1);
        write_list(to, "share", curve->hits[i].share, n);
        fputs(" }", to);
    }
    fputs(" }\n", to);
    free(stride);
    free(values);
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
    fputs("\n# Memory.  Unknown ways are written as fully associative, and marked.\n", to);
    write_caches(to, &probe->memory);
    write_tlbs(to, &probe->memory);
    write_memory(to, &probe->memory);
    write_prefetchers(to, &probe->memory);
    for (size_t i = 0; i < probe->memory.n_curves; i++)
        write_curve(to, &probe->memory, &probe->memory.curves[i]);
}
