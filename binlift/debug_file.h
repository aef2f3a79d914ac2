/* ELF files that carry debug information: the lifted file itself, a separate debug file, a split
   one, a supplementary one.  Their DWARF sections, decompressed.  Private to binlift/. */
#ifndef PM_DEBUG_FILE_H
#define PM_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/pm_alloc.h"

struct pm_image;

struct pm_span {
    const uint8_t *bytes;
    uint64_t n_bytes;
};

enum pm_dwarf_section {
    PM_DWARF_INFO,
    PM_DWARF_ABBREV,
    PM_DWARF_LINE,
    PM_DWARF_STR,
    PM_DWARF_LINE_STR,
    PM_DWARF_STR_OFFSETS,
    PM_DWARF_ADDR,
    PM_DWARF_RANGES,
    PM_DWARF_RNGLISTS,
    PM_DWARF_CU_INDEX,
    PM_N_DWARF_SECTIONS,
};

struct pm_debug_file {
    char *path;
    uint8_t *bytes; /* the file, mapped read-only */
    size_t n_bytes;
    struct pm_span sections[PM_N_DWARF_SECTIONS]; /* n_bytes 0: not there */
    bool is_split;                                /* the sections are those named NAME.dwo */
    uint8_t build_id[32];
    uint32_t n_build_id;
    struct pm_span link, alternative_link, supplementary; /* .gnu_debuglink, .gnu_debugaltlink,
                                                             .debug_sup */
    PM_ARRAY(uint8_t *, owned);                           /* decompressed sections */
};

/* Maps PATH and finds its DWARF sections; those named .dwo if SPLIT.  NULL: not such a file.  A
   section that is damaged counts as absent. */
struct pm_debug_file *pm_debug_file_open(const char *path, bool split);
void pm_debug_file_close(struct pm_debug_file *file);

/* The file with the debug information of IMAGE: itself; by build-id, ROOT/.build-id/xx/yyyy.debug;
   by .gnu_debuglink beside it, in .debug/ beside it, or under ROOT; PATH.debug of the same
   build-id.  ROOT is each of the folders in the environment variable PMODEL_DEBUG_PATH (separated
   by colons), then /usr/lib/debug.  NULL: there is none. */
struct pm_debug_file *pm_debug_file_find(const struct pm_image *image);

/* The file that FILE shares parts of its debug information with (dwz), or NULL. */
struct pm_debug_file *pm_debug_file_find_supplementary(const struct pm_debug_file *file);

/* The split debug information NAME of a unit compiled in FOLDER (NULL unknown), of the program at
   PROGRAM; NULL: there is none.  And the package of all of them, PROGRAM.dwp or FILE.dwp. */
struct pm_debug_file *pm_debug_file_find_split(const char *name, const char *folder,
                                               const char *program);
struct pm_debug_file *pm_debug_file_find_package(const char *program,
                                                 const struct pm_debug_file *file);

#endif
