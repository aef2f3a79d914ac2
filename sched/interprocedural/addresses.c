/* Which loads of a trace take their data from which stores: the trace is gone through once, with
   values of general registers and of what was stored as sums

       constant + Σ factor · symbol

   A symbol stands for a value that is not known: what a register holds when the trace begins, what
   is loaded from where the trace has not stored, or the result of an operation that is not a sum.
   The same operation on the same values gives the same symbol.  Two addresses with the same symbols
   lie as far apart as their constants say; others are taken to be apart, as different objects are.

   A load looks back for its bytes through the stores of its own symbols.  From one store that has
   them all they are forwarded; from several it can only take them once the first cache has them. */
#include <stdlib.h>
#include <string.h>

#include "sched/interprocedural/interprocedural.h"

enum {
    MOST_TERMS = 6,
    MOST_LOOKED_BACK = 4096, /* stores of the same symbols */
    MOST_SOURCES = 8,        /* stores that one load takes data from */
    N_REGISTERS = PM_N_GENERAL_REGISTERS,
};

struct term { /* no padding: it is hashed */
    uint64_t symbol;
    int64_t factor;
};

/* Σ factor · symbol, ascending by symbol; each sum once. */
struct sum {
    uint32_t n_terms;
    struct term terms[MOST_TERMS];
    uint32_t last_store; /* + 1: the youngest one to an address of this sum */
};

/* Constant + one of the sums; sum 0 is empty. */
struct value {
    uint64_t sum;
    int64_t constant;
};

struct store {
    int64_t place; /* the address's constant */
    uint32_t size_bytes;
    uint32_t op;     /* number on the trace; PM_NONE: before the loop */
    uint32_t before; /* + 1: of the same sum */
    bool has_value;
    struct value value;
};

/* What a symbol is the value of: an operation and what it read, or a place in memory. */
struct origin {
    uint64_t what;
    struct value of[3];
    uint64_t symbol;
};

struct following {
    const struct pm_structure *structure;
    const struct pm_step_trace *trace;
    struct pm_forwardings *found;
    const uint64_t *held; /* by all registers and words at first; NULL: not known */
    PM_ARRAY(struct sum, sums);
    PM_ARRAY(struct store, stores);
    PM_ARRAY(struct origin, origins);
    struct pm_map sum_map, origin_map;
    PM_ARRAY(bool, is_born); /* per symbol: it is not of the trace's begin */
    struct value registers[N_REGISTERS];
    size_t next_assignment;
    bool is_before; /* the loop: of what the trace begins with */
    uint32_t op;    /* number on the trace of the instruction's first operation */
};

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t new_symbol(struct following *f, bool is_born) {
    *PM_PUSH(f, is_born) = is_born;
    return (uint32_t)f->n_is_born - 1;
}

static uint32_t sum_of(struct following *f, const struct sum *sum) {
    uint64_t hash = pm_hash_bytes(sum->terms, sum->n_terms * sizeof *sum->terms);
    if (sum->n_terms == 0)
        return 0;
    for (struct pm_map_entry at = pm_map_find(&f->sum_map, hash); at.found;
         pm_map_next(&f->sum_map, &at)) {
        const struct sum *old = &f->sums[at.item];
        if (old->n_terms == sum->n_terms &&
            memcmp(old->terms, sum->terms, sum->n_terms * sizeof *sum->terms) == 0)
            return at.item;
    }
    pm_map_add(&f->sum_map, hash, (uint32_t)f->n_sums);
    *PM_PUSH(f, sums) = *sum;
    return (uint32_t)f->n_sums - 1;
}

static struct value value_of_symbol(struct following *f, uint32_t symbol) {
    struct sum sum = {.n_terms = 1};
    memset(&sum.terms[0], 0, sizeof sum.terms[0]);
    sum.terms[0].symbol = symbol;
    sum.terms[0].factor = 1;
    return (struct value){.sum = sum_of(f, &sum)};
}

/* The symbol of WHAT, done to these values; made if it is new. */
static struct value value_by_origin(struct following *f, uint64_t what, const struct value *of) {
    struct origin key;
    memset(&key, 0, sizeof key);
    key.what = what;
    for (unsigned i = 0; i < 3; i++) {
        key.of[i].sum = of[i].sum;
        key.of[i].constant = of[i].constant;
    }
    uint64_t hash = pm_hash_bytes(&key, sizeof key);
    for (struct pm_map_entry at = pm_map_find(&f->origin_map, hash); at.found;
         pm_map_next(&f->origin_map, &at)) {
        struct origin old = f->origins[at.item];
        key.symbol = old.symbol;
        if (memcmp(&old, &key, sizeof key) == 0)
            return value_of_symbol(f, (uint32_t)old.symbol);
    }
    pm_map_add(&f->origin_map, hash, (uint32_t)f->n_origins);
    struct origin *origin = PM_PUSH(f, origins);
    *origin = key;
    origin->symbol = new_symbol(f, !f->is_before);
    return value_of_symbol(f, (uint32_t)f->origins[f->n_origins - 1].symbol);
}

static struct value unknown(struct following *f) {
    return value_of_symbol(f, new_symbol(f, !f->is_before));
}

/* A + FACTOR · B. */
static struct value add(struct following *f, struct value a, int64_t factor, struct value b) {
    struct sum sum = f->sums[a.sum];
    uint64_t constant = (uint64_t)a.constant + (uint64_t)factor * (uint64_t)b.constant;
    sum.last_store = 0;
    for (uint32_t i = 0; i < f->sums[b.sum].n_terms && factor; i++) {
        struct term term = f->sums[b.sum].terms[i];
        uint32_t at = 0;
        while (at < sum.n_terms && sum.terms[at].symbol < term.symbol)
            at++;
        int64_t more = (int64_t)((uint64_t)factor * (uint64_t)term.factor);
        if (at < sum.n_terms && sum.terms[at].symbol == term.symbol) {
            sum.terms[at].factor = (int64_t)((uint64_t)sum.terms[at].factor + (uint64_t)more);
            if (sum.terms[at].factor != 0)
                continue;
            memmove(&sum.terms[at], &sum.terms[at + 1], (sum.n_terms - at - 1) * sizeof *sum.terms);
            sum.n_terms--;
            continue;
        }
        if (sum.n_terms == MOST_TERMS)
            return unknown(f);
        memmove(&sum.terms[at + 1], &sum.terms[at], (sum.n_terms - at) * sizeof *sum.terms);
        memset(&sum.terms[at], 0, sizeof sum.terms[at]);
        sum.terms[at].symbol = term.symbol;
        sum.terms[at].factor = more;
        sum.n_terms++;
    }
    return (struct value){.sum = sum_of(f, &sum), .constant = (int64_t)constant};
}

static bool is_unknown(const struct following *f, struct value value) {
    for (uint32_t i = 0; i < f->sums[value.sum].n_terms; i++)
        if (f->is_born[f->sums[value.sum].terms[i].symbol])
            return true;
    return false;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static struct value address_of(struct following *f, const struct pm_reference *reference) {
    struct value address = {.constant = reference->displacement};
    if (reference->base != PM_REGISTER_NONE)
        address = add(f, address, 1, f->registers[reference->base]);
    if (reference->index != PM_REGISTER_NONE)
        address = add(f, address, reference->scale, f->registers[reference->index]);
    return address;
}

static uint64_t bytes_from(int64_t first, int64_t end) {
    uint64_t below_end = end >= 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return below_end & ~((UINT64_C(1) << first) - 1);
}

/* The stores that have the bytes of a load, youngest first.  *LEFT: bytes that none of them has. */
static unsigned find_sources(const struct following *f, struct value address, uint32_t size_bytes,
                             const struct store **sources, uint64_t *left) {
    unsigned n = 0, looked = 0;
    *left = bytes_from(0, size_bytes);
    for (uint32_t at = f->sums[address.sum].last_store; at && *left && n < MOST_SOURCES;) {
        const struct store *store = &f->stores[at - 1];
        /* Modulo 2^64, as the addresses are. */
        int64_t first = (int64_t)((uint64_t)store->place - (uint64_t)address.constant);
        at = ++looked < MOST_LOOKED_BACK ? store->before : 0;
        if (first >= size_bytes || first <= -(int64_t)store->size_bytes)
            continue;
        int64_t end = first + store->size_bytes;
        uint64_t bytes = bytes_from(first < 0 ? 0 : first, end > size_bytes ? size_bytes : end);
        if (!(bytes & *left))
            continue;
        *left &= ~bytes;
        sources[n++] = store;
    }
    return n;
}

static void note_access(struct following *f, uint32_t op, const struct pm_reference *reference,
                        struct value address, bool is_store) {
    if (f->held)
        *PM_PUSH(f->found, accesses) =
            (struct pm_traced_access){.op = op,
                                      .size_bytes = reference->size_bytes,
                                      .place = address.constant,
                                      .is_store = is_store,
                                      .is_known = address.sum == 0};
}

/* SIZE bytes at PLACE of words that hold WORD. */
static int64_t held_at(uint64_t word, int64_t place, uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        value |= (word >> 8 * ((uint64_t)(place + i) & 7) & 0xff) << 8 * i;
    return (int64_t)value;
}

/* What SIZE bytes at the address PLACE hold, byte by byte, where all that was stored is known. */
static struct value put_together(struct following *f, int64_t place, uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; i++) {
        const struct store *source;
        uint64_t left, byte = (uint64_t)held_at(*f->held, place + i, 1);
        if (find_sources(f, (struct value){.constant = place + i}, 1, &source, &left)) {
            if (!source->has_value || source->value.sum)
                return unknown(f);
            byte = (uint64_t)source->value.constant >> 8 * (place + i - source->place) & 0xff;
        }
        value |= byte << 8 * i;
    }
    return (struct value){.constant = (int64_t)value};
}

/* A load by the operation OP of the trace; its value. */
static struct value load(struct following *f, uint32_t op, const struct pm_reference *reference,
                         struct value address) {
    const struct store *sources[MOST_SOURCES];
    uint32_t size = reference->size_bytes;
    uint64_t left;
    note_access(f, op, reference, address, false);
    if (size == 0 || size > 64)
        return unknown(f);
    unsigned n = find_sources(f, address, size, sources, &left);
    unsigned on_trace = 0;
    for (unsigned i = 0; i < n; i++)
        on_trace += sources[i]->op != PM_NONE;
    f->found->n_loads += !f->is_before;
    f->found->n_unknown += !f->is_before && is_unknown(f, address);
    f->found->n_forwarded += on_trace > 0;
    f->found->n_blocked += on_trace > 1 || (on_trace && (left || n > 1));
    for (unsigned i = 0; i < n; i++)
        if (sources[i]->op != PM_NONE)
            *PM_PUSH(f->found, items) =
                (struct pm_forwarding){.load = op,
                                       .store = sources[i]->op,
                                       .is_partial = n > 1 || left,
                                       .is_same_place = sources[i]->place == address.constant,
                                       .is_blocked = on_trace > 1};
    if (n == 0 && f->held && address.sum == 0 && size <= 8)
        return (struct value){.constant = held_at(*f->held, address.constant, size)};
    if (n == 0)
        return value_by_origin(f, (uint64_t)1 << 63 | size, (struct value[3]){address, {0}, {0}});
    if (n == 1 && sources[0]->has_value && sources[0]->place == address.constant &&
        sources[0]->size_bytes == size)
        return sources[0]->value;
    return f->held && address.sum == 0 && size <= 8 ? put_together(f, address.constant, size)
                                                    : unknown(f);
}

static void add_store(struct following *f, uint32_t op, const struct pm_reference *reference,
                      struct value address, const struct value *value) {
    struct sum *sum = &f->sums[address.sum];
    note_access(f, op, reference, address, true);
    *PM_PUSH(f, stores) = (struct store){.place = address.constant,
                                         .size_bytes = reference->size_bytes,
                                         .op = f->is_before ? PM_NONE : op,
                                         .before = sum->last_store,
                                         .has_value = value != NULL,
                                         .value = value ? *value : (struct value){0}};
    sum->last_store = (uint32_t)f->n_stores;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Operations FIRST … END − 1 of the structure. */
struct instruction {
    uint32_t first, end;
    struct value loaded;
    struct value stored;
    bool has_stored; /* it is known */
    bool enters;     /* a call whose callee comes next */
};

static bool is_store(const struct pm_op *op) {
    return op->op_class == PM_OP_STORE_INT || op->op_class == PM_OP_STORE_FP ||
           op->op_class == PM_OP_SCATTER;
}

static const struct pm_reference *reference_of(const struct following *f, const struct pm_op *op) {
    const struct pm_reference *reference =
        op->reference == PM_NONE ? NULL : &f->structure->references[op->reference];
    return reference && reference->has_address ? reference : NULL;
}

/* What an operation that is not a sum gives: hangs on registers only, or is not known. */
static struct value result_of(struct following *f, const struct instruction *in, uint32_t k) {
    const struct pm_op *op = &f->structure->ops[k];
    struct value of[3] = {0};
    unsigned n = 0;
    bool is_function = in->end == in->first + 1 && op->reference == PM_NONE;
    for (unsigned u = 0; u < PM_OP_N_USES && is_function; u++) {
        if (op->uses[u] == PM_REGISTER_NONE)
            continue;
        is_function = op->uses[u] < N_REGISTERS && n < 3;
        if (is_function)
            of[n++] = f->registers[op->uses[u]];
    }
    return is_function && n ? value_by_origin(f, k, of) : unknown(f);
}

static void load_all(struct following *f, struct instruction *in) {
    for (uint32_t k = in->first; k < in->end; k++) {
        const struct pm_op *op = &f->structure->ops[k];
        const struct pm_reference *reference = reference_of(f, op);
        if (reference && !is_store(op) && (reference->access & PM_ACCESS_LOAD) &&
            op->op_class != PM_OP_PREFETCH)
            in->loaded = load(f, f->op + k - in->first, reference, address_of(f, reference));
    }
}

static void store_all(struct following *f, const struct instruction *in,
                      const struct value *addresses) {
    for (uint32_t k = in->first; k < in->end; k++) {
        const struct pm_op *op = &f->structure->ops[k];
        const struct pm_reference *reference = reference_of(f, op);
        if (reference && is_store(op))
            add_store(f, f->op + k - in->first, reference, addresses[k - in->first],
                      in->has_stored ? &in->stored : NULL);
    }
}

/* A call moves the stack pointer to the address that it stores, a return moves it past the address
   that it loads. */
static void move_stack(struct following *f, const struct instruction *in, bool is_return) {
    for (uint32_t k = in->first; k < in->end; k++) {
        const struct pm_op *op = &f->structure->ops[k];
        const struct pm_reference *reference = reference_of(f, op);
        if (!reference || reference->base == PM_REGISTER_NONE || is_store(op) == is_return ||
            !(f->structure->groups[reference->group].flags & PM_GROUP_PUSHED))
            continue;
        struct value address = address_of(f, reference);
        address.constant += is_return ? reference->size_bytes : 0;
        f->registers[reference->base] = address;
        return;
    }
}

static void forget(struct following *f, uint32_t registers) {
    for (; registers; registers &= registers - 1)
        f->registers[__builtin_ctz(registers)] = unknown(f);
}

static struct value evaluate(struct following *f, const struct instruction *in,
                             const struct pm_assignment *a) {
    struct value sum = {.constant = a->constant};
    for (unsigned t = 0; t < a->n_terms; t++)
        sum = add(f, sum, a->factors[t],
                  a->places[t] == PM_ASSIGNED_MEMORY ? in->loaded : f->registers[a->places[t]]);
    return sum;
}

enum { MOST_OPS_OF_INSTRUCTION = 16 };

static void follow_instruction(struct following *f, struct instruction *in) {
    const struct pm_structure *s = f->structure;
    struct value after[N_REGISTERS], addresses[MOST_OPS_OF_INSTRUCTION];
    uint32_t assigned = 0, forgotten = 0;
    bool is_call = false, is_return = false;
    if (in->end - in->first > MOST_OPS_OF_INSTRUCTION)
        in->end = in->first + MOST_OPS_OF_INSTRUCTION;
    in->loaded = (struct value){0};
    load_all(f, in);
    while (f->next_assignment < s->n_assignments &&
           s->assignments[f->next_assignment].op == in->first) {
        const struct pm_assignment *a = &s->assignments[f->next_assignment++];
        if (a->place == PM_ASSIGNED_CALL) {
            is_call = true;
            forgotten = in->enters ? 0 : (uint32_t)a->constant;
        } else if (a->place == PM_ASSIGNED_MEMORY) {
            in->stored = evaluate(f, in, a);
            in->has_stored = true;
        } else {
            after[a->place] = evaluate(f, in, a);
            assigned |= UINT32_C(1) << a->place;
        }
    }
    for (uint32_t k = in->first; k < in->end; k++) {
        const struct pm_op *op = &s->ops[k];
        const struct pm_reference *reference = reference_of(f, op);
        is_return |= op->op_class == PM_OP_RETURN;
        if (reference)
            addresses[k - in->first] = address_of(f, reference);
        for (unsigned d = 0; d < PM_OP_N_DEFS; d++) {
            uint8_t number = op->defs[d];
            if (number >= N_REGISTERS || assigned >> number & 1)
                continue;
            after[number] = result_of(f, in, k);
            assigned |= UINT32_C(1) << number;
        }
    }
    store_all(f, in, addresses);
    if (is_return || (is_call && in->enters))
        move_stack(f, in, is_return);
    else if (!is_call)
        for (; assigned; assigned &= assigned - 1)
            f->registers[__builtin_ctz(assigned)] = after[__builtin_ctz(assigned)];
    forget(f, forgotten);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What a loop that is passed as a whole defines is not known behind it. */
static void follow_loop(struct following *f, uint32_t loop) {
    const struct pm_structure *s = f->structure;
    const struct pm_routine *routine = &s->routines[s->scopes[loop].routine];
    uint32_t defined = 0;
    for (uint32_t b = routine->first_block; b < routine->first_block + routine->n_blocks; b++) {
        if (!pm_is_in_loop(s, b, loop))
            continue;
        uint32_t first = s->blocks[b].first_op, end = first + s->blocks[b].n_ops;
        for (uint32_t k = first; k < end; k++)
            for (unsigned d = 0; d < PM_OP_N_DEFS; d++)
                if (s->ops[k].defs[d] < N_REGISTERS)
                    defined |= UINT32_C(1) << s->ops[k].defs[d];
        for (size_t i = PM_LOWER_BOUND(s->n_assignments, a, s->assignments[a].op < first);
             i < s->n_assignments && s->assignments[i].op < end; i++)
            if (s->assignments[i].place == PM_ASSIGNED_CALL)
                defined |= (uint32_t)s->assignments[i].constant;
    }
    forget(f, defined);
}

static void follow_step(struct following *f, size_t step) {
    const struct pm_structure *s = f->structure;
    const struct pm_path_step *at = &f->trace->steps[step];
    if (at->block == PM_NONE) {
        follow_loop(f, at->loop);
        return;
    }
    const struct pm_block *block = &s->blocks[at->block];
    uint32_t first = at->n_ops ? at->first_op : block->first_op;
    uint32_t end = first + (at->n_ops ? at->n_ops : block->n_ops);
    f->next_assignment = PM_LOWER_BOUND(s->n_assignments, i, s->assignments[i].op < first);
    while (first < end) {
        struct instruction in = {.first = first, .end = first + 1};
        while (in.end < end && !s->ops[in.end].instruction_start)
            in.end++;
        uint32_t next = in.end;
        in.enters = f->trace->enters[step] && in.end == end;
        follow_instruction(f, &in);
        f->op += next - first;
        first = next;
    }
}

void pm_trace_forwardings(const struct pm_structure *structure, const struct pm_step_trace *trace,
                          const uint64_t *held, struct pm_forwardings *found) {
    struct following f = {.structure = structure, .trace = trace, .found = found, .held = held};
    *found = (struct pm_forwardings){.items = found->items,
                                     .cap_items = found->cap_items,
                                     .accesses = found->accesses,
                                     .cap_accesses = found->cap_accesses};
    (void)PM_PUSH(&f, sums);
    for (unsigned r = 0; r < N_REGISTERS; r++)
        if (held)
            f.registers[r] = (struct value){.constant = (int64_t)*held};
        else
            f.registers[r] = value_of_symbol(&f, new_symbol(&f, false));
    for (size_t s = 0; s < trace->n_steps; s++) {
        f.is_before = s < trace->n_before;
        f.op = s == trace->n_before ? 0 : f.op;
        follow_step(&f, s);
    }
    free(f.sums);
    free(f.stores);
    free(f.origins);
    free(f.is_born);
    pm_map_free(&f.sum_map);
    pm_map_free(&f.origin_map);
}
