/* Writes the instrumented ELF file byte by byte: nothing that stands in the original moves.

   - The program header of a note becomes that of the new segment, put behind the last PT_LOAD (the
     notes themselves stay where they are).  Where no note has a header, the table of program
   headers moves to the end of the new segment, which then lies as far from the first segment in the
   file as in memory: older kernels tell a program the address of its table from that.
   - The dynamic string table is copied behind the new segment's bytes with the runtime's path at
   its end; DT_STRTAB, DT_STRSZ and the section follow it there.
   - DT_NEEDED for the runtime goes first into .dynamic, which therefore needs one unused entry;
   failing that one gives up its own that no dynamic linker needs: DT_RELACOUNT only saves time, the
   numbers of needed and defined versions stand in the lists themselves.
   - If the new segment has unwinding tables, the program header of .eh_frame_hdr leads to them.
   - A new table of section headers, with names for the added sections, stands at the file's end. */
#include "binlift/copy/write_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, TABLE_ALIGNMENT = 8, MOST_PADDING = 1 << 28 };

struct output {
    const struct pm_image *image;
    PM_ARRAY(uint8_t, bytes);
    uint64_t segment_offset, segment_address, segment_bytes;
    uint64_t strings_address, strings_bytes; /* the copied dynamic string table */
};

static uint64_t align_up(uint64_t value, uint64_t boundary) {
    return (value + boundary - 1) & ~(boundary - 1);
}

static void append(struct output *out, const void *bytes, size_t n_bytes) {
    if (out->n_bytes + n_bytes > out->cap_bytes) {
        out->cap_bytes = 2 * (out->n_bytes + n_bytes);
        out->bytes = pm_realloc(out->bytes, out->cap_bytes, 1);
    }
    memcpy(out->bytes + out->n_bytes, bytes, n_bytes);
    out->n_bytes += n_bytes;
}

static void append_zeros(struct output *out, uint64_t until) {
    static const uint8_t zeros[PAGE_BYTES];
    while (out->n_bytes < until) {
        uint64_t n = until - out->n_bytes;
        append(out, zeros, n < sizeof zeros ? n : sizeof zeros);
    }
}

/* ---- program headers ------------------------------------------------------------------------ */

static size_t last_load(const Elf64_Phdr *segments, size_t n) {
    size_t last = n;
    for (size_t i = 0; i < n; i++)
        if (segments[i].p_type == PT_LOAD)
            last = i;
    return last;
}

static bool holds_build_id(const struct pm_image *image, const Elf64_Phdr *note) {
    const struct pm_section *section = pm_image_section(image, ".note.gnu.build-id");
    return section && section->header.sh_addr >= note->p_vaddr &&
           section->header.sh_addr < note->p_vaddr + note->p_memsz;
}

/* The PT_NOTE segment to give up: not the one with the build-id if there is another. */
static size_t find_note(const struct pm_image *image) {
    size_t found = image->n_segments;
    for (size_t i = 0; i < image->n_segments; i++)
        if (image->segments[i].p_type == PT_NOTE &&
            (found == image->n_segments || !holds_build_id(image, &image->segments[i])))
            found = i;
    return found;
}

/* Does the table of program headers move, for want of one that can be given up? */
static bool table_moves(const struct pm_image *image) {
    return find_note(image) == image->n_segments;
}

static const Elf64_Phdr *first_load(const struct pm_image *image) {
    for (size_t i = 0; i < image->n_segments; i++)
        if (image->segments[i].p_type == PT_LOAD)
            return &image->segments[i];
    return NULL;
}

static uint64_t address_of(const struct output *out, uint64_t offset) {
    return out->segment_address + (offset - out->segment_offset);
}

/* Room for the table with one header more, at the end of the new segment. */
static void append_table(struct output *out) {
    const struct pm_image *image = out->image;
    append_zeros(out, align_up(out->n_bytes, TABLE_ALIGNMENT));
    uint64_t at = out->n_bytes;
    append(out, image->segments, image->n_segments * sizeof *image->segments);
    append_zeros(out, at + (image->n_segments + 1) * sizeof *image->segments);
    ((Elf64_Ehdr *)out->bytes)->e_phoff = at;
}

/* In a table that has moved and has room behind its N headers. */
static void insert_header(struct output *out, Elf64_Phdr *table, size_t n, Elf64_Phdr load) {
    Elf64_Ehdr *header = (Elf64_Ehdr *)out->bytes;
    size_t last = last_load(table, n);
    memmove(table + last + 2, table + last + 1, (n - last - 1) * sizeof *table);
    table[last + 1] = load;
    header->e_phnum++;
    for (size_t i = 0; i <= n; i++)
        if (table[i].p_type == PT_PHDR) {
            table[i].p_offset = header->e_phoff;
            table[i].p_vaddr = table[i].p_paddr = address_of(out, header->e_phoff);
            table[i].p_filesz = table[i].p_memsz = (n + 1) * sizeof *table;
        }
}

static void replace_unwind_header(struct output *out, const struct pm_new_segment *segment) {
    Elf64_Ehdr *header = (Elf64_Ehdr *)out->bytes;
    Elf64_Phdr *table = (Elf64_Phdr *)(out->bytes + header->e_phoff);
    for (size_t i = 0; segment->unwind_header_bytes && i < header->e_phnum; i++)
        if (table[i].p_type == PT_GNU_EH_FRAME) {
            table[i].p_offset = out->segment_offset + segment->unwind_header;
            table[i].p_vaddr = table[i].p_paddr = segment->address + segment->unwind_header;
            table[i].p_filesz = table[i].p_memsz = segment->unwind_header_bytes;
        }
}

static void add_segment(struct output *out) {
    const struct pm_image *image = out->image;
    Elf64_Ehdr *header = (Elf64_Ehdr *)out->bytes;
    Elf64_Phdr *table = (Elf64_Phdr *)(out->bytes + header->e_phoff);
    size_t n = image->n_segments, note = find_note(image), last = last_load(table, n);
    Elf64_Phdr load = {.p_type = PT_LOAD,
                       .p_flags = PF_R | PF_X,
                       .p_offset = out->segment_offset,
                       .p_vaddr = out->segment_address,
                       .p_paddr = out->segment_address,
                       .p_filesz = out->segment_bytes,
                       .p_memsz = out->segment_bytes,
                       .p_align = PAGE_BYTES};
    if (note == n) {
        insert_header(out, table, n, load);
    } else if (note > last) {
        memmove(table + last + 2, table + last + 1, (note - last - 1) * sizeof *table);
        table[last + 1] = load;
    } else {
        memmove(table + note, table + note + 1, (last - note) * sizeof *table);
        table[last] = load;
    }
}

/* ---- .dynamic ------------------------------------------------------------------------------- */

static const struct pm_section *dynamic_section(const struct pm_image *image) {
    for (size_t i = 1; i < image->n_sections; i++)
        if (image->sections[i].header.sh_type == SHT_DYNAMIC)
            return &image->sections[i];
    return NULL;
}

struct dynamic {
    size_t n_entries, n_used; /* n_used: without DT_NULL */
    size_t disposable;        /* the entry that is missed least; n_used: none */
    uint64_t strings, n_string_bytes;
};

/* Entries that are there for other tools or for speed, the first is missed least; 0: needed. */
static unsigned disposal_rank(Elf64_Sxword tag) {
    return tag == DT_RELACOUNT ? 1 : tag == DT_VERNEEDNUM ? 2 : tag == DT_VERDEFNUM ? 3 : 0;
}

static bool read_dynamic(const struct pm_image *image, struct dynamic *dynamic) {
    const struct pm_section *section = dynamic_section(image);
    memset(dynamic, 0, sizeof *dynamic);
    if (!section)
        return false;
    dynamic->n_entries = section->header.sh_size / sizeof(Elf64_Dyn);
    const Elf64_Dyn *entries = (const Elf64_Dyn *)(image->bytes + section->header.sh_offset);
    size_t disposable = SIZE_MAX;
    unsigned best = UINT_MAX;
    while (dynamic->n_used < dynamic->n_entries && entries[dynamic->n_used].d_tag != DT_NULL) {
        const Elf64_Dyn *entry = &entries[dynamic->n_used];
        unsigned rank = disposal_rank(entry->d_tag);
        if (entry->d_tag == DT_STRTAB)
            dynamic->strings = entry->d_un.d_val;
        else if (entry->d_tag == DT_STRSZ)
            dynamic->n_string_bytes = entry->d_un.d_val;
        if (rank && rank < best) {
            best = rank;
            disposable = dynamic->n_used;
        }
        dynamic->n_used++;
    }
    dynamic->disposable = disposable == SIZE_MAX ? dynamic->n_used : disposable;
    return pm_image_at(image, dynamic->strings, dynamic->n_string_bytes) != NULL;
}

static void add_needed(struct output *out, uint64_t name) {
    struct dynamic dynamic;
    read_dynamic(out->image, &dynamic);
    Elf64_Dyn *entries = (Elf64_Dyn *)(out->bytes + dynamic_section(out->image)->header.sh_offset);
    bool has_spare = dynamic.n_used + 1 < dynamic.n_entries;
    size_t n_moved = has_spare ? dynamic.n_used : dynamic.disposable;
    memmove(entries + 1, entries, n_moved * sizeof *entries);
    entries[0] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = name};
    for (size_t i = 0; i < dynamic.n_entries; i++)
        if (entries[i].d_tag == DT_STRTAB)
            entries[i].d_un.d_ptr = out->strings_address;
        else if (entries[i].d_tag == DT_STRSZ)
            entries[i].d_un.d_val = out->strings_bytes;
}

/* ---- section headers ------------------------------------------------------------------------ */

struct section_table {
    PM_ARRAY(Elf64_Shdr, headers);
    char *names;
    size_t n_name_bytes;
};

static uint32_t add_name(struct section_table *table, const char *name) {
    size_t at = table->n_name_bytes, bytes = strlen(name) + 1;
    table->names = pm_realloc(table->names, at + bytes, 1);
    memcpy(table->names + at, name, bytes);
    table->n_name_bytes += bytes;
    return (uint32_t)at;
}

static void copy_sections(const struct output *out, struct section_table *table) {
    const struct pm_image *image = out->image;
    const Elf64_Shdr *names = &image->sections[image->header->e_shstrndx].header;
    table->n_name_bytes = names->sh_size;
    table->names =
        memcpy(pm_alloc(names->sh_size, 1), image->bytes + names->sh_offset, names->sh_size);
    uint64_t old_strings = 0;
    struct dynamic dynamic;
    if (read_dynamic(image, &dynamic))
        old_strings = dynamic.strings;
    for (size_t i = 0; i < image->n_sections; i++) {
        Elf64_Shdr *header = PM_PUSH(table, headers);
        *header = image->sections[i].header;
        if (header->sh_type == SHT_STRTAB && (header->sh_flags & SHF_ALLOC) &&
            header->sh_addr == old_strings) {
            header->sh_addr = out->strings_address;
            header->sh_offset = out->segment_offset + (out->strings_address - out->segment_address);
            header->sh_size = out->strings_bytes;
        }
    }
}

static void add_sections(struct output *out, const struct pm_new_segment *segment) {
    const struct pm_image *image = out->image;
    struct section_table table = {0};
    copy_sections(out, &table);
    for (size_t i = 0; i < segment->n_sections; i++) {
        const struct pm_new_section *section = &segment->sections[i];
        Elf64_Shdr *header = PM_PUSH(&table, headers);
        header->sh_name = add_name(&table, section->name);
        header->sh_type = SHT_PROGBITS;
        header->sh_flags = SHF_ALLOC | (section->is_code ? SHF_EXECINSTR : 0u);
        header->sh_addr = out->segment_address + section->offset;
        header->sh_offset = out->segment_offset + section->offset;
        header->sh_size = section->n_bytes;
        header->sh_addralign = 16;
    }
    table.headers[image->header->e_shstrndx].sh_offset = out->n_bytes;
    table.headers[image->header->e_shstrndx].sh_size = table.n_name_bytes;
    append(out, table.names, table.n_name_bytes);
    append_zeros(out, align_up(out->n_bytes, TABLE_ALIGNMENT));
    Elf64_Ehdr *header = (Elf64_Ehdr *)out->bytes;
    header->e_shoff = out->n_bytes;
    header->e_shnum = (Elf64_Half)table.n_headers;
    append(out, table.headers, table.n_headers * sizeof *table.headers);
    free(table.headers);
    free(table.names);
}

/* ---- the file ------------------------------------------------------------------------------- */

uint64_t pm_segment_address(const struct pm_image *image) {
    uint64_t end = 0;
    for (size_t i = 0; i < image->n_segments; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && segment->p_vaddr + segment->p_memsz > end)
            end = segment->p_vaddr + segment->p_memsz;
    }
    uint64_t address = align_up(end, PAGE_BYTES) + PAGE_BYTES;
    const Elf64_Phdr *first = first_load(image);
    if (!table_moves(image) || !first)
        return address;
    uint64_t beyond_file = align_up(image->n_bytes, PAGE_BYTES) + first->p_vaddr - first->p_offset;
    return beyond_file > address ? beyond_file : address;
}

/* Where the new segment begins in the file. */
static uint64_t segment_offset(const struct pm_image *image, uint64_t address) {
    const Elf64_Phdr *first = first_load(image);
    if (!table_moves(image) || !first)
        return align_up(image->n_bytes, PAGE_BYTES);
    return address - (first->p_vaddr - first->p_offset);
}

bool pm_can_be_extended(const struct pm_image *image, struct pm_error *err) {
    struct dynamic dynamic;
    const struct pm_section *section = dynamic_section(image);
    if (section && section->header.sh_offset % _Alignof(Elf64_Dyn))
        return pm_fail(err, "%s is damaged: its dynamic section is not aligned", image->path);
    if (!read_dynamic(image, &dynamic))
        return pm_fail(
            err,
            "%s: it has no dynamic section, so the runtime library cannot be added; link "
            "it dynamically (without -static)",
            image->path);
    if (dynamic.n_used + 1 >= dynamic.n_entries && dynamic.disposable == dynamic.n_used)
        return pm_fail(err,
                       "%s: its dynamic section has no unused entry for the runtime library; link "
                       "it with GNU ld (-fuse-ld=bfd), which leaves some",
                       image->path);
    const Elf64_Phdr *first = first_load(image);
    if (first && (first->p_vaddr - first->p_offset) % PAGE_BYTES)
        return pm_fail(err, "%s is damaged: its first segment is not aligned", image->path);
    if (table_moves(image) &&
        segment_offset(image, pm_segment_address(image)) - image->n_bytes > MOST_PADDING)
        return pm_fail(err,
                       "%s: it has no note whose program header could be used, and too large "
                       "arrays to add one; link with -Wl,--build-id",
                       image->path);
    if (!image->header->e_shnum || image->header->e_shstrndx >= image->n_sections ||
        image->sections[image->header->e_shstrndx].header.sh_type != SHT_STRTAB ||
        image->n_sections + 16 >= SHN_LORESERVE)
        return pm_fail(err, "%s: its section headers are missing or too many to be extended",
                       image->path);
    return true;
}

static void build(struct output *out, const uint8_t *patched, const struct pm_new_segment *segment,
                  const char *runtime_path) {
    const struct pm_image *image = out->image;
    struct dynamic dynamic;
    read_dynamic(image, &dynamic);
    append(out, patched, image->n_bytes);
    out->segment_offset = segment_offset(image, segment->address);
    append_zeros(out, out->segment_offset);
    out->segment_address = segment->address;
    append(out, segment->bytes, segment->n_bytes);
    append_zeros(out, align_up(out->n_bytes, 16));
    out->strings_address = segment->address + (out->n_bytes - out->segment_offset);
    append(out, pm_image_at(image, dynamic.strings, dynamic.n_string_bytes),
           dynamic.n_string_bytes);
    append(out, runtime_path, strlen(runtime_path) + 1);
    out->strings_bytes = dynamic.n_string_bytes + strlen(runtime_path) + 1;
    if (table_moves(image))
        append_table(out);
    out->segment_bytes = out->n_bytes - out->segment_offset;
    add_segment(out);
    replace_unwind_header(out, segment);
    add_needed(out, dynamic.n_string_bytes);
    add_sections(out, segment);
}

static bool write_all(int file, const uint8_t *bytes, size_t n_bytes) {
    while (n_bytes) {
        ssize_t n = write(file, bytes, n_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        n_bytes -= (size_t)n;
    }
    return true;
}

static bool write_file(const struct output *out, const char *path, struct pm_error *err) {
    struct stat original;
    if (stat(out->image->path, &original) != 0)
        return pm_fail_errno(err, "%s: cannot read its mode", out->image->path);
    char *temporary = pm_sprintf("%s.%ld.tmp", path, (long)getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = file >= 0 && write_all(file, out->bytes, out->n_bytes) &&
                   fchmod(file, original.st_mode & 07777) == 0;
    if (file >= 0 && close(file) != 0)
        written = false;
    if (!written || rename(temporary, path) != 0) {
        pm_fail_errno(err, "%s: cannot write the instrumented program", path);
        if (file >= 0)
            unlink(temporary);
        free(temporary);
        return false;
    }
    free(temporary);
    return true;
}

bool pm_write_elf(const struct pm_image *image, const uint8_t *patched,
                  const struct pm_new_segment *segment, const char *runtime_path,
                  const char *out_path, struct pm_error *err) {
    struct output out = {.image = image};
    build(&out, patched, segment, runtime_path);
    bool written = write_file(&out, out_path, err);
    free(out.bytes);
    return written;
}
