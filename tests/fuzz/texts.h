/* Targets: readers of texts that people write, on the command line and in files. */
#ifndef PM_FUZZ_TEXTS_H
#define PM_FUZZ_TEXTS_H

#include "binlift/code/code.h"
#include "binlift/x86/x86.h"
#include "core/machine/machine.h"
#include "core/model.h"
#include "machines/probe/code/code.h"
#include "measure/copies/copies.h"
#include "measure/size_design.h"
#include "measure/launchers/private.h"
#include "tests/fuzz/inputs.h"

/* What is written of MACHINE reads as a machine with as many figures. */
static void fuzz_machine_text(const struct pm_machine *machine) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    fuzz_demand(file != NULL, "no memory");
    pm_machine_write(file, machine);
    fclose(file);
    struct pm_error err = {0};
    struct pm_machine *again = pm_machine_read(fuzz_file_of((uint8_t *)text, length), &err);
    fuzz_demand(again != NULL, err.text);
    struct pm_figures figures = pm_machine_figures(machine), of_again = pm_machine_figures(again);
    fuzz_demand(figures.n_figures == of_again.n_figures, "figures are lost on the way");
    pm_figures_free(&figures);
    pm_figures_free(&of_again);
    pm_machine_free(again);
    free(text);
}

static void fuzz_machine(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_mistake mistake = {0};
    const struct pm_machine_options options = {.mistake = &mistake};
    struct pm_machine *machine = pm_machine_read_with(fuzz_file_of(data, size), &options, &err);
    fuzz_demand(machine || err.text[0], "a machine file was refused without a sentence");
    char *text = pm_sprintf("%.*s", (int)size, (const char *)data);
    if (mistake.sentence)
        pm_mistake_locate(text, mistake.sentence, &mistake);
    free(text);
    pm_mistake_free(&mistake);
    for (int c = 0; machine && c < PM_N_OP_CLASSES; c++)
        pm_machine_cost(machine, c, 256, 8);
    for (size_t l = 0; machine && l < machine->n_levels; l++) {
        const struct pm_level *level = &machine->levels[l];
        double sets = (double)pm_level_sets(level), blocks = pm_level_capacity_blocks(level);
        double ways = level->associativity ? level->associativity : blocks;
        fuzz_demand(sets >= 1 && sets * ways == blocks, "sets and ways are not the size");
    }
    for (size_t i = 0; machine && i < machine->n_costs; i++)
        fuzz_demand(pm_cost_throughput(&machine->costs[i]) >= 0, "a throughput is negative");
    if (machine)
        fuzz_machine_text(machine);
    pm_machine_free(machine);
}

static void fuzz_classes(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_classes *classes = pm_classes_new();
    bool ok = pm_classes_read(classes, fuzz_file_of(data, size), "x86-64", &err);
    fuzz_demand(ok || err.text[0], "a file of classes was refused without a sentence");
    pm_classes_resolve(classes, pm_isa_x86_64.n_mnemonics, pm_isa_x86_64.mnemonic);
    for (uint32_t i = 0; i < pm_isa_x86_64.n_mnemonics; i++) {
        const struct pm_class_rule *rule = pm_class_of(classes, i);
        fuzz_demand(!rule || (ok && rule->n_ops >= 1 && rule->n_ops <= PM_CLASS_OPS),
                    "a class has no operation or too many");
    }
    pm_classes_free(classes);
}

static void fuzz_expression(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    char *text = fuzz_text(data, size);
    struct pm_expression *expression = pm_expression_parse(text, &err);
    free(text);
    fuzz_demand(expression || err.text[0], "an expression was refused without a sentence");
    if (!expression)
        return;
    const char *const *names;
    size_t n;
    double result = 0;
    pm_expression_names(expression, &names, &n);
    double *values = pm_alloc(n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)i * 7 - 3;
    bool known = pm_expression_evaluate(expression, n, names, values, &result, &err);
    err.text[0] = '\0';
    bool unknown = n && !pm_expression_evaluate(expression, 0, NULL, NULL, &result, &err);
    fuzz_demand(known || err.text[0] || !unknown, "a value was refused without a sentence");
    free(values);
    pm_expression_free(expression);
}

/* A list of basis functions of N and M: each part stands in the list where it says and is read
   alone. */
static void fuzz_basis(const uint8_t *data, size_t size) {
    static const char *const names[] = {"N", "M"};
    struct pm_error err = {0};
    char *text = fuzz_text(data, size);
    struct pm_expression_list *list = pm_expression_list_parse(text, 2, names, &err);
    fuzz_demand(list || err.text[0], "a list of functions was refused without a sentence");
    struct pm_basis *basis =
        list ? pm_basis_new(list->n, (const char *const *)list->texts, &err) : NULL;
    fuzz_demand(!list || basis, "a function of a list cannot be read alone");
    for (size_t i = 0; list && i < list->n; i++)
        fuzz_demand(strncmp(text + list->positions[i], list->texts[i], strlen(list->texts[i])) == 0,
                    "a function is not where its list has it");
    struct pm_parameters at = {.n = 2, .names = {"N", "M"}, .values = {40, 13}};
    double *values = pm_alloc(basis ? basis->n : 1, sizeof *values);
    err.text[0] = '\0';
    fuzz_demand(!basis || pm_basis_evaluate(basis, &at, values, &err) || err.text[0],
                "a value of a basis was refused without a sentence");
    free(values);
    pm_basis_free(basis);
    pm_expression_list_free(list);
    free(text);
}

static void fuzz_size(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_parameters parameters = {0}, again = {0};
    char *text = fuzz_text(data, size);
    bool ok = pm_parameters_parse(text, &parameters, &err);
    free(text);
    fuzz_demand(ok || err.text[0], "a problem size was refused without a sentence");
    if (!ok)
        return;
    text = pm_parameters_text(&parameters);
    fuzz_demand(pm_parameters_parse(text, &again, &err) && pm_parameters_equal(&parameters, &again),
                "the text of a problem size does not read back the same");
    free(text);
}

/* A list of probe instructions; what was read has a text and a mnemonic. */
static void fuzz_probes(const uint8_t *data, size_t size) {
    struct pm_forms forms = {0};
    struct pm_error err = {0};
    if (!pm_forms_read(fuzz_file_of(data, size), &forms, &err)) {
        fuzz_demand(err.text[0], "a list of probes was refused without a sentence");
        return;
    }
    for (size_t i = 0; i < forms.n_forms; i++)
        fuzz_demand(forms.forms[i].text[0] && forms.forms[i].mnemonic[0], "a probe has no name");
    pm_forms_free(&forms);
}

/* The file of a launcher; its commands are filled in, and not run. */
static void fuzz_launcher(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_launcher *launcher = pm_launcher_read(fuzz_file_of(data, size), &err);
    fuzz_demand(launcher || err.text[0], "a launcher's file was refused without a sentence");
    if (!launcher)
        return;
    const struct pm_filling fillings[] = {{"ID", "17"}, {"IDS", "17 18"}, {"FOLDER", "'/a b'"}};
    const char *const templates[] = {launcher->submit, launcher->poll, launcher->job};
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        err.text[0] = '\0';
        char *text = pm_fill_in(templates[i], fillings, 3, "input", &err);
        fuzz_demand(text || err.text[0], "a command was refused without a sentence");
        free(text);
    }
    pm_launcher_free(launcher);
}

/* What a node and we tell each other. */
static void fuzz_sheet(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_sheet sheet, again;
    char *text = fuzz_text(data, size);
    bool ok = pm_sheet_parse(text, "input", &sheet, &err);
    fuzz_demand(ok || err.text[0], "a job's file was refused without a sentence");
    free(text);
    text = pm_sheet_text(&sheet);
    fuzz_demand(pm_sheet_parse(text, "input", &again, &err) && again.n_lines == sheet.n_lines,
                "a job's file does not read back the same");
    for (size_t i = 0; i < sheet.n_lines; i++)
        fuzz_demand(strcmp(sheet.lines[i].text, again.lines[i].text) == 0,
                    "a line of a job's file does not read back the same");
    pm_sheet_free(&sheet);
    pm_sheet_free(&again);
    free(text);
}

/* A file of names of routines, of --interval and --sockets. */
static void fuzz_names(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_event_choice choice = {0};
    bool ok = pm_event_choice_add_interval_file(&choice, fuzz_file_of(data, size), PM_INTERVALS_ONE,
                                                &err);
    fuzz_demand(ok == (choice.n_intervals > 0) && (ok || err.text[0]),
                "a file of names was refused without a sentence");
    for (size_t i = 0; i < choice.n_intervals; i++)
        fuzz_demand(choice.intervals[i][0] && !strchr(choice.intervals[i], '\n'),
                    "a name is empty or has two lines");
    pm_event_choice_free(&choice);
}

/* A file of points, of --design. */
static void fuzz_points(const uint8_t *data, size_t size) {
    struct pm_error err = {0};
    struct pm_size_design design = {.file = (char *)(uintptr_t)fuzz_file_of(data, size)};
    struct pm_parameters *sizes = NULL;
    size_t n = 0;
    bool ok = pm_size_design_expand(&design, &sizes, &n, &err);
    fuzz_demand(ok || err.text[0], "a file of points was refused without a sentence");
    for (size_t i = 0; ok && i < n; i++)
        fuzz_demand(sizes[i].n == sizes[0].n, "points have different names");
    free(sizes);
}

#endif
