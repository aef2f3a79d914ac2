/* Maps an ELF file and gives its DWARF sections; see debug_file.h.  Needs nothing.

   Unlike image.c it asks nothing of the file but 64-bit little-endian section headers: separate
   debug files have no code, split ones no addresses.  Compressed sections are those marked so (zlib
   or zstd) and those of the older form, .zdebug_NAME. */
#include "binlift/debug_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* A section that claims to grow by more than this is damage: no debug information does. */
enum { MOST_GROWTH = 1 << 16 };

static const char *const names[PM_N_DWARF_SECTIONS] = {
    [PM_DWARF_INFO] = "info",         [PM_DWARF_ABBREV] = "abbrev",
    [PM_DWARF_LINE] = "line",         [PM_DWARF_STR] = "str",
    [PM_DWARF_LINE_STR] = "line_str", [PM_DWARF_STR_OFFSETS] = "str_offsets",
    [PM_DWARF_ADDR] = "addr",         [PM_DWARF_RANGES] = "ranges",
    [PM_DWARF_RNGLISTS] = "rnglists", [PM_DWARF_CU_INDEX] = "cu_index",
};

/* ---- decompression -------------------------------------------------------------------------- */

/* The contents of PACKED, SIZE bytes, owned by FILE; empty if it is not that. */
static struct pm_span unpack(struct pm_debug_file *file, struct pm_span packed, uint64_t size,
                             uint32_t method) {
    struct pm_span none = {NULL, 0};
    if (size == 0 || size / MOST_GROWTH > packed.n_bytes)
        return none;
    uint8_t *room = malloc(size); /* a size that is too large for memory is damage, too */
    if (!room)
        return none;
    bool whole = false;
    if (method == ELFCOMPRESS_ZLIB) {
        uLongf n = size;
        whole = uncompress(room, &n, packed.bytes, packed.n_bytes) == Z_OK && n == size;
    } else if (method == ELFCOMPRESS_ZSTD) {
        size_t n = ZSTD_decompress(room, size, packed.bytes, packed.n_bytes);
        whole = !ZSTD_isError(n) && n == size;
    }
    if (!whole) {
        free(room);
        return none;
    }
    *PM_PUSH(file, owned) = room;
    return (struct pm_span){room, size};
}

/* The contents of a section whose bytes in the file are RAW. */
static struct pm_span contents(struct pm_debug_file *file, const Elf64_Shdr *header,
                               struct pm_span raw, bool old_form) {
    struct pm_span none = {NULL, 0};
    if (header->sh_flags & SHF_COMPRESSED) {
        Elf64_Chdr how;
        if (raw.n_bytes < sizeof how)
            return none;
        memcpy(&how, raw.bytes, sizeof how);
        struct pm_span packed = {raw.bytes + sizeof how, raw.n_bytes - sizeof how};
        return unpack(file, packed, how.ch_size, how.ch_type);
    }
    if (!old_form)
        return raw;
    enum { PREFIX = 12 }; /* "ZLIB" and the size, big-endian */
    if (raw.n_bytes < PREFIX || memcmp(raw.bytes, "ZLIB", 4) != 0)
        return none;
    uint64_t size = 0;
    for (int i = 4; i < PREFIX; i++)
        size = size << 8 | raw.bytes[i];
    return unpack(file, (struct pm_span){raw.bytes + PREFIX, raw.n_bytes - PREFIX}, size,
                  ELFCOMPRESS_ZLIB);
}

/* ---- sections ------------------------------------------------------------------------------- */

/* Which DWARF section NAME is, PM_N_DWARF_SECTIONS for another; the .dwo ones if SPLIT. */
static unsigned dwarf_section(const char *name, bool split, bool *old_form) {
    *old_form = strncmp(name, ".zdebug_", 8) == 0;
    if (!*old_form && strncmp(name, ".debug_", 7) != 0)
        return PM_N_DWARF_SECTIONS;
    name += *old_form ? 8 : 7;
    for (unsigned i = 0; i < PM_N_DWARF_SECTIONS; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) != 0)
            continue;
        bool shared = i == PM_DWARF_CU_INDEX; /* only in packages, never with .dwo */
        if (strcmp(name + length, split && !shared ? ".dwo" : "") == 0)
            return i;
    }
    return PM_N_DWARF_SECTIONS;
}

static void read_build_id(struct pm_debug_file *file, struct pm_span note) {
    uint32_t sizes[3]; /* of the name, of the contents; type */
    while (note.n_bytes >= sizeof sizes) {
        memcpy(sizes, note.bytes, sizeof sizes);
        uint64_t name = ((uint64_t)sizes[0] + 3) & ~UINT64_C(3);
        uint64_t whole = sizeof sizes + name + (((uint64_t)sizes[1] + 3) & ~UINT64_C(3));
        if (whole > note.n_bytes)
            return;
        const uint8_t *at = note.bytes + sizeof sizes;
        if (sizes[2] == NT_GNU_BUILD_ID && sizes[0] == 4 && memcmp(at, "GNU", 4) == 0 &&
            sizes[1] <= sizeof file->build_id) {
            memcpy(file->build_id, at + name, sizes[1]);
            file->n_build_id = sizes[1];
        }
        note = (struct pm_span){note.bytes + whole, note.n_bytes - whole};
    }
}

static void add_section(struct pm_debug_file *file, const char *name, const Elf64_Shdr *header) {
    if (header->sh_type == SHT_NOBITS || header->sh_type == SHT_NULL ||
        header->sh_offset > file->n_bytes || header->sh_size > file->n_bytes - header->sh_offset)
        return;
    struct pm_span raw = {file->bytes + header->sh_offset, header->sh_size};
    bool old_form;
    unsigned which = dwarf_section(name, file->is_split, &old_form);
    if (which < PM_N_DWARF_SECTIONS && !file->sections[which].n_bytes)
        file->sections[which] = contents(file, header, raw, old_form);
    else if (header->sh_type == SHT_NOTE)
        read_build_id(file, raw);
    else if (strcmp(name, ".gnu_debuglink") == 0)
        file->link = raw;
    else if (strcmp(name, ".gnu_debugaltlink") == 0)
        file->alternative_link = raw;
    else if (strcmp(name, ".debug_sup") == 0)
        file->supplementary = contents(file, header, raw, false);
}

static bool read_sections(struct pm_debug_file *file) {
    Elf64_Ehdr header;
    Elf64_Shdr first, section;
    if (file->n_bytes < sizeof header)
        return false;
    memcpy(&header, file->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof section ||
        !header.e_shoff || header.e_shoff > file->n_bytes ||
        sizeof section > file->n_bytes - header.e_shoff)
        return false;
    const uint8_t *table = file->bytes + header.e_shoff;
    memcpy(&first, table, sizeof first);
    uint64_t n = header.e_shnum ? header.e_shnum : first.sh_size;
    uint64_t strings = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (n > (file->n_bytes - header.e_shoff) / sizeof section || strings >= n)
        return false;
    Elf64_Shdr text;
    memcpy(&text, table + strings * sizeof text, sizeof text);
    if (text.sh_type != SHT_STRTAB || text.sh_size == 0 || text.sh_offset > file->n_bytes ||
        text.sh_size > file->n_bytes - text.sh_offset)
        return false;
    const char *name = (const char *)file->bytes + text.sh_offset;
    if (name[text.sh_size - 1])
        return false;
    for (uint64_t i = 1; i < n; i++) {
        memcpy(&section, table + i * sizeof section, sizeof section);
        if (section.sh_name < text.sh_size)
            add_section(file, name + section.sh_name, &section);
    }
    return true;
}

struct pm_debug_file *pm_debug_file_open(const char *path, bool split) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return NULL;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return NULL;
    struct pm_debug_file *file = pm_alloc(1, sizeof *file);
    file->path = pm_strdup(path);
    file->bytes = bytes;
    file->n_bytes = (size_t)status.st_size;
    file->is_split = split;
    if (!read_sections(file)) {
        pm_debug_file_close(file);
        return NULL;
    }
    return file;
}

void pm_debug_file_close(struct pm_debug_file *file) {
    if (!file)
        return;
    for (size_t i = 0; i < file->n_owned; i++)
        free(file->owned[i]);
    free(file->owned);
    munmap(file->bytes, file->n_bytes);
    free(file->path);
    free(file);
}
