/* The rules that hold at each instruction of an FDE: its call frame instructions, executed.  See
   DWARF 5, section 6.4.2; the GNU extension says how many bytes of arguments are on the stack. */
#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

enum { DEEPEST = 8 };

struct machine {
    struct pm_unwind_row now, kept[DEEPEST];
    const struct pm_unwind_row *initial; /* NULL in the CIE */
    unsigned n_kept;
    int64_t data_alignment;
    uint64_t place, end;
    bool can_move;
    bool is_known; /* all so far means something, and can be written again */
};

/* ---- expressions ----------------------------------------------------------------------------- */

/* Does an expression say the same wherever the code stands?  Of what compilers write: constants,
   registers but the program counter, arithmetic, loads. */
static bool is_independent(const uint8_t *expression, uint64_t n_bytes) {
    struct pm_reader reader = pm_reader_of(expression, n_bytes);
    while (!reader.fault && pm_bytes_left(&reader)) {
        uint8_t op = (uint8_t)pm_take_unsigned(&reader, 1);
        bool is_operator = op == 0x06 || (op >= 0x12 && op <= 0x14) || (op >= 0x19 && op <= 0x22) ||
                           (op >= 0x24 && op <= 0x27) || (op >= 0x29 && op <= 0x2e);
        if (op >= 0x08 && op <= 0x0f) /* constants of 1, 2, 4, 8 bytes */
            pm_take(&reader, 1u << ((op - 0x08) / 2));
        else if (op == 0x10 || op == 0x23) /* constu, plus_uconst */
            pm_take_uleb(&reader);
        else if (op == 0x11 || (op >= 0x70 && op < 0x70 + PM_UNWIND_REGISTERS - 1))
            pm_take_sleb(&reader);
        else if (!is_operator && !(op >= 0x30 && op <= 0x4f)) /* literals */
            return false;
    }
    return !reader.fault;
}

static struct pm_unwind_rule take_expression(struct machine *machine, struct pm_reader *table,
                                             uint8_t kind) {
    uint64_t n_bytes = pm_take_uleb(table);
    const uint8_t *expression = pm_take(table, n_bytes);
    if (!expression)
        return (struct pm_unwind_rule){0};
    machine->can_move &= is_independent(expression, n_bytes);
    return (struct pm_unwind_rule){
        .kind = kind, .n_bytes = (uint32_t)n_bytes, .expression = expression};
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* FACTOR × UNIT; no frame is of 2 GiB. */
static int64_t offset_of(struct machine *machine, int64_t factor, int64_t unit) {
    int64_t offset;
    if (!__builtin_mul_overflow(factor, unit, &offset) && offset == (int32_t)offset)
        return offset;
    machine->is_known = false;
    return 0;
}

static int64_t take_offset(struct machine *machine, struct pm_reader *table) {
    uint64_t offset = pm_take_uleb(table);
    return offset_of(machine, offset > INT64_MAX ? INT64_MAX : (int64_t)offset, 1);
}

/* Before an instruction that changes one of register and offset. */
static void need_register(struct machine *machine) {
    machine->is_known &= machine->now.cfa.kind == PM_RULE_IN_REGISTER;
}

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset) {
    machine->now.cfa = (struct pm_unwind_rule){.kind = PM_RULE_IN_REGISTER, .number = offset};
    machine->now.cfa_register = number;
}

/* A rule for a register that rows do not have cannot be written again. */
static void set(struct machine *machine, uint64_t number, struct pm_unwind_rule rule) {
    if (number < PM_UNWIND_REGISTERS)
        machine->now.of[number] = rule;
    else
        machine->can_move = false;
}

static void restore(struct machine *machine, uint64_t number) {
    set(machine, number,
        machine->initial && number < PM_UNWIND_REGISTERS ? machine->initial->of[number]
                                                         : (struct pm_unwind_rule){0});
}

static void set_offset(struct machine *machine, uint64_t number, uint8_t kind, int64_t factored) {
    set(machine, number,
        (struct pm_unwind_rule){.kind = kind,
                                .number = offset_of(machine, factored, machine->data_alignment)});
}

/* Those that are about where the frame is, and about rows; false: another. */
static bool execute_frame(struct machine *machine, struct pm_reader *table, uint8_t operation) {
    uint64_t number;
    switch (operation) {
    case 0x00: /* nop */
        return true;
    case 0x0a: /* remember_state */
        if (machine->n_kept == DEEPEST)
            table->fault = PM_READ_BAD;
        else
            machine->kept[machine->n_kept++] = machine->now;
        return true;
    case 0x0b: { /* restore_state; the size of arguments is no part of it */
        uint64_t args_size = machine->now.args_size;
        if (machine->n_kept == 0)
            table->fault = PM_READ_BAD;
        else
            machine->now = machine->kept[--machine->n_kept];
        machine->now.args_size = args_size;
        return true;
    }
    case 0x0c: /* def_cfa */
        number = pm_take_uleb(table);
        set_cfa(machine, number, take_offset(machine, table));
        return true;
    case 0x0d: /* def_cfa_register */
        need_register(machine);
        set_cfa(machine, pm_take_uleb(table), machine->now.cfa.number);
        return true;
    case 0x0e: /* def_cfa_offset */
        need_register(machine);
        machine->now.cfa.number = take_offset(machine, table);
        return true;
    case 0x0f: /* def_cfa_expression */
        machine->now.cfa = take_expression(machine, table, PM_RULE_IS_EXPRESSION);
        return true;
    case 0x12: /* def_cfa_sf */
        number = pm_take_uleb(table);
        set_cfa(machine, number, offset_of(machine, pm_take_sleb(table), machine->data_alignment));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        need_register(machine);
        machine->now.cfa.number = offset_of(machine, pm_take_sleb(table), machine->data_alignment);
        return true;
    case 0x2e: /* GNU_args_size */
        machine->now.args_size = pm_take_uleb(table);
        return true;
    default:
        return false;
    }
}

/* Those that are about one register, which is the first operand; false: another. */
static bool execute_register(struct machine *machine, struct pm_reader *table, uint8_t operation) {
    uint64_t number = pm_take_uleb(table);
    switch (operation) {
    case 0x05: /* offset_extended */
        set_offset(machine, number, PM_RULE_AT_OFFSET, (int64_t)pm_take_uleb(table));
        return true;
    case 0x06: /* restore_extended */
        restore(machine, number);
        return true;
    case 0x07: /* undefined */
        set(machine, number, (struct pm_unwind_rule){.kind = PM_RULE_UNDEFINED});
        return true;
    case 0x08: /* same_value */
        set(machine, number, (struct pm_unwind_rule){.kind = PM_RULE_SAME});
        return true;
    case 0x09: /* register */
        set(machine, number,
            (struct pm_unwind_rule){.kind = PM_RULE_IN_REGISTER,
                                    .number = (int64_t)pm_take_uleb(table)});
        return true;
    case 0x10: /* expression */
        set(machine, number, take_expression(machine, table, PM_RULE_AT_EXPRESSION));
        return true;
    case 0x11: /* offset_extended_sf */
        set_offset(machine, number, PM_RULE_AT_OFFSET, pm_take_sleb(table));
        return true;
    case 0x14: /* val_offset */
        set_offset(machine, number, PM_RULE_IS_OFFSET, (int64_t)pm_take_uleb(table));
        return true;
    case 0x15: /* val_offset_sf */
        set_offset(machine, number, PM_RULE_IS_OFFSET, pm_take_sleb(table));
        return true;
    case 0x16: /* val_expression */
        set(machine, number, take_expression(machine, table, PM_RULE_IS_EXPRESSION));
        return true;
    default:
        return false;
    }
}

static void keep_row(struct pm_unwind_rows *rows, struct machine *machine) {
    machine->is_known &= machine->now.cfa.kind != PM_RULE_NONE;
    if (rows->n_addresses && rows->addresses[rows->n_addresses - 1] == machine->place) {
        rows->rows[rows->n_rows - 1] = machine->now;
        return;
    }
    *PM_PUSH(rows, addresses) = machine->place;
    *PM_PUSH(rows, rows) = machine->now;
}

/* ROWS: NULL in a CIE, which has none of its own. */
static bool execute(struct machine *machine, struct pm_reader table, struct pm_unwind_rows *rows) {
    while (!table.fault && pm_bytes_left(&table)) {
        uint8_t byte = (uint8_t)pm_take_unsigned(&table, 1), low = byte & 0x3f;
        uint64_t advance = 0;
        if (byte >> 6 == 1)
            advance = low;
        else if (byte >= 0x02 && byte <= 0x04) /* advance_loc1, 2, 4 */
            advance = pm_take_unsigned(&table, 1u << (byte - 2));
        else if (byte >> 6 == 2)
            set_offset(machine, low, PM_RULE_AT_OFFSET, (int64_t)pm_take_uleb(&table));
        else if (byte >> 6 == 3)
            restore(machine, low);
        else if (!execute_frame(machine, &table, byte) && !execute_register(machine, &table, byte))
            return false;
        if (advance && (!rows || advance > machine->end - machine->place))
            return false;
        if (advance)
            keep_row(rows, machine);
        machine->place += advance;
    }
    return !table.fault && machine->is_known;
}

bool pm_unwind_read_rows(const struct pm_unwinding *unwinding, const struct pm_unwind_fde *fde,
                         struct pm_unwind_rows *rows, bool *can_move) {
    const struct pm_unwind_cie *cie = &unwinding->cies[fde->cie];
    struct machine machine = {.data_alignment = cie->data_alignment,
                              .place = fde->address,
                              .end = fde->end,
                              .can_move = !cie->is_signal,
                              .is_known = true};
    rows->n_addresses = rows->n_rows = 0;
    if (!execute(&machine, cie->instructions, NULL))
        return false;
    rows->initial = machine.now;
    machine.initial = &rows->initial;
    if (!execute(&machine, fde->instructions, rows))
        return false;
    keep_row(rows, &machine);
    *can_move = machine.can_move;
    return machine.is_known;
}

void pm_unwind_rows_release(struct pm_unwind_rows *rows) {
    free(rows->addresses);
    free(rows->rows);
}

const struct pm_unwind_row *pm_unwind_row_at(const struct pm_unwind_rows *rows, uint64_t address) {
    size_t behind = PM_LOWER_BOUND(rows->n_addresses, i, rows->addresses[i] <= address);
    return behind ? &rows->rows[behind - 1] : &rows->rows[0];
}

bool pm_unwind_same_rule(const struct pm_unwind_rule *a, const struct pm_unwind_rule *b) {
    return a->kind == b->kind && a->number == b->number && a->n_bytes == b->n_bytes &&
           (a->n_bytes == 0 || memcmp(a->expression, b->expression, a->n_bytes) == 0);
}
