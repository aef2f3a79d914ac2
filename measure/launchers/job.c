/* One job: what is to be run, as a file that its node reads, and what it came to.

   Files in its folder: `job` (pm_job_describe), `raw/`, `output` and `errors` of the command,
   `failure` where it could not be run, `result`, which comes last, and `rank/` (run_job.c). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/probe_abi.h"
#include "measure/command/command.h"
#include "measure/launchers/private.h"

static const char form[] = "pmodel 1"; /* of the files `job` and `result` */

char *pm_job_raw_folder(const char *folder) { return pm_sprintf("%s/raw", folder); }

static char *in_folder(const char *folder, const char *name) {
    return pm_sprintf("%s/%s", folder, name);
}

bool pm_hash_file(const char *path, uint64_t *hash, struct pm_error *err) {
    char buffer[1 << 16];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    ssize_t n = file < 0 ? -1 : 1;
    while (n > 0 && (n = read(file, buffer, sizeof buffer)) > 0)
        XXH3_64bits_update(&state, buffer, (size_t)n);
    if (n < 0)
        pm_fail_errno(err, "%s: cannot be read", path);
    if (file >= 0)
        close(file);
    *hash = XXH3_64bits_digest(&state);
    return n == 0;
}

/* ---- what is to be run ----------------------------------------------------------------------- */

/* A new field of struct pm_launch that a node needs belongs here and into pm_job_order_read. */
char *pm_job_describe(const struct pm_launch *launch, const struct pm_shared_copies *shared,
                      bool spans_nodes) {
    struct pm_sheet sheet = {0};
    char *here = launch->folder ? NULL : get_current_dir_name();
    pm_sheet_add(&sheet, "form", "%s", form);
    for (size_t i = 0; launch->argv[i]; i++)
        pm_sheet_add(&sheet, "argument", "%s", launch->argv[i]);
    pm_sheet_add(&sheet, "command", "%s", launch->command_path);
    pm_sheet_add(&sheet, "folder", "%s", launch->folder ? launch->folder : here ? here : ".");
    pm_sheet_add(&sheet, "runtime", "%s", launch->runtime);
    if (launch->wrapper)
        pm_sheet_add(&sheet, "wrapper", "%s", launch->wrapper);
    for (size_t i = 0; i < shared->n; i++) {
        pm_sheet_add(&sheet, "original", "%s", shared->files[i].original);
        pm_sheet_add(&sheet, "copy", "%s", shared->files[i].instrumented);
        pm_sheet_add(&sheet, "hashes", "%016llx %016llx", (unsigned long long)shared->originals[i],
                     (unsigned long long)shared->copies[i]);
    }
    for (size_t i = 0; launch->environment[i]; i++)
        pm_sheet_add(&sheet, "environment", "%s", launch->environment[i]);
    pm_sheet_add(&sheet, "timeout", "%.17g", launch->timeout_seconds);
    pm_sheet_add(&sheet, "grace", "%.17g", launch->grace_seconds);
    pm_sheet_add(&sheet, "nodes", "%s", spans_nodes ? "several" : "one");
    char *text = pm_sheet_text(&sheet);
    pm_sheet_free(&sheet);
    free(here);
    return text;
}

/* The texts of that name, NULL at the end; pm_free_strings. */
static char **texts_of(const struct pm_sheet *sheet, const char *name) {
    char **texts = pm_alloc(sheet->n_lines + 1, sizeof *texts);
    size_t n = 0;
    for (size_t i = 0; i < sheet->n_lines; i++)
        if (strcmp(sheet->lines[i].name, name) == 0)
            texts[n++] = pm_strdup(sheet->lines[i].text);
    return texts;
}

/* `PMODEL_OUT=raw` → the raw files of this job. */
static void place_raw_files(char **environment, const char *folder) {
    for (; *environment; environment++)
        if (strcmp(*environment, PM_ENV_OUT "=raw") == 0) {
            free(*environment);
            *environment = pm_sprintf(PM_ENV_OUT "=%s/raw", folder);
        }
}

static void read_files(const struct pm_sheet *sheet, struct pm_job_order *order) {
    char **originals = texts_of(sheet, "original"), **copies = texts_of(sheet, "copy"),
         **hashes = texts_of(sheet, "hashes");
    size_t n = pm_count_strings(originals);
    bool ok = n == pm_count_strings(copies) && n == pm_count_strings(hashes);
    order->files = pm_alloc(n, sizeof *order->files);
    order->hashes = pm_alloc(2 * n, sizeof *order->hashes);
    for (size_t i = 0; ok && i < n; i++) {
        unsigned long long original = 0, copy = 0;
        sscanf(hashes[i], "%llx %llx", &original, &copy);
        order->hashes[2 * i] = original;
        order->hashes[2 * i + 1] = copy;
        order->files[i] = (struct pm_copy){.original = pm_strdup(originals[i]),
                                           .instrumented = pm_strdup(copies[i])};
        order->launch.n_files = i + 1;
    }
    order->launch.files = order->files;
    pm_free_strings(originals);
    pm_free_strings(copies);
    pm_free_strings(hashes);
}

static char *owned_text(const struct pm_sheet *sheet, const char *name) {
    const char *text = pm_sheet_find(sheet, name);
    return text ? pm_strdup(text) : NULL;
}

bool pm_job_order_read(const char *folder, struct pm_job_order *order, struct pm_error *err) {
    struct pm_sheet sheet;
    char *path = in_folder(folder, "job");
    *order = (struct pm_job_order){0};
    bool ok = pm_sheet_read(path, &sheet, err);
    const char *nodes = pm_sheet_find(&sheet, "nodes");
    const char *found_form = pm_sheet_find(&sheet, "form");
    order->argv = texts_of(&sheet, "argument");
    order->environment = texts_of(&sheet, "environment");
    place_raw_files(order->environment, folder);
    read_files(&sheet, order);
    order->spans_nodes = nodes && strcmp(nodes, "several") == 0;
    order->launch.argv = order->argv;
    order->launch.environment = order->environment;
    order->launch.command_path = owned_text(&sheet, "command");
    order->launch.folder = owned_text(&sheet, "folder");
    order->launch.runtime = owned_text(&sheet, "runtime");
    order->launch.wrapper = owned_text(&sheet, "wrapper");
    order->launch.timeout_seconds = pm_sheet_number(&sheet, "timeout");
    order->launch.grace_seconds = pm_sheet_number(&sheet, "grace");
    if (ok && (!found_form || strcmp(found_form, form) != 0 || !order->argv[0] ||
               !order->launch.command_path || !order->launch.folder || !order->launch.runtime ||
               order->launch.n_files == 0))
        ok = pm_fail(err, "%s: not a job of this version of pmodel", path);
    pm_sheet_free(&sheet);
    free(path);
    return ok;
}

void pm_job_order_free(struct pm_job_order *order) {
    for (size_t i = 0; i < order->launch.n_files; i++) {
        free(order->files[i].original);
        free(order->files[i].instrumented);
    }
    free(order->files);
    free(order->hashes);
    pm_free_strings(order->argv);
    pm_free_strings(order->environment);
    free((char *)order->launch.command_path);
    free((char *)order->launch.folder);
    free((char *)order->launch.runtime);
    free((char *)order->launch.wrapper);
    *order = (struct pm_job_order){0};
}

/* ---- what it came to ------------------------------------------------------------------------- */

/* The first one says what went wrong; what others say follows from it. */
void pm_job_put_failure(const char *folder, const struct pm_error *failure) {
    char *path = in_folder(folder, "failure");
    if (access(path, F_OK) != 0)
        pm_put_file_whole(path, failure->text, false, NULL);
    free(path);
}

bool pm_job_has_result(const char *folder) {
    char *path = in_folder(folder, "result");
    int file = open(path, O_RDONLY | O_CLOEXEC); /* asks the server of a network file system */
    free(path);
    if (file >= 0)
        close(file);
    return file >= 0;
}

bool pm_job_put_result(const char *folder, const struct pm_launch_result *result,
                       double started_unix, const struct pm_error *failure, struct pm_error *err) {
    struct pm_sheet sheet = {0};
    pm_sheet_add(&sheet, "form", "%s", form);
    pm_sheet_add(&sheet, "started", "%.17g", started_unix);
    pm_sheet_add(&sheet, "status", "%d", result->status);
    pm_sheet_add(&sheet, "timed_out", "%d", result->timed_out);
    pm_sheet_add(&sheet, "interrupted", "%d", result->interrupted);
    pm_sheet_add(&sheet, "in_place", "%d", result->in_place);
    pm_sheet_add(&sheet, "wall_seconds", "%.17g", result->wall_seconds);
    pm_sheet_add(&sheet, "cpu_seconds", "%.17g", result->cpu_seconds);
    pm_sheet_add(&sheet, "peak_bytes", "%.17g", result->peak_bytes);
    pm_sheet_add(&sheet, "tail", "%s", result->tail.text);
    if (failure && failure->text[0])
        pm_sheet_add(&sheet, "failure", "%s", failure->text);
    char *path = in_folder(folder, "result"), *text = pm_sheet_text(&sheet);
    bool ok = pm_put_file_whole(path, text, false, err);
    pm_sheet_free(&sheet);
    free(text);
    free(path);
    return ok;
}

/* What a rank or the job itself left as its failure; NULL: none. */
static char *read_failure(const char *folder, const struct pm_sheet *sheet) {
    char *path = in_folder(folder, "failure");
    const char *of_job = pm_sheet_find(sheet, "failure");
    char *text = access(path, F_OK) == 0 ? pm_read_text(path, NULL) : NULL;
    free(path);
    return text ? text : of_job ? pm_strdup(of_job) : NULL;
}

bool pm_job_result(const char *folder, struct pm_launch_result *result, double *started_unix,
                   struct pm_error *err) {
    struct pm_sheet sheet;
    char *path = in_folder(folder, "result");
    bool ok = pm_sheet_read(path, &sheet, err);
    char *failure = read_failure(folder, &sheet);
    const char *tail = pm_sheet_find(&sheet, "tail");
    *result = (struct pm_launch_result){
        .status = (int)pm_sheet_number(&sheet, "status"),
        .timed_out = pm_sheet_number(&sheet, "timed_out") != 0,
        .interrupted = pm_sheet_number(&sheet, "interrupted") != 0,
        .in_place = pm_sheet_number(&sheet, "in_place") != 0,
        .wall_seconds = pm_sheet_number(&sheet, "wall_seconds"),
        .cpu_seconds = pm_sheet_number(&sheet, "cpu_seconds"),
        .peak_bytes = pm_sheet_number(&sheet, "peak_bytes"),
    };
    result->tail.length = tail ? strnlen(tail, PM_OUTPUT_TAIL) : 0;
    memcpy(result->tail.text, tail ? tail : "", result->tail.length);
    *started_unix = pm_sheet_number(&sheet, "started");
    if (ok && failure)
        ok = pm_fail(err, "%s", failure);
    free(failure);
    free(path);
    pm_sheet_free(&sheet);
    return ok;
}

char *pm_job_last_words(const char *folder) {
    struct pm_output_tail tail = {0};
    char *path = in_folder(folder, "queue");
    char *text = access(path, F_OK) == 0 ? pm_read_text(path, NULL) : NULL;
    if (text)
        pm_tail_add(&tail, text, strlen(text));
    free(text);
    free(path);
    return pm_strdup(pm_tail_last_line(&tail));
}

static void pass_file_on(const char *folder, const char *name, FILE *to) {
    char *path = in_folder(folder, name), buffer[1 << 16];
    FILE *file = fopen(path, "re");
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        fwrite(buffer, 1, n, to);
    fflush(to);
    if (file)
        fclose(file);
    free(path);
}

void pm_job_pass_on(const char *folder, bool output_to_errors) {
    pass_file_on(folder, "output", output_to_errors ? stderr : stdout);
    pass_file_on(folder, "errors", stderr);
}
