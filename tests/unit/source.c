/* A source file is found where it was compiled, or in the folders that stand for that place: of its
   path the longest end first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/source/source.h"

static char *in_scratch(const char *name) {
    const char *folder = getenv("TMP");
    return pm_sprintf("%s/%s", folder ? folder : ".", name);
}

static void write_file(const char *name, const char *text) {
    char *path = in_scratch(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static void assert_first_line(const char *path, const struct pm_source_folders *folders,
                              const char *line) {
    struct pm_error err = {0};
    struct pm_source *source = pm_source_read(path, folders, &err);
    assert_non_null(source);
    assert_string_equal(pm_source_line(source, 1), line);
    pm_source_free(source);
}

static void finds_the_longest_end_first(void **state) {
    (void)state;
    char *folder = in_scratch("here"), *inner = in_scratch("here/src"),
         *file = in_scratch("here/a.c");
    mkdir(folder, 0777);
    mkdir(inner, 0777);
    write_file("here/a.c", "short\n");
    write_file("here/src/a.c", "long\r\nsecond");
    struct pm_source_folders folders = {0};
    struct pm_error err = {0};
    assert_first_line(file, &folders, "short");
    assert_null(pm_source_read("/gone/src/a.c", &folders, &err));
    assert_non_null(strstr(err.text, "--source-dir"));
    *PM_PUSH(&folders, folders) = folder;
    assert_first_line("/gone/src/a.c", &folders, "long");
    assert_first_line("/gone/other/a.c", &folders, "short");
    struct pm_source *source = pm_source_read("/gone/src/a.c", &folders, &err);
    assert_int_equal(source->n_lines, 2);
    assert_string_equal(pm_source_line(source, 2), "second");
    assert_null(pm_source_line(source, 0));
    assert_null(pm_source_line(source, 3));
    pm_source_free(source);
    free(folders.folders);
    free(folder);
    free(inner);
    free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_longest_end_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
