/* Makes the records of a segment few: plain references that follow each other are one address
   record (struct pm_probe_address_record), whose record holds each address once.

   Two operands have an address in common if they differ by a constant that is known here, in a
   basic block, whatever comes in: registers are numbered by value, and adding a constant to a
   register (or moving the stack pointer) gives the same value with another offset.  A pc-relative
   operand of a program needs no address at all. A reference of another kind, which has a record of
   its own, ends an address record, and so does what would make it too large: more addresses than a
   record has, or more places than the runtime's stack top holds blocks
   (runtime/reuse/address_records/address_records.h), which are counted in units of 64 bytes.

   Source: the records of a 7-point stencil shrink from 128 to 48 bytes, of code that works on its
   stack to a quarter and less. */
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

enum { N_REGISTERS = 16, PLACE_BYTES = 64, MOST_PLACES = 14 };

/* A register holds the value number `number`, plus `offset`. */
struct value {
    uint32_t number;
    int64_t offset;
};

/* What an operand's address is but for a constant. */
struct address_key {
    uint32_t base, index; /* numbers of values; 0: none */
    uint8_t scale, segment;
    bool is_fixed; /* pc-relative: the offset is the address */
};

struct planner {
    struct pm_rewrite *rewrite;
    bool one_module; /* it is loaded once, so that fixed addresses are known */
    struct value values[N_REGISTERS];
    uint32_t n_values;
    int32_t at; /* bytes of the segment's records so far */

    bool open; /* an address record may still grow */
    struct address_key keys[PM_RECORD_ADDRESSES];
    int64_t first_offset[PM_RECORD_ADDRESSES]; /* of the access that gave the address */
    struct {
        uint32_t address;
        int64_t unit;
    } places[PM_RECORD_ACCESSES];
    unsigned n_places;
};

static struct value new_value(struct planner *planner) {
    return (struct value){.number = ++planner->n_values};
}

static int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* ---- addresses ------------------------------------------------------------------------------ */

static struct address_key key_of(const struct planner *planner,
                                 const struct pm_memory_operand *memory, int64_t *offset) {
    struct address_key key = {.segment = memory->segment};
    *offset = memory->displacement;
    if (memory->base == PM_REGISTER_PC) {
        key.is_fixed = true;
        return key;
    }
    if (memory->base < N_REGISTERS) {
        key.base = planner->values[memory->base].number;
        *offset = plus(*offset, planner->values[memory->base].offset);
    }
    if (memory->index < N_REGISTERS) {
        key.index = planner->values[memory->index].number;
        key.scale = memory->scale;
        *offset = plus(*offset,
                       (int64_t)((uint64_t)planner->values[memory->index].offset * memory->scale));
    }
    return key;
}

static bool same_key(const struct address_key *a, const struct address_key *b) {
    return a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->segment == b->segment && a->is_fixed == b->is_fixed;
}

/* ---- the address record ---------------------------------------------------------------------- */

static struct pm_probe_address_record *last_address_record(const struct planner *planner) {
    return &planner->rewrite->made->address_records[planner->rewrite->made->n_address_records - 1];
}

/* The address in the open address record; 0: it has no room for another. */
static uint32_t find_address(const struct planner *planner, const struct address_key *key,
                             bool *is_new) {
    uint32_t n = last_address_record(planner)->n_addresses;
    *is_new = false;
    for (uint32_t i = 0; i < n; i++)
        if (same_key(&planner->keys[i], key))
            return i + 1;
    *is_new = true;
    return n < PM_RECORD_ADDRESSES ? n + 1 : 0;
}

/* Counts where the access goes, in units of PLACE_BYTES from its address; false: too many. */
static bool take_place(struct planner *planner, uint32_t address, int64_t offset) {
    int64_t unit = offset >= 0 ? offset / PLACE_BYTES : -(-(offset + 1) / PLACE_BYTES) - 1;
    for (unsigned i = 0; i < planner->n_places; i++)
        if (planner->places[i].address == address && planner->places[i].unit == unit)
            return true;
    if (planner->n_places == MOST_PLACES)
        return false;
    planner->places[planner->n_places].address = address;
    planner->places[planner->n_places++].unit = unit;
    return true;
}

static void open_address_record(struct planner *planner) {
    struct pm_rewrite *rewrite = planner->rewrite;
    struct pm_probe_address_record *address_record = PM_PUSH(rewrite->made, address_records);
    *address_record =
        (struct pm_probe_address_record){.first_access = (uint32_t)rewrite->made->n_accesses};
    planner->open = true;
    planner->n_places = 0;
}

/* Adds the reference to the open address record; false: it does not fit. */
static bool extend_address_record(struct planner *planner, uint32_t reference,
                                  const struct address_key *key, int64_t offset) {
    struct pm_rewrite *rewrite = planner->rewrite;
    struct pm_probe_address_record *address_record = last_address_record(planner);
    struct pm_record_place *place = &rewrite->record_places[reference];
    bool is_new = false, is_fixed = key->is_fixed && planner->one_module;
    uint32_t address = is_fixed ? 0 : find_address(planner, key, &is_new);
    if ((!address && !is_fixed) || address_record->n_accesses == PM_RECORD_ACCESSES)
        return false;
    int64_t from = is_fixed ? 0 : is_new ? offset : planner->first_offset[address - 1];
    int64_t distance = (int64_t)((uint64_t)offset - (uint64_t)from);
    if (!take_place(planner, address, distance))
        return false;
    *place = (struct pm_record_place){PM_NONE, -1, -1};
    if (address_record->n_accesses == 0) {
        place->address_record = (uint32_t)rewrite->made->n_address_records - 1;
        place->header_at = planner->at;
        planner->at += 8;
    }
    if (is_new) {
        address_record->n_addresses++;
        planner->keys[address - 1] = *key;
        planner->first_offset[address - 1] = offset;
        place->address_at = planner->at;
        planner->at += 8;
    }
    address_record->n_accesses++;
    *PM_PUSH(rewrite->made, accesses) = (struct pm_probe_access){distance, reference, address};
    return true;
}

static void add_plain(struct planner *planner, uint32_t reference,
                      const struct pm_memory_operand *memory) {
    int64_t offset;
    struct address_key key = key_of(planner, memory, &offset);
    if (planner->open && extend_address_record(planner, reference, &key, offset))
        return;
    open_address_record(planner);
    extend_address_record(planner, reference, &key, offset);
}

/* ---- what an instruction does to registers -------------------------------------------------- */

/* Does instruction K move the stack pointer by a constant (*STEP)? */
static bool moves_stack(const struct pm_lifted *lifted, uint32_t k, int64_t *step) {
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    unsigned n = lifted->isa->define(pm_insn_bytes(lifted, k), &lifted->insns[k], definitions);
    for (unsigned i = 0; i < n; i++) {
        const struct pm_definition *definition = &definitions[i];
        if (definition->place != PM_RSP)
            continue;
        *step = definition->constant;
        return definition->kind == PM_DEFINED_AS_SUM && definition->n_terms == 1 &&
               definition->terms[0].place == PM_RSP && definition->terms[0].factor == 1;
    }
    return false;
}

static void follow(struct planner *planner, uint32_t k) {
    const struct pm_lifted *lifted = planner->rewrite->lifted;
    const struct pm_insn *insn = &lifted->insns[k];
    uint64_t defined = insn->registers->defs.general & PM_LIVE_REGISTERS;
    struct pm_register_step step;
    int64_t stack_step;
    if (!defined)
        return;
    if (defined == PM_LIVE_BIT(defined ? (unsigned)__builtin_ctzll(defined) : 0) &&
        lifted->isa->find_step(pm_insn_bytes(lifted, k), insn, &step) && step.bits == 64) {
        planner->values[step.number].offset = plus(planner->values[step.number].offset, step.step);
        return;
    }
    if (defined & PM_LIVE_BIT(PM_RSP) && insn->control == PM_CONTROL_NONE &&
        moves_stack(lifted, k, &stack_step)) {
        planner->values[PM_RSP].offset = plus(planner->values[PM_RSP].offset, stack_step);
        defined &= ~PM_LIVE_BIT(PM_RSP);
    }
    for (; defined; defined &= defined - 1)
        planner->values[__builtin_ctzll(defined)] = new_value(planner);
}

void pm_x86_plan_address_records(struct pm_rewrite *rewrite, struct pm_segment *segment) {
    const struct pm_lifted *lifted = rewrite->lifted;
    struct planner planner = {.rewrite = rewrite, .one_module = !lifted->image.is_shared};
    for (unsigned r = 0; r < N_REGISTERS; r++)
        planner.values[r] = new_value(&planner);
    for (uint32_t k = segment->first; k <= segment->last; k++) {
        for (uint32_t r = lifted->insn_references[k]; r < pm_x86_end_references(lifted, k); r++) {
            const struct pm_reference *reference = &lifted->structure->references[r];
            const struct pm_memory_operand *memory = &lifted->insns[k].memory[reference->operand];
            if (reference->kind == PM_ACCESS_PLAIN) {
                add_plain(&planner, r, memory);
                continue;
            }
            planner.open = false;
            rewrite->record_places[r] =
                (struct pm_record_place){PM_NONE, planner.at, planner.at + 8};
            planner.at += 16 + 16 * pm_payload_slots(reference->kind);
        }
        follow(&planner, k);
    }
    segment->n_bytes = (uint32_t)planner.at;
}
