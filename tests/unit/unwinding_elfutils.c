/* elfutils finds the same rules as binlift/unwinding/ at each place of real files where they
   change, and again in the tables that are written as if all their code moved. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <dwarf.h>
#include <link.h>

#include "tests/fuzz/moved_frames.h"

struct theirs {
    Dwarf_Op *ops;
    size_t n;
};

static bool is_their_cfa(const struct pm_unwind_row *row, const struct theirs *cfa) {
    if (row->cfa.kind != PM_RULE_IN_REGISTER)
        return cfa->n > 0 && cfa->ops[0].atom != DW_OP_bregx;
    return cfa->n == 1 && cfa->ops[0].atom == DW_OP_bregx &&
           cfa->ops[0].number == row->cfa_register &&
           (int64_t)cfa->ops[0].number2 == row->cfa.number;
}

/* Registers that are not mentioned: elfutils adds the rules of the ABI to them. */
static bool is_their_rule(const struct pm_unwind_rule *rule, const struct theirs *theirs) {
    bool is_value = theirs->n && theirs->ops[theirs->n - 1].atom == DW_OP_stack_value;
    size_t n = theirs->n - is_value;
    switch (rule->kind) {
    case PM_RULE_NONE:
        return true;
    case PM_RULE_UNDEFINED:
        return theirs->n == 0 && theirs->ops;
    case PM_RULE_SAME:
        return theirs->n == 0 && !theirs->ops;
    case PM_RULE_AT_OFFSET:
    case PM_RULE_IS_OFFSET:
        return is_value == (rule->kind == PM_RULE_IS_OFFSET) &&
               (n == 1 || (n == 2 && theirs->ops[1].atom == DW_OP_plus_uconst)) &&
               theirs->ops[0].atom == DW_OP_call_frame_cfa &&
               (n == 1 ? 0 : (int64_t)theirs->ops[1].number) == rule->number;
    case PM_RULE_IN_REGISTER:
        return n == 1 && theirs->ops[0].atom == DW_OP_regx &&
               (int64_t)theirs->ops[0].number == rule->number;
    default:
        return n > 0 && is_value == (rule->kind == PM_RULE_IS_EXPRESSION);
    }
}

static bool is_their_row(Dwarf_CFI *cfi, uint64_t address, const struct pm_unwind_row *row) {
    Dwarf_Frame *frame = NULL;
    if (dwarf_cfi_addrframe(cfi, address, &frame) != 0)
        return false;
    struct theirs theirs = {0};
    bool same = dwarf_frame_cfa(frame, &theirs.ops, &theirs.n) == 0 && is_their_cfa(row, &theirs);
    for (int i = 0; same && i < PM_UNWIND_REGISTERS; i++) {
        Dwarf_Op room[3];
        same = dwarf_frame_register(frame, i, room, &theirs.ops, &theirs.n) == 0 &&
               is_their_rule(&row->of[i], &theirs);
    }
    free(frame);
    return same;
}

/* The tables of MOVED as a file for elfutils, which finds them by .eh_frame_hdr. */
static Elf *file_of_tables(const struct moved_frames *moved, char **bytes) {
    enum { AT = 0x1000 };
    const struct pm_new_table *header = &moved->made.header;
    uint64_t n_bytes = header->address + header->n_bytes - MOVED_TABLES;
    *bytes = pm_alloc(AT + n_bytes, 1);
    Elf64_Ehdr file = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof file,
        .e_ehsize = sizeof file,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2};
    Elf64_Phdr segments[2] = {
        {.p_type = PT_LOAD, .p_offset = AT, .p_vaddr = MOVED_TABLES, .p_filesz = n_bytes},
        {.p_type = PT_GNU_EH_FRAME,
         .p_offset = AT + (header->address - MOVED_TABLES),
         .p_vaddr = header->address,
         .p_filesz = header->n_bytes}};
    memcpy(*bytes, &file, sizeof file);
    memcpy(*bytes + sizeof file, segments, sizeof segments);
    const struct pm_new_table *tables[] = {&moved->made.exceptions, &moved->made.frames, header};
    for (int i = 0; i < 3; i++)
        if (tables[i]->n_bytes)
            memcpy(*bytes + AT + (tables[i]->address - MOVED_TABLES), tables[i]->bytes,
                   tables[i]->n_bytes);
    return elf_memory(*bytes, AT + n_bytes);
}

static void compare_with_elfutils(const char *path) {
    struct pm_image image = {0};
    struct pm_error err = {0};
    struct moved_frames moved;
    bool is_read;
    assert_true(pm_read_image(path, &image, &err));
    const char *wrong = moved_frames_wrong(&image, &moved, &is_read, &err);
    if (!is_read || wrong)
        fail_msg("%s: %s", path, is_read ? wrong : err.text);
    char *bytes;
    Elf *old = elf_memory((char *)image.bytes, image.n_bytes),
        *new = file_of_tables(&moved, &bytes);
    Dwarf_CFI *old_cfi = dwarf_getcfi_elf(old), *new_cfi = dwarf_getcfi_elf(new);
    assert_non_null(old_cfi);
    assert_non_null(new_cfi);
    struct pm_unwind_rows rows = {0};
    size_t n_moved = 0, n_landing_pads = 0;
    for (size_t i = 0; i < moved.n_places; i++) {
        const struct pm_moved_place *place = &moved.places[i];
        uint32_t f = place->old ? pm_unwind_fde_at(moved.old, place->old) : PM_NONE;
        if (f == PM_NONE)
            continue;
        bool can_move;
        pm_unwind_read_rows(moved.old, &moved.old->fdes[f], &rows, &can_move);
        const struct pm_unwind_row *row = pm_unwind_row_at(&rows, place->old);
        if (!is_their_row(old_cfi, place->old, row))
            fail_msg("%s: elfutils has other rules for 0x%llx", path,
                     (unsigned long long)place->old);
        if (!moved.old->fdes[f].can_move)
            continue;
        if (!is_their_row(new_cfi, place->address, row))
            fail_msg("%s: elfutils has other rules for what moved from 0x%llx", path,
                     (unsigned long long)place->old);
        n_moved++;
        n_landing_pads += moved.old->fdes[f].lsda != 0;
    }
    print_message("%s: %zu places with rules, %zu of them with exception tables\n", path, n_moved,
                  n_landing_pads);
    assert_true(n_moved > 100);
    assert_true(n_landing_pads > 0 || !strstr(path, "libstdc++"));
    pm_unwind_rows_release(&rows);
    dwarf_cfi_end(old_cfi);
    dwarf_cfi_end(new_cfi);
    elf_end(old);
    elf_end(new);
    free(bytes);
    moved_frames_release(&moved);
    pm_image_release(&image);
}

static int compare_library(struct dl_phdr_info *info, size_t size, void *n_compared) {
    (void)size;
    static const char *const names[] = {"libstdc++.so", "libdw", "libsqlite3"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(info->dlpi_name, names[i])) {
            compare_with_elfutils(info->dlpi_name);
            ++*(int *)n_compared;
        }
    return 0;
}

static void test_real_tables(void **state) {
    (void)state;
    int n_compared = 0;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    assert_non_null(library);
    elf_version(EV_CURRENT);
    dl_iterate_phdr(compare_library, &n_compared);
    assert_true(n_compared >= 2);
    dlclose(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_tables),
    };
    return cmocka_run_group_tests_name("unwinding_elfutils", tests, NULL, NULL);
}
