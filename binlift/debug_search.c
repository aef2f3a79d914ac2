/* Finds the files that hold a program's debug information where debuggers look for them; see
   debug_file.h.  A file that was found by a name is taken only if it proves to be the right one: by
   its build-id, or by the checksum that .gnu_debuglink gives. */
#include "binlift/debug_file.h"
#include "binlift/lifted.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct folders {
    PM_ARRAY(char *, paths);
};

/* PMODEL_DEBUG_PATH, then where Debian puts debug files. */
static struct folders debug_folders(void) {
    struct folders folders = {0};
    const char *at = getenv("PMODEL_DEBUG_PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if (length)
            *PM_PUSH(&folders, paths) = pm_sprintf("%.*s", (int)length, at);
        at += length + (at[length] == ':');
    }
    *PM_PUSH(&folders, paths) = pm_strdup("/usr/lib/debug");
    return folders;
}

static void free_folders(struct folders *folders) {
    for (size_t i = 0; i < folders->n_paths; i++)
        free(folders->paths[i]);
    free(folders->paths);
}

/* "a/b" of "a/b/c"; "." of "c". */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return pm_strdup(".");
    return slash == path ? pm_strdup("/") : pm_sprintf("%.*s", (int)(slash - path), path);
}

static bool has_build_id(const struct pm_debug_file *file, const uint8_t *id, uint32_t n) {
    return n > 0 && file->n_build_id == n && memcmp(file->build_id, id, n) == 0;
}

static bool has_debug_information(const struct pm_debug_file *file) {
    return file->sections[PM_DWARF_INFO].n_bytes || file->sections[PM_DWARF_LINE].n_bytes;
}

/* Opens PATH, which it frees, and keeps it if its build-id is ID. */
static struct pm_debug_file *open_with_id(char *path, const uint8_t *id, uint32_t n_id) {
    struct pm_debug_file *file = pm_debug_file_open(path, false);
    free(path);
    if (file && has_build_id(file, id, n_id) && has_debug_information(file))
        return file;
    pm_debug_file_close(file);
    return NULL;
}

/* ROOT/.build-id/xx/yyyy.debug */
static struct pm_debug_file *find_by_id(const struct folders *folders, const uint8_t *id,
                                        uint32_t n_id) {
    if (n_id < 2)
        return NULL;
    char *name = NULL;
    for (uint32_t i = 0; i < n_id; i++)
        pm_append(&name, i == 0 ? "%02x/" : "%02x", id[i]);
    struct pm_debug_file *found = NULL;
    for (size_t i = 0; i < folders->n_paths && !found; i++)
        found =
            open_with_id(pm_sprintf("%s/.build-id/%s.debug", folders->paths[i], name), id, n_id);
    free(name);
    return found;
}

/* ---- .gnu_debuglink ------------------------------------------------------------------------- */

static struct pm_debug_file *open_with_checksum(char *path, uint32_t checksum) {
    struct pm_debug_file *file = pm_debug_file_open(path, false);
    free(path);
    if (file && has_debug_information(file) &&
        crc32_z(crc32(0, NULL, 0), file->bytes, file->n_bytes) == checksum)
        return file;
    pm_debug_file_close(file);
    return NULL;
}

/* LINK: a file name with its NUL, zeros up to four bytes, and the file's CRC-32. */
static struct pm_debug_file *find_by_link(const struct folders *folders, const char *program,
                                          struct pm_span link) {
    const char *name = (const char *)link.bytes;
    uint64_t length = link.n_bytes ? strnlen(name, link.n_bytes) : 0, at = (length + 4) & ~3ull;
    uint32_t checksum;
    if (length == 0 || at > link.n_bytes || link.n_bytes - at < sizeof checksum ||
        memchr(name, '/', length))
        return NULL;
    memcpy(&checksum, link.bytes + at, sizeof checksum);
    char *whole = realpath(program, NULL);
    char *folder = folder_of(whole ? whole : program);
    struct pm_debug_file *found = open_with_checksum(pm_sprintf("%s/%s", folder, name), checksum);
    if (!found)
        found = open_with_checksum(pm_sprintf("%s/.debug/%s", folder, name), checksum);
    for (size_t i = 0; i < folders->n_paths && !found; i++) {
        found =
            open_with_checksum(pm_sprintf("%s%s/%s", folders->paths[i], folder, name), checksum);
        if (!found)
            found = open_with_checksum(pm_sprintf("%s/%s", folders->paths[i], name), checksum);
    }
    free(whole);
    free(folder);
    return found;
}

struct pm_debug_file *pm_debug_file_find(const struct pm_image *image) {
    struct pm_debug_file *own = pm_debug_file_open(image->path, false);
    if (!own || has_debug_information(own))
        return own;
    struct folders folders = debug_folders();
    struct pm_debug_file *found = find_by_id(&folders, own->build_id, own->n_build_id);
    if (!found)
        found = find_by_link(&folders, image->path, own->link);
    if (!found)
        found = open_with_id(pm_sprintf("%s.debug", image->path), own->build_id, own->n_build_id);
    free_folders(&folders);
    pm_debug_file_close(own);
    return found;
}

/* ---- supplementary files -------------------------------------------------------------------- */

/* The file NAME that FILE names. */
static char *beside(const struct pm_debug_file *file, const char *name, uint64_t length) {
    if (*name == '/')
        return pm_sprintf("%.*s", (int)length, name);
    char *whole = realpath(file->path, NULL);
    char *folder = folder_of(whole ? whole : file->path);
    char *path = pm_sprintf("%s/%.*s", folder, (int)length, name);
    free(whole);
    free(folder);
    return path;
}

/* .debug_sup of DWARF 5: version, whether this is the supplementary file, its name, a checksum. */
static struct pm_debug_file *find_by_supplementary_section(const struct pm_debug_file *file) {
    const struct pm_span *section = &file->supplementary;
    enum { NAME_AT = 3 };
    if (section->n_bytes < NAME_AT || section->bytes[2])
        return NULL;
    const char *name = (const char *)section->bytes + NAME_AT;
    uint64_t room = section->n_bytes - NAME_AT, length = strnlen(name, room);
    if (length == 0 || length == room)
        return NULL;
    char *path = beside(file, name, length);
    struct pm_debug_file *found = pm_debug_file_open(path, false);
    free(path);
    if (!found)
        return NULL;
    /* its own section has an empty name, and the same checksum, length first */
    uint64_t n_checksum = room - length - 1;
    const struct pm_span *other = &found->supplementary;
    if (other->n_bytes > NAME_AT && other->bytes[2] == 1 && other->bytes[NAME_AT] == 0 &&
        other->n_bytes - NAME_AT - 1 == n_checksum &&
        memcmp(other->bytes + NAME_AT + 1, name + length + 1, n_checksum) == 0)
        return found;
    pm_debug_file_close(found);
    return NULL;
}

struct pm_debug_file *pm_debug_file_find_supplementary(const struct pm_debug_file *file) {
    const struct pm_span *link = &file->alternative_link; /* a file name with its NUL, a build-id */
    const char *name = (const char *)link->bytes;
    uint64_t length = link->n_bytes ? strnlen(name, link->n_bytes) : 0;
    if (length == 0 || length >= link->n_bytes || link->n_bytes - length - 1 > 64)
        return find_by_supplementary_section(file);
    const uint8_t *id = link->bytes + length + 1;
    uint32_t n_id = (uint32_t)(link->n_bytes - length - 1);
    struct pm_debug_file *found = open_with_id(beside(file, name, length), id, n_id);
    if (found)
        return found;
    struct folders folders = debug_folders();
    found = find_by_id(&folders, id, n_id);
    free_folders(&folders);
    return found;
}

/* ---- split debug information ---------------------------------------------------------------- */

static struct pm_debug_file *open_split(char *path) {
    struct pm_debug_file *file = pm_debug_file_open(path, true);
    free(path);
    if (file && file->sections[PM_DWARF_INFO].n_bytes)
        return file;
    pm_debug_file_close(file);
    return NULL;
}

struct pm_debug_file *pm_debug_file_find_split(const char *name, const char *folder,
                                               const char *program) {
    if (*name == '/')
        return open_split(pm_strdup(name));
    struct pm_debug_file *found = NULL;
    if (folder)
        found = open_split(pm_sprintf("%s/%s", folder, name));
    char *own = folder_of(program);
    if (!found)
        found = open_split(pm_sprintf("%s/%s", own, name));
    struct folders folders = debug_folders();
    for (size_t i = 0; i < folders.n_paths && !found; i++)
        found = open_split(pm_sprintf("%s/%s", folders.paths[i], name));
    free_folders(&folders);
    free(own);
    return found;
}

struct pm_debug_file *pm_debug_file_find_package(const char *program,
                                                 const struct pm_debug_file *file) {
    struct pm_debug_file *found = open_split(pm_sprintf("%s.dwp", program));
    return found ? found : open_split(pm_sprintf("%s.dwp", file->path));
}
