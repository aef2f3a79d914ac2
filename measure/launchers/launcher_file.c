/* The file that describes a queue: libconfuse text, of which docs/pmodel-run.md (LAUNCHERS) has the
   words. */
#define _GNU_SOURCE
#include <confuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/command/command.h"
#include "measure/launchers/private.h"

enum { MOST_BYTES = 1 << 16 };

/* libconfuse calls back without a context. */
static _Thread_local struct {
    const char *path;
    struct pm_error *err;
    bool failed;
} reading;

static void on_error(cfg_t *cfg, const char *format, va_list arguments) {
    char text[PM_ERROR_TEXT_SIZE / 2];
    if (reading.failed)
        return;
    reading.failed = true;
    vsnprintf(text, sizeof text, format, arguments);
    pm_fail(reading.err, "%s:%d: %s", reading.path, cfg ? cfg->line : 0, text);
}

/* `$` and backslashes are the shell's: libconfuse would take the one for its own in double quotes,
   and prints the other where no quotes are. */
static bool check_quotes(const char *text, const char *path, struct pm_error *err) {
    char quote = '\0';
    int line = 1;
    for (; *text; text++) {
        line += *text == '\n';
        if (!quote && *text == '#')
            text += strcspn(text, "\n") - 1;
        else if (quote && *text == quote)
            quote = '\0';
        else if (!quote && (*text == '"' || *text == '\''))
            quote = *text;
        else if (quote == '"' && *text == '$')
            return pm_fail(err, "%s:%d: write a text with a `$` between single quotes", path, line);
        else if (!quote && *text == '\\')
            return pm_fail(err, "%s:%d: write a text with a `\\` between single quotes", path,
                           line);
        else if (*text == '\\' && text[1])
            line += *++text == '\n';
    }
    return true;
}

static char *owned(cfg_t *cfg, const char *name) {
    const char *text = cfg_getstr(cfg, name);
    return text && *text ? pm_strdup(text) : NULL;
}

static char **owned_list(cfg_t *cfg, const char *name) {
    size_t n = cfg_size(cfg, name);
    char **list = pm_alloc(n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = pm_strdup(cfg_getnstr(cfg, name, (unsigned)i));
    return list;
}

static unsigned number(cfg_t *cfg, const char *name, long least) {
    long value = cfg_getint(cfg, name);
    if (value >= least && value <= 1000000)
        return (unsigned)value;
    if (!reading.failed)
        pm_fail(reading.err, "%s: %s is %ld, not a number from %ld to 1000000", reading.path, name,
                value, least);
    reading.failed = true;
    return (unsigned)least;
}

static bool take(cfg_t *cfg, struct pm_launcher *launcher) {
    launcher->submit = owned(cfg, "submit");
    launcher->poll = owned(cfg, "poll");
    launcher->cancel = owned(cfg, "cancel");
    launcher->index = owned(cfg, "index");
    launcher->job = owned(cfg, "job");
    launcher->limit = owned(cfg, "limit");
    launcher->needs = owned_list(cfg, "needs");
    launcher->ended = owned_list(cfg, "ended");
    launcher->most = number(cfg, "most", 1);
    launcher->interval = number(cfg, "interval", 0);
    launcher->settle = number(cfg, "settle", 0);
    if (!launcher->job)
        launcher->job = pm_strdup("{ID}");
    if (reading.failed)
        return false;
    if (!launcher->submit || !launcher->poll)
        return pm_fail(reading.err, "%s: it says no %s: which command %s?", reading.path,
                       launcher->submit ? "`poll`" : "`submit`",
                       launcher->submit ? "lists the jobs that wait or run" : "submits a job");
    return true;
}

static bool parse(const char *text, struct pm_launcher *launcher) {
    cfg_opt_t options[] = {
        CFG_STR("submit", 0, CFGF_NODEFAULT),     CFG_STR("poll", 0, CFGF_NODEFAULT),
        CFG_STR("cancel", 0, CFGF_NODEFAULT),     CFG_STR("index", 0, CFGF_NODEFAULT),
        CFG_STR("job", 0, CFGF_NODEFAULT),        CFG_STR("limit", 0, CFGF_NODEFAULT),
        CFG_STR_LIST("needs", 0, CFGF_NODEFAULT), CFG_STR_LIST("ended", 0, CFGF_NODEFAULT),
        CFG_INT("most", 1000, CFGF_NONE),         CFG_INT("interval", 5, CFGF_NONE),
        CFG_INT("settle", 10, CFGF_NONE),         CFG_END(),
    };
    cfg_t *cfg = cfg_init(options, CFGF_NONE);
    if (!cfg)
        return pm_fail(reading.err, "libconfuse could not be initialised");
    cfg_set_error_function(cfg, on_error);
    int status = cfg_parse_buf(cfg, text);
    if (status != CFG_SUCCESS && !reading.failed) {
        pm_fail(reading.err, "%s: not a file that describes a launcher", reading.path);
        reading.failed = true;
    }
    bool ok = !reading.failed && take(cfg, launcher);
    cfg_free(cfg);
    return ok;
}

/* libconfuse's scanner ends the process when a read fails, so the file is read here. */
static char *read_text(const char *path, struct pm_error *err) {
    FILE *file = fopen(path, "re");
    char *text = file ? pm_alloc(MOST_BYTES + 1, 1) : NULL;
    size_t n = file ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    bool ok = file && !ferror(file);
    if (!ok)
        pm_fail_errno(err, "cannot read the launcher's file %s", path);
    else if (n > MOST_BYTES || memchr(text, 0, n))
        ok = pm_fail(err, "%s: not a file that describes a launcher (it is %s)", path,
                     n > MOST_BYTES ? "too large" : "no text");
    if (file)
        fclose(file);
    if (ok)
        return text;
    free(text);
    return NULL;
}

struct pm_launcher *pm_launcher_read(const char *path, struct pm_error *err) {
    char *text = read_text(path, err);
    if (!text)
        return NULL;
    struct pm_launcher *launcher = pm_alloc(1, sizeof *launcher);
    launcher->path = pm_strdup(path);
    reading.path = path;
    reading.err = err;
    reading.failed = false;
    bool ok = check_quotes(text, path, err) && parse(text, launcher);
    free(text);
    if (ok)
        return launcher;
    pm_launcher_free(launcher);
    return NULL;
}

void pm_launcher_free(struct pm_launcher *launcher) {
    if (!launcher)
        return;
    free(launcher->path);
    free(launcher->submit);
    free(launcher->poll);
    free(launcher->cancel);
    free(launcher->index);
    free(launcher->job);
    free(launcher->limit);
    pm_free_strings(launcher->needs);
    pm_free_strings(launcher->ended);
    free(launcher);
}
