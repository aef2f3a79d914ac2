/* Jobs in a queue, by the commands of its launcher's file. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/command/command.h"
#include "measure/launchers/private.h"

/* ---- submitting ------------------------------------------------------------------------------ */

/* The id is the first word of what the submitting command printed, up to a `;`. */
static char *first_word(const char *output, const char *command, struct pm_error *err) {
    output += strspn(output, " \t\n");
    size_t length = strcspn(output, " \t\r\n;");
    if (length)
        return pm_sprintf("%.*s", (int)length, output);
    pm_fail(err, "`%s` printed no id of the job", command);
    return NULL;
}

static bool write_script(const struct pm_jobs *jobs, const char *path, const char *folder,
                         struct pm_error *err) {
    char *pmodel = pm_shell_quoted(jobs->pmodel), *quoted = pm_shell_quoted(folder);
    const char *index = jobs->launcher->index;
    char *text = index ? pm_sprintf("#!/bin/sh\nexec %s run-one %s/%s\n", pmodel, quoted, index)
                       : pm_sprintf("#!/bin/sh\nexec %s run-one %s\n", pmodel, quoted);
    bool ok = pm_put_file_whole(path, text, true, err);
    free(text);
    free(pmodel);
    free(quoted);
    return ok;
}

/* Fills TEMPLATE in for the jobs of FOLDER, of which the last is number LAST. */
static char *submit_command(const struct pm_jobs *jobs, const char *folder, const char *script,
                            size_t last, const char *options, struct pm_error *err) {
    const struct pm_launcher *launcher = jobs->launcher;
    unsigned at_a_time = jobs->request->at_a_time;
    char *quoted_folder = pm_shell_quoted(folder), *quoted_script = pm_shell_quoted(script);
    char *last_text = pm_sprintf("%zu", last), *n_text = pm_sprintf("%zu", last + 1),
         *most = pm_sprintf("%u", at_a_time);
    const struct pm_filling of_limit = {"J", most};
    char *limit = at_a_time && launcher->limit
                      ? pm_fill_in(launcher->limit, &of_limit, 1, launcher->path, err)
                      : pm_strdup("");
    const struct pm_filling fillings[] = {
        {"FOLDER", quoted_folder},
        {"SCRIPT", quoted_script},
        {"LAST", last_text},
        {"JOBS", n_text},
        {"LIMIT", limit ? limit : ""},
        {"OPTIONS", options ? options : ""},
        {"NAME", "pmodel"},
    };
    char *command = limit ? pm_fill_in(launcher->submit, fillings,
                                       sizeof fillings / sizeof *fillings, launcher->path, err)
                          : NULL;
    free(limit);
    free(most);
    free(last_text);
    free(n_text);
    free(quoted_folder);
    free(quoted_script);
    return command;
}

/* Submits what is in FOLDER; its id is kept there. */
static char *submit_folder(const struct pm_jobs *jobs, const char *folder, size_t n,
                           const char *options, struct pm_error *err) {
    char *script = pm_sprintf("%s/script", folder), *id_path = pm_sprintf("%s/id", folder);
    char *command = write_script(jobs, script, folder, err)
                        ? submit_command(jobs, folder, script, n - 1, options, err)
                        : NULL;
    char *output = NULL;
    char *id = command && pm_shell(command, &output, err) ? first_word(output, command, err) : NULL;
    if (id && !pm_put_file_whole(id_path, id, false, err)) {
        free(id);
        id = NULL;
    }
    free(output);
    free(command);
    free(id_path);
    free(script);
    return id;
}

/* What the queue calls a job of a submission ID. */
static char *job_name(const struct pm_jobs *jobs, const char *id, const char *index) {
    const struct pm_filling fillings[] = {{"ID", id}, {"INDEX", index}};
    return pm_fill_in(jobs->launcher->job, fillings, 2, jobs->launcher->path, NULL);
}

bool pm_batch_submit(struct pm_jobs *jobs, struct pm_job *const *list, size_t n,
                     const char *submission, struct pm_error *err) {
    bool as_one = jobs->launcher->index != NULL;
    char *id = as_one ? submit_folder(jobs, submission, n, list[0]->options, err) : NULL;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        const char *index = pm_base_name(list[i]->folder);
        if (as_one)
            list[i]->id = id ? job_name(jobs, id, index) : NULL;
        else if ((id = submit_folder(jobs, list[i]->folder, 1, list[i]->options, err)))
            list[i]->id = job_name(jobs, id, index);
        list[i]->state = list[i]->id ? PM_JOB_SUBMITTED : PM_JOB_REFUSED;
        ok = ok && list[i]->id;
        if (!as_one)
            free(id);
    }
    if (as_one)
        free(id);
    return ok;
}

char *pm_batch_id(struct pm_jobs *jobs, const char *submission, const char *index) {
    char *path = jobs->launcher->index ? pm_sprintf("%s/id", submission)
                                       : pm_sprintf("%s/%s/id", submission, index);
    char *id = access(path, F_OK) == 0 ? pm_read_text(path, NULL) : NULL;
    char *name = id && *id ? job_name(jobs, id, index) : NULL;
    free(id);
    free(path);
    return name;
}

/* ---- looking at the queue -------------------------------------------------------------------- */

static bool is_listed(char *const *list, const char *word, size_t length) {
    for (; *list; list++)
        if (strlen(*list) == length && strncmp(*list, word, length) == 0)
            return true;
    return false;
}

/* Does OUTPUT, lines of ids and states, have the job as one that has not ended? */
static bool is_alive(const struct pm_launcher *launcher, const char *output, const char *id) {
    size_t own = strlen(id);
    for (const char *line = output; *line; line += *line == '\n') {
        line += strspn(line, " \t");
        size_t length = strcspn(line, " \t\r\n");
        if (length == own && strncmp(line, id, own) == 0) {
            const char *state = line + length + strspn(line + length, " \t");
            return !is_listed(launcher->ended, state, strcspn(state, " \t\r\n"));
        }
        line += strcspn(line, "\n");
    }
    return false;
}

/* All ids that are waited for, for {IDS}. */
static char *all_ids(struct pm_job *const *list, size_t n) {
    char *ids = pm_strdup("");
    for (size_t i = 0; i < n; i++)
        if (list[i]->id && list[i]->state == PM_JOB_SUBMITTED)
            pm_append(&ids, "%s%s", *ids ? " " : "", list[i]->id);
    return ids;
}

static bool run_with_ids(struct pm_jobs *jobs, const char *template, struct pm_job *const *list,
                         size_t n, char **output, struct pm_error *err) {
    char *ids = all_ids(list, n), *folder = pm_shell_quoted(jobs->folder);
    const struct pm_filling fillings[] = {{"IDS", ids}, {"FOLDER", folder}};
    char *command = pm_fill_in(template, fillings, 2, jobs->launcher->path, err);
    bool ok = command && (!*ids || pm_shell(command, output, err));
    free(command);
    free(folder);
    free(ids);
    return ok;
}

bool pm_batch_poll(struct pm_jobs *jobs, struct pm_error *err) {
    char *output = NULL;
    if (!run_with_ids(jobs, jobs->launcher->poll, jobs->list, jobs->n_list, &output, err))
        return false;
    for (size_t i = 0; i < jobs->n_list; i++) {
        struct pm_job *job = jobs->list[i];
        if (job->state != PM_JOB_SUBMITTED)
            continue;
        bool alive = job->id && output && is_alive(jobs->launcher, output, job->id);
        if (alive)
            job->gone_since = 0;
        else if (job->gone_since == 0)
            job->gone_since = pm_now_seconds();
    }
    free(output);
    return true;
}

void pm_batch_cancel(struct pm_jobs *jobs, struct pm_job *const *list, size_t n) {
    struct pm_error why = {0};
    char *output = NULL;
    if (jobs->launcher->cancel &&
        !run_with_ids(jobs, jobs->launcher->cancel, list, n, &output, &why))
        pm_progress_say(jobs->progress, "jobs were not cancelled: %s", why.text);
    free(output);
}
