/* Where a program's debug information is, and handles to read it with libdw.  Private to binlift/.
 */
#ifndef PM_DEBUG_FILE_H
#define PM_DEBUG_FILE_H

#include <elfutils/libdw.h>

#include "core/base/base.h"

struct pm_debug_files {
    char *path;       /* NULL: there is none */
    char *supplement; /* what PATH shares with other files (dwz); NULL: nothing */
    uint64_t n_bytes; /* of the file at PATH */
    char *note;       /* a sentence on what is there but cannot be read; NULL: nothing */
};

/* Finds what belongs to PROGRAM where debuggers look (libdwfl): in itself; by build-id; by
   .gnu_debuglink or as PROGRAM.debug, in its folder and in .debug there.  Also in the absolute
   folders of the environment variable PMODEL_DEBUG_PATH (separated by colons), before
   /usr/lib/debug.  A file is taken only if its build-id fits, or, of a program without one, its
   checksum. */
void pm_debug_files_find(struct pm_debug_files *files, const char *program);
void pm_debug_files_release(struct pm_debug_files *files);

/* A file with debug information.  To be used by one thread: libdw allows no more. */
struct pm_debug_handle {
    int fd;
    Elf *elf;
    Dwarf *dwarf;                       /* NULL: it cannot be read */
    struct pm_debug_handle *supplement; /* NULL: none */
};
struct pm_debug_handle *pm_debug_handle_open(const char *path, const char *supplement);
/* Gives back the memory in which libdw keeps what it has read: all that came from it is gone. */
void pm_debug_handle_renew(struct pm_debug_handle *handle);
void pm_debug_handle_close(struct pm_debug_handle *handle);

#endif
