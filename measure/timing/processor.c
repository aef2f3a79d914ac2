/* What the system says of the processor that it runs on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/timing/timing.h"

char *pm_processor_says(const char *name) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *value = NULL;
    size_t size = 0;
    while (file && !value && getline(&line, &size, file) > 0) {
        size_t length = strcspn(line, "\t:");
        char *at = strchr(line, ':');
        if (!at || strlen(name) != length || strncmp(line, name, length) != 0)
            continue;
        at += 1 + strspn(at + 1, " \t");
        value = pm_sprintf("%.*s", (int)strcspn(at, "\n"), at);
    }
    free(line);
    if (file)
        fclose(file);
    return value;
}
