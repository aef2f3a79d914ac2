/* Errors as values: a function that can fail returns false or NULL and fills the caller's pm_error
   with one sentence that names the file, address or line, and what to do.  Only cmd/ prints it. */
#ifndef PM_ERROR_H
#define PM_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum { PM_ERROR_TEXT_SIZE = 1024 };

enum pm_error_kind {
    PM_ERROR_NONE = 0,
    PM_ERROR_INPUT,  /* the user's file, option or program is at fault: exit status 2 */
    PM_ERROR_SYSTEM, /* the operating system refused: exit status 1 */
};

struct pm_error {
    enum pm_error_kind kind;
    char text[PM_ERROR_TEXT_SIZE];
};

/* Fills *ERR (which may be NULL) and returns false, so that a caller can write `return pm_fail
   (…)`. A text already there is replaced. */
bool pm_fail(struct pm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As pm_fail, with ": " and the text of errno at the end, and kind PM_ERROR_SYSTEM; PM_ERROR_INPUT
   where errno speaks of a path that is not there or of the wrong kind. */
bool pm_fail_errno(struct pm_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "CONTEXT: " in front of the text that is there; returns false. */
bool pm_fail_in(struct pm_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
