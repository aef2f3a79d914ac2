/* Small files of names and texts, written whole or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/command/command.h"
#include "measure/launchers/private.h"

static const char last_line[] = "end\n";

void pm_sheet_add(struct pm_sheet *sheet, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    *PM_PUSH(sheet, lines) =
        (struct pm_sheet_line){pm_strdup(name), pm_vsprintf(format, arguments)};
    va_end(arguments);
}

const char *pm_sheet_find(const struct pm_sheet *sheet, const char *name) {
    for (size_t i = 0; i < sheet->n_lines; i++)
        if (strcmp(sheet->lines[i].name, name) == 0)
            return sheet->lines[i].text;
    return NULL;
}

double pm_sheet_number(const struct pm_sheet *sheet, const char *name) {
    const char *text = pm_sheet_find(sheet, name);
    return text ? strtod(text, NULL) : 0;
}

char *pm_sheet_text(const struct pm_sheet *sheet) {
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *to = open_memstream(&text, &n_bytes);
    for (size_t i = 0; to && i < sheet->n_lines; i++) {
        fprintf(to, "%s ", sheet->lines[i].name);
        for (const char *c = sheet->lines[i].text; *c; c++)
            if (*c == '\n')
                fputs("\\n", to);
            else if (*c == '\\')
                fputs("\\\\", to);
            else
                fputc(*c, to);
        fputc('\n', to);
    }
    if (to) {
        fputs(last_line, to);
        fclose(to);
    }
    return text ? text : pm_strdup("");
}

/* In place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool escaped = *from == '\\' && from[1];
        from += escaped;
        *to++ = escaped && *from == 'n' ? '\n' : *from;
    }
    *to = '\0';
}

bool pm_sheet_parse(const char *text, const char *path, struct pm_sheet *sheet,
                    struct pm_error *err) {
    *sheet = (struct pm_sheet){0};
    while (*text && strcmp(text, last_line) != 0) {
        size_t length = strcspn(text, "\n"), name = strcspn(text, " \n");
        if (name == length || text[length] == '\0')
            break;
        struct pm_sheet_line *record = PM_PUSH(sheet, lines);
        record->name = pm_sprintf("%.*s", (int)name, text);
        record->text = pm_sprintf("%.*s", (int)(length - name - 1), text + name + 1);
        unescape(record->text);
        text += length + 1;
    }
    return strcmp(text, last_line) == 0 ||
           pm_fail(err, "%s: is not whole, or not written by this pmodel", path);
}

bool pm_sheet_read(const char *path, struct pm_sheet *sheet, struct pm_error *err) {
    *sheet = (struct pm_sheet){0};
    char *text = pm_read_text(path, err);
    bool ok = text && pm_sheet_parse(text, path, sheet, err);
    free(text);
    return ok;
}

void pm_sheet_free(struct pm_sheet *sheet) {
    for (size_t i = 0; i < sheet->n_lines; i++) {
        free(sheet->lines[i].name);
        free(sheet->lines[i].text);
    }
    free(sheet->lines);
    *sheet = (struct pm_sheet){0};
}

bool pm_put_file_whole(const char *path, const char *text, bool is_script, struct pm_error *err) {
    char *partial = pm_sprintf("%s.%d.part", path, (int)getpid());
    int file = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, is_script ? 0777 : 0666);
    bool ok = file >= 0;
    for (size_t done = 0, n = strlen(text); ok && done < n;) {
        ssize_t step = write(file, text + done, n - done);
        ok = step > 0 || (step < 0 && errno == EINTR);
        done += step > 0 ? (size_t)step : 0;
    }
    ok = ok && fsync(file) == 0;
    ok = (file < 0 || close(file) == 0) && ok && rename(partial, path) == 0;
    if (!ok) {
        int why = errno;
        unlink(partial);
        errno = why;
        pm_fail_errno(err, "%s: cannot be written", path);
    }
    free(partial);
    return ok;
}
