/* Evaluates DWARF expressions in a frame; see unwind.h.  They are those of DWARF 5, section 2.5,
   that unwinding tables use. */
#include "runtime/unwind/eh_frame.h"
#include "runtime/unwind/rules.h"

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

static void push_register(struct stack *stack, const struct pm_call_frame *frame, uint64_t number,
                          int64_t offset) {
    if (number >= PM_DWARF_REGISTERS || !(frame->known >> number & 1))
        stack->bad = true;
    else
        push(stack, frame->registers[number] + (uint64_t)offset);
}

static void execute_operation(struct stack *stack, struct pm_reader *table,
                              struct pm_call_frame *frame) {
    uint8_t byte = (uint8_t)pm_take_unsigned(table, 1);
    uint64_t value;
    if (byte >= 0x30 && byte <= 0x4f) { /* lit */
        push(stack, byte - 0x30u);
    } else if (byte >= 0x70 && byte <= 0x8f) { /* breg */
        push_register(stack, frame, byte - 0x70u, pm_take_sleb(table));
    } else if (byte >= 0x08 && byte <= 0x0f) { /* const1u … const8s */
        size_t n = (size_t)1 << ((byte - 8) / 2);
        push(stack, byte & 1 ? (uint64_t)pm_take_signed(table, n) : pm_take_unsigned(table, n));
    } else {
        switch (byte) {
        case 0x03: /* addr */
            push(stack, pm_take_unsigned(table, 8));
            break;
        case 0x06: /* deref */
            if (!pm_unwind_read(frame, pop(stack), &value))
                stack->bad = true;
            push(stack, stack->bad ? 0 : value);
            break;
        case 0x10: /* constu */
            push(stack, pm_take_uleb(table));
            break;
        case 0x11: /* consts */
            push(stack, (uint64_t)pm_take_sleb(table));
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
            push(stack, pop(stack) + pm_take_uleb(table));
            break;
        case 0x96: /* nop */
            break;
        default:
            push(stack, combine(stack, byte));
        }
    }
    stack->bad |= table->fault != PM_READ_GOOD;
}

bool pm_evaluate_expression(const uint8_t *expression, size_t n_bytes, struct pm_call_frame *frame,
                            const uint64_t *first, uint64_t *result) {
    struct pm_reader table = pm_reader_of(expression, n_bytes);
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
