/* A step over the stack by the tables of .eh_frame; see unwind.h.

   For its own use the compiler's unwinder is too trusting: it ends the program if the tables are
   not as it expects, and a walk at exit meets routines that no exception ever passes, written by
   hand with tables that nobody tried.  Here a table that makes no sense ends the walk, and memory
   is asked for before it is read.  The steps are those of DWARF 5, section 6.4: find the routine's
   FDE (by binary search in .eh_frame_hdr), execute the rows of its table up to the place, then take
   the caller's registers from where the row says they are. */
#include "runtime/unwind/rules.h"

#include <stddef.h>
#include <string.h>

#include "runtime/system.h"
#include "runtime/unwind/eh_frame.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* Can the memory at ADDRESS be read?  The kernel looks at it before it finds the request wrong. */
static bool is_readable(uint64_t address) {
    enum { NO_FILE = -1, ADD = 1, FAULT = -14 };
    return pm_syscall(SYS_epoll_ctl, NO_FILE, ADD, NO_FILE, (long)(address & ~15ul), 0, 0) != FAULT;
}

bool pm_unwind_read(struct pm_call_frame *frame, uint64_t address, uint64_t *word) {
    enum { PAGE = 4096 };
    uint64_t low = address & -(uint64_t)PAGE, end = ((address + 7) & -(uint64_t)PAGE) + PAGE;
    if (address < PAGE || address > UINT64_MAX - 2 * PAGE)
        return false;
    if (low < frame->readable_low || end > frame->readable_end) {
        if (!is_readable(address) || !is_readable(address + 7))
            return false;
        bool touches = low <= frame->readable_end && end >= frame->readable_low;
        frame->readable_low = touches && frame->readable_low < low ? frame->readable_low : low;
        frame->readable_end = touches && frame->readable_end > end ? frame->readable_end : end;
    }
    memcpy(word, (const void *)address, sizeof *word);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum rule_kind { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION };

/* Small, because the walk may run on a program's small stack for signals. */
struct rule {
    uint32_t kind;    /* enum rule_kind */
    uint32_t n_bytes; /* of the expression */
    union {
        int64_t offset; /* from the CFA; or a register */
        const uint8_t *expression;
    };
};

struct row {
    struct rule of[PM_DWARF_REGISTERS];
    struct rule cfa; /* IN_REGISTER: register cfa_register + offset; IS_EXPRESSION */
    uint64_t cfa_register;
};

enum { DEEPEST_ROWS = 3 };

struct rows {
    struct row now, initial, kept[DEEPEST_ROWS];
    unsigned n_kept;
};

static void set_rule(struct row *row, uint64_t number, struct rule rule) {
    if (number < PM_DWARF_REGISTERS)
        row->of[number] = rule;
}

static struct rule take_expression(struct pm_reader *table, enum rule_kind kind) {
    uint64_t n_bytes = pm_take_uleb(table);
    const uint8_t *expression = pm_take(table, n_bytes);
    return (struct rule){.kind = kind, .n_bytes = (uint32_t)n_bytes, .expression = expression};
}

static void set_cfa(struct row *row, uint64_t number, int64_t offset) {
    row->cfa = (struct rule){.kind = IN_REGISTER, .offset = offset};
    row->cfa_register = number;
}

/* Operations without an operand in their own byte; false: none that we know. */
static bool execute_other(struct rows *rows, struct pm_reader *table, uint8_t operation,
                          int64_t alignment) {
    struct row *now = &rows->now;
    struct rule rule = {.kind = SAME};
    uint64_t number;
    switch (operation) {
    case 0x00: /* nop */
        return true;
    case 0x05: /* offset_extended */
        number = pm_take_uleb(table);
        rule = (struct rule){.kind = AT_OFFSET, .offset = (int64_t)pm_take_uleb(table) * alignment};
        break;
    case 0x06: /* restore_extended */
        number = pm_take_uleb(table);
        rule = number < PM_DWARF_REGISTERS ? rows->initial.of[number] : rule;
        break;
    case 0x07: /* undefined */
        number = pm_take_uleb(table);
        rule.kind = UNDEFINED;
        break;
    case 0x08: /* same_value */
        number = pm_take_uleb(table);
        break;
    case 0x09: /* register */
        number = pm_take_uleb(table);
        rule = (struct rule){.kind = IN_REGISTER, .offset = (int64_t)pm_take_uleb(table)};
        break;
    case 0x0a: /* remember_state */
        if (rows->n_kept == DEEPEST_ROWS)
            return false;
        rows->kept[rows->n_kept++] = *now;
        return true;
    case 0x0b: /* restore_state */
        if (rows->n_kept == 0)
            return false;
        *now = rows->kept[--rows->n_kept];
        return true;
    case 0x0c: /* def_cfa */
        number = pm_take_uleb(table);
        set_cfa(now, number, (int64_t)pm_take_uleb(table));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(now, pm_take_uleb(table), now->cfa.offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        now->cfa.offset = (int64_t)pm_take_uleb(table);
        return true;
    case 0x0f: /* def_cfa_expression */
        now->cfa = take_expression(table, IS_EXPRESSION);
        return true;
    case 0x10: /* expression */
        number = pm_take_uleb(table);
        rule = take_expression(table, AT_EXPRESSION);
        break;
    case 0x11: /* offset_extended_sf */
        number = pm_take_uleb(table);
        rule = (struct rule){.kind = AT_OFFSET, .offset = pm_take_sleb(table) * alignment};
        break;
    case 0x12: /* def_cfa_sf */
        number = pm_take_uleb(table);
        set_cfa(now, number, pm_take_sleb(table) * alignment);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        now->cfa.offset = pm_take_sleb(table) * alignment;
        return true;
    case 0x14: /* val_offset */
        number = pm_take_uleb(table);
        rule = (struct rule){.kind = IS_OFFSET, .offset = (int64_t)pm_take_uleb(table) * alignment};
        break;
    case 0x15: /* val_offset_sf */
        number = pm_take_uleb(table);
        rule = (struct rule){.kind = IS_OFFSET, .offset = pm_take_sleb(table) * alignment};
        break;
    case 0x16: /* val_expression */
        number = pm_take_uleb(table);
        rule = take_expression(table, IS_EXPRESSION);
        break;
    case 0x2e: /* GNU_args_size */
        pm_take_uleb(table);
        return true;
    default:
        return false;
    }
    set_rule(now, number, rule);
    return true;
}

/* Executes TABLE up to the row for TARGET. */
static bool execute(struct rows *rows, struct pm_reader table, const struct pm_fde *fde,
                    uint64_t target) {
    uint64_t place = fde->begin;
    while (table.at < table.end && place <= target) {
        uint8_t byte = (uint8_t)pm_take_unsigned(&table, 1);
        uint64_t advance = 0, low = byte & 0x3f;
        bool known = true;
        if (byte >> 6 == 1) {
            advance = low;
        } else if (byte >> 6 == 2) {
            int64_t offset = (int64_t)pm_take_uleb(&table) * fde->data_alignment;
            set_rule(&rows->now, low, (struct rule){.kind = AT_OFFSET, .offset = offset});
        } else if (byte >> 6 == 3) {
            if (low < PM_DWARF_REGISTERS)
                rows->now.of[low] = rows->initial.of[low];
        } else if (byte == 0x01) { /* set_loc */
            place = pm_take_pointer(&table, fde->pointer_encoding, (uint64_t)table.at);
        } else if (byte >= 0x02 && byte <= 0x04) { /* advance_loc1, 2, 4 */
            advance = pm_take_unsigned(&table, 1u << (byte - 2));
        } else {
            known = execute_other(rows, &table, byte, fde->data_alignment);
        }
        place += advance * fde->code_alignment;
        if (!known || table.fault)
            return false;
    }
    return true;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool evaluate(const struct rule *rule, struct pm_call_frame *frame, const uint64_t *first,
                     uint64_t *result) {
    return pm_evaluate_expression(rule->expression, rule->n_bytes, frame, first, result);
}

static bool find_cfa(const struct rows *rows, struct pm_call_frame *frame, uint64_t *cfa) {
    const struct row *row = &rows->now;
    if (row->cfa.kind == IS_EXPRESSION)
        return evaluate(&row->cfa, frame, NULL, cfa);
    if (row->cfa.kind != IN_REGISTER || row->cfa_register >= PM_DWARF_REGISTERS ||
        !(frame->known >> row->cfa_register & 1))
        return false;
    *cfa = frame->registers[row->cfa_register] + (uint64_t)row->cfa.offset;
    return true;
}

/* The caller's value of a register; false if it is not known. */
static bool find_register(const struct rule *rule, struct pm_call_frame *frame, unsigned number,
                          uint64_t cfa, uint64_t *value) {
    uint64_t place;
    switch (rule->kind) {
    case SAME:
        *value = frame->registers[number];
        return frame->known >> number & 1;
    case AT_OFFSET:
        return pm_unwind_read(frame, cfa + (uint64_t)rule->offset, value);
    case IS_OFFSET:
        *value = cfa + (uint64_t)rule->offset;
        return true;
    case IN_REGISTER:
        if (rule->offset < 0 || rule->offset >= PM_DWARF_REGISTERS)
            return false;
        *value = frame->registers[rule->offset];
        return frame->known >> rule->offset & 1;
    case AT_EXPRESSION:
        return evaluate(rule, frame, &cfa, &place) && pm_unwind_read(frame, place, value);
    case IS_EXPRESSION:
        return evaluate(rule, frame, &cfa, value);
    case UNDEFINED:
        break;
    }
    return false;
}

/* RULE is valid if the row needs no more than that. */
static void shorten(const struct row *row, struct pm_short_rule *rule) {
    enum { WORD = 8 };
    const struct rule *rip = &row->of[PM_DWARF_RIP];
    bool usual = row->cfa.kind == IN_REGISTER && row->cfa.offset == (int32_t)row->cfa.offset &&
                 rip->kind == AT_OFFSET && rip->offset == -WORD &&
                 row->of[PM_DWARF_RSP].kind == SAME;
    for (unsigned i = 0; usual && i < PM_N_PRESERVED; i++) {
        const struct rule *of = &row->of[pm_preserved_registers[i]];
        int64_t words = of->kind == AT_OFFSET ? of->offset / WORD : 0;
        usual = of->kind == SAME || (of->kind == AT_OFFSET && of->offset % WORD == 0 && words &&
                                     words == (int16_t)words);
        rule->saved[i] = (int16_t)words;
    }
    rule->cfa_register = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa.offset;
    rule->is_valid = usual;
}

enum pm_unwind_result pm_unwind_by_tables(struct pm_call_frame *frame, struct pm_short_rule *rule) {
    struct pm_fde fde = {0};
    struct rows rows = {.n_kept = 0};
    rule->is_valid = false;
    /* A call may be the last instruction of its routine. */
    uint64_t place = pm_call_frame_rip(frame) - !frame->interrupted, cfa;
    if (!pm_find_fde(place, &fde))
        return PM_UNWIND_LOST;
    rows.now.cfa.kind = UNDEFINED;
    if (!execute(&rows, fde.initial, &fde, UINT64_MAX))
        return PM_UNWIND_LOST;
    rows.initial = rows.now;
    if (!execute(&rows, fde.rows, &fde, place))
        return PM_UNWIND_LOST;
    if (rows.now.of[PM_DWARF_RIP].kind == UNDEFINED)
        return PM_UNWIND_END;
    if (!find_cfa(&rows, frame, &cfa))
        return PM_UNWIND_LOST;
    struct pm_call_frame caller = {.interrupted = fde.is_signal_frame};
    for (unsigned i = 0; i < PM_DWARF_REGISTERS; i++)
        if (find_register(&rows.now.of[i], frame, i, cfa, &caller.registers[i]))
            caller.known |= 1u << i;
    if (rows.now.of[PM_DWARF_RSP].kind == SAME) {
        caller.registers[PM_DWARF_RSP] = cfa;
        caller.known |= 1u << PM_DWARF_RSP;
    }
    if (!(caller.known >> PM_DWARF_RIP & 1) || !(caller.known >> PM_DWARF_RSP & 1))
        return PM_UNWIND_LOST;
    if (pm_call_frame_rip(&caller) == 0)
        return PM_UNWIND_END;
    caller.readable_low = frame->readable_low;
    caller.readable_end = frame->readable_end;
    if (!frame->interrupted && !fde.is_signal_frame)
        shorten(&rows.now, rule);
    *frame = caller;
    return PM_UNWIND_FRAME;
}
