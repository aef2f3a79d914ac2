/* `pmodel machines`: the machine descriptions that `-m` finds; one of them as it counts; what of a
   file is wrong or unverified; in what two differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "core/base/base.h"

struct request {
    struct pm_machine_list on; /* of it the settings only */
    bool check, diff;
    const char *svg; /* where the drawing goes; NULL: none */
    struct pm_report_options options;
};

static int list_all(void) {
    struct pm_error err = {0};
    char **names;
    size_t n_names;
    if (!pm_machine_names(&names, &n_names, &err))
        return pm_complain(&err);
    int status = PM_EXIT_OK;
    for (size_t i = 0; i < n_names; i++) {
        struct pm_machine *machine = pm_find_machine(names[i], NULL, 0, NULL, &err);
        if (machine)
            printf("%-16s %s%s\n", names[i], machine->title,
                   machine->n_unverified ? "  (some figures unverified)" : "");
        else
            status = pm_complain(&err);
        pm_machine_free(machine);
        free(names[i]);
    }
    free(names);
    return status;
}

/* ---- where a mistake stands ------------------------------------------------------------------ */

/* The whole of a text file; NULL.  Owned by the caller. */
static char *text_of(const char *path) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* The line of a mistake and, under it, a caret. */
static void point_at(const struct pm_mistake *at) {
    char *text = at->path && at->line > 0 ? text_of(at->path) : NULL;
    struct pm_mistake place = *at;
    if (!text)
        return;
    pm_mistake_locate(text, at->sentence, &place);
    const char *line = text;
    for (int i = 1; i < place.line && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line && *line) {
        int length = (int)strcspn(line, "\n");
        fprintf(stderr, "%6d | %.*s\n", place.line, length, line);
        fprintf(stderr, "       | ");
        for (int i = 1; i < place.column; i++)
            fputc(line[i - 1] == '\t' ? '\t' : ' ', stderr);
        fputs("^\n", stderr);
    }
    free(text);
}

/* ---- machines by name ------------------------------------------------------------------------ */

/* NULL after complaining. */
static struct pm_machine *find(const struct request *request, const char *name) {
    struct pm_error err = {0};
    struct pm_mistake mistake = {0};
    struct pm_machine *machine =
        pm_find_machine(name, request->on.settings, request->on.n_settings, &mistake, &err);
    if (!machine) {
        pm_complain(&err);
        point_at(&mistake);
    }
    pm_mistake_free(&mistake);
    return machine;
}

/* As its author wrote it, with the comments. */
static bool print_file(const char *path) {
    char *text = text_of(path);
    if (text)
        fputs(text, stdout);
    free(text);
    return text != NULL;
}

static void print_machine(const struct request *request, const struct pm_machine *machine) {
    bool is_the_file =
        !machine->includes && !machine->changes && request->options.format == PM_REPORT_TABLE;
    if (!is_the_file || !print_file(machine->path))
        pm_report_machine(stdout, machine, &request->options);
}

/* The drawing; a file that cannot be written whole is not left behind. */
static int draw(const char *path, const struct pm_machine *machine) {
    struct pm_error err = {0};
    if (machine->n_curves == 0) {
        pm_fail(&err, "%s has no curves to draw; \"pmodel probe\" measures those of this machine",
                machine->name);
        pm_complain(&err);
        return PM_EXIT_INPUT;
    }
    FILE *file = fopen(path, "we");
    bool ok = file != NULL;
    if (ok) {
        pm_report_machine_curves(file, machine);
        ok = !ferror(file);
        ok = fclose(file) == 0 && ok;
    }
    if (ok)
        return PM_EXIT_OK;
    pm_fail_errno(&err, "%s", path);
    pm_complain(&err);
    if (file)
        unlink(path);
    return PM_EXIT_SYSTEM;
}

static int show(const struct request *request, char *const *names, size_t n) {
    struct pm_machine *machines[2] = {NULL, NULL};
    bool ok = true;
    int status = PM_EXIT_OK;
    for (size_t i = 0; i < n && ok; i++)
        ok = (machines[i] = find(request, names[i])) != NULL;
    if (ok && request->diff)
        pm_report_machine_difference(stdout, machines[0], machines[1], &request->options);
    else if (ok && request->check)
        pm_report_machine_check(stdout, machines[0], &request->options);
    else if (ok && request->svg)
        status = draw(request->svg, machines[0]);
    else if (ok)
        print_machine(request, machines[0]);
    for (size_t i = 0; i < n; i++)
        pm_machine_free(machines[i]);
    return ok ? status : PM_EXIT_INPUT;
}

#define AT(field) offsetof(struct request, field)
static const struct pm_option options[] = {
    PM_HEADING("what is shown"),
    PM_FLAG("check", 0, AT(check), "figures that are unverified, or have no source",
            .excludes = "diff svg"),
    PM_FLAG("diff", 0, AT(diff), "figures in which two machines differ", .excludes = "svg"),
    PM_TEXT("svg", 0, "FILE", AT(svg), "draws the machine's curves into FILE"),
    PM_OPTION_SET(AT(on)),
    PM_OPTIONS_TABLES(AT(options)),
    {0},
};

static int run(const struct pm_command *self, int argc, char **argv) {
    struct request request = {.options = pm_default_report_options()};
    struct pm_command_line line = {.command = self, .request = &request};
    int status = pm_read_options(&line, argc, argv);
    size_t wanted = request.diff ? 2 : 1, n = line.n_arguments;
    if (status == 0 && n > wanted)
        status = pm_usage_error("machines", "unexpected argument \"%s\"", line.arguments[wanted]);
    else if (status == 0 && request.diff && n < 2)
        status = pm_usage_error("machines", "--diff takes two machines");
    else if (status == 0 && n == 0 &&
             (request.check || request.svg || request.on.n_settings ||
              request.options.format != PM_REPORT_TABLE))
        status = pm_usage_error("machines", "name a machine, or a machine file");
    else if (status == 0)
        status = n ? show(&request, line.arguments, n) : list_all();
    pm_free_machines(&request.on);
    return status;
}

static const struct pm_command *const views[] = {&pm_command_machines_curves, NULL};
const struct pm_command pm_command_machines = {
    .name = "machines",
    .purpose = "list the machine descriptions, show or check one, or compare two",
    .usage = "[[OPTION]... MACHINE]\n--diff [OPTION]... MACHINE MACHINE",
    .examples = "pmodel machines    # lists them\npmodel machines --diff r12000 itanium2",
    .options = options,
    .run = run,
    .views = views,
};
