/* Block sizes that an answer needs and that no run has: the command that measures them, made of
   what the store knows of its runs. */
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "measure/command/command.h"
#include "measure/measure.h"

struct words {
    PM_ARRAY(char *, words); /* owned, NULL at the end */
};

static void add(struct words *command, char *word) { *PM_PUSH(command, words) = word; }

static void add_option(struct words *command, const char *name, const char *value) {
    add(command, pm_strdup(name));
    if (value)
        add(command, pm_strdup(value));
}

/* ---- which runs ------------------------------------------------------------------------------ */

static bool lacks_any(struct pm_store *store, const struct pm_parameters *at, const char *settings,
                      const uint64_t *block_sizes, size_t n, bool *lacks, struct pm_error *err) {
    bool there, complete;
    if (!pm_store_has_run(store, at, settings, NULL, 0, &there, err) ||
        !pm_store_has_run(store, at, settings, block_sizes, n, &complete, err))
        return false;
    *lacks = there && !complete;
    return true;
}

static bool is_given_formula(const void *formulas, const char *name) {
    return pm_given_formulas_get(formulas, name) != NULL;
}

/* The sizes of the runs that were made as SETTINGS say and lack one of the block sizes; how many.
 */
static bool add_sizes(struct words *command, const struct pm_program *program, const char *settings,
                      const struct pm_block_sizes *sizes, size_t *n_lacking, struct pm_error *err) {
    struct pm_given_formulas formulas = {0};
    struct pm_parameters *lacking = pm_alloc(program->n_runs, sizeof *lacking);
    *n_lacking = 0;
    bool ok = pm_store_formulas(program->store, &formulas, err), lacks = false;
    for (size_t i = 0; ok && i < program->n_runs; i++) {
        ok = lacks_any(program->store, &program->runs[i], settings, sizes->bytes, sizes->n, &lacks,
                       err);
        if (ok && lacks)
            lacking[(*n_lacking)++] = program->runs[i];
    }
    if (ok && *n_lacking && lacking[0].n) {
        add(command, pm_strdup("-P"));
        add(command, pm_points_text(lacking, *n_lacking, is_given_formula, &formulas));
    }
    for (size_t i = 0; ok && i < formulas.n_list; i++) {
        add(command, pm_strdup("-P"));
        add(command, pm_sprintf("%s=%s", formulas.list[i].name, formulas.list[i].text));
    }
    pm_given_formulas_free(&formulas);
    free(lacking);
    return ok;
}

/* ---- how they were made ---------------------------------------------------------------------- */

/* Each of "L1.line=16, L2.line=32" for --set. */
static void add_settings(struct words *command, const char *settings) {
    char *copy = settings ? pm_strdup(settings) : NULL, *rest = copy;
    for (char *setting; rest && (setting = strsep(&rest, ","));)
        add_option(command, "--set", setting + strspn(setting, " "));
    free(copy);
}

/* A line of a run's settings (measure/run_settings.c) as an option; the command itself is left
   out. */
static void add_setting(struct words *command, const char *line) {
    static const char *const names[] = {"build",     "env",        "shared",
                                        "bin-width", "sample",     "max-blocks",
                                        "start-at",  "stop-after", "input"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(line, names[i], length) != 0 || (line[length] && line[length] != ' '))
            continue;
        char *option = pm_sprintf("--%s", names[i]);
        const char *value = line[length] ? line + length + 1 : NULL;
        /* Of a template only what it becomes is known, and its content as a number. */
        char *input = strcmp(names[i], "input") == 0 && value
                          ? pm_sprintf("TEMPLATE:%.*s", (int)strcspn(value, " "), value)
                          : NULL;
        add_option(command, option, input ? input : value);
        free(input);
        free(option);
    }
}

/* Which libraries were measured, where that is not what is measured by itself. */
static bool add_libraries(struct words *command, const struct pm_program *program,
                          const struct pm_parameters *at, struct pm_error *err) {
    struct pm_file_times times = {0};
    bool left_out = false, ok = pm_store_file_times(program->store, at, &times, err);
    for (size_t i = 1; i < program->structure->n_modules; i++)
        if (!program->structure->modules[i].only_imports)
            add_option(command, "--lib", program->structure->modules[i].name);
    for (size_t i = 0; i < times.n_files; i++) {
        const struct pm_file_time *file = &times.files[i];
        left_out |= file->measurable && !file->measured && file->path &&
                    pm_is_mathematics(pm_base_name(file->path));
    }
    if (left_out)
        add_option(command, "--no-libm", NULL);
    pm_file_times_free(&times);
    return ok;
}

/* What was measured beside, as far as the store has it. */
static bool add_extras(struct words *command, const struct pm_program *program,
                       const struct pm_parameters *at, struct pm_error *err) {
    bool carried, bytes, write_backs, behaviour;
    if (!pm_store_has_patterns(program->store, at, NULL, 0, &carried, err) ||
        !pm_store_has_bytes(program->store, at, &bytes, err) ||
        !pm_store_has_dirty(program->store, at, &write_backs, err) ||
        !pm_store_has_behaviour(program->store, at, &behaviour, err))
        return false;
    struct pm_times *times = pm_store_times(program->store, at, err);
    if (!times && err->kind != PM_ERROR_NONE)
        return false;
    if (!add_libraries(command, program, at, err))
        return false;
    if (carried)
        add_option(command, "--carry", NULL);
    if (bytes)
        add_option(command, "--bytes", NULL);
    if (write_backs)
        add_option(command, "--write-backs", NULL);
    if (!behaviour)
        add_option(command, "--no-behaviour", NULL);
    if (times)
        add_option(command, "--time", NULL);
    pm_times_free(times);
    return true;
}

/* As the largest run was made; for how many runs. */
static char *command_of(const struct pm_subject *subject, const struct pm_missing_blocks *missing,
                        size_t *n_lacking, struct pm_error *err) {
    const struct pm_program *program = &subject->program;
    const struct pm_parameters *largest = &program->runs[program->n_runs - 1];
    struct pm_run_facts facts = {0};
    struct words command = {0};
    char *text = NULL, *typed = NULL;
    if (!pm_store_run_facts(program->store, largest, &facts, err))
        return NULL;
    add_option(&command, "pmodel", "run");
    add_option(&command, "-o", subject->store_path);
    add_option(&command, missing->option, missing->value);
    add_settings(&command, missing->settings);
    bool ok = add_sizes(&command, program, facts.settings ? facts.settings : "",
                        &missing->block_sizes, n_lacking, err) &&
              add_extras(&command, program, largest, err);
    char *rest = facts.settings;
    for (char *line; ok && rest && (line = strsep(&rest, "\n"));)
        if (strncmp(line, "command ", strlen("command ")) == 0)
            typed = line + strlen("command ");
        else
            add_setting(&command, line);
    add(&command, NULL);
    if (ok) {
        text = pm_command_text(command.words);
        pm_append(&text, " -- %s", typed ? typed : "COMMAND");
    }
    pm_free_strings(command.words);
    pm_run_facts_free(&facts);
    return text;
}

bool pm_advise_measuring(const struct pm_subject *subject, const struct pm_missing_blocks *missing,
                         bool fits, struct pm_error *err) {
    struct pm_error why = {0};
    size_t n_lacking = 0;
    char *sentence = pm_strdup(err->text),
         *command = command_of(subject, missing, &n_lacking, &why);
    if (command && n_lacking == 0)
        pm_fail(err, "%s when the models were made: call `pmodel fit %s` again", sentence,
                subject->store_path);
    else if (command)
        pm_fail(err, "%s: `%s`%s%s%s measure%s them%s", sentence, command,
                fits ? " and `pmodel fit " : "", fits ? subject->store_path : "", fits ? "`" : "",
                fits ? "" : "s",
                missing->can_interpolate ? "; --interpolate takes the nearest that were" : "");
    free(command);
    free(sentence);
    return false;
}

/* ---- machines -------------------------------------------------------------------------------- */

bool pm_need_machine_blocks(const struct pm_subject *subject, const struct pm_profile *profile,
                            const struct pm_machine *machine, bool can_interpolate,
                            struct pm_error *err) {
    if (pm_check_block_sizes(profile, machine, err))
        return true;
    if (pm_profile_is_without_memory(profile))
        return false;
    struct pm_missing_blocks missing = {.option = "-m",
                                        .value =
                                            machine->asked_as ? machine->asked_as : machine->path,
                                        .settings = machine->changes,
                                        .can_interpolate = can_interpolate};
    for (size_t l = 0; l < machine->n_levels; l++)
        pm_block_sizes_add(&missing.block_sizes, machine->levels[l].block_bytes);
    pm_advise_measuring(subject, &missing, profile->predicted, err);
    free(missing.block_sizes.bytes);
    return false;
}
