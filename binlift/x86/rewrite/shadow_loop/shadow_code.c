/* The code of a nest's shadow loop, block by block. */
#include "binlift/code/code.h"
#include "binlift/x86/rewrite/shadow_loop/private.h"
#include "binlift/x86/rewrite/encode.h"
#include "binlift/x86/rewrite/private.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64, VECTORS = 0xffff, CALL = 0xe8, LEA = 0x8d };

/* A field that tells of a place outside the copy. */
struct outer_field {
    struct pm_code_place place;
    uint8_t to_end;
    uint64_t target;
};

struct copying {
    const struct pm_bound_request *request;
    const struct pm_lifted *lifted;
    struct pm_shadow_loop *copy;
    struct pm_code code; /* label i: basic block i of the nest, and one for each kind of exit */
    const uint32_t *blocks;
    size_t n_blocks;
    PM_ARRAY(struct outer_field, outer_fields);
    struct pm_replayed_branch *replayed; /* of the nest, as in the plan */
    pm_live_set free_registers;          /* that no instruction of the nest touches, and no
                                            replayed branch has */
    pm_live_set replay_registers;
    uint64_t free_vectors; /* the same of vectors */
    bool vex;              /* some instruction of the nest is encoded so */
    uint32_t done_label;   /* the nest's end … */
    uint32_t over_label;   /* … and where the nest itself never went */
    bool possible;
};

/* ---- the nest -------------------------------------------------------------------------------- */

static const struct pm_block_code *code_of(const struct copying *c, size_t i) {
    return &c->lifted->block_codes[c->blocks[i]];
}

/* The number of BLOCK in the nest; n_blocks: it is not in it. */
static size_t index_of(const struct copying *c, uint32_t block) {
    size_t i = PM_LOWER_BOUND(c->n_blocks, k, c->blocks[k] < block);
    return i < c->n_blocks && c->blocks[i] == block ? i : c->n_blocks;
}

/* Outside the nest, and neither in its loop nor in what it calls, is its end. */
static struct pm_target target_of(const struct copying *c, uint64_t address) {
    const struct pm_structure *structure = c->lifted->structure;
    uint32_t block = pm_block_at(c->lifted, address), loop = c->request->nest->loop;
    size_t i = block == PM_NONE ? c->n_blocks : index_of(c, block);
    if (i < c->n_blocks)
        return pm_to_label((uint32_t)i);
    bool is_end = block != PM_NONE &&
                  structure->blocks[block].routine == structure->scopes[loop].routine &&
                  !pm_is_in_loop(structure, block, loop);
    return pm_to_label(is_end ? c->done_label : c->over_label);
}

/* The access of reference R; NULL: it is none of the nest's. */
static const struct pm_bound_access *access_of(const struct copying *c, uint32_t r) {
    const struct pm_bound_nest *nest = c->request->nest;
    const struct pm_bound_access *all = c->request->plan->accesses + nest->first_access;
    size_t i = PM_LOWER_BOUND(nest->n_accesses, k, all[k].reference < r);
    return i < nest->n_accesses && all[i].reference == r ? &all[i] : NULL;
}

static struct pm_target slot_of(const struct copying *c, uint32_t slot) {
    return pm_to_address(c->request->plan->slots[slot].offset);
}

/* ---- registers ------------------------------------------------------------------------------- */

static unsigned lowest(pm_live_set set) { return (unsigned)__builtin_ctzll(set); }

static void find_free_registers(struct copying *c) {
    const struct pm_isa *isa = c->lifted->isa;
    pm_live_set touched = PM_LIVE_BIT(PM_RSP);
    uint64_t touched_vectors = 0;
    if (c->request->nest->n_library > 0) {
        touched |= pm_live_from(isa->all_registers) & ~pm_live_from(isa->callee_saved);
        touched_vectors = isa->all_registers.vector;
    }
    for (size_t i = 0; i < c->n_blocks; i++)
        for (uint32_t k = code_of(c, i)->first_insn;
             k < code_of(c, i)->first_insn + code_of(c, i)->n_insns; k++) {
            const struct pm_registers *registers = c->lifted->insns[k].registers;
            touched |= pm_live_from(registers->uses) | pm_live_from(registers->defs);
            touched_vectors |= registers->uses.vector | registers->defs.vector;
            c->vex |= pm_x86_is_vex(pm_insn_bytes(c->lifted, k), c->lifted->insns[k].length);
        }
    c->free_registers = PM_LIVE_REGISTERS & ~touched;
    c->free_vectors = VECTORS & ~touched_vectors;
}

static bool is_apart(const struct pm_bound_access *access) {
    return access->load_slot != PM_NONE && access->store_slot != PM_NONE &&
           access->load_slot != access->store_slot;
}

static bool has_apart(const struct copying *c) {
    const struct pm_bound_nest *nest = c->request->nest;
    for (uint32_t i = 0; i < nest->n_accesses; i++)
        if (is_apart(&c->request->plan->accesses[nest->first_access + i]))
            return true;
    return false;
}

/* How often the branch is executed in one execution of the nest, as far as that is known. */
static uint64_t executions_of(const struct copying *c, uint32_t i) {
    const struct pm_bound_outcomes *outcomes = c->request->recorded.outcomes;
    return outcomes ? outcomes[i].executions : 0;
}

/* Of branches without a register the one that is executed most often. */
static struct pm_replayed_branch *next_branch(struct copying *c) {
    struct pm_replayed_branch *found = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < c->request->nest->n_replayed; i++)
        if (c->replayed[i].place == PM_REPLAY_IN_MEMORY && (!found || executions_of(c, i) > most)) {
            found = &c->replayed[i];
            most = executions_of(c, i);
        }
    return found;
}

/* One register stays for loads and stores that are apart.  In memory a branch waits for the one
   before, six cycles: those that are executed most often get registers first. */
static void give_registers(struct copying *c) {
    struct pm_replayed_branch *branch;
    pm_live_set given = c->free_registers;
    if (given && has_apart(c))
        given &= given - 1;
    for (; given && (branch = next_branch(c)); given &= given - 1) {
        branch->place = PM_REPLAY_IN_REGISTER;
        branch->reg = (uint8_t)lowest(given);
        c->replay_registers |= given & -given;
    }
    for (; c->free_vectors && (branch = next_branch(c)); c->free_vectors &= c->free_vectors - 1) {
        branch->place = PM_REPLAY_IN_VECTOR;
        branch->reg = (uint8_t)lowest(c->free_vectors);
    }
    c->free_registers &= ~c->replay_registers;
}

static void plan_replays(struct copying *c) {
    const struct pm_bound_nest *nest = c->request->nest;
    uint32_t state = c->copy->first_replay;
    c->replayed = pm_alloc(nest->n_replayed, sizeof *c->replayed);
    for (uint32_t i = 0; i < nest->n_replayed; i++) {
        uint32_t insn = c->request->plan->replayed[nest->first_replayed + i];
        struct pm_replayed_branch *branch = &c->replayed[i];
        branch->state = pm_to_address(state + i * sizeof(struct pm_bound_replay));
        branch->taken = target_of(c, c->lifted->insns[insn].target);
        branch->vex = c->vex;
        branch->refill = pm_code_new_labels(&c->code, 2);
        branch->again = branch->refill + 1;
    }
    give_registers(c);
}

/* A register whose value nobody needs around instruction K; PM_REGISTER_NONE. */
static uint8_t scratch_at(const struct copying *c, uint32_t k) {
    const struct pm_registers *registers = c->lifted->insns[k].registers;
    pm_live_set busy = c->request->live[k] | pm_live_from(registers->uses) |
                       pm_live_from(registers->defs) | c->replay_registers | PM_LIVE_BIT(PM_RSP);
    pm_live_set set = c->free_registers ? c->free_registers : PM_LIVE_REGISTERS & ~busy;
    return set ? (uint8_t)lowest(set) : PM_REGISTER_NONE;
}

/* ---- one instruction ------------------------------------------------------------------------- */

static void put_copied(struct copying *c, uint32_t k) {
    const struct pm_insn *insn = &c->lifted->insns[k];
    struct pm_code_place place = pm_code_here(&c->code);
    pm_code_append(&c->code, pm_insn_bytes(c->lifted, k), insn->length);
    uint8_t at = insn->pc_displacement_offset;
    if (!at)
        return;
    int32_t displacement;
    memcpy(&displacement, c->code.bytes + place.offset + at, sizeof displacement);
    place.offset += at;
    *PM_PUSH(c, outer_fields) =
        (struct outer_field){place, (uint8_t)(insn->length - at),
                             insn->address + insn->length + (uint64_t)(int64_t)displacement};
}

static void put_redirected(struct copying *c, uint32_t k, struct pm_target slot) {
    struct pm_redirected made;
    if (!pm_x86_to_pc_relative(pm_insn_bytes(c->lifted, k), c->lifted->insns[k].length, &made)) {
        c->possible = false;
        return;
    }
    uint32_t start = (uint32_t)c->code.n_bytes;
    pm_code_append(&c->code, made.bytes, made.length);
    pm_code_relative_at(&c->code, start + made.displacement_at, slot,
                        (uint8_t)(made.length - made.displacement_at));
}

/* mov between REG and a slot, BYTES wide; a load of 1 or 2 bytes clears the rest. */
static void put_move(struct pm_code *code, unsigned reg, struct pm_target slot, unsigned bytes,
                     bool stores) {
    if (stores && bytes == 2)
        pm_code_byte(code, 0x66);
    pm_code_byte(code, (uint8_t)(0x40 | (bytes == 8 ? 8 : 0) | (reg >> 3) << 2));
    if (stores) {
        pm_code_byte(code, bytes == 1 ? 0x88 : 0x89);
    } else if (bytes <= 2) {
        pm_code_byte(code, 0x0f);
        pm_code_byte(code, bytes == 1 ? 0xb6 : 0xb7);
    } else {
        pm_code_byte(code, 0x8b);
    }
    pm_code_byte(code, (uint8_t)(0x05 | (reg & 7) << 3));
    pm_code_relative(code, slot, 4);
}

/* Load, operation and store apart, if there is a register for the value. */
static bool put_apart(struct copying *c, uint32_t k, const struct pm_bound_access *access) {
    const struct pm_insn *insn = &c->lifted->insns[k];
    struct pm_redirected made;
    uint8_t reg = scratch_at(c, k);
    if (reg == PM_REGISTER_NONE ||
        !pm_x86_to_register(pm_insn_bytes(c->lifted, k), insn->length, reg, &made))
        return false;
    unsigned bytes = insn->memory[0].size_bytes;
    put_move(&c->code, reg, slot_of(c, access->load_slot), bytes, false);
    pm_code_append(&c->code, made.bytes, made.length);
    put_move(&c->code, reg, slot_of(c, access->store_slot), bytes, true);
    c->copy->n_added_insns += 2;
    return true;
}

static void put_access(struct copying *c, uint32_t k, const struct pm_bound_access *access) {
    if (is_apart(access)) {
        if (put_apart(c, k, access))
            return;
        c->copy->n_chained++;
    }
    put_redirected(
        c, k, slot_of(c, access->load_slot != PM_NONE ? access->load_slot : access->store_slot));
}

static bool is_in_slot(const struct pm_bound_access *access) {
    return access && (access->load_slot != PM_NONE || access->store_slot != PM_NONE);
}

/* A push has one that is kept, besides. */
static const struct pm_bound_access *access_in_slot(const struct copying *c, uint32_t k) {
    for (uint32_t r = c->lifted->insn_references[k]; r < c->lifted->insn_references[k + 1]; r++) {
        const struct pm_bound_access *access = access_of(c, r);
        if (is_in_slot(access))
            return access;
    }
    return NULL;
}

static void put_plain(struct copying *c, uint32_t k) {
    const struct pm_insn *insn = &c->lifted->insns[k];
    const struct pm_bound_access *access = access_in_slot(c, k);
    if (access)
        put_access(c, k, access);
    else if (insn->n_memory == 0 && pm_x86_is_prefetch(pm_insn_bytes(c->lifted, k), insn->length))
        put_redirected(c, k, pm_to_address(0));
    else
        put_copied(c, k);
}

/* Its number among the replayed; PM_NONE. */
static uint32_t replay_of(const struct copying *c, uint32_t k) {
    const struct pm_bound_nest *nest = c->request->nest;
    for (uint32_t i = 0; i < nest->n_replayed; i++)
        if (c->request->plan->replayed[nest->first_replayed + i] == k)
            return i;
    return PM_NONE;
}

/* What the library stores through pointers goes to the place that all slots have in common. */
static void put_library_call(struct copying *c, uint32_t k, unsigned n_stored) {
    static const unsigned pointers[] = {PM_RDI, PM_RSI};
    const struct pm_insn *insn = &c->lifted->insns[k];
    for (unsigned i = 0; i < n_stored; i++) {
        pm_x86_put_pc_relative(&c->code, LEA, pointers[i], pm_to_address(c->copy->library_place),
                               i * sizeof(uint64_t));
        c->copy->n_added_insns++;
    }
    if (insn->control == PM_CONTROL_CALL_INDIRECT) { /* through the GOT */
        put_copied(c, k);
        return;
    }
    static const uint8_t call[5] = {CALL};
    struct pm_code_place place = pm_code_here(&c->code);
    pm_code_append(&c->code, call, sizeof call);
    place.offset++;
    *PM_PUSH(c, outer_fields) = (struct outer_field){place, sizeof call - 1, insn->target};
}

static void put_call(struct copying *c, uint32_t k) {
    const struct pm_insn *insn = &c->lifted->insns[k];
    uint32_t routine;
    unsigned n_stored;
    switch (pm_bound_call_of(c->lifted, insn, &routine, &n_stored)) {
    case PM_BOUND_CALLS_INSIDE:
        pm_code_byte(&c->code, CALL);
        pm_code_relative(&c->code, target_of(c, insn->target), 4);
        return;
    case PM_BOUND_CALLS_LIBRARY:
        put_library_call(c, k, n_stored);
        return;
    default:
        c->possible = false;
    }
}

static void put_instruction(struct copying *c, uint32_t k) {
    const struct pm_insn *insn = &c->lifted->insns[k];
    const uint8_t *bytes = pm_insn_bytes(c->lifted, k);
    uint32_t replay = replay_of(c, k);
    if (insn->is_nop)
        return;
    if (replay != PM_NONE) {
        c->copy->n_added_insns += pm_x86_put_replayed(&c->code, &c->replayed[replay]);
        return;
    }
    switch (insn->control) {
    case PM_CONTROL_NONE:
        put_plain(c, k);
        break;
    case PM_CONTROL_RETURN:
        put_copied(c, k);
        break;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        put_call(c, k);
        break;
    case PM_CONTROL_BRANCH:
        pm_x86_put_branch(&c->code, bytes, target_of(c, insn->target));
        break;
    case PM_CONTROL_BRANCH_LOOP:
        pm_x86_put_loop_branch(&c->code, bytes, insn->length, target_of(c, insn->target));
        break;
    case PM_CONTROL_JUMP:
        pm_code_jump(&c->code, target_of(c, insn->target));
        break;
    default:
        c->possible = false;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_innermost(const struct copying *c, uint32_t loop) {
    const struct pm_structure *structure = c->lifted->structure;
    for (size_t i = 0; i < c->n_blocks; i++)
        if (structure->blocks[c->blocks[i]].loop != loop &&
            pm_is_in_loop(structure, c->blocks[i], loop))
            return false;
    return true;
}

/* How fast a short loop is depends on its place within a cache line. */
static void align_header(struct copying *c, size_t i) {
    const struct pm_structure *structure = c->lifted->structure;
    const struct pm_block *block = &structure->blocks[c->blocks[i]];
    if (block->loop != PM_NONE && structure->scopes[block->loop].header == c->blocks[i] &&
        is_innermost(c, block->loop))
        pm_code_align(&c->code, CACHE_LINE, block->address % CACHE_LINE);
}

static void put_block(struct copying *c, size_t i) {
    const struct pm_block_code *code = code_of(c, i);
    uint32_t last = code->first_insn + code->n_insns - 1;
    const struct pm_insn *end = &c->lifted->insns[last];
    align_header(c, i);
    pm_code_bind(&c->code, (uint32_t)i);
    for (uint32_t k = code->first_insn; k <= last; k++)
        put_instruction(c, k);
    if (end->control == PM_CONTROL_JUMP || end->control == PM_CONTROL_RETURN)
        return;
    struct pm_target next = target_of(c, end->address + end->length);
    if (next.label != i + 1) /* of the last block that is the exit */
        pm_code_jump(&c->code, next);
}

/* Where the nest ends, as OFFSET of the control block says. */
static void put_exit(struct copying *c, uint32_t label, uint32_t offset) {
    pm_code_bind(&c->code, label);
    for (uint32_t i = 0; i < c->request->nest->n_replayed; i++)
        pm_x86_put_replay_end(&c->code, &c->replayed[i]);
    pm_put_jump_gs(&c->code, offset);
}

static void put_all(struct copying *c) {
    const struct pm_bound_nest *nest = c->request->nest;
    uint32_t header = c->lifted->structure->scopes[nest->loop].header;
    for (uint32_t i = 0; i < nest->n_replayed; i++)
        pm_x86_put_replay_start(&c->code, &c->replayed[i]);
    pm_code_jump(&c->code, target_of(c, c->lifted->structure->blocks[header].address));
    for (size_t i = 0; i < c->n_blocks; i++)
        put_block(c, i);
    put_exit(c, c->done_label, PM_CB_BOUND_DONE);
    put_exit(c, c->over_label, PM_CB_BOUND_OVER);
    for (uint32_t i = 0; i < nest->n_replayed; i++)
        pm_x86_put_refill(&c->code, &c->replayed[i]);
}

static void write_code(struct copying *c) {
    struct pm_shadow_loop *copy = c->copy;
    uint64_t address = (copy->n_data + PM_BOUND_PAGE_BYTES - 1) & ~(PM_BOUND_PAGE_BYTES - 1ull);
    pm_code_layout(&c->code, address);
    copy->code = pm_alloc(c->code.size_bytes, 1);
    copy->n_code = copy->cap_code = c->code.size_bytes;
    c->possible &= pm_code_write(&c->code, copy->code);
    for (size_t i = 0; i < c->n_outer_fields; i++) {
        const struct outer_field *field = &c->outer_fields[i];
        *PM_PUSH(copy, relocations) = (struct pm_bound_relocation){
            (uint32_t)(pm_code_place_address(&c->code, field->place) - address), field->to_end,
            field->target};
    }
}

bool pm_x86_shadow_loop(const struct pm_bound_request *request, struct pm_shadow_loop *copy) {
    struct copying c = {.request = request,
                        .lifted = request->lifted,
                        .copy = copy,
                        .blocks = request->plan->blocks + request->nest->first_block,
                        .n_blocks = request->nest->n_blocks,
                        .possible = true};
    pm_code_new_labels(&c.code, (uint32_t)c.n_blocks);
    c.done_label = pm_code_new_labels(&c.code, 2);
    c.over_label = c.done_label + 1;
    find_free_registers(&c);
    plan_replays(&c);
    put_all(&c);
    if (c.possible)
        write_code(&c);
    pm_code_free(&c.code);
    free(c.outer_fields);
    free(c.replayed);
    return c.possible;
}
