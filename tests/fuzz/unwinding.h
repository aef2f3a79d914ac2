/* Unwinding information written again for code that moved, and read back: shared by the fuzzing
   target and by tests/unit/unwinding.c. */
#ifndef PM_TESTS_UNWINDING_H
#define PM_TESTS_UNWINDING_H

#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

/* An image of a position-independent program, of which N_BYTES at ADDRESS are in the file. */
struct made_image {
    struct pm_image image;
    Elf64_Phdr segments[2];
    struct pm_section sections[2];
};

static void made_image_of(struct made_image *made, uint8_t *bytes, size_t n_bytes,
                          uint64_t address) {
    *made = (struct made_image){0};
    made->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                     .p_flags = PF_R,
                                     .p_vaddr = address,
                                     .p_filesz = n_bytes,
                                     .p_memsz = n_bytes};
    made->segments[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME};
    made->image = (struct pm_image){.bytes = bytes,
                                    .n_bytes = n_bytes,
                                    .segments = made->segments,
                                    .n_segments = 2,
                                    .sections = made->sections,
                                    .is_pie = true};
}

/* The next section of it: N_BYTES from OFFSET on. */
static void made_image_add(struct made_image *made, const char *name, size_t offset,
                           size_t n_bytes) {
    made->sections[made->image.n_sections++] =
        (struct pm_section){.name = name,
                            .header = {.sh_type = SHT_PROGBITS,
                                       .sh_flags = SHF_ALLOC,
                                       .sh_addr = made->segments[0].p_vaddr + offset,
                                       .sh_offset = offset,
                                       .sh_size = n_bytes}};
}

/* ---- there and back -------------------------------------------------------------------------- */

struct moved_code {
    PM_ARRAY(struct pm_moved_place, places);
    uint64_t first, end; /* addresses of the new code */
};

static uint64_t moved_landing(const void *context, uint64_t old) {
    const struct moved_code *code = context;
    return code->first + (old & 0xffff);
}

/* A place for each row of FDE, its code standing at code->end from now on. */
static void move_fde(struct moved_code *code, const struct pm_unwind_fde *fde,
                     const struct pm_unwind_rows *rows) {
    for (size_t i = 0; i < rows->n_rows; i++)
        if (rows->addresses[i] >= fde->address && rows->addresses[i] < fde->end)
            *PM_PUSH(code, places) = (struct pm_moved_place){
                code->end + (rows->addresses[i] - fde->address), rows->addresses[i]};
    code->end += fde->end - fde->address;
}

enum {
    MOVED_CODE = 1 << 30, /* behind all old code that is looked at, near enough for 32 bits */
    MOST_MOVED = 1 << 24,
};

/* All that can move does. */
static void move_code(const struct pm_unwinding *old, struct moved_code *code) {
    struct pm_unwind_rows rows = {0};
    struct pm_exception_table table = {0};
    bool can_move;
    code->first = code->end = MOVED_CODE;
    for (size_t i = 0; i < old->n_fdes; i++) {
        const struct pm_unwind_fde *fde = &old->fdes[i];
        if (fde->can_move && fde->end - fde->address < MOST_MOVED &&
            code->end < MOVED_CODE + MOST_MOVED &&
            (!fde->lsda || pm_read_exception_table(old->image, fde, &table)) &&
            pm_unwind_read_rows(old, fde, &rows, &can_move))
            move_fde(code, fde, &rows);
    }
    *PM_PUSH(code, places) = (struct pm_moved_place){code->end, 0};
    pm_unwind_rows_release(&rows);
    pm_exception_table_release(&table);
}

static bool rows_are_alike(const struct pm_unwind_row *a, const struct pm_unwind_row *b) {
    bool same = pm_unwind_same_rule(&a->cfa, &b->cfa) && a->args_size == b->args_size &&
                (a->cfa.kind != PM_RULE_IN_REGISTER || a->cfa_register == b->cfa_register);
    for (unsigned i = 0; same && i < PM_UNWIND_REGISTERS; i++)
        same = pm_unwind_same_rule(&a->of[i], &b->of[i]);
    return same;
}

/* Has each PLACE in the tables NEW the rules that it had in OLD?  NULL: yes, else what is wrong. */
static const char *compare_rules(const struct pm_unwinding *old, const struct pm_unwinding *new,
                                 const struct moved_code *code) {
    struct pm_unwind_rows before = {0}, after = {0};
    struct pm_exception_table table = {0};
    const char *wrong = NULL;
    bool can_move;
    for (size_t i = 0; !wrong && i + 1 < code->n_places; i++) {
        const struct pm_moved_place *place = &code->places[i];
        uint32_t f = pm_unwind_fde_at(old, place->old), g = pm_unwind_fde_at(new, place->address);
        if (g == PM_NONE) {
            wrong = "code that moved has no unwinding information";
            break;
        }
        const struct pm_unwind_fde *fde = &new->fdes[g];
        if (!pm_unwind_read_rows(old, &old->fdes[f], &before, &can_move) ||
            !pm_unwind_read_rows(new, fde, &after, &can_move))
            wrong = "rules that were written are not understood";
        else if (!rows_are_alike(pm_unwind_row_at(&before, place->old),
                                 pm_unwind_row_at(&after, place->address)))
            wrong = "an instruction has other rules where it moved to";
        else if ((fde->lsda != 0) != (old->fdes[f].lsda != 0) ||
                 (fde->lsda && !pm_read_exception_table(new->image, fde, &table)))
            wrong = "an exception table that was written is not understood";
    }
    pm_unwind_rows_release(&before);
    pm_unwind_rows_release(&after);
    pm_exception_table_release(&table);
    return wrong;
}

/* Writes the tables for all code that can move, reads them again, and compares the rules of each
   instruction; *N_MOVED: how many there were.  NULL: they are right; else what is wrong. */
static const char *move_and_compare(const struct pm_unwinding *old, size_t *n_moved) {
    struct moved_code code = {0};
    struct pm_new_unwinding made;
    uint64_t address = old->section->header.sh_addr + (1 << 24);
    *n_moved = 0;
    for (size_t i = 0; i < old->n_fdes; i++)
        if (old->fdes[i].end >= MOVED_CODE)
            return NULL; /* too far away for addresses of 32 bits */
    move_code(old, &code);
    pm_write_unwinding(old, code.places, code.n_places, address, moved_landing, &code, &made);
    size_t n_bytes = made.header.address + made.header.n_bytes - address;
    uint8_t *bytes = pm_alloc(n_bytes, 1);
    struct made_image image;
    made_image_of(&image, bytes, n_bytes, address);
    const struct pm_new_table *tables[] = {&made.frames, &made.exceptions};
    for (unsigned i = 0; i < 2; i++) {
        if (tables[i]->n_bytes)
            memcpy(bytes + (tables[i]->address - address), tables[i]->bytes, tables[i]->n_bytes);
        made_image_add(&image, i ? ".gcc_except_table" : ".eh_frame", tables[i]->address - address,
                       tables[i]->n_bytes);
    }
    struct pm_unwinding *new = pm_unwinding_read(&image.image);
    const char *wrong =
        new ? compare_rules(old, new, &code) : "tables that were written are not read";
    *n_moved = code.n_places - 1;
    pm_unwinding_free(new);
    pm_new_unwinding_release(&made);
    free(code.places);
    free(bytes);
    return wrong;
}

#endif
