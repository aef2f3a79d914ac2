/* `pmodel machines`: the machine descriptions that `-m` finds. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "core/base/base.h"

static int show_file(const char *name) {
    struct pm_error err = {0};
    char *path = pm_machine_path(name, &err);
    struct pm_machine *machine = path ? pm_machine_read(path, &err) : NULL;
    FILE *file = machine ? fopen(path, "r") : NULL;
    if (machine && !file)
        pm_fail_errno(&err, "%s", path);
    free(path);
    pm_machine_free(machine);
    if (!file)
        return pm_complain(&err);
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        fwrite(buffer, 1, n, stdout);
    fclose(file);
    return PM_EXIT_OK;
}

static int list_all(void) {
    struct pm_error err = {0};
    char **names;
    size_t n_names;
    if (!pm_machine_names(&names, &n_names, &err))
        return pm_complain(&err);
    int status = PM_EXIT_OK;
    for (size_t i = 0; i < n_names; i++) {
        struct pm_machine *machine = pm_find_machine(names[i], &err);
        if (machine)
            printf("%-16s %s%s\n", names[i], machine->title,
                   machine->n_not_verified ? "  (some figures not verified)" : "");
        else
            status = pm_complain(&err);
        pm_machine_free(machine);
        free(names[i]);
    }
    free(names);
    return status;
}

int pm_cmd_machines(int argc, char **argv) {
    if (argc > 2)
        return pm_usage_error("machines", "unexpected argument \"%s\"", argv[2]);
    return argc == 2 ? show_file(argv[1]) : list_all();
}
