/* The loop: constants into registers, the body, the branch back. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machines/probe/code/private.h"

enum { DEFAULT_INSTRUCTIONS = 120, MOST_BYTES = 16384 };

struct pm_probe_loop {
    uint8_t *code, *data;
    size_t size; /* bytes of code written */
    size_t top;  /* where the body begins */
    unsigned times;
    bool ok;
};

/* ---- emitting -------------------------------------------------------------------------------- */

static void emit_bytes(struct pm_probe_loop *loop, const void *bytes, size_t n) {
    if (loop->size + n > MOST_BYTES)
        loop->ok = false;
    if (!loop->ok)
        return;
    memcpy(loop->code + loop->size, bytes, n);
    loop->size += n;
}

static void emit(struct pm_probe_loop *loop, const ZydisEncoderRequest *request) {
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize length = sizeof bytes;
    if (ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, bytes, &length)))
        emit_bytes(loop, bytes, length);
    else
        loop->ok = false;
}

static void emit_text(struct pm_probe_loop *loop, const char *text) {
    ZydisEncoderRequest request;
    if (pm_parse_instruction(text, 8, &request))
        emit(loop, &request);
    else
        loop->ok = false;
}

static void align(struct pm_probe_loop *loop) {
    while (loop->ok && loop->size % 64)
        emit_bytes(loop, "\x90", 1);
}

/* ---- a loop's parts -------------------------------------------------------------------------- */

/* The widest vectors and whether masks are used. */
struct needs {
    unsigned bits;
    bool masks;
};

static struct needs needs_of(const struct pm_form_count *copies, size_t n) {
    struct needs needs = {0};
    for (size_t i = 0; i < n; i++) {
        const ZydisEncoderRequest *request = &copies[i].form->code->request;
        for (int j = 0; j < request->operand_count; j++) {
            const ZydisEncoderOperand *operand = &request->operands[j];
            ZydisRegister reg = operand->type == ZYDIS_OPERAND_TYPE_MEMORY ? operand->mem.index
                                                                           : operand->reg.value;
            ZydisRegisterClass class = ZydisRegisterGetClass(reg);
            unsigned bits = class == ZYDIS_REGCLASS_XMM   ? 128
                            : class == ZYDIS_REGCLASS_YMM ? 256
                            : class == ZYDIS_REGCLASS_ZMM ? 512
                                                          : 0;
            needs.bits = bits > needs.bits ? bits : needs.bits;
            needs.masks |= class == ZYDIS_REGCLASS_MASK && reg != ZYDIS_REGISTER_K0;
        }
    }
    return needs;
}

/* All bits into the mask or vector register NUMBER of FILE: k, x, y. */
static void emit_all_ones(struct pm_probe_loop *loop, char file, unsigned number) {
    char *text = file == 'k' ? pm_sprintf("kxnorw k%u, k%u, k%u", number, number, number)
                             : pm_sprintf("vpcmpeqd %cmm%u, %cmm%u, %cmm%u", file, number, file,
                                          number, file, number);
    emit_text(loop, text);
    free(text);
}

/* Numbers into all vector registers: single precision into those of FLOATS, zero into the last. */
static void emit_constants(struct pm_probe_loop *loop, const struct needs *needs,
                           bool chain_of_floats) {
    static const char *const names[] = {"x", "y", "z"};
    const char *name = names[needs->bits == 512 ? 2 : needs->bits == 256 ? 1 : 0];
    for (unsigned i = 0; needs->bits && i < 15; i++) {
        bool single = i == 11 || i == 12 || (i < 11 && chain_of_floats);
        char *text = pm_sprintf("vmovups %smm%u, %smmword ptr [rdi + %u]", name, i, name,
                                single ? 64u : 128u);
        emit_text(loop, text);
        free(text);
    }
    if (needs->bits)
        emit_text(loop, "vpxor xmm15, xmm15, xmm15");
    for (unsigned i = 1; needs->masks && i < 8; i++)
        emit_all_ones(loop, 'k', i);
}

/* All bits into the mask of a gather or scatter, which uses it up. */
static void emit_mask(struct pm_probe_loop *loop, const ZydisEncoderRequest *request,
                      const struct pm_form *form) {
    for (int i = 0; i < request->operand_count; i++) {
        ZydisRegister reg = request->operands[i].reg.value;
        bool is_mask = request->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       form->code->roles[i] == PM_OPERAND_RESULT &&
                       (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_MASK || i == 2);
        if (!is_mask)
            continue;
        emit_all_ones(loop, ZydisRegisterGetString(reg)[0], (unsigned)ZydisRegisterGetId(reg));
    }
}

static void emit_copy(struct pm_probe_loop *loop, const struct pm_form *form,
                      struct pm_register_pools *pools) {
    ZydisEncoderRequest request = pm_assign_registers(form, pools);
    for (int i = 0; i < PM_MOST_PRELUDE; i++) {
        const char *text = form->code->prelude[i];
        /* A chain goes through the register that the first of these would give anew. */
        if (text && pools->chain && i == 0)
            text = form->op_class == PM_OP_INT_DIV ? "or rax, rbx" : NULL;
        if (text)
            emit_text(loop, text);
    }
    if (form->op_class == PM_OP_GATHER || form->op_class == PM_OP_SCATTER)
        emit_mask(loop, &request, form);
    emit(loop, &request);
}

/* Every so many copies a chain through a general register begins anew. */
struct anew {
    unsigned every, since; /* 0: never */
};

/* Copies that wait for their own results (imul) may be held back by that, as there are few
   registers, and not by their units.  How often a chain then has to begin anew for all to do so
   in a body of INSTRUCTIONS; 0: chains hold back nothing, as so many cycles have room. */
static struct anew how_often(const struct pm_form_count *copies, size_t n, unsigned instructions) {
    static const unsigned FASTEST = 5; /* instructions a cycle, if many are of several cycles */
    unsigned chained = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        chained += copies[i].count * pm_general_chain_cycles(copies[i].form);
        total += copies[i].count;
    }
    if (chained * FASTEST <= PM_GENERAL_POOL * total)
        return (struct anew){0};
    return (struct anew){.every = (instructions + PM_GENERAL_POOL - 1) / PM_GENERAL_POOL};
}

/* By an instruction that needs no unit, as all cores know that it gives zero. */
static void begin_chain_anew(struct pm_probe_loop *loop, struct pm_register_pools *pools) {
    const char *name = ZydisRegisterGetString(pm_begin_chain_anew(pools));
    char *text = pm_sprintf("xor %s, %s", name, name);
    emit_text(loop, text);
    free(text);
}

/* The members of a multiset in turn, each as evenly as it can be. */
static void emit_multiset(struct pm_probe_loop *loop, const struct pm_form_count *copies, size_t n,
                          struct anew *anew, struct pm_register_pools *pools) {
    unsigned total = 0, *placed = pm_alloc(n, sizeof *placed);
    for (size_t i = 0; i < n; i++)
        total += copies[i].count;
    for (unsigned step = 1; step <= total; step++) {
        size_t next = 0;
        double most_behind = -1;
        for (size_t i = 0; i < n; i++) {
            double behind = (double)copies[i].count * step / total - placed[i];
            if (behind > most_behind + 1e-9) {
                most_behind = behind;
                next = i;
            }
        }
        placed[next]++;
        emit_copy(loop, copies[next].form, pools);
        if (anew->every && ++anew->since == anew->every) {
            begin_chain_anew(loop, pools);
            anew->since = 0;
        }
    }
    free(placed);
}

static bool allocate(struct pm_probe_loop *loop) {
    void *code = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *data =
        mmap(NULL, PM_DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    loop->code = code == MAP_FAILED ? NULL : code;
    loop->data = data == MAP_FAILED ? NULL : data;
    if (!loop->code || !loop->data)
        return false;
    /* A word with its own address, then numbers a little above 1 of either precision. */
    for (size_t i = 0; i < 8; i++)
        memcpy(loop->data + 8 * i, &data, sizeof data);
    for (size_t i = 64; i < 128; i += 4)
        memcpy(loop->data + i, &(float){1.0000001F}, 4);
    for (size_t i = 128; i < 256; i += 8)
        memcpy(loop->data + i, &(double){1.0000001}, 8);
    return true;
}

static struct pm_probe_loop *begin(const struct needs *needs, bool floats) {
    struct pm_probe_loop *loop = pm_alloc(1, sizeof *loop);
    loop->ok = allocate(loop);
    emit_constants(loop, needs, floats);
    align(loop);
    loop->top = loop->size;
    return loop;
}

/* NULL if anything could not be done. */
static struct pm_probe_loop *end(struct pm_probe_loop *loop, const struct needs *needs) {
    emit_text(loop, "dec r15");
    int32_t back = (int32_t)loop->top - (int32_t)(loop->size + 6);
    emit_bytes(loop, "\x0f\x85", 2); /* jnz */
    emit_bytes(loop, &back, sizeof back);
    if (needs->bits > 128)
        emit_text(loop, "vzeroupper");
    emit_text(loop, "ret");
    if (loop->ok && mprotect(loop->code, MOST_BYTES, PROT_READ | PROT_EXEC) == 0)
        return loop;
    pm_probe_loop_free(loop);
    return NULL;
}

struct pm_probe_loop *pm_probe_loop_make(const struct pm_form_count *copies, size_t n,
                                         enum pm_wiring wiring, unsigned least) {
    struct pm_register_pools pools = pm_register_pools(wiring == PM_WIRED_CHAIN);
    unsigned total = 0;
    bool floats = false;
    for (size_t i = 0; i < n; i++) {
        const struct pm_form *form = copies[i].form;
        if (!form->executes ||
            (pools.chain && !(form->can_link && form->to == copies[(i + 1) % n].form->from)))
            return NULL;
        total += copies[i].count;
        floats |= form->element_bytes == 4;
    }
    struct needs needs = needs_of(copies, n);
    struct pm_probe_loop *loop = begin(&needs, floats);
    if (least == 0)
        least = DEFAULT_INSTRUCTIONS;
    loop->times = (least + total - 1) / total;
    struct anew anew = {0};
    if (!pools.chain)
        anew = how_often(copies, n, loop->times * total);
    for (unsigned i = 0; loop->ok && i < loop->times; i++)
        emit_multiset(loop, copies, n, &anew, &pools);
    return end(loop, &needs);
}

struct pm_probe_loop *pm_probe_loop_of(const char *const *instructions, size_t n) {
    struct needs needs = {.bits = 128};
    struct pm_probe_loop *loop = begin(&needs, false);
    loop->times = 1;
    for (size_t i = 0; i < n; i++)
        emit_text(loop, instructions[i]);
    return end(loop, &needs);
}

void pm_probe_loop_free(struct pm_probe_loop *loop) {
    if (!loop)
        return;
    if (loop->code)
        munmap(loop->code, MOST_BYTES);
    if (loop->data)
        munmap(loop->data, PM_DATA_BYTES);
    free(loop);
}

unsigned pm_probe_loop_times(const struct pm_probe_loop *loop) { return loop->times; }

bool pm_probe_loop_can_run(struct pm_probe_loop *loop) {
    return pm_execute(loop->code, 2, loop->data);
}

void pm_probe_loop_run(void *loop, uint64_t times) {
    struct pm_probe_loop *l = loop;
    pm_execute_safe(l->code, times, l->data);
}
