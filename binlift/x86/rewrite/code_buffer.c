/* Machine code with labels, fix-ups and jumps that shrink where they reach (code.h).  Jumps start
   short and only grow, so the layout ends; every round recomputes all addresses, so that padding
   that grew meanwhile is seen. */
#include "binlift/x86/rewrite/code_buffer.h"

#include <stdlib.h>
#include <string.h>

void pm_code_free(struct pm_code *code) {
    free(code->bytes);
    free(code->items);
    free(code->fixups);
    free(code->labels);
    free(code->shift);
    memset(code, 0, sizeof *code);
}

/* ---- appending ------------------------------------------------------------------------------ */

void pm_code_append(struct pm_code *code, const void *bytes, size_t n_bytes) {
    while (code->cap_bytes - code->n_bytes < n_bytes) {
        code->cap_bytes = code->cap_bytes ? 2 * code->cap_bytes : 1 << 16;
        code->bytes = pm_realloc(code->bytes, code->cap_bytes, 1);
    }
    memcpy(code->bytes + code->n_bytes, bytes, n_bytes);
    code->n_bytes += n_bytes;
}

void pm_code_byte(struct pm_code *code, uint8_t byte) { pm_code_append(code, &byte, 1); }

void pm_code_word(struct pm_code *code, uint32_t word) { pm_code_append(code, &word, sizeof word); }

struct pm_code_place pm_code_here(const struct pm_code *code) {
    return (struct pm_code_place){(uint32_t)code->n_bytes, (uint32_t)code->n_items};
}

uint32_t pm_code_new_labels(struct pm_code *code, uint32_t n) {
    uint32_t first = (uint32_t)code->n_labels;
    while (n-- > 0)
        *PM_PUSH(code, labels) = (struct pm_code_place){PM_NONE, 0};
    return first;
}

void pm_code_bind(struct pm_code *code, uint32_t label) {
    code->labels[label] = pm_code_here(code);
}

static struct pm_code_item *new_item(struct pm_code *code, enum pm_code_item_kind kind) {
    struct pm_code_item *item = PM_PUSH(code, items);
    item->offset = (uint32_t)code->n_bytes;
    item->kind = kind;
    return item;
}

void pm_code_align(struct pm_code *code, uint8_t boundary, uint8_t rest) {
    struct pm_code_item *item = new_item(code, PM_ITEM_ALIGN);
    item->boundary = boundary;
    item->condition = rest;
}

void pm_code_jump(struct pm_code *code, struct pm_target target) {
    new_item(code, PM_ITEM_JUMP)->target = target;
}

void pm_code_branch(struct pm_code *code, uint8_t condition, struct pm_target target) {
    struct pm_code_item *item = new_item(code, PM_ITEM_BRANCH);
    item->condition = condition;
    item->target = target;
}

void pm_code_relative_at(struct pm_code *code, uint32_t offset, struct pm_target target,
                         uint8_t to_end) {
    struct pm_fixup *fixup = PM_PUSH(code, fixups);
    fixup->place = (struct pm_code_place){offset, (uint32_t)code->n_items};
    fixup->target = target;
    fixup->to_end = to_end;
}

void pm_code_relative(struct pm_code *code, struct pm_target target, uint8_t to_end) {
    pm_code_relative_at(code, (uint32_t)code->n_bytes, target, to_end);
    pm_code_word(code, 0);
}

/* ---- layout --------------------------------------------------------------------------------- */

enum { SHORT_BYTES = 2, LONG_JUMP_BYTES = 5, LONG_BRANCH_BYTES = 6 };

uint64_t pm_code_place_address(const struct pm_code *code, struct pm_code_place place) {
    return code->address + place.offset + code->shift[place.n_items_before];
}

static uint64_t target_address(const struct pm_code *code, struct pm_target target) {
    return target.label == PM_NONE ? target.address : pm_code_label_address(code, target.label);
}

uint64_t pm_code_label_address(const struct pm_code *code, uint32_t label) {
    return pm_code_place_address(code, code->labels[label]);
}

static uint64_t item_address(const struct pm_code *code, uint32_t i) {
    return code->address + code->items[i].offset + code->shift[i];
}

/* Sums up the items' sizes as they are now; alignments get theirs here. */
static void place_items(struct pm_code *code) {
    uint32_t shift = 0;
    for (uint32_t i = 0; i < code->n_items; i++) {
        struct pm_code_item *item = &code->items[i];
        code->shift[i] = shift;
        if (item->kind == PM_ITEM_ALIGN)
            item->size =
                (uint8_t)((item->condition - item_address(code, i)) & (item->boundary - 1u));
        shift += item->size;
    }
    code->shift[code->n_items] = shift;
    code->size_bytes = (uint32_t)code->n_bytes + shift;
}

static bool grow_jumps(struct pm_code *code) {
    bool grew = false;
    for (uint32_t i = 0; i < code->n_items; i++) {
        struct pm_code_item *item = &code->items[i];
        if (item->kind == PM_ITEM_ALIGN || item->size != SHORT_BYTES)
            continue;
        int64_t distance =
            (int64_t)(target_address(code, item->target) - (item_address(code, i) + SHORT_BYTES));
        if (distance >= INT8_MIN && distance <= INT8_MAX)
            continue;
        item->size = item->kind == PM_ITEM_JUMP ? LONG_JUMP_BYTES : LONG_BRANCH_BYTES;
        grew = true;
    }
    return grew;
}

void pm_code_layout(struct pm_code *code, uint64_t address) {
    free(code->shift);
    code->shift = pm_alloc(code->n_items + 1, sizeof *code->shift);
    code->address = address;
    for (uint32_t i = 0; i < code->n_items; i++)
        code->items[i].size = code->items[i].kind == PM_ITEM_ALIGN ? 0 : SHORT_BYTES;
    do
        place_items(code);
    while (grow_jumps(code));
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_no_ops(uint8_t *out, unsigned n) {
    static const uint8_t forms[9][9] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0x00},
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
        {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    };
    for (; n > 9; n -= 9, out += 9)
        memcpy(out, forms[8], 9);
    if (n)
        memcpy(out, forms[n - 1], n);
}

static bool put_relative(uint8_t *out, uint64_t target, uint64_t end) {
    int64_t distance = (int64_t)(target - end);
    int32_t field = (int32_t)distance;
    memcpy(out, &field, sizeof field);
    return field == distance;
}

static bool write_item(const struct pm_code *code, uint32_t i, uint8_t *out) {
    const struct pm_code_item *item = &code->items[i];
    if (item->kind == PM_ITEM_ALIGN) {
        write_no_ops(out, item->size);
        return true;
    }
    uint64_t end = item_address(code, i) + item->size;
    uint64_t target = target_address(code, item->target);
    if (item->size == SHORT_BYTES) {
        out[0] = item->kind == PM_ITEM_JUMP ? 0xeb : (uint8_t)(0x70 | item->condition);
        out[1] = (uint8_t)(target - end);
        return true;
    }
    if (item->kind == PM_ITEM_JUMP) {
        out[0] = 0xe9;
        return put_relative(out + 1, target, end);
    }
    out[0] = 0x0f;
    out[1] = (uint8_t)(0x80 | item->condition);
    return put_relative(out + 2, target, end);
}

bool pm_code_write(const struct pm_code *code, uint8_t *out) {
    bool reaches = true;
    uint32_t done = 0;
    for (uint32_t i = 0; i <= code->n_items; i++) {
        uint32_t until = i < code->n_items ? code->items[i].offset : (uint32_t)code->n_bytes;
        if (until > done)
            memcpy(out + done + code->shift[i], code->bytes + done, until - done);
        done = until;
        if (i < code->n_items)
            reaches &= write_item(code, i, out + done + code->shift[i]);
    }
    for (uint32_t i = 0; i < code->n_fixups; i++) {
        const struct pm_fixup *fixup = &code->fixups[i];
        uint64_t at = pm_code_place_address(code, fixup->place);
        reaches &= put_relative(out + (at - code->address), target_address(code, fixup->target),
                                at + fixup->to_end);
    }
    return reaches;
}
