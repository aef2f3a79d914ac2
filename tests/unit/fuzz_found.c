/* Inputs that once crashed, hung or leaked a reader (tests/fuzz/found/TARGET/…) do so no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>

#include "tests/fuzz/targets.h"

#define FOUND "tests/fuzz/found"

static bool is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void replay(const struct fuzz_target *target, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = pm_alloc(size, 1);
    assert_int_equal(fread(data, 1, size, file), size);
    fclose(file);
    print_message("%s\n", path); /* names the culprit in the log of a crash */
    target->run(data, size);
    free(data);
}

static size_t replay_folder(const char *name) {
    const struct fuzz_target *target = fuzz_find_target(name);
    if (!target)
        fail_msg(FOUND "/%s is named after no target", name);
    char *folder = pm_sprintf(FOUND "/%s", name);
    DIR *list = opendir(folder);
    assert_non_null(list);
    size_t n = 0;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!is_visible(entry))
            continue;
        char *path = pm_sprintf("%s/%s", folder, entry->d_name);
        replay(target, path);
        free(path);
        n++;
    }
    closedir(list);
    free(folder);
    return n;
}

static void test_kept_inputs(void **state) {
    (void)state;
    DIR *list = opendir(FOUND);
    assert_non_null(list);
    size_t n = 0;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        if (is_visible(entry))
            n += replay_folder(entry->d_name);
    closedir(list);
    assert_true(n > 0);
}

/* The harness reaches the readers: what they accept must not be refused for its frame. */
static void test_harness_gets_behind_checksums(void **state) {
    (void)state;
    static const struct fuzz_blob structures = {"PMDS", PM_STRUCTURE_VERSION, true, true, 0, 0};
    struct pm_structure *structure = pm_structure_new();
    structure->isa = pm_strdup("x86-64");
    void *blob;
    size_t n_bytes;
    pm_structure_encode(structure, &blob, &n_bytes);
    pm_structure_free(structure);
    ((char *)blob)[16] ^= 1; /* the checksum */
    struct pm_error err = {0};
    assert_null(pm_structure_decode(blob, n_bytes, &err));
    size_t n_repaired;
    char *repaired = fuzz_blob_of(&structures, blob, n_bytes, &n_repaired);
    structure = pm_structure_decode(repaired, n_repaired, &err);
    assert_non_null(structure);
    pm_structure_free(structure);
    free(repaired);
    free(blob);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_inputs),
        cmocka_unit_test(test_harness_gets_behind_checksums),
    };
    return cmocka_run_group_tests_name("fuzz_found", tests, NULL, NULL);
}
