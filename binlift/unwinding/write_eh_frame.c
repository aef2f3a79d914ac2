/* Writes the tables of a file whose code moved.

   .eh_frame is the old one, with fields that are relative to their own place corrected, and FDEs
   for the new code behind it, which use the old CIEs: one for each run of places whose rules come
   from one old FDE.  So the old code, where some calls stay, has its rules as before, and each
   instruction of the new code those of the instruction that it stands for.  .eh_frame_hdr is the
   table of all FDEs by address.

   An exception table is written anew for each such FDE whose old one has one: its call sites are
   the places by the call sites of the old; exceptions land in the new code. */
#include <stdlib.h>
#include <string.h>

#include "binlift/unwinding/unwinding.h"

enum { OMIT = 0xff, RELATIVE_4 = 0x1b, DATA_RELATIVE_4 = 0x3b, ABSOLUTE_4 = 0x03, ULEB = 0x01 };

struct bytes {
    PM_ARRAY(uint8_t, bytes);
};

struct writing {
    const struct pm_unwinding *old;
    pm_new_landing_pad *landing_pad;
    const void *context;
    uint64_t landing_pads; /* what landing pads of new exception tables are relative to */
    struct bytes frames, exceptions;
    uint64_t frames_address, exceptions_address;
    struct pm_unwind_rows rows;
    uint32_t rows_of; /* FDE; PM_NONE */
    struct pm_exception_table table;
    PM_ARRAY(struct header_entry, entries);
};

struct header_entry {
    uint64_t code, fde;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put(struct bytes *to, const void *bytes, size_t n) {
    while (to->cap_bytes - to->n_bytes < n) {
        to->cap_bytes = to->cap_bytes ? 2 * to->cap_bytes : 1 << 12;
        to->bytes = pm_realloc(to->bytes, to->cap_bytes, 1);
    }
    if (n)
        memcpy(to->bytes + to->n_bytes, bytes, n);
    to->n_bytes += n;
}

static void put_byte(struct bytes *to, uint64_t byte) { put(to, &(uint8_t){(uint8_t)byte}, 1); }

static void put_word(struct bytes *to, uint64_t word) { put(to, &(uint32_t){(uint32_t)word}, 4); }

static void put_uleb(struct bytes *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        put_byte(to, value | 0x80);
    put_byte(to, value);
}

static void put_sleb(struct bytes *to, int64_t value) {
    for (; value < -64 || value > 63; value >>= 7)
        put_byte(to, (uint64_t)(value & 0x7f) | 0x80);
    put_byte(to, (uint64_t)value & 0x7f);
}

static void align(struct bytes *to, size_t boundary) {
    while (to->n_bytes % boundary)
        put_byte(to, 0);
}

/* A 32-bit field at ADDRESS in memory that gives TARGET relative to itself. */
static void put_relative(struct bytes *to, uint64_t address, uint64_t target) {
    put_word(to, target - address);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_expression(struct bytes *to, const struct pm_unwind_rule *rule) {
    put_uleb(to, rule->n_bytes);
    put(to, rule->expression, rule->n_bytes);
}

static void put_advance(struct bytes *to, uint64_t distance) {
    if (distance == 0)
        return;
    if (distance < 0x40) {
        put_byte(to, 0x40 | distance);
    } else if (distance <= UINT8_MAX) {
        put_byte(to, 0x02);
        put_byte(to, distance);
    } else if (distance <= UINT16_MAX) {
        put_byte(to, 0x03);
        put(to, &(uint16_t){(uint16_t)distance}, 2);
    } else {
        put_byte(to, 0x04);
        put_word(to, distance);
    }
}

static void put_cfa(struct bytes *to, const struct pm_unwind_row *before,
                    const struct pm_unwind_row *row, int64_t alignment) {
    bool same_register = before->cfa_register == row->cfa_register;
    if (row->cfa.kind == PM_RULE_IS_EXPRESSION) {
        if (pm_unwind_same_rule(&before->cfa, &row->cfa))
            return;
        put_byte(to, 0x0f);
        put_expression(to, &row->cfa);
        return;
    }
    if (pm_unwind_same_rule(&before->cfa, &row->cfa) && same_register)
        return;
    bool negative = row->cfa.number < 0,
         only_offset = before->cfa.kind == row->cfa.kind && same_register;
    put_byte(to, only_offset ? (negative ? 0x13 : 0x0e) : (negative ? 0x12 : 0x0c));
    if (!only_offset)
        put_uleb(to, row->cfa_register);
    if (negative)
        put_sleb(to, row->cfa.number / alignment);
    else
        put_uleb(to, (uint64_t)row->cfa.number);
}

static void put_rule(struct bytes *to, unsigned number, const struct pm_unwind_rule *rule,
                     const struct pm_unwind_rule *initial, int64_t alignment) {
    int64_t factored = rule->number / alignment;
    if (pm_unwind_same_rule(rule, initial)) {
        put_byte(to, 0xc0 | number);
        return;
    }
    switch (rule->kind) {
    case PM_RULE_AT_OFFSET:
        if (factored >= 0) {
            put_byte(to, 0x80 | number);
            put_uleb(to, (uint64_t)factored);
            return;
        }
        put_byte(to, 0x11);
        break;
    case PM_RULE_IS_OFFSET:
        put_byte(to, 0x15);
        break;
    case PM_RULE_IN_REGISTER:
        put_byte(to, 0x09);
        break;
    case PM_RULE_AT_EXPRESSION:
        put_byte(to, 0x10);
        break;
    case PM_RULE_IS_EXPRESSION:
        put_byte(to, 0x16);
        break;
    case PM_RULE_UNDEFINED:
        put_byte(to, 0x07);
        break;
    default: /* a register that is not mentioned keeps its value */
        put_byte(to, 0x08);
    }
    put_uleb(to, number);
    if (rule->kind == PM_RULE_AT_OFFSET || rule->kind == PM_RULE_IS_OFFSET)
        put_sleb(to, factored);
    else if (rule->kind == PM_RULE_IN_REGISTER)
        put_uleb(to, (uint64_t)rule->number);
    else if (rule->kind == PM_RULE_AT_EXPRESSION || rule->kind == PM_RULE_IS_EXPRESSION)
        put_expression(to, rule);
}

static bool same_row(const struct pm_unwind_row *a, const struct pm_unwind_row *b) {
    bool same = pm_unwind_same_rule(&a->cfa, &b->cfa) && a->args_size == b->args_size &&
                (a->cfa.kind != PM_RULE_IN_REGISTER || a->cfa_register == b->cfa_register);
    for (unsigned i = 0; same && i < PM_UNWIND_REGISTERS; i++)
        same = pm_unwind_same_rule(&a->of[i], &b->of[i]);
    return same;
}

/* What makes ROW of BEFORE. */
static void put_row(struct bytes *to, const struct pm_unwind_row *before,
                    const struct pm_unwind_row *row, const struct pm_unwind_row *initial,
                    int64_t alignment) {
    put_cfa(to, before, row, alignment);
    for (unsigned i = 0; i < PM_UNWIND_REGISTERS; i++)
        if (!pm_unwind_same_rule(&before->of[i], &row->of[i]))
            put_rule(to, i, &row->of[i], &initial->of[i], alignment);
    if (before->args_size != row->args_size) {
        put_byte(to, 0x2e);
        put_uleb(to, row->args_size);
    }
}

/* ---- exception tables ------------------------------------------------------------------------ */

static const struct pm_lsda_call_site *site_at(const struct pm_exception_table *table,
                                               uint64_t address) {
    const struct pm_lsda_call_site *sites = table->sites;
    size_t behind = PM_LOWER_BOUND(table->n_sites, i, sites[i].address <= address);
    return behind && address < sites[behind - 1].end ? &sites[behind - 1] : NULL;
}

static void put_sites(struct writing *writing, struct bytes *to,
                      const struct pm_moved_place *places, size_t n) {
    uint64_t start = places[0].address;
    for (size_t i = 0, next; i < n; i = next) {
        const struct pm_lsda_call_site *site = site_at(&writing->table, places[i].old);
        next = i + 1;
        while (next < n && site_at(&writing->table, places[next].old) == site)
            next++;
        if (!site)
            continue;
        put_uleb(to, places[i].address - start);
        put_uleb(to, places[next].address - places[i].address);
        put_uleb(to, site->landing_pad ? writing->landing_pad(writing->context, site->landing_pad) -
                                             writing->landing_pads
                                       : 0);
        put_uleb(to, site->action);
    }
}

/* Types are relative to where they stand, or fixed. */
static void put_types(const struct pm_exception_table *table, struct bytes *to, uint64_t address) {
    unsigned n_bytes = (table->type_encoding & 0x0f) == 0 ? 8 : 4;
    for (uint64_t i = table->n_types; i > 0; i--) {
        const uint8_t *from = table->types - i * n_bytes;
        uint64_t at = table->types_address - i * n_bytes;
        uint32_t word;
        memcpy(&word, from, sizeof word);
        if ((table->type_encoding & 0x7f) != RELATIVE_4)
            put(to, from, n_bytes);
        else
            put_word(to, word ? word + at - (address + to->n_bytes) : 0);
    }
    put(to, table->types, table->n_filter_bytes);
}

static unsigned uleb_bytes(uint64_t value) {
    unsigned n = 1;
    while (value >>= 7)
        n++;
    return n;
}

/* The new table of the code at PLACES[0 … N), which ends at PLACES[N].  Returns its address. */
static uint64_t write_exceptions(struct writing *writing, const struct pm_moved_place *places,
                                 size_t n) {
    const struct pm_exception_table *table = &writing->table;
    struct bytes sites = {0}, *to = &writing->exceptions;
    align(to, 4);
    uint64_t at = writing->exceptions_address + to->n_bytes;
    put_sites(writing, &sites, places, n);
    put_byte(to, RELATIVE_4);
    put_relative(to, writing->exceptions_address + to->n_bytes, writing->landing_pads);
    put_byte(to, table->type_encoding);
    if (table->type_encoding != OMIT) {
        unsigned type = (table->type_encoding & 0x0f) == 0 ? 8 : 4;
        put_uleb(to, 1 + uleb_bytes(sites.n_bytes) + sites.n_bytes + table->n_action_bytes +
                         table->n_types * type);
    }
    put_byte(to, ULEB);
    put_uleb(to, sites.n_bytes);
    put(to, sites.bytes, sites.n_bytes);
    put(to, table->actions, table->n_action_bytes);
    if (table->type_encoding != OMIT)
        put_types(table, to, writing->exceptions_address);
    free(sites.bytes);
    return at;
}

/* ---- FDEs ------------------------------------------------------------------------------------ */

static void put_rows(struct writing *writing, const struct pm_moved_place *places, size_t n,
                     int64_t alignment) {
    struct bytes *to = &writing->frames;
    const struct pm_unwind_row *before = &writing->rows.initial;
    uint64_t at = places[0].address;
    for (size_t i = 0; i < n; i++) {
        const struct pm_unwind_row *row = pm_unwind_row_at(&writing->rows, places[i].old);
        if (row == before || same_row(row, before) || places[i].address == places[i + 1].address)
            continue;
        put_advance(to, places[i].address - at);
        put_row(to, before, row, &writing->rows.initial, alignment);
        at = places[i].address;
        before = row;
    }
}

static void write_fde(struct writing *writing, uint32_t f, const struct pm_moved_place *places,
                      size_t n) {
    const struct pm_unwind_fde *fde = &writing->old->fdes[f];
    const struct pm_unwind_cie *cie = &writing->old->cies[fde->cie];
    struct bytes *to = &writing->frames;
    bool can_move;
    if (writing->rows_of != f)
        pm_unwind_read_rows(writing->old, fde, &writing->rows, &can_move);
    if (writing->rows_of != f && fde->lsda)
        pm_read_exception_table(writing->old->image, fde, &writing->table);
    writing->rows_of = f;
    uint64_t lsda = fde->lsda ? write_exceptions(writing, places, n) : 0;
    size_t start = to->n_bytes;
    *PM_PUSH(writing, entries) =
        (struct header_entry){places[0].address, writing->frames_address + start};
    put_word(to, 0); /* the length */
    put_word(to, start + 4 - cie->offset);
    put_relative(to, writing->frames_address + to->n_bytes, places[0].address);
    put_word(to, places[n].address - places[0].address);
    if (cie->lsda_encoding == OMIT) {
        put_uleb(to, 0);
    } else if (cie->lsda_encoding == RELATIVE_4 || cie->lsda_encoding == ABSOLUTE_4) {
        put_uleb(to, 4);
        put_word(to, lsda && cie->lsda_encoding == RELATIVE_4
                         ? lsda - (writing->frames_address + to->n_bytes)
                         : lsda);
    } else {
        put_uleb(to, sizeof lsda);
        put(to, &lsda, sizeof lsda);
    }
    put_rows(writing, places, n, cie->data_alignment);
    align(to, 4);
    uint32_t length = (uint32_t)(to->n_bytes - start - 4);
    memcpy(to->bytes + start, &length, sizeof length);
}

/* One FDE for each run of places of one old FDE. */
static void write_fdes(struct writing *writing, const struct pm_moved_place *places, size_t n) {
    for (size_t i = 0, next; i + 1 < n; i = next) {
        uint32_t fde = places[i].old ? pm_unwind_fde_at(writing->old, places[i].old) : PM_NONE;
        next = i + 1;
        while (next + 1 < n && places[next].old &&
               (places[next].address == places[next + 1].address ||
                pm_unwind_fde_at(writing->old, places[next].old) == fde))
            next++;
        if (fde != PM_NONE && writing->old->fdes[fde].can_move &&
            places[next].address > places[i].address)
            write_fde(writing, fde, places + i, next - i);
    }
}

static void copy_old(struct writing *writing) {
    const struct pm_unwinding *old = writing->old;
    uint64_t from = old->section->header.sh_addr;
    put(&writing->frames, old->image->bytes + old->section->header.sh_offset, old->n_bytes);
    for (size_t i = 0; i < old->n_relatives; i++) {
        uint8_t *field = writing->frames.bytes + old->relatives[i];
        uint32_t value;
        memcpy(&value, field, sizeof value);
        value += (uint32_t)(from - writing->frames_address);
        memcpy(field, &value, sizeof value);
    }
    for (size_t i = 0; i < old->n_fdes; i++)
        *PM_PUSH(writing, entries) = (struct header_entry){
            old->fdes[i].address, writing->frames_address + old->fdes[i].offset};
}

/* ---- .eh_frame_hdr ----------------------------------------------------------------------------
 */

static int by_code(const void *left, const void *right) {
    const struct header_entry *a = left, *b = right;
    return PM_COMPARE(a->code, b->code);
}

static void write_header(struct writing *writing, uint64_t address, struct bytes *to) {
    PM_SORT(writing->entries, writing->n_entries, by_code);
    put_byte(to, 1); /* version */
    put_byte(to, RELATIVE_4);
    put_byte(to, ABSOLUTE_4);
    put_byte(to, DATA_RELATIVE_4);
    put_relative(to, address + to->n_bytes, writing->frames_address);
    put_word(to, writing->n_entries);
    for (size_t i = 0; i < writing->n_entries; i++) {
        put_word(to, writing->entries[i].code - address);
        put_word(to, writing->entries[i].fde - address);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint64_t align_16(uint64_t value) { return (value + 15) & ~UINT64_C(15); }

/* How long the exception tables are does not depend on where they are, nor do those of FDEs. */
static void write_tables(struct writing *writing, const struct pm_moved_place *places, size_t n,
                         uint64_t exceptions, uint64_t frames) {
    writing->frames.n_bytes = writing->exceptions.n_bytes = 0;
    writing->n_entries = 0;
    writing->exceptions_address = exceptions;
    writing->frames_address = frames;
    copy_old(writing);
    write_fdes(writing, places, n);
    put_word(&writing->frames, 0); /* the terminator */
}

void pm_write_unwinding(const struct pm_unwinding *unwinding, const struct pm_moved_place *places,
                        size_t n_places, uint64_t address, pm_new_landing_pad *landing_pad,
                        const void *context, struct pm_new_unwinding *made) {
    enum { BEFORE = 16 }; /* so that no landing pad is 0 away */
    struct writing writing = {
        .old = unwinding, .landing_pad = landing_pad, .context = context, .rows_of = PM_NONE};
    writing.landing_pads = (n_places ? places[0].address : address) - BEFORE;
    write_tables(&writing, places, n_places, address, address);
    uint64_t frames = align_16(address + writing.exceptions.n_bytes);
    write_tables(&writing, places, n_places, address, frames);
    uint64_t header = align_16(frames + writing.frames.n_bytes);
    struct bytes bytes = {0};
    write_header(&writing, header, &bytes);
    *made = (struct pm_new_unwinding){
        .exceptions = {writing.exceptions.bytes, writing.exceptions.n_bytes, address},
        .frames = {writing.frames.bytes, writing.frames.n_bytes, frames},
        .header = {bytes.bytes, bytes.n_bytes, header},
    };
    pm_unwind_rows_release(&writing.rows);
    pm_exception_table_release(&writing.table);
    free(writing.entries);
}

void pm_new_unwinding_release(struct pm_new_unwinding *made) {
    free(made->exceptions.bytes);
    free(made->frames.bytes);
    free(made->header.bytes);
}
