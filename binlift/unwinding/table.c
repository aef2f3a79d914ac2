/* Reads .eh_frame whole.  Each field that is relative to its own place is noted, so that the table
   can be copied to another.  Anything that is not known to the last byte, in any entry, makes the
   file one whose calls stay. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

enum { OMIT = 0xff, ABSOLUTE_8 = 0x00, ABSOLUTE_4 = 0x03, RELATIVE_4 = 0x1b, INDIRECT = 0x80 };

struct reading {
    struct pm_unwinding *all;
    const uint8_t *start;
    bool known;
    struct pm_error *err;
};

/* The first reason stays. */
static void refuse(struct reading *reading, uint64_t offset, const char *what) {
    if (reading->known)
        pm_fail(reading->err, "%s: the entry of .eh_frame at offset 0x%" PRIx64 " %s",
                reading->all->image->path, offset, what);
    reading->known = false;
}

static uint32_t offset_of(const struct reading *reading, const uint8_t *at) {
    return (uint32_t)(at - reading->start);
}

/* A pointer in ENCODING, of the entry at ENTRY, that can be copied elsewhere. */
static uint64_t take_pointer(struct reading *reading, uint32_t entry, struct pm_reader *reader,
                             unsigned encoding) {
    uint32_t offset = offset_of(reading, reader->at);
    unsigned kind = encoding & ~(unsigned)INDIRECT;
    bool is_fixed = !reading->all->image->is_pie && !reading->all->image->is_shared;
    if (kind != RELATIVE_4 && !(is_fixed && (kind == ABSOLUTE_8 || kind == ABSOLUTE_4)))
        refuse(reading, entry, "has a pointer that cannot stand elsewhere");
    uint64_t value = pm_take_pointer(reader, kind, reading->all->section->header.sh_addr + offset);
    if (kind == RELATIVE_4 && value)
        *PM_PUSH(reading->all, relatives) = offset;
    return value;
}

/* What is not in the file may be too far away from where the table is copied to. */
static void need_target(struct reading *reading, uint32_t entry, uint64_t address) {
    if (address && !pm_image_section_at(reading->all->image, address))
        refuse(reading, entry, "has a pointer to what is not in the file");
}

static void read_personality(struct reading *reading, struct pm_reader *reader,
                             struct pm_unwind_cie *cie) {
    unsigned encoding = (unsigned)pm_take_unsigned(reader, 1);
    cie->personality = take_pointer(reading, cie->offset, reader, encoding);
    need_target(reading, cie->offset, cie->personality);
    cie->personality_is_indirect = encoding & INDIRECT;
}

/* READER stands behind the id. */
static void read_cie(struct reading *reading, uint32_t offset, struct pm_reader reader) {
    struct pm_unwind_cie *cie = PM_PUSH(reading->all, cies);
    *cie = (struct pm_unwind_cie){.offset = offset, .lsda_encoding = OMIT};
    uint64_t version = pm_take_unsigned(&reader, 1);
    const char *letters = (const char *)reader.at;
    const uint8_t *end = memchr(reader.at, 0, pm_bytes_left(&reader));
    if (reader.fault || !end) {
        refuse(reading, offset, "is truncated");
        return;
    }
    if ((version != 1 && version != 3) || *letters != 'z') {
        refuse(reading, offset, "is a CIE of another version, or without augmentation data");
        return;
    }
    reader.at = end + 1;
    cie->code_alignment = pm_take_uleb(&reader);
    cie->data_alignment = pm_take_sleb(&reader);
    uint64_t return_register = version == 1 ? pm_take_unsigned(&reader, 1) : pm_take_uleb(&reader);
    uint64_t n_bytes = pm_take_uleb(&reader);
    cie->instructions = reader;
    pm_take(&cie->instructions, n_bytes);
    unsigned pointers = ABSOLUTE_8;
    for (letters++; *letters && !reader.fault; letters++) {
        if (*letters == 'R')
            pointers = (unsigned)pm_take_unsigned(&reader, 1);
        else if (*letters == 'L')
            cie->lsda_encoding = (uint8_t)pm_take_unsigned(&reader, 1);
        else if (*letters == 'P')
            read_personality(reading, &reader, cie);
        else if (*letters == 'S')
            cie->is_signal = true;
        else
            refuse(reading, offset, "has an augmentation that is not known");
    }
    if (reader.fault || cie->instructions.fault)
        refuse(reading, offset, "is truncated");
    if (reader.at != cie->instructions.at)
        refuse(reading, offset, "has augmentation data of another length than its letters say");
    if (pointers != RELATIVE_4)
        refuse(reading, offset, "has addresses of code that are not 32-bit relative ones");
    if (return_register != PM_UNWIND_REGISTERS - 1 || cie->code_alignment != 1 ||
        cie->data_alignment == 0)
        refuse(reading, offset, "has alignments or a return address that compilers do not write");
}

static uint32_t cie_at(const struct pm_unwinding *all, uint32_t offset) {
    size_t i = PM_LOWER_BOUND(all->n_cies, i, all->cies[i].offset < offset);
    return i < all->n_cies && all->cies[i].offset == offset ? (uint32_t)i : PM_NONE;
}

/* READER stands behind the id. */
static void read_fde(struct reading *reading, uint32_t offset, uint32_t cie_offset,
                     struct pm_reader reader) {
    uint32_t cie = cie_at(reading->all, cie_offset);
    if (cie == PM_NONE) {
        refuse(reading, offset, "is an FDE whose CIE is not before it");
        return;
    }
    unsigned encoding = reading->all->cies[cie].lsda_encoding;
    struct pm_unwind_fde fde = {.offset = offset, .cie = cie};
    fde.address = take_pointer(reading, offset, &reader, RELATIVE_4);
    fde.end = fde.address + pm_take_unsigned(&reader, 4);
    uint64_t n_bytes = pm_take_uleb(&reader);
    fde.instructions = reader;
    pm_take(&fde.instructions, n_bytes);
    if (encoding != OMIT)
        fde.lsda = take_pointer(reading, offset, &reader, encoding);
    need_target(reading, offset, fde.lsda);
    if (reader.fault || fde.instructions.fault)
        refuse(reading, offset, "is truncated");
    if (reader.at != fde.instructions.at)
        refuse(reading, offset, "has augmentation data of another length than its CIE says");
    if (encoding != OMIT && encoding & INDIRECT)
        refuse(reading, offset, "has an exception table that is to be loaded from elsewhere");
    if (!fde.address || fde.end == fde.address)
        return; /* of code that the linker dropped */
    if (!pm_image_at(reading->all->image, fde.address, fde.end - fde.address))
        refuse(reading, offset, "is of code that is not in the file");
    *PM_PUSH(reading->all, fdes) = fde;
}

static void read_entries(struct reading *reading, struct pm_reader all) {
    while (reading->known && pm_bytes_left(&all) >= 4) {
        uint32_t offset = offset_of(reading, all.at);
        uint64_t length = pm_take_unsigned(&all, 4);
        if (length == 0)
            continue; /* a terminator; some linkers leave several */
        if (length >= 0xfffffff0) {
            refuse(reading, offset, "has a 64-bit length");
            return;
        }
        const uint8_t *entry = pm_take(&all, length);
        if (!entry) {
            refuse(reading, offset, "is longer than the section");
            return;
        }
        reading->all->n_bytes = offset + 4 + length;
        struct pm_reader reader = pm_reader_of(entry, length);
        uint32_t back = (uint32_t)pm_take_unsigned(&reader, 4);
        if (back == 0)
            read_cie(reading, offset, reader);
        else if (back <= offset + 4)
            read_fde(reading, offset, offset + 4 - back, reader);
        else
            refuse(reading, offset, "is an FDE whose CIE is not before it");
    }
    if (pm_bytes_left(&all) && pm_bytes_left(&all) < 4)
        refuse(reading, offset_of(reading, all.at), "is truncated");
}

static int by_address(const void *left, const void *right) {
    const struct pm_unwind_fde *a = left, *b = right;
    return PM_COMPARE(a->address, b->address);
}

/* The rules of every FDE must be understood, and no two may overlap. */
static void check_rules(struct reading *reading) {
    struct pm_unwinding *all = reading->all;
    struct pm_unwind_rows rows = {0};
    for (size_t i = 0; reading->known && i < all->n_fdes; i++) {
        struct pm_unwind_fde *fde = &all->fdes[i];
        if (i > 0 && all->fdes[i - 1].end > fde->address)
            refuse(reading, fde->offset, "is of code that another FDE has");
        else if (!pm_unwind_read_rows(all, fde, &rows, &fde->can_move))
            refuse(reading, fde->offset, "has call frame instructions that are not understood");
    }
    pm_unwind_rows_release(&rows);
}

static bool has_header(const struct pm_image *image) {
    for (size_t i = 0; i < image->n_segments; i++)
        if (image->segments[i].p_type == PT_GNU_EH_FRAME)
            return true;
    return false;
}

struct pm_unwinding *pm_unwinding_read(const struct pm_image *image, struct pm_error *err) {
    const struct pm_section *section = pm_image_section(image, ".eh_frame");
    if (!section || section->header.sh_type == SHT_NOBITS || !has_header(image) ||
        section->header.sh_size > INT32_MAX) {
        pm_fail(err, "%s has no tables for unwinding", image->path);
        return NULL;
    }
    struct pm_unwinding *all = pm_alloc(1, sizeof *all);
    all->image = image;
    all->section = section;
    struct reading reading = {all, image->bytes + section->header.sh_offset, true, err};
    read_entries(&reading, pm_reader_of(reading.start, section->header.sh_size));
    PM_SORT(all->fdes, all->n_fdes, by_address);
    check_rules(&reading);
    if (reading.known)
        return all;
    pm_unwinding_free(all);
    return NULL;
}

void pm_unwinding_free(struct pm_unwinding *unwinding) {
    if (!unwinding)
        return;
    free(unwinding->cies);
    free(unwinding->fdes);
    free(unwinding->relatives);
    free(unwinding);
}

uint32_t pm_unwind_fde_at(const struct pm_unwinding *unwinding, uint64_t address) {
    const struct pm_unwind_fde *fdes = unwinding->fdes;
    size_t behind = PM_LOWER_BOUND(unwinding->n_fdes, i, fdes[i].address <= address);
    return behind && address < fdes[behind - 1].end ? (uint32_t)(behind - 1) : PM_NONE;
}
