/* Finds a program's debug information by libdwfl, and opens it by libdw; see debug_file.h.  Needs
   nothing.

   What libdw does not know of itself is added here: the section .debug_sup, which dwz writes for
   DWARF 5, and a sentence for sections compressed by zstd, which libdw leaves out silently. */
#include "binlift/dwarf/debug_file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* ---- handles -------------------------------------------------------------------------------- */

struct pm_debug_handle *pm_debug_handle_open(const char *path, const char *supplement) {
    elf_version(EV_CURRENT);
    struct pm_debug_handle *handle = pm_alloc(1, sizeof *handle);
    handle->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (handle->fd >= 0)
        handle->elf = elf_begin(handle->fd, ELF_C_READ_MMAP, NULL);
    if (supplement)
        handle->supplement = pm_debug_handle_open(supplement, NULL);
    pm_debug_handle_renew(handle);
    return handle;
}

void pm_debug_handle_renew(struct pm_debug_handle *handle) {
    dwarf_end(handle->dwarf);
    handle->dwarf = handle->elf ? dwarf_begin_elf(handle->elf, DWARF_C_READ, NULL) : NULL;
    if (!handle->supplement)
        return;
    pm_debug_handle_renew(handle->supplement);
    if (handle->dwarf && handle->supplement->dwarf)
        dwarf_setalt(handle->dwarf, handle->supplement->dwarf);
}

void pm_debug_handle_close(struct pm_debug_handle *handle) {
    if (!handle)
        return;
    dwarf_end(handle->dwarf);
    pm_debug_handle_close(handle->supplement);
    elf_end(handle->elf);
    if (handle->fd >= 0)
        close(handle->fd);
    free(handle);
}

/* ---- sections ------------------------------------------------------------------------------- */

static Elf_Scn *section_named(Elf *elf, const char *name, bool by_beginning, GElf_Shdr *header) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *found =
            gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        size_t length = by_beginning ? strlen(name) : strlen(name) + 1;
        if (found && strncmp(found, name, length) == 0 &&
            (!by_beginning || (header->sh_flags & SHF_COMPRESSED)))
            return section;
    }
    return NULL;
}

/* Whether debug information is compressed in a way that libelf may not know. */
static bool is_zstd(Elf *elf) {
    GElf_Shdr header;
    Elf_Scn *section = section_named(elf, ".debug_", true, &header);
    GElf_Chdr how;
    return section && gelf_getchdr(section, &how) && how.ch_type == ELFCOMPRESS_ZSTD;
}

/* .debug_sup of DWARF 5: version (2 bytes), whether this is the supplementary file, its name, a
   checksum. */
struct supplementary {
    bool is_supplement;
    const char *name;
    const uint8_t *checksum;
    size_t n_checksum;
};

static bool read_supplementary(Elf *elf, struct supplementary *read) {
    enum { NAME_AT = 3 };
    GElf_Shdr header;
    Elf_Scn *section = elf ? section_named(elf, ".debug_sup", false, &header) : NULL;
    Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf || data->d_size <= NAME_AT)
        return false;
    const uint8_t *bytes = data->d_buf;
    size_t room = data->d_size - NAME_AT;
    read->is_supplement = bytes[2];
    read->name = (const char *)bytes + NAME_AT;
    size_t length = strnlen(read->name, room);
    if (length == room)
        return false;
    read->checksum = bytes + NAME_AT + length + 1;
    read->n_checksum = room - length - 1;
    return true;
}

static char *folder_of(const char *path) {
    char *whole = realpath(path, NULL), *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash)
        *slash = 0;
    return whole ? whole : pm_strdup(".");
}

/* The file that ELF, read from PATH, names in .debug_sup, if it has the same checksum. */
static char *find_supplementary(Elf *elf, const char *path) {
    struct supplementary own, other;
    if (!read_supplementary(elf, &own) || own.is_supplement)
        return NULL;
    char *folder = folder_of(path);
    char *found = *own.name == '/' ? pm_strdup(own.name) : pm_sprintf("%s/%s", folder, own.name);
    free(folder);
    struct pm_debug_handle *handle = pm_debug_handle_open(found, NULL);
    bool fits = read_supplementary(handle->elf, &other) && other.is_supplement &&
                other.n_checksum == own.n_checksum &&
                memcmp(other.checksum, own.checksum, own.n_checksum) == 0;
    pm_debug_handle_close(handle);
    if (fits)
        return found;
    free(found);
    return NULL;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Beside the program, PMODEL_DEBUG_PATH, then where Debian puts debug files: as libdwfl wants it.
 */
static char *search_path(void) {
    char *path = pm_strdup("+:.debug");
    const char *at = getenv("PMODEL_DEBUG_PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        if (*at == '/')
            pm_append(&path, ":%.*s", (int)length, at);
        at += length + (at[length] == ':');
    }
    pm_append(&path, ":/usr/lib/debug");
    return path;
}

struct search {
    PM_ARRAY(char *, found); /* the debug file, unless the program has its own; the supplement */
};

/* Called by libdwfl.  What it finds by name alone must be provable by build-id or checksum. */
static int find_debug_file(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **found) {
    struct search *search = *userdata;
    const unsigned char *id;
    GElf_Addr address;
    if (!link && dwfl_module_build_id(module, &id, &address) <= 0)
        return -1;
    int fd =
        dwfl_standard_find_debuginfo(module, userdata, name, base, file, link, checksum, found);
    if (fd >= 0 && *found)
        *PM_PUSH(search, found) = pm_strdup(*found);
    return fd;
}

/* What DWARF, read from files->path, shares with other files: files->supplement, or a note. */
static void find_supplement(struct pm_debug_files *files, Dwarf *dwarf, const char *found) {
    struct supplementary section;
    const char *name;
    const void *id;
    files->supplement =
        found ? pm_strdup(found) : find_supplementary(dwarf_getelf(dwarf), files->path);
    if (files->supplement)
        return;
    if (dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0) {
        if (!read_supplementary(dwarf_getelf(dwarf), &section) || section.is_supplement)
            return;
        name = section.name;
    }
    bool is_other = dwarf_getalt(dwarf); /* libdw alone does not look at the build-id */
    files->note = pm_sprintf("the debug information of %s shares parts with %s, which %s: %s",
                             files->path, name, is_other ? "is of another build" : "is not there",
                             is_other ? "source files, lines and inlined code are unknown"
                                      : "names of inlined code are unknown");
    if (is_other) {
        free(files->path);
        files->path = NULL;
    }
}

/* Sections that libdw could not decompress are still marked as compressed. */
static void check_compression(struct pm_debug_files *files, const char *path) {
    struct pm_debug_handle *handle = pm_debug_handle_open(path, NULL);
    if (handle->elf && is_zstd(handle->elf))
        files->note = pm_sprintf("the debug information of %s is compressed by zstd, which this "
                                 "elfutils cannot read: source files, lines and inlined code are "
                                 "unknown; objcopy --decompress-debug-sections makes it readable",
                                 path);
    pm_debug_handle_close(handle);
}

void pm_debug_files_find(struct pm_debug_files *files, const char *program) {
    struct search search = {0};
    char *path = search_path();
    const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                      .find_debuginfo = find_debug_file,
                                      .section_address = dwfl_offline_section_address,
                                      .debuginfo_path = &path};
    *files = (struct pm_debug_files){0};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    Dwfl_Module *module = dwfl ? dwfl_report_offline(dwfl, "", program, -1) : NULL;
    Dwarf *dwarf = NULL;
    if (module) {
        void **userdata;
        Dwarf_Addr bias;
        dwfl_report_end(dwfl, NULL, NULL);
        dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
        *userdata = &search;
        dwarf = dwfl_module_getdwarf(module, &bias);
    }
    if (dwarf) {
        const char *own;
        dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, &own);
        size_t n = own && search.n_found && strcmp(own, search.found[0]) == 0;
        files->path = pm_strdup(n ? own : program);
        find_supplement(files, dwarf, n < search.n_found ? search.found[n] : NULL);
    }
    if (!files->note)
        check_compression(files, files->path ? files->path : program);
    struct stat status;
    if (files->path && stat(files->path, &status) == 0)
        files->n_bytes = (uint64_t)status.st_size;
    dwfl_end(dwfl);
    for (size_t i = 0; i < search.n_found; i++)
        free(search.found[i]);
    free(search.found);
    free(path);
}

void pm_debug_files_release(struct pm_debug_files *files) {
    free(files->path);
    free(files->supplement);
    free(files->note);
}
