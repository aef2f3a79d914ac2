/* An iteration unrolled.  Code lies as in its file, modulo 64 bytes: what a branch of the path
   jumps over is left out, but for what keeps the alignment, so that the front end finds each
   iteration as it does in the program.

   In the copy that is timed each branch goes on along the path whatever it decides: one that the
   path takes leads to the next instruction of the path, one that it does not take leads behind
   itself.  Its condition is inverted where the data, being made up, decide the other way (the
   tracing copy tells), so that it is really taken, or really not, as in the program.  Conditions
   and their inverses cost the same, and fuse with the same instructions. */
#include <string.h>

#include "machines/probe/loop_runner/private.h"

enum { LINE = 64, NEAR_BRANCH_BYTES = 6, JUMP_BYTES = 5, LEAVE_BYTES = 6, STUB_BYTES = 12 };

struct writer {
    uint8_t *at, *end;
    struct pm_loop_area *area;
};

static void put(struct writer *writer, const void *bytes, size_t n) {
    memcpy(writer->at, bytes, n);
    writer->at += n;
}

static void put_byte(struct writer *writer, uint8_t byte) { *writer->at++ = byte; }

/* The distance from the end of these four bytes, behind which AFTER more follow. */
static void put_relative(struct writer *writer, const void *target, unsigned after) {
    int32_t distance = (int32_t)((intptr_t)target - (intptr_t)(writer->at + 4 + after));
    put(writer, &distance, sizeof distance);
}

static void put_leave(struct writer *writer) { /* jmp *leave(%rip) */
    put(writer, (uint8_t[]){0xff, 0x25}, 2);
    put_relative(writer, &writer->area->leave, 0);
}

static uint64_t address_of(const uint8_t *at) { return (uint64_t)(uintptr_t)at; }

/* What is no control flow, with its pc-relative operand leading to the same place of the image. */
static void put_plain(struct writer *writer, const struct pm_loop_code *code,
                      const struct pm_loop_insn *insn) {
    uint8_t *start = writer->at;
    put(writer, code->bytes + insn->at, insn->length);
    if (insn->pc_relative_at) {
        int32_t distance =
            (int32_t)(int64_t)(PM_LOOP_IMAGE + insn->pc_target - address_of(writer->at));
        memcpy(start + insn->pc_relative_at, &distance, sizeof distance);
    }
}

/* ---- the tracing copy ------------------------------------------------------------------------ */

/* A prefetch does not fault, so a clflush of the same operand tells which page is meant. */
static void make_fault(uint8_t *insn, unsigned modrm_at) {
    insn[modrm_at - 2] = 0x0f;
    insn[modrm_at - 1] = 0xae;
    insn[modrm_at] = (uint8_t)((insn[modrm_at] & 0xc7) | 7 << 3);
}

bool pm_loop_put_tracing(struct pm_loop_area *area, const struct pm_loop_code *code, unsigned count,
                         struct pm_loop_copy *copy) {
    struct writer writer = {area->tracing, area->tracing + sizeof area->tracing, area};
    size_t n_branches = (size_t)count * code->n_branches;
    size_t most = (code->n_bytes + code->n_branches * (NEAR_BRANCH_BYTES + STUB_BYTES)) * count;
    uint8_t *stubs = area->tracing + (most - n_branches * STUB_BYTES);
    size_t branch = 0;
    if (most + LEAVE_BYTES > sizeof area->tracing || n_branches > PM_LOOP_MOST_BRANCHES)
        return false;
    copy->begin = writer.at;
    stubs += LEAVE_BYTES;
    for (unsigned k = 0; k < count; k++)
        for (size_t i = 0; i < code->n_insns; i++) {
            const struct pm_loop_insn *insn = &code->insns[i];
            uint8_t *start = writer.at;
            if (insn->control == PM_LOOP_PLAIN) {
                put_plain(&writer, code, insn);
                if (insn->prefetch_modrm_at)
                    make_fault(start, insn->prefetch_modrm_at);
            } else if (insn->control == PM_LOOP_COUNTED_BRANCH) {
                put(&writer, code->bytes + insn->at, insn->length);
                writer.at[-1] = 0;
            } else if (insn->control == PM_LOOP_BRANCH) {
                /* To a stub, which notes it without touching flags and comes back. */
                const uint8_t *opcode = code->bytes + insn->at + insn->opcode_at;
                uint8_t condition = (*opcode == 0x0f ? opcode[1] : *opcode) & 0x0f;
                struct writer stub = {stubs + branch * STUB_BYTES, writer.end, area};
                put(&writer, (uint8_t[]){0x0f, (uint8_t)(0x80 | condition)}, 2);
                put_relative(&writer, stub.at, 0);
                put(&stub, (uint8_t[]){0xc6, 0x05}, 2); /* movb $1, taken(%rip) */
                put_relative(&stub, &area->taken[branch], 1);
                put(&stub, (uint8_t[]){1, 0xe9}, 2);
                put_relative(&stub, writer.at, 0);
                branch++;
            }
        }
    copy->leave = writer.at;
    put_leave(&writer);
    return true;
}

/* ---- the copy that is timed ------------------------------------------------------------------ */

/* The next place behind AT for an instruction that stands at ADDRESS in the file. */
static uint8_t *place_for(uint8_t *at, uint64_t address) {
    return at + ((address - address_of(at)) & (LINE - 1));
}

/* Goes on at ADDRESS's next place, from a jump whose distance field of N_BYTES is the next to be
   written; behind a branch, a JUMP leads there as well. */
static void put_taken(struct writer *writer, unsigned n_bytes, uint64_t address, bool branch) {
    uint8_t *behind = writer->at + n_bytes;
    uint8_t *target = place_for(behind + (branch ? JUMP_BYTES : 0), address);
    if (n_bytes == 1)
        put_byte(writer, (uint8_t)(target - behind));
    else
        put_relative(writer, target, 0);
    if (branch) {
        put_byte(writer, 0xe9);
        put_relative(writer, target, 0);
    }
    memset(writer->at, 0xcc, (size_t)(target - writer->at));
    writer->at = target;
}

/* WAS_TAKEN: by made-up data. */
static void put_branch(struct writer *writer, const struct pm_loop_code *code,
                       const struct pm_loop_insn *insn, uint64_t next, bool was_taken) {
    const uint8_t *bytes = code->bytes + insn->at;
    unsigned opcode_bytes = bytes[insn->opcode_at] == 0x0f ? 2 : 1;
    unsigned n_before = insn->opcode_at + opcode_bytes, n_distance = insn->length - n_before;
    put(writer, bytes, n_before);
    if (insn->control == PM_LOOP_BRANCH && insn->taken != was_taken)
        writer->at[-1] ^= 1;
    if (insn->taken) {
        put_taken(writer, n_distance, next, insn->control != PM_LOOP_JUMP);
    } else {
        memset(writer->at, 0, n_distance);
        writer->at += n_distance;
    }
}

/* A block once, and `dec counter; jnz` back to it. */
static void put_loop(struct writer *writer, const struct pm_loop_code *code) {
    const uint8_t *begin = writer->at;
    for (size_t i = 0; i < code->n_insns; i++)
        put_plain(writer, code, &code->insns[i]);
    put(writer, (uint8_t[]){0x48 | code->counter >> 3, 0xff, 0xc8 | (code->counter & 7)}, 3);
    if (writer->at + 2 - begin <= 128) {
        put_byte(writer, 0x75);
        put_byte(writer, (uint8_t)(begin - (writer->at + 1)));
    } else {
        put(writer, (uint8_t[]){0x0f, 0x85}, 2);
        put_relative(writer, begin, 0);
    }
}

bool pm_loop_put_timed(struct pm_loop_area *area, unsigned which, unsigned setting,
                       const struct pm_loop_code *code, unsigned count, struct pm_loop_copy *copy) {
    uint8_t *room = area->timed[which] + setting * PM_LOOP_SHIFT;
    struct writer writer = {room, room + PM_LOOP_COPY_BYTES, area};
    size_t branch = 0;
    writer.at = copy->begin = place_for(writer.at, code->insns[0].address);
    if (code->form == PM_LOOP_BLOCK_IN_LOOP) {
        put_loop(&writer, code);
        count = 0;
    }
    for (unsigned k = 0; k < count; k++)
        for (size_t i = 0; i < code->n_insns; i++) {
            const struct pm_loop_insn *insn = &code->insns[i];
            uint64_t next = code->insns[(i + 1) % code->n_insns].address;
            if (writer.at + 2 * LINE > writer.end)
                return false;
            if (insn->control == PM_LOOP_PLAIN) {
                put_plain(&writer, code, insn);
            } else {
                bool was_taken = insn->control == PM_LOOP_BRANCH && area->taken[branch];
                put_branch(&writer, code, insn, next, was_taken);
                branch += insn->control == PM_LOOP_BRANCH;
            }
        }
    copy->leave = writer.at;
    put_leave(&writer);
    return true;
}
