/* The session's temporary folder.

   It has a locked file: that of a process that was killed has one that is not locked, and the next
   session of that user removes it.  A young one is left alone: its process may be about to lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/private.h"

enum { YOUNG_SECONDS = 60 };

void pm_remove_folder(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static char *lock_path(const char *folder) { return pm_sprintf("%s/lock", folder); }

static bool is_old_and_ours(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && status.st_uid == geteuid() &&
           time(NULL) - status.st_mtime >= YOUNG_SECONDS;
}

/* One without the file is of a process that was killed before it made that. */
static bool is_abandoned(const char *folder) {
    char *path = lock_path(folder);
    int lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0 && errno == ENOENT)
        lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool abandoned = lock >= 0 && is_old_and_ours(lock) && flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (lock >= 0)
        close(lock);
    free(path);
    return abandoned;
}

static void remove_abandoned(const char *parent) {
    glob_t found;
    char *pattern = pm_sprintf("%s/pmodel-??????", parent);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (is_abandoned(found.gl_pathv[i]))
                pm_remove_folder(found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
}

static char *to_remove; /* where the process ends by exit, for want of memory */

static void remove_at_exit(void) {
    if (to_remove)
        pm_remove_folder(to_remove);
}

bool pm_make_work_folder(struct pm_work_folder *work, struct pm_error *err) {
    static bool is_registered;
    const char *temporary = getenv("TMPDIR");
    const char *parent = temporary && *temporary ? temporary : "/tmp";
    remove_abandoned(parent);
    *work = (struct pm_work_folder){.path = pm_sprintf("%s/pmodel-XXXXXX", parent), .lock = -1};
    if (!mkdtemp(work->path)) {
        pm_fail_errno(err, "cannot make a folder %s (TMPDIR)", work->path);
        free(work->path);
        work->path = NULL;
        return false;
    }
    to_remove = work->path;
    is_registered = is_registered || atexit(remove_at_exit) == 0;
    char *path = lock_path(work->path);
    work->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    bool ok = work->lock >= 0 || pm_fail_errno(err, "cannot make %s (TMPDIR)", path);
    if (ok)
        flock(work->lock, LOCK_EX);
    free(path);
    return ok;
}

void pm_free_work_folder(struct pm_work_folder *work) {
    if (!work->path)
        return;
    pm_remove_folder(work->path);
    to_remove = NULL;
    if (work->lock >= 0)
        close(work->lock);
    free(work->path);
}
