/* A process and what it started; see descendants.h. */
#include "measure/launch/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parent of process ID; 0 if it is gone or a zombie. */
static pid_t living_parent(pid_t id) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[n] = '\0';
    /* "ID (NAME) STATE PARENT …", and a name may have parentheses and blanks. */
    const char *end = strrchr(line, ')');
    int parent;
    char state;
    if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X')
        return 0;
    return (pid_t)parent;
}

static bool has(const struct pm_descendants *all, pid_t id) {
    for (size_t i = 0; i < all->n_ids; i++)
        if (all->ids[i] == id)
            return true;
    return false;
}

/* True if one was found. */
static bool add_children(struct pm_descendants *all) {
    bool found = false;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        pid_t id = (pid_t)atoi(entry->d_name), parent = living_parent(id);
        if (parent && has(all, parent) && !has(all, id)) {
            *PM_PUSH(all, ids) = id;
            found = true;
        }
    }
    if (processes)
        closedir(processes);
    return found;
}

void pm_descendants_find(struct pm_descendants *all, pid_t root) {
    if (!has(all, root))
        *PM_PUSH(all, ids) = root;
    while (add_children(all))
        ;
}

void pm_descendants_signal(const struct pm_descendants *all, int number) {
    for (size_t i = 0; i < all->n_ids; i++)
        kill(all->ids[i], number);
}

bool pm_descendants_live(const struct pm_descendants *all) {
    for (size_t i = 0; i < all->n_ids; i++)
        if (living_parent(all->ids[i]))
            return true;
    return false;
}

void pm_descendants_free(struct pm_descendants *all) { free(all->ids); }
