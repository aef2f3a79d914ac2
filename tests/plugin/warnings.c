/* Compiled with -Wall -Wextra: what GCC finds late, and early, is the same with the plugin. */
#include <stdio.h>
#include <string.h>

int unused_parameter(int used, int unused) { return used; }

int uninitialised(int n) {
    int values[8], sum = 0, last;
    for (int i = 0; i < n; i++) {
        sum += values[i];
        last = i;
    }
    return sum + last;
}

int beyond(void) {
    int values[4] = {1, 2, 3, 4}, sum = 0;
    for (int i = 0; i <= 4; i++)
        sum += values[i];
    return sum + values[5];
}

void overflow(char *out, const char *name) {
    char buffer[8];
    sprintf(buffer, "name=%s", "a name that is too long");
    strcpy(out, buffer);
    for (int i = 0; i < 20; i++)
        buffer[i] = name[i];
    strcpy(out, buffer);
}
