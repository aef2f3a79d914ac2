/* Tables for unwinding: each instruction of call frames gives the rule that DWARF says; what is not
   understood is refused whole, with its reason; what is written for moved code reads back the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fuzz/moved_frames.h"

enum { CODE = 0x1000, CODE_BYTES = 0x10000, FRAMES = 0x20000, EXCEPTIONS = 0x30000 };
enum { ROUTINE_BYTES = 0x8000 };

/* ---- hand-made tables ------------------------------------------------------------------------ */

struct hand_made {
    uint8_t frames[4096], exceptions[512];
    size_t n_frames, n_exceptions;
    bool is_fixed;
    struct pm_image image;
    struct pm_section sections[3];
    Elf64_Phdr segments[3];
};

static void append(struct hand_made *made, const void *bytes, size_t n_bytes) {
    assert_true(made->n_frames + n_bytes <= sizeof made->frames);
    memcpy(made->frames + made->n_frames, bytes, n_bytes);
    made->n_frames += n_bytes;
}

static void append_word(struct hand_made *made, uint32_t word) { append(made, &word, 4); }

/* Pads the entry that began at START, and says how long it is. */
static void end_entry(struct hand_made *made, size_t start) {
    while (made->n_frames % 8)
        append(made, "", 1);
    uint32_t length = (uint32_t)(made->n_frames - start - 4);
    memcpy(made->frames + start, &length, 4);
}

static void put_cie(struct hand_made *made, const void *bytes, size_t n_bytes) {
    size_t start = made->n_frames;
    append_word(made, 0);
    append_word(made, 0);
    append(made, bytes, n_bytes);
    end_entry(made, start);
}

/* Version 1, "zR", alignments 1 and -8, return address in 16; the CFA is rsp + 8. */
#define USUAL_CIE "\1zR\0\1\x78\x10\1\x1b\x0c\7\x8\x90\1"
/* The same with a table of exceptions. */
#define THROWING_CIE "\1zLR\0\1\x78\x10\2\x1b\x1b\x0c\7\x8\x90\1"
#define PUT_CIE(made, text) put_cie(made, text, sizeof(text) - 1)

/* Of code at ADDRESS, the CIE is the first; LSDA: 0 none, and the CIE has no letter for it. */
static void put_fde(struct hand_made *made, uint64_t address, uint32_t n_code, uint64_t lsda,
                    const void *bytes, size_t n_bytes) {
    size_t start = made->n_frames;
    append_word(made, 0);
    append_word(made, (uint32_t)(start + 4));
    append_word(made, (uint32_t)(address - (FRAMES + made->n_frames)));
    append_word(made, n_code);
    append(made, lsda ? "\4" : "", 1);
    if (lsda)
        append_word(made, (uint32_t)(lsda - (FRAMES + made->n_frames)));
    append(made, bytes, n_bytes);
    end_entry(made, start);
}

static void prepare_image(struct hand_made *made) {
    made->image = (struct pm_image){.path = "made", .is_pie = !made->is_fixed};
    moved_frames_image(&made->image, made->sections, made->segments);
    made->image.n_bytes = made->n_frames + made->n_exceptions;
    made->image.bytes = pm_alloc(made->image.n_bytes + 1, 1);
    memcpy(made->image.bytes, made->frames, made->n_frames);
    memcpy(made->image.bytes + made->n_frames, made->exceptions, made->n_exceptions);
    made->segments[0].p_vaddr = CODE;
    made->segments[0].p_filesz = CODE_BYTES;
    made->sections[0].header.sh_addr = FRAMES;
    made->sections[0].header.sh_size = made->n_frames;
    made->sections[1].header.sh_addr = EXCEPTIONS;
    made->sections[1].header.sh_offset = made->n_frames;
    made->sections[1].header.sh_size = made->n_exceptions;
}

/* Reads, writes for moved code, compares; false with the reason if it is refused. */
static bool is_understood(struct hand_made *made, struct pm_error *err) {
    struct moved_frames moved;
    bool is_read;
    prepare_image(made);
    const char *wrong = moved_frames_wrong(&made->image, &moved, &is_read, err);
    if (wrong)
        fail_msg("%s (%s)", wrong, err->text);
    moved_frames_release(&moved);
    free(made->image.bytes);
    return is_read;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void print_rule(FILE *out, const char *name, const struct pm_unwind_rule *rule) {
    static const char *const forms[] = {"",           " %s:u",     " %s:s",     " %s:c%+lld",
                                        " %s=c%+lld", " %s:r%lld", " %s:e%lld", " %s=e%lld"};
    bool is_expression = rule->kind >= PM_RULE_AT_EXPRESSION;
    fprintf(out, forms[rule->kind], name,
            is_expression ? (long long)rule->n_bytes : (long long)rule->number);
}

/* "r7+8 r16:c-8": as a row of readelf; the caller frees. */
static char *row_text(const struct pm_unwind_row *row) {
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    if (row->cfa.kind == PM_RULE_IN_REGISTER)
        fprintf(out, "r%d%+d", (int)row->cfa_register, (int)row->cfa.number);
    else
        fprintf(out, "e%d", (int)row->cfa.n_bytes);
    for (unsigned i = 0; i < PM_UNWIND_REGISTERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%u", i);
        print_rule(out, name, &row->of[i]);
    }
    if (row->args_size)
        fprintf(out, " args %d", (int)row->args_size);
    fclose(out);
    return text;
}

struct case_of_rules {
    const char *name, *bytes;
    size_t n_bytes;
    uint64_t at; /* from the routine's start */
    const char *row;
    bool stays;
};

#define RULES(name, bytes, at, row)                                                                \
    { name, bytes, sizeof(bytes) - 1, at, row, false }
#define STAYS(name, bytes, row)                                                                    \
    { name, bytes, sizeof(bytes) - 1, 0, row, true }

static const struct case_of_rules rules[] = {
    RULES("nothing", "", 0, "r7+8 r16:c-8"),
    RULES("before an advance", "\x41\x0e\x10", 0, "r7+8 r16:c-8"),
    RULES("advance_loc", "\x7f\x0e\x10", 0x3f, "r7+16 r16:c-8"),
    RULES("before advance_loc1 ends", "\2\xff\x0e\x10", 0xfe, "r7+8 r16:c-8"),
    RULES("advance_loc1", "\2\xff\x0e\x10", 0xff, "r7+16 r16:c-8"),
    RULES("advance_loc2", "\3\0\1\x0e\x10", 0x100, "r7+16 r16:c-8"),
    RULES("advance_loc4", "\4\0\x70\0\0\x0e\x10", 0x7000, "r7+16 r16:c-8"),
    RULES("advance to the end", "\4\0\x80\0\0\x0e\x10", 0x7fff, "r7+8 r16:c-8"),
    RULES("def_cfa", "\x0c\6\x10", 0, "r6+16 r16:c-8"),
    RULES("def_cfa_sf", "\x12\6\x7e", 0, "r6+16 r16:c-8"),
    RULES("def_cfa_sf below", "\x12\6\2", 0, "r6-16 r16:c-8"),
    RULES("def_cfa_register", "\x0d\6", 0, "r6+8 r16:c-8"),
    RULES("def_cfa_offset", "\x0e\x80\1", 0, "r7+128 r16:c-8"),
    RULES("def_cfa_offset_sf", "\x13\x7d", 0, "r7+24 r16:c-8"),
    RULES("def_cfa_offset_sf below", "\x13\3", 0, "r7-24 r16:c-8"),
    RULES("def_cfa_expression", "\x0f\3\x76\x78\6", 0, "e3 r16:c-8"),
    RULES("def_cfa after an expression", "\x0f\3\x76\x78\6\x41\x0c\7\x8", 1, "r7+8 r16:c-8"),
    RULES("offset", "\x86\2", 0, "r7+8 r6:c-16 r16:c-8"),
    RULES("offset_extended", "\5\xf\3", 0, "r7+8 r15:c-24 r16:c-8"),
    RULES("offset_extended_sf", "\x11\6\x7e", 0, "r7+8 r6:c+16 r16:c-8"),
    RULES("val_offset", "\x14\6\2", 0, "r7+8 r6=c-16 r16:c-8"),
    RULES("val_offset_sf", "\x15\6\x7e", 0, "r7+8 r6=c+16 r16:c-8"),
    RULES("register", "\x09\x10\1", 0, "r7+8 r16:r1"),
    RULES("undefined", "\7\x10", 0, "r7+8 r16:u"),
    RULES("same_value", "\x8\3", 0, "r7+8 r3:s r16:c-8"),
    RULES("expression", "\x10\6\2\x76\0", 0, "r7+8 r6:e2 r16:c-8"),
    RULES("val_expression", "\x16\6\3\x76\x8\6", 0, "r7+8 r6=e3 r16:c-8"),
    RULES("an expression of nothing", "\x10\6\0\x86\2", 0, "r7+8 r6:c-16 r16:c-8"),
    RULES("restore", "\x90\2\x86\2\x41\xd0\xc6", 1, "r7+8 r16:c-8"),
    RULES("restore_extended", "\x86\2\x41\6\6", 1, "r7+8 r16:c-8"),
    RULES("remember_state", "\x86\2\x0a\x41\xc6\x0e\x40\x42\x0b", 3, "r7+8 r6:c-16 r16:c-8"),
    RULES("between states", "\x86\2\x0a\x41\xc6\x0e\x40\x42\x0b", 2, "r7+64 r16:c-8"),
    RULES("GNU_args_size", "\x2e\x10", 0, "r7+8 r16:c-8 args 16"),
    RULES("arguments and states", "\x0a\x2e\x10\x41\x0b", 1, "r7+8 r16:c-8 args 16"),
    STAYS("what hangs on rip", "\x0f\2\x80\0", "e2 r16:c-8"),
    STAYS("a branch", "\x16\6\3\x28\0\0", "r7+8 r6=e3 r16:c-8"),
    STAYS("a vector register", "\5\x11\2", "r7+8 r16:c-8"),
};

static void test_rules(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct case_of_rules *c = &rules[i];
        struct hand_made made = {0};
        struct pm_error err = {0};
        PUT_CIE(&made, USUAL_CIE);
        put_fde(&made, CODE, ROUTINE_BYTES, 0, c->bytes, c->n_bytes);
        put_fde(&made, CODE + ROUTINE_BYTES, 16, 0, "", 0);
        if (!is_understood(&made, &err))
            fail_msg("%s: %s", c->name, err.text);
        prepare_image(&made);
        struct pm_unwinding *unwinding = pm_unwinding_read(&made.image, &err);
        struct pm_unwind_rows rows = {0};
        bool can_move;
        assert_int_equal(pm_unwind_fde_at(unwinding, CODE - 1), PM_NONE);
        assert_int_equal(pm_unwind_fde_at(unwinding, CODE + ROUTINE_BYTES - 1), 0);
        assert_int_equal(pm_unwind_fde_at(unwinding, CODE + ROUTINE_BYTES), 1);
        assert_true(pm_unwind_read_rows(unwinding, &unwinding->fdes[0], &rows, &can_move));
        char *text = row_text(pm_unwind_row_at(&rows, CODE + c->at));
        if (strcmp(text, c->row) != 0 || can_move == c->stays)
            fail_msg("%s: %s, not %s; moves: %d", c->name, text, c->row, can_move);
        free(text);
        pm_unwind_rows_release(&rows);
        pm_unwinding_free(unwinding);
        free(made.image.bytes);
    }
}

static void test_frames_of_signals_stay(void **state) {
    (void)state;
    struct hand_made made = {0};
    struct pm_error err = {0};
    PUT_CIE(&made, "\1zRS\0\1\x78\x10\1\x1b\x0c\7\x8\x90\1");
    put_fde(&made, CODE, 16, 0, "", 0);
    prepare_image(&made);
    struct pm_unwinding *unwinding = pm_unwinding_read(&made.image, &err);
    assert_non_null(unwinding);
    assert_false(unwinding->fdes[0].can_move);
    pm_unwinding_free(unwinding);
    free(made.image.bytes);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void expect_refusal(struct hand_made *made, const char *name, const char *reason) {
    struct pm_error err = {0};
    if (is_understood(made, &err))
        fail_msg("%s is taken", name);
    if (!strstr(err.text, reason))
        fail_msg("%s is refused with: %s", name, err.text);
}

#define LETTERS "augmentation"
#define ALIGNMENTS "alignments or a return address"
#define NOT_RULES "call frame instructions that are not understood"
#define BYTES(text) text, sizeof(text) - 1

static void test_cies_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t n_bytes;
        const char *reason;
    } cases[] = {
        {"version 4", BYTES("\4zR\0\1\x78\x10\1\x1b"), "another version"},
        {"no augmentation data", BYTES("\1\0\1\x78\x10"), "without augmentation data"},
        {"GCC 2", BYTES("\1eh\0\1\x78\x10"), "without augmentation data"},
        {"a letter", BYTES("\1zRB\0\1\x78\x10\1\x1b"), LETTERS " that is not known"},
        {"more data than letters", BYTES("\1zR\0\1\x78\x10\2\x1b\0"),
         LETTERS " data of another length"},
        {"less data than letters", BYTES("\1zRL\0\1\x78\x10\1\x1b\x1b"),
         LETTERS " data of another length"},
        {"absolute code", BYTES("\1zR\0\1\x78\x10\1\0"), "not 32-bit relative"},
        {"64-bit relative code", BYTES("\1zR\0\1\x78\x10\1\x1c"), "not 32-bit relative"},
        {"no encoding of code", BYTES("\1z\0\1\x78\x10\0"), "not 32-bit relative"},
        {"instructions of 4 bytes", BYTES("\1zR\0\4\x78\x10\1\x1b"), ALIGNMENTS},
        {"offsets times 0", BYTES("\1zR\0\1\0\x10\1\x1b"), ALIGNMENTS},
        {"another return address", BYTES("\1zR\0\1\x78\x1e\1\x1b"), ALIGNMENTS},
        {"an absolute personality", BYTES("\1zPR\0\1\x78\x10\6\3\1\2\3\4\x1b"),
         "cannot stand elsewhere"},
        {"a text-relative personality", BYTES("\1zPR\0\1\x78\x10\6\x2b\1\2\3\4\x1b"),
         "cannot stand elsewhere"},
        {"a personality elsewhere", BYTES("\1zPR\0\1\x78\x10\6\x9b\0\0\0\x7f\x1b"),
         "not in the file"},
        {"letters without end", BYTES("\1zRRRRRRRRRRRRRRRRRRRRRRR"), "is truncated"},
        {"no frame", BYTES("\1zR\0\1\x78\x10\1\x1b"), NOT_RULES},
        {"an advance", BYTES("\1zR\0\1\x78\x10\1\x1b\x0c\7\x8\x41"), NOT_RULES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_made made = {0};
        put_cie(&made, cases[i].bytes, cases[i].n_bytes);
        if (strcmp(cases[i].reason, "is truncated") == 0) { /* its padding would end it */
            uint32_t length = (uint32_t)(4 + cases[i].n_bytes);
            made.n_frames = 4 + length;
            memcpy(made.frames, &length, 4);
        } else {
            put_fde(&made, CODE, 16, 0, "", 0);
        }
        expect_refusal(&made, cases[i].name, cases[i].reason);
    }
    struct hand_made fixed = {.is_fixed = true};
    struct pm_error err = {0};
    PUT_CIE(&fixed, "\1zPR\0\1\x78\x10\6\3\1\2\3\4\x1b\x0c\7\x8");
    put_fde(&fixed, CODE, 16, 0, "", 0);
    assert_true(is_understood(&fixed, &err)); /* at a fixed address it may be absolute */
}

static void test_instructions_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t n_bytes;
    } cases[] = {
        {"set_loc", BYTES("\1\0\0\0\0\0\0\0\0")},
        {"GNU_window_save", BYTES("\x2d")},
        {"GNU_negative_offset_extended", BYTES("\x2f\6\1")},
        {"an unknown one", BYTES("\x3f")},
        {"an advance behind the routine", BYTES("\4\1\x80\0\0")},
        {"advances that wrap around", BYTES("\4\xff\xff\xff\xff\4\xff\xff\xff\xff")},
        {"restore_state of none", BYTES("\x0b")},
        {"states without end", BYTES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a")},
        {"an expression behind the entry", BYTES("\x0f\x7f\x76")},
        {"def_cfa_offset of an expression", BYTES("\x0f\2\x76\0\x0e\x8")},
        {"def_cfa_register of an expression", BYTES("\x0f\2\x76\0\x0d\6")},
        {"def_cfa_offset_sf of an expression", BYTES("\x0f\2\x76\0\x13\x7f")},
        {"a frame of 2 GiB", BYTES("\x0e\x80\x80\x80\x80\x8")},
        {"a frame of less than nothing", BYTES("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\1")},
        {"an offset of 2 EiB", BYTES("\x11\6\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f")},
        {"a number of 71 bits", BYTES("\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_made made = {0};
        PUT_CIE(&made, USUAL_CIE);
        put_fde(&made, CODE, ROUTINE_BYTES, 0, cases[i].bytes, cases[i].n_bytes);
        expect_refusal(&made, cases[i].name, NOT_RULES);
    }
}

static void test_fdes_that_are_refused(void **state) {
    (void)state;
    struct hand_made made = {0};
    PUT_CIE(&made, USUAL_CIE);
    put_fde(&made, CODE, 16, 0, "", 0);
    size_t n_good = made.n_frames;
    put_fde(&made, CODE + 15, 16, 0, "", 0);
    expect_refusal(&made, "code of two FDEs", "that another FDE has");
    made.n_frames = n_good;
    put_fde(&made, CODE + CODE_BYTES - 8, 16, 0, "", 0);
    expect_refusal(&made, "code behind the end", "not in the file");
    made.n_frames = n_good;
    append(&made, "\xff\xff\xff\xff\x20\0\0\0\0\0\0", 12);
    append(&made, made.frames + 8, 40);
    expect_refusal(&made, "a 64-bit CIE", "64-bit length");
    made.n_frames = n_good;
    append(&made, "\xff", 1);
    expect_refusal(&made, "a part of a length", "is truncated");
    made.n_frames = n_good;
    append(&made, "\x10\0\0\0\x10\0\0", 8);
    expect_refusal(&made, "an entry behind the end", "longer than the section");
    made.n_frames = n_good;
    append(&made, "\4\0\0\0\4\0\0", 8);
    expect_refusal(&made, "an FDE of an FDE", "CIE is not before it");
    made.n_frames = n_good;
    append(&made, "\4\0\0\0\xff\xff\0", 8);
    expect_refusal(&made, "an FDE of what is before the section", "CIE is not before it");
}

/* Wherever the section ends, it is refused, or read as far as whole entries go. */
static void test_truncated_tables(void **state) {
    (void)state;
    struct hand_made whole = {0};
    size_t ends[4] = {0};
    PUT_CIE(&whole, USUAL_CIE);
    ends[1] = whole.n_frames;
    put_fde(&whole, CODE, 16, 0, "\x41\x0e\x10", 3);
    ends[2] = whole.n_frames;
    put_fde(&whole, CODE + 16, 16, 0, "\x41\x0e\x10\x86\2", 5);
    ends[3] = whole.n_frames;
    for (size_t n = 0; n <= whole.n_frames; n++) {
        struct hand_made made = whole;
        struct pm_error err = {0};
        made.n_frames = n;
        bool is_whole = n == ends[0] || n == ends[1] || n == ends[2] || n == ends[3];
        assert_int_equal(is_understood(&made, &err), is_whole);
        assert_true(is_whole || strstr(err.text, "truncated") || strstr(err.text, "longer"));
    }
}

/* ---- exceptions ------------------------------------------------------------------------------ */

/* Landing pads from the routine's start; types are 32-bit relative ones; sites as ULEB128.  Two
   sites: 16 … 31 lands at 64 and catches type 1, then by the chain filter -1, whose list is type 2;
   32 … 47 lands nowhere. */
#define GOOD_EXCEPTIONS                                                                            \
    "\xff\x1b\x16\1\x8\x10\x10\x40\3\x20\x10\0\0"                                                  \
    "\x7f\0\1\x7d"                                                                                 \
    "\x10\0\0\0\x20\0\0\0"                                                                         \
    "\2\0"

static bool exceptions_are_read(struct hand_made *made, const void *bytes, size_t n_bytes,
                                struct pm_exception_table *table) {
    struct pm_error err = {0};
    *made = (struct hand_made){.n_exceptions = n_bytes};
    memcpy(made->exceptions, bytes, n_bytes);
    PUT_CIE(made, THROWING_CIE);
    put_fde(made, CODE, 128, EXCEPTIONS, "\x41\x0e\x10", 3);
    assert_true(is_understood(made, &err)); /* moves it if it can */
    prepare_image(made);
    struct pm_unwinding *unwinding = pm_unwinding_read(&made->image, &err);
    bool is_read = pm_read_exception_table(&made->image, &unwinding->fdes[0], table);
    pm_unwinding_free(unwinding);
    return is_read;
}

static void test_exception_table(void **state) {
    (void)state;
    struct hand_made made;
    struct pm_exception_table table = {0};
    assert_true(exceptions_are_read(&made, BYTES(GOOD_EXCEPTIONS), &table));
    assert_int_equal(table.n_sites, 2);
    assert_int_equal(table.sites[0].address, CODE + 16);
    assert_int_equal(table.sites[0].end, CODE + 32);
    assert_int_equal(table.sites[0].landing_pad, CODE + 64);
    assert_int_equal(table.sites[0].action, 3);
    assert_int_equal(table.sites[1].address, CODE + 32);
    assert_int_equal(table.sites[1].landing_pad, 0);
    assert_int_equal(table.sites[1].action, 0);
    assert_int_equal(table.n_action_bytes, 4);
    assert_int_equal(table.n_types, 2);
    assert_int_equal(table.n_filter_bytes, 2);
    assert_int_equal(table.types_address, EXCEPTIONS + 25);
    assert_int_equal(moved_type(&table, 1), EXCEPTIONS + 21 + 0x20);
    assert_int_equal(moved_type(&table, 2), EXCEPTIONS + 17 + 0x10);
    pm_exception_table_release(&table);
    free(made.image.bytes);
}

static void test_exception_tables_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t at;
        uint8_t byte;
    } cases[] = {
        {"landing_pads to be loaded", 0, 0x9b},
        {"landing_pads relative to data", 0, 0x3b},
        {"fixed types where nothing is fixed", 1, 0x00},
        {"types relative to text", 1, 0x2b},
        {"types behind the section", 2, 0x7f},
        {"sites to be loaded", 3, 0x81},
        {"sites of no encoding", 3, 0xff},
        {"sites behind the section", 4, 0x7f},
        {"half a site", 4, 0x07},
        {"sites that overlap", 9, 0x1f},
        {"actions behind the section", 8, 0x7f},
        {"a chain that never ends", 16, 0x7f},
        {"a type before the section", 15, 0x3f},
        {"a filter behind the section", 13, 0x40},
        {"a filter of a type before the section", 25, 0x7f},
        {"a filter without end", 26, 1},
        {"a type elsewhere", 24, 0x7f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[] = GOOD_EXCEPTIONS;
        struct hand_made made;
        struct pm_exception_table table = {0};
        assert_true(cases[i].at < sizeof bytes - 1);
        bytes[cases[i].at] = cases[i].byte;
        if (exceptions_are_read(&made, bytes, sizeof bytes - 1, &table))
            fail_msg("%s: taken", cases[i].name);
        pm_exception_table_release(&table);
        free(made.image.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_frames_of_signals_stay),
        cmocka_unit_test(test_cies_that_are_refused),
        cmocka_unit_test(test_instructions_that_are_refused),
        cmocka_unit_test(test_fdes_that_are_refused),
        cmocka_unit_test(test_truncated_tables),
        cmocka_unit_test(test_exception_table),
        cmocka_unit_test(test_exception_tables_that_are_refused),
    };
    return cmocka_run_group_tests_name("unwinding", tests, NULL, NULL);
}
