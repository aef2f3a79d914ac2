/* Walks stacks by .eh_frame; see unwind.h.

   For its own use the compiler's unwinder is too trusting: it ends the program if the tables are
   not as it expects, and a walk at exit meets routines that no exception ever passes, written by
   hand with tables that nobody tried.  Here a table that makes no sense ends the walk, and memory
   is asked for before it is read.  The steps are those of DWARF 5, section 6.4: find the routine's
   FDE (by binary search in .eh_frame_hdr), execute the rows of its table up to the place, then take
   the caller's registers from where the row says they are. */
#define _GNU_SOURCE
#include "runtime/unwind.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "runtime/modules.h"
#include "runtime/system.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* Can the memory at ADDRESS be read?  The kernel looks at it before it finds the request wrong. */
static bool is_readable(uint64_t address) {
    enum { NO_FILE = -1, ADD = 1, FAULT = -14 };
    return pm_syscall(SYS_epoll_ctl, NO_FILE, ADD, NO_FILE, (long)(address & ~15ul), 0, 0) != FAULT;
}

bool pm_unwind_read(struct pm_frame *frame, uint64_t address, uint64_t *word) {
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

/* Bytes of a table that the dynamic linker has mapped, from AT to END. */
struct table {
    const uint8_t *at, *end;
    bool bad;
};

static const uint8_t *take(struct table *table, size_t n) {
    if (table->bad || n > (size_t)(table->end - table->at)) {
        table->bad = true;
        return NULL;
    }
    const uint8_t *bytes = table->at;
    table->at += n;
    return bytes;
}

static uint64_t take_unsigned(struct table *table, size_t n) {
    uint64_t value = 0;
    const uint8_t *bytes = take(table, n);
    if (bytes)
        memcpy(&value, bytes, n);
    return value;
}

static int64_t take_signed(struct table *table, size_t n) {
    unsigned unused = 64 - 8 * (unsigned)n;
    return (int64_t)(take_unsigned(table, n) << unused) >> unused;
}

static uint64_t take_leb(struct table *table, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    const uint8_t *byte;
    do {
        byte = take(table, 1);
        if (!byte)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(*byte & 0x7f) << shift;
        shift += 7;
    } while (*byte & 0x80);
    if (is_signed && shift < 64 && (*byte & 0x40))
        value |= UINT64_MAX << shift;
    return value;
}

static uint64_t take_uleb(struct table *table) { return take_leb(table, false); }
static int64_t take_sleb(struct table *table) { return (int64_t)take_leb(table, true); }

/* A pointer in a DW_EH_PE encoding; what is relative to anything but the place is bad. */
static uint64_t take_pointer(struct table *table, unsigned encoding) {
    uint64_t place = (uint64_t)table->at, value = 0;
    switch (encoding & 0x0f) {
    case 0x00: /* absolute */
    case 0x04:
    case 0x0c:
        value = take_unsigned(table, 8);
        break;
    case 0x02:
        value = take_unsigned(table, 2);
        break;
    case 0x03:
        value = take_unsigned(table, 4);
        break;
    case 0x0a:
        value = (uint64_t)take_signed(table, 2);
        break;
    case 0x0b:
        value = (uint64_t)take_signed(table, 4);
        break;
    default:
        table->bad = true;
    }
    if ((encoding & 0x70) == 0x10)
        value += place;
    else if ((encoding & 0x70) != 0)
        table->bad = true;
    return value;
}

/* ---- a routine's FDE ------------------------------------------------------------------------- */

struct description {
    uint64_t begin, end; /* of the code */
    struct table initial, rows;
    uint64_t code_alignment;
    int64_t data_alignment;
    unsigned pointer_encoding;
    bool is_signal_frame;
};

/* The rest of an entry of .eh_frame from its length on. */
static struct table entry_at(const uint8_t *at, const uint8_t *limit) {
    struct table table = {at, limit, at >= limit};
    uint64_t length = take_unsigned(&table, 4);
    if (length == 0 || length >= 0xfffffff0 || length > (uint64_t)(limit - table.at))
        table.bad = true;
    else if (!table.bad)
        table.end = table.at + length;
    return table;
}

/* The common part, and what its letters say. */
static bool read_cie(const uint8_t *at, const uint8_t *limit, struct description *fde) {
    struct table cie = entry_at(at, limit);
    if (take_unsigned(&cie, 4) != 0 || cie.bad)
        return false;
    uint64_t version = take_unsigned(&cie, 1);
    const char *letters = (const char *)cie.at;
    const uint8_t *end = cie.bad ? NULL : memchr(cie.at, 0, (size_t)(cie.end - cie.at));
    if ((version != 1 && version != 3) || !end)
        return false;
    cie.at = end + 1;
    fde->code_alignment = take_uleb(&cie);
    fde->data_alignment = take_sleb(&cie);
    uint64_t return_register = version == 1 ? take_unsigned(&cie, 1) : take_uleb(&cie);
    fde->pointer_encoding = 0;
    if (*letters == 'z') {
        uint64_t n_bytes = take_uleb(&cie);
        struct table data = cie;
        take(&cie, n_bytes);
        for (letters++; *letters && !cie.bad; letters++) {
            if (*letters == 'R')
                fde->pointer_encoding = (unsigned)take_unsigned(&data, 1);
            else if (*letters == 'L')
                take(&data, 1);
            else if (*letters == 'P')
                take_pointer(&data, (unsigned)take_unsigned(&data, 1) & 0x7f);
            else if (*letters == 'S')
                fde->is_signal_frame = true;
            else
                return false;
        }
        cie.bad |= data.bad;
    } else if (*letters) {
        return false;
    }
    fde->initial = cie;
    return !cie.bad && return_register == PM_DWARF_RIP;
}

static bool read_fde(const uint8_t *at, const uint8_t *low, const uint8_t *limit,
                     struct description *fde) {
    struct table table = entry_at(at, limit);
    const uint8_t *place = table.at;
    uint64_t back = take_unsigned(&table, 4);
    if (table.bad || back == 0 || back > (uint64_t)(place - low) ||
        !read_cie(place - back, limit, fde))
        return false;
    fde->begin = take_pointer(&table, fde->pointer_encoding);
    fde->end = fde->begin + take_pointer(&table, fde->pointer_encoding & 0x0f);
    uint64_t n_bytes = take_uleb(&table); /* of augmentation data: where the LSDA is */
    take(&table, n_bytes);
    fde->rows = table;
    return !table.bad;
}

/* Entries of .eh_frame_hdr: where code begins and where its FDE is, both relative to the header. */
struct header_entry {
    int32_t code, fde;
};

/* Where the tables end, whose header is at HEADER.  The C library knows the whole file only if its
   segments touch each other, which they do not in an instrumented one. */
static bool find_limits(const struct dl_find_object *object, const uint8_t *header,
                        const uint8_t **low, const uint8_t **end) {
    *low = object->dlfo_map_start;
    *end = object->dlfo_map_end;
    if (header >= *low && header < *end)
        return true;
    for (uint32_t i = 0; i < __atomic_load_n(&pm_n_modules, __ATOMIC_ACQUIRE); i++) {
        *low = pm_modules[i].unwind_low;
        *end = pm_modules[i].unwind_end;
        if (!pm_modules[i].gone && header >= *low && header < *end)
            return true;
    }
    return false;
}

static bool find_fde(uint64_t address, struct description *fde) {
    enum { VERSION = 1, SORTED_BY_OFFSET = 0x3b };
    struct dl_find_object object;
    if (_dl_find_object((void *)address, &object) != 0 || !object.dlfo_eh_frame)
        return false;
    const uint8_t *header = object.dlfo_eh_frame, *low, *limit;
    if (!find_limits(&object, header, &low, &limit))
        return false;
    struct table table = {header, limit, false};
    const uint8_t *fields = take(&table, 4);
    if (!fields || fields[0] != VERSION || fields[3] != SORTED_BY_OFFSET)
        return false;
    take_pointer(&table, fields[1]);
    uint64_t n = take_pointer(&table, fields[2]);
    if (table.bad || n > (uint64_t)(limit - table.at) / sizeof(struct header_entry))
        return false;
    const struct header_entry *entries = (const void *)table.at;
    int64_t offset = (int64_t)(address - (uint64_t)header);
    uint64_t first = 0, last = n; /* the last entry whose code begins at or before the address */
    while (first < last) {
        uint64_t middle = first + (last - first) / 2;
        if (entries[middle].code <= offset)
            first = middle + 1;
        else
            last = middle;
    }
    if (first == 0)
        return false;
    const uint8_t *at = header + entries[first - 1].fde;
    return at >= low && at < limit && read_fde(at, low, limit, fde) && address >= fde->begin &&
           address < fde->end;
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

static struct rule take_expression(struct table *table, enum rule_kind kind) {
    uint64_t n_bytes = take_uleb(table);
    const uint8_t *expression = take(table, n_bytes);
    return (struct rule){.kind = kind, .n_bytes = (uint32_t)n_bytes, .expression = expression};
}

static void set_cfa(struct row *row, uint64_t number, int64_t offset) {
    row->cfa = (struct rule){.kind = IN_REGISTER, .offset = offset};
    row->cfa_register = number;
}

/* Operations without an operand in their own byte; false: none that we know. */
static bool execute_other(struct rows *rows, struct table *table, uint8_t operation,
                          int64_t alignment) {
    struct row *now = &rows->now;
    struct rule rule = {.kind = SAME};
    uint64_t number;
    switch (operation) {
    case 0x00: /* nop */
        return true;
    case 0x05: /* offset_extended */
        number = take_uleb(table);
        rule = (struct rule){.kind = AT_OFFSET, .offset = (int64_t)take_uleb(table) * alignment};
        break;
    case 0x06: /* restore_extended */
        number = take_uleb(table);
        rule = number < PM_DWARF_REGISTERS ? rows->initial.of[number] : rule;
        break;
    case 0x07: /* undefined */
        number = take_uleb(table);
        rule.kind = UNDEFINED;
        break;
    case 0x08: /* same_value */
        number = take_uleb(table);
        break;
    case 0x09: /* register */
        number = take_uleb(table);
        rule = (struct rule){.kind = IN_REGISTER, .offset = (int64_t)take_uleb(table)};
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
        number = take_uleb(table);
        set_cfa(now, number, (int64_t)take_uleb(table));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(now, take_uleb(table), now->cfa.offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        now->cfa.offset = (int64_t)take_uleb(table);
        return true;
    case 0x0f: /* def_cfa_expression */
        now->cfa = take_expression(table, IS_EXPRESSION);
        return true;
    case 0x10: /* expression */
        number = take_uleb(table);
        rule = take_expression(table, AT_EXPRESSION);
        break;
    case 0x11: /* offset_extended_sf */
        number = take_uleb(table);
        rule = (struct rule){.kind = AT_OFFSET, .offset = take_sleb(table) * alignment};
        break;
    case 0x12: /* def_cfa_sf */
        number = take_uleb(table);
        set_cfa(now, number, take_sleb(table) * alignment);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        now->cfa.offset = take_sleb(table) * alignment;
        return true;
    case 0x14: /* val_offset */
        number = take_uleb(table);
        rule = (struct rule){.kind = IS_OFFSET, .offset = (int64_t)take_uleb(table) * alignment};
        break;
    case 0x15: /* val_offset_sf */
        number = take_uleb(table);
        rule = (struct rule){.kind = IS_OFFSET, .offset = take_sleb(table) * alignment};
        break;
    case 0x16: /* val_expression */
        number = take_uleb(table);
        rule = take_expression(table, IS_EXPRESSION);
        break;
    case 0x2e: /* GNU_args_size */
        take_uleb(table);
        return true;
    default:
        return false;
    }
    set_rule(now, number, rule);
    return true;
}

/* Executes TABLE up to the row for TARGET. */
static bool execute(struct rows *rows, struct table table, const struct description *fde,
                    uint64_t target) {
    uint64_t place = fde->begin;
    while (table.at < table.end && place <= target) {
        uint8_t byte = (uint8_t)take_unsigned(&table, 1);
        uint64_t advance = 0, low = byte & 0x3f;
        bool known = true;
        if (byte >> 6 == 1) {
            advance = low;
        } else if (byte >> 6 == 2) {
            int64_t offset = (int64_t)take_uleb(&table) * fde->data_alignment;
            set_rule(&rows->now, low, (struct rule){.kind = AT_OFFSET, .offset = offset});
        } else if (byte >> 6 == 3) {
            if (low < PM_DWARF_REGISTERS)
                rows->now.of[low] = rows->initial.of[low];
        } else if (byte == 0x01) { /* set_loc */
            place = take_pointer(&table, fde->pointer_encoding);
        } else if (byte >= 0x02 && byte <= 0x04) { /* advance_loc1, 2, 4 */
            advance = take_unsigned(&table, 1u << (byte - 2));
        } else {
            known = execute_other(rows, &table, byte, fde->data_alignment);
        }
        place += advance * fde->code_alignment;
        if (!known || table.bad)
            return false;
    }
    return true;
}

/* ---- expressions ----------------------------------------------------------------------------- */

enum { DEEPEST_EXPRESSION = 16, LONGEST_EXPRESSION = 1000 };

struct stack {
    uint64_t items[DEEPEST_EXPRESSION];
    unsigned n;
    bool bad;
};

static void push(struct stack *stack, uint64_t value) {
    if (stack->n == DEEPEST_EXPRESSION)
        stack->bad = true;
    else
        stack->items[stack->n++] = value;
}

static uint64_t pop(struct stack *stack) {
    if (stack->n == 0) {
        stack->bad = true;
        return 0;
    }
    return stack->items[--stack->n];
}

/* Operations on the two topmost items. */
static uint64_t combine(struct stack *stack, uint8_t operation) {
    uint64_t b = pop(stack), a = pop(stack);
    switch (operation) {
    case 0x1a:
        return a & b;
    case 0x1c:
        return a - b;
    case 0x1e:
        return a * b;
    case 0x21:
        return a | b;
    case 0x22:
        return a + b;
    case 0x24:
        return b < 64 ? a << b : 0;
    case 0x25:
        return b < 64 ? a >> b : 0;
    case 0x26:
        return b < 63 ? (uint64_t)((int64_t)a >> b) : -(a >> 63);
    case 0x27:
        return a ^ b;
    case 0x29:
        return a == b;
    case 0x2a:
        return (int64_t)a >= (int64_t)b;
    case 0x2b:
        return (int64_t)a > (int64_t)b;
    case 0x2c:
        return (int64_t)a <= (int64_t)b;
    case 0x2d:
        return (int64_t)a < (int64_t)b;
    case 0x2e:
        return a != b;
    default:
        stack->bad = true;
        return 0;
    }
}

static void push_register(struct stack *stack, const struct pm_frame *frame, uint64_t number,
                          int64_t offset) {
    if (number >= PM_DWARF_REGISTERS || !(frame->known >> number & 1))
        stack->bad = true;
    else
        push(stack, frame->registers[number] + (uint64_t)offset);
}

static void execute_operation(struct stack *stack, struct table *table, struct pm_frame *frame) {
    uint8_t byte = (uint8_t)take_unsigned(table, 1);
    uint64_t value;
    if (byte >= 0x30 && byte <= 0x4f) { /* lit */
        push(stack, byte - 0x30u);
    } else if (byte >= 0x70 && byte <= 0x8f) { /* breg */
        push_register(stack, frame, byte - 0x70u, take_sleb(table));
    } else if (byte >= 0x08 && byte <= 0x0f) { /* const1u … const8s */
        size_t n = (size_t)1 << ((byte - 8) / 2);
        push(stack, byte & 1 ? (uint64_t)take_signed(table, n) : take_unsigned(table, n));
    } else {
        switch (byte) {
        case 0x03: /* addr */
            push(stack, take_unsigned(table, 8));
            break;
        case 0x06: /* deref */
            if (!pm_unwind_read(frame, pop(stack), &value))
                stack->bad = true;
            push(stack, stack->bad ? 0 : value);
            break;
        case 0x10: /* constu */
            push(stack, take_uleb(table));
            break;
        case 0x11: /* consts */
            push(stack, (uint64_t)take_sleb(table));
            break;
        case 0x12: /* dup */
            value = pop(stack);
            push(stack, value);
            push(stack, value);
            break;
        case 0x13: /* drop */
            pop(stack);
            break;
        case 0x23: /* plus_uconst */
            push(stack, pop(stack) + take_uleb(table));
            break;
        case 0x96: /* nop */
            break;
        default:
            push(stack, combine(stack, byte));
        }
    }
    stack->bad |= table->bad;
}

static bool evaluate(const struct rule *rule, struct pm_frame *frame, const uint64_t *first,
                     uint64_t *result) {
    struct table table = {rule->expression, rule->expression + rule->n_bytes, false};
    struct stack stack = {.n = 0};
    if (first)
        push(&stack, *first);
    for (int steps = 0; table.at < table.end && !stack.bad; steps++) {
        if (steps == LONGEST_EXPRESSION)
            return false;
        execute_operation(&stack, &table, frame);
    }
    *result = pop(&stack);
    return !stack.bad;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool find_cfa(const struct rows *rows, struct pm_frame *frame, uint64_t *cfa) {
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
static bool find_register(const struct rule *rule, struct pm_frame *frame, unsigned number,
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

enum pm_unwind_result pm_unwind_by_tables(struct pm_frame *frame, struct pm_short_rule *rule) {
    struct description fde = {0};
    struct rows rows = {.n_kept = 0};
    rule->is_valid = false;
    /* A call may be the last instruction of its routine. */
    uint64_t place = pm_frame_rip(frame) - !frame->interrupted, cfa;
    if (!find_fde(place, &fde))
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
    struct pm_frame caller = {.interrupted = fde.is_signal_frame};
    for (unsigned i = 0; i < PM_DWARF_REGISTERS; i++)
        if (find_register(&rows.now.of[i], frame, i, cfa, &caller.registers[i]))
            caller.known |= 1u << i;
    if (rows.now.of[PM_DWARF_RSP].kind == SAME) {
        caller.registers[PM_DWARF_RSP] = cfa;
        caller.known |= 1u << PM_DWARF_RSP;
    }
    if (!(caller.known >> PM_DWARF_RIP & 1) || !(caller.known >> PM_DWARF_RSP & 1))
        return PM_UNWIND_LOST;
    if (pm_frame_rip(&caller) == 0)
        return PM_UNWIND_END;
    caller.readable_low = frame->readable_low;
    caller.readable_end = frame->readable_end;
    if (!frame->interrupted && !fde.is_signal_frame)
        shorten(&rows.now, rule);
    *frame = caller;
    return PM_UNWIND_FRAME;
}
