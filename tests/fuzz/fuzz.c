/* The fuzzing program: libFuzzer calls the target of targets.h that the program is named after. */
#include "tests/fuzz/targets.h"

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    const char *slash = strrchr((*argv)[0], '/');
    const char *name = slash ? slash + 1 : (*argv)[0];
    target = fuzz_find_target(name);
    if (!target) {
        fprintf(stderr, "fuzzing: there is no target `%s`\n", name);
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target->run(data, size);
    return 0;
}
