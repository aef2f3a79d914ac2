/* What must hold of tables for unwinding that binlift/unwinding/ wrote: read again, the old FDEs
   say what they said, each place of the new code has the rules and the call site of the
   instruction that it stands for, and .eh_frame_hdr lists all FDEs.  Shared by the fuzzing program
   and tests/unit/unwinding.c.

   Here all code moves that can: an instruction at each address where rules or a call site change,
   to code twice as long. */
#ifndef PM_FUZZ_MOVED_FRAMES_H
#define PM_FUZZ_MOVED_FRAMES_H

#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

/* Old addresses lie below the new code. */
enum { MOVED_CODE = 0x50000000, MOVED_TABLES = 0x60000000, MOVED_BELOW = 0x40000000 };

struct moved_frames {
    const struct pm_image *image;
    struct pm_unwinding *old;
    PM_ARRAY(uint64_t, addresses); /* of one FDE, where something changes */
    PM_ARRAY(struct pm_moved_place, places);
    struct pm_new_unwinding made;
    /* The file with the new tables, as far as they are read. */
    struct pm_image copy;
    struct pm_section sections[3];
    Elf64_Phdr segments[3];
};

/* An image of tables alone: .eh_frame and .gcc_except_table; nobody reads what else there is. */
static inline void moved_frames_image(struct pm_image *image, struct pm_section *sections,
                                      Elf64_Phdr *segments) {
    segments[0].p_type = segments[1].p_type = PT_LOAD;
    segments[2].p_type = PT_GNU_EH_FRAME;
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {".eh_frame", ".gcc_except_table", ".bss"};
        sections[i].name = names[i];
        sections[i].header.sh_type = i == 2 ? SHT_NOBITS : SHT_PROGBITS;
        sections[i].header.sh_flags = SHF_ALLOC;
    }
    sections[2].header.sh_size = MOVED_BELOW; /* what pointers may point to */
    image->segments = segments;
    image->n_segments = 3;
    image->sections = sections;
    image->n_sections = 3;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static inline uint64_t moved_landing_pad(const void *context, uint64_t old) {
    (void)context;
    return MOVED_CODE + old;
}

static inline bool moved_landing_pads_are_code(const struct pm_image *image,
                                               const struct pm_exception_table *table) {
    for (size_t i = 0; i < table->n_sites; i++) {
        uint64_t landing_pad = table->sites[i].landing_pad;
        if (landing_pad &&
            (landing_pad >= MOVED_TABLES - MOVED_CODE || !pm_image_at(image, landing_pad, 1)))
            return false;
    }
    return true;
}

static inline int moved_by_value(const void *left, const void *right) {
    return PM_COMPARE(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Places for the FDE, from NEXT on; returns where the code behind it can be. */
static inline uint64_t moved_put_fde(struct moved_frames *moved, const struct pm_unwind_fde *fde,
                                     uint64_t next) {
    uint64_t last = fde->address;
    PM_SORT(moved->addresses, moved->n_addresses, moved_by_value);
    for (size_t i = 0; i < moved->n_addresses; i++) {
        uint64_t old = moved->addresses[i];
        if (old < fde->address || old >= fde->end || (i > 0 && old == moved->addresses[i - 1]))
            continue;
        next += 2 * (old - last);
        *PM_PUSH(moved, places) = (struct pm_moved_place){next, old};
        last = old;
    }
    return next + 2 * (fde->end - last);
}

static inline void moved_write(struct moved_frames *moved) {
    struct pm_unwind_rows rows = {0};
    struct pm_exception_table table = {0};
    uint64_t next = MOVED_CODE;
    for (size_t f = 0; f < moved->old->n_fdes; f++) {
        struct pm_unwind_fde *fde = &moved->old->fdes[f];
        bool can_move;
        pm_unwind_read_rows(moved->old, fde, &rows, &can_move);
        table.n_sites = 0;
        if (fde->lsda)
            fde->can_move &= pm_read_exception_table(moved->image, fde, &table) &&
                             moved_landing_pads_are_code(moved->image, &table);
        moved->n_addresses = 0;
        for (size_t i = 0; i < rows.n_addresses; i++)
            *PM_PUSH(moved, addresses) = rows.addresses[i];
        for (size_t i = 0; fde->can_move && i < table.n_sites; i++) {
            *PM_PUSH(moved, addresses) = table.sites[i].address;
            *PM_PUSH(moved, addresses) = table.sites[i].end;
        }
        next = moved_put_fde(moved, fde, next);
        if (f % 2) { /* code without rules: a trampoline */
            *PM_PUSH(moved, places) = (struct pm_moved_place){next, 0};
            next += 5;
        }
    }
    *PM_PUSH(moved, places) = (struct pm_moved_place){next, 0};
    pm_unwind_rows_release(&rows);
    pm_exception_table_release(&table);
    pm_write_unwinding(moved->old, moved->places, moved->n_places, MOVED_TABLES, moved_landing_pad,
                       NULL, &moved->made);
}

static inline void moved_put_section(struct moved_frames *moved, unsigned number, size_t offset,
                                     const void *bytes, size_t n_bytes, uint64_t address) {
    Elf64_Shdr *header = &moved->sections[number].header;
    if (n_bytes)
        memcpy(moved->copy.bytes + offset, bytes, n_bytes);
    header->sh_offset = offset;
    header->sh_size = n_bytes;
    header->sh_addr = address;
}

static inline void moved_make_copy(struct moved_frames *moved) {
    const struct pm_new_unwinding *made = &moved->made;
    struct pm_image *copy = &moved->copy;
    size_t n_frames = made->frames.n_bytes, n_exceptions = made->exceptions.n_bytes;
    moved_frames_image(copy, moved->sections, moved->segments);
    copy->path = moved->image->path;
    copy->is_pie = moved->image->is_pie;
    copy->is_shared = moved->image->is_shared;
    copy->n_bytes = n_frames + n_exceptions;
    copy->bytes = pm_alloc(copy->n_bytes, 1);
    moved_put_section(moved, 0, 0, made->frames.bytes, n_frames, made->frames.address);
    moved_put_section(moved, 1, n_frames, made->exceptions.bytes, n_exceptions,
                      made->exceptions.address);
    moved->segments[0].p_filesz = MOVED_BELOW;
    moved->segments[1].p_vaddr = MOVED_CODE;
    moved->segments[1].p_filesz = moved->places[moved->n_places - 1].address - MOVED_CODE;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static inline bool moved_same_row(const struct pm_unwind_row *a, const struct pm_unwind_row *b) {
    bool same = pm_unwind_same_rule(&a->cfa, &b->cfa) && a->args_size == b->args_size &&
                (a->cfa.kind != PM_RULE_IN_REGISTER || a->cfa_register == b->cfa_register);
    for (unsigned i = 0; i < PM_UNWIND_REGISTERS; i++)
        same &= pm_unwind_same_rule(&a->of[i], &b->of[i]);
    return same;
}

static inline const struct pm_lsda_call_site *moved_site_at(const struct pm_exception_table *table,
                                                            uint64_t address) {
    for (size_t i = 0; i < table->n_sites; i++)
        if (table->sites[i].address <= address && address < table->sites[i].end)
            return &table->sites[i];
    return NULL;
}

/* Type NUMBER of TABLE as an address. */
static inline uint64_t moved_type(const struct pm_exception_table *table, uint64_t number) {
    unsigned n_bytes = (table->type_encoding & 0x0f) == 0 ? 8 : 4;
    struct pm_reader reader = pm_reader_of(table->types - number * n_bytes, n_bytes);
    return pm_take_pointer(&reader, table->type_encoding, table->types_address - number * n_bytes);
}

static inline const char *moved_compare_tables(const struct pm_exception_table *old,
                                               const struct pm_exception_table *new) {
    if (new->n_action_bytes > old->n_action_bytes ||
        (new->n_action_bytes &&memcmp(new->actions, old->actions, new->n_action_bytes) != 0))
        return "actions of a moved call site are others";
    if (new->type_encoding != old->type_encoding || new->n_types > old->n_types)
        return "types of a moved exception table are others";
    for (uint64_t i = 1; i <= new->n_types; i++)
        if (moved_type(new, i) != moved_type(old, i))
            return "a type of a moved exception table is another";
    if (new->n_filter_bytes > old->n_filter_bytes ||
        (new->n_filter_bytes &&memcmp(new->types, old->types, new->n_filter_bytes) != 0))
        return "filters of a moved exception table are others";
    return NULL;
}

struct moved_rules {
    struct pm_unwind_rows rows;
    struct pm_exception_table table;
};

static inline const struct pm_unwind_fde *moved_read_rules(const struct pm_unwinding *unwinding,
                                                           uint64_t address,
                                                           struct moved_rules *rules) {
    uint32_t f = pm_unwind_fde_at(unwinding, address);
    bool can_move;
    if (f == PM_NONE)
        return NULL;
    const struct pm_unwind_fde *fde = &unwinding->fdes[f];
    rules->table.n_sites = 0;
    if (!pm_unwind_read_rows(unwinding, fde, &rules->rows, &can_move) ||
        (fde->lsda && !pm_read_exception_table(unwinding->image, fde, &rules->table)))
        return NULL;
    return fde;
}

/* PLACE, where NEW is read from the new tables. */
static inline const char *moved_compare_place(const struct moved_frames *moved,
                                              const struct pm_unwinding *new,
                                              const struct pm_moved_place *place,
                                              struct moved_rules *a, struct moved_rules *b) {
    uint32_t f = place->old ? pm_unwind_fde_at(moved->old, place->old) : PM_NONE;
    if (f == PM_NONE || !moved->old->fdes[f].can_move)
        return pm_unwind_fde_at(new, place->address) == PM_NONE ? NULL
                                                                : "code has rules that are not its";
    const struct pm_unwind_fde *old_fde = moved_read_rules(moved->old, place->old, a);
    const struct pm_unwind_fde *new_fde = moved_read_rules(new, place->address, b);
    if (!old_fde || !new_fde)
        return "a moved instruction has no rules that are understood";
    if (!moved_same_row(pm_unwind_row_at(&a->rows, place->old),
                        pm_unwind_row_at(&b->rows, place->address)))
        return "a moved instruction has other rules";
    if (!old_fde->lsda != !new_fde->lsda)
        return "a moved routine lost its exception table, or got one";
    const struct pm_lsda_call_site *old_site = moved_site_at(&a->table, place->old),
                                   *new_site = moved_site_at(&b->table, place->address);
    if (!old_site != !new_site)
        return "a moved instruction lost its call site, or got one";
    if (old_site &&
        (old_site->action != new_site->action || !old_site->landing_pad != !new_site->landing_pad ||
         (old_site->landing_pad &&
          moved_landing_pad(NULL, old_site->landing_pad) != new_site->landing_pad)))
        return "a moved call site lands elsewhere";
    return old_fde->lsda ? moved_compare_tables(&a->table, &b->table) : NULL;
}

/* That the copy of the old FDEs says the same. */
static inline const char *moved_compare_old(const struct moved_frames *moved,
                                            const struct pm_unwinding *new, struct moved_rules *a,
                                            struct moved_rules *b) {
    bool can_move;
    for (size_t i = 0; i < moved->old->n_fdes; i++) {
        const struct pm_unwind_fde *old_fde = &moved->old->fdes[i];
        uint32_t f = pm_unwind_fde_at(new, old_fde->address);
        if (f == PM_NONE)
            return "an FDE of the file is lost";
        const struct pm_unwind_fde *fde = &new->fdes[f];
        const struct pm_unwind_cie *old_cie = &moved->old->cies[old_fde->cie],
                                   *cie = &new->cies[fde->cie];
        if (fde->end != old_fde->end || fde->lsda != old_fde->lsda ||
            cie->personality != old_cie->personality || cie->is_signal != old_cie->is_signal)
            return "an FDE of the file changed";
        pm_unwind_read_rows(moved->old, old_fde, &a->rows, &can_move);
        pm_unwind_read_rows(new, fde, &b->rows, &can_move);
        bool same = a->rows.n_rows == b->rows.n_rows;
        for (size_t r = 0; same && r < a->rows.n_rows; r++)
            same = a->rows.addresses[r] == b->rows.addresses[r] &&
                   moved_same_row(&a->rows.rows[r], &b->rows.rows[r]);
        if (!same)
            return "rules of an FDE of the file changed";
    }
    return NULL;
}

static inline const char *moved_compare_header(const struct pm_new_table *header,
                                               const struct pm_unwinding *new) {
    struct pm_reader reader = pm_reader_of(header->bytes, header->n_bytes);
    pm_take(&reader, 4);
    uint64_t frames = pm_take_pointer(&reader, 0x1b, header->address + 4);
    if (frames != new->section->header.sh_addr || pm_take_unsigned(&reader, 4) != new->n_fdes)
        return ".eh_frame_hdr is not of this .eh_frame";
    for (size_t i = 0; i < new->n_fdes; i++) {
        uint64_t code = header->address + (uint64_t)pm_take_signed(&reader, 4);
        uint64_t fde = header->address + (uint64_t)pm_take_signed(&reader, 4);
        if (reader.fault || code != new->fdes[i].address || fde != frames + new->fdes[i].offset)
            return ".eh_frame_hdr lists other FDEs";
    }
    return pm_bytes_left(&reader) ? ".eh_frame_hdr is too long" : NULL;
}

static inline const char *moved_compare(const struct moved_frames *moved, struct pm_error *err) {
    struct pm_unwinding *new = pm_unwinding_read(&moved->copy, err);
    if (!new)
        return "tables that were written cannot be read";
    struct moved_rules a = {0}, b = {0};
    const char *wrong = moved_compare_header(&moved->made.header, new);
    if (!wrong)
        wrong = moved_compare_old(moved, new, &a, &b);
    for (size_t i = 0; !wrong && i + 1 < moved->n_places; i++)
        wrong = moved_compare_place(moved, new, &moved->places[i], &a, &b);
    pm_unwind_rows_release(&a.rows);
    pm_unwind_rows_release(&b.rows);
    pm_exception_table_release(&a.table);
    pm_exception_table_release(&b.table);
    pm_unwinding_free(new);
    return wrong;
}

/* Reads the tables of IMAGE, all below MOVED_BELOW, writes them for moved code and compares into
   *MOVED, which the caller releases.  NULL, or what is wrong with the new ones.  False in *IS_READ,
   and a sentence: the image's own are not understood. */
static inline const char *moved_frames_wrong(const struct pm_image *image,
                                             struct moved_frames *moved, bool *is_read,
                                             struct pm_error *err) {
    *moved = (struct moved_frames){.image = image, .old = pm_unwinding_read(image, err)};
    *is_read = moved->old;
    if (!moved->old)
        return NULL;
    moved_write(moved);
    moved_make_copy(moved);
    return moved_compare(moved, err);
}

static inline void moved_frames_release(struct moved_frames *moved) {
    if (!moved->old)
        return;
    pm_unwinding_free(moved->old);
    pm_new_unwinding_release(&moved->made);
    free(moved->addresses);
    free(moved->places);
    free(moved->copy.bytes);
}

#endif
