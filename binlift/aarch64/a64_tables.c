/* The form of a jump table, by slicing backwards from an indirect jump.  What GCC emits, always
   together but for the address of the table, which may be set far away, outside a loop:

     adrp x1, table;  add x1, x1, #…
     ldrb w2, [x1, w0, uxtw]          or ldrh w2, [x1, w0, uxtw #1], ldr w2, [x1, w0, uxtw #2]
     adr  x3, label
     add  x2, x3, w2, sxtb #2         or sxth #2, sxtw #2: entries are signed distances in words
     br   x2

   and Clang, whose entries are not signed, or relative to the table (ldrsw, no shift):

     ldrb w2, [x1, x0];  adr x3, label;  add x3, x3, x2, lsl #2;  br x3

   in front of which `cmp w0, #n; b.hi default` bounds the index. */
#include "binlift/aarch64/a64.h"

enum { MAX_DEPTH = 6, MAX_STEPS = 100000, LOOK_BACK = 200, NEAR_CODE = 1 << 26 };

struct slice {
    const struct pm_insn *insns;
    uint32_t jump, first;
    void *image;
    pm_read_memory *read;
    unsigned steps; /* that are left */
};

static bool word_at(const struct slice *slice, uint32_t k, uint32_t *word) {
    const uint8_t *bytes = slice->read(slice->image, slice->insns[k].address, 4);
    if (bytes)
        *word = pm_a64_word(bytes);
    return bytes != NULL;
}

static bool defines(const struct pm_insn *insn, unsigned number) {
    return insn->registers->defs.general >> number & 1;
}

/* The nearest instruction before K, by address, that sets register NUMBER. */
static bool find_definition(struct slice *slice, uint32_t k, unsigned number, uint32_t *at) {
    while (k-- > slice->first && slice->steps) {
        slice->steps--;
        if (defines(&slice->insns[k], number)) {
            *at = k;
            return true;
        }
    }
    return false;
}

/* The definition that instruction K gives to register NUMBER. */
static bool definition_at(const struct slice *slice, uint32_t k, unsigned number,
                          struct pm_definition *found) {
    struct pm_definition definitions[PM_MOST_DEFINITIONS];
    const struct pm_insn *insn = &slice->insns[k];
    const uint8_t *bytes = slice->read(slice->image, insn->address, 4);
    unsigned n = bytes ? pm_a64_define_places(bytes, insn, definitions) : 0;
    for (unsigned i = 0; i < n; i++)
        if (definitions[i].place == number) {
            *found = definitions[i];
            return true;
        }
    return false;
}

/* The nearest store before *K to where instruction *K loads from, if that is on the stack. */
static bool find_spill(struct slice *slice, uint32_t *k, unsigned *number) {
    const struct pm_insn *load = &slice->insns[*k];
    if (load->n_memory != 1 || load->memory[0].access != PM_ACCESS_LOAD ||
        load->memory[0].index != PM_REGISTER_NONE ||
        (load->memory[0].base != PM_A64_SP && load->memory[0].base != 29))
        return false;
    for (uint32_t at = *k; at-- > slice->first && slice->steps;) {
        const struct pm_insn *store = &slice->insns[at];
        uint32_t word;
        slice->steps--;
        if (store->n_memory != 1 || store->memory[0].access != PM_ACCESS_STORE ||
            store->memory[0].base != load->memory[0].base ||
            store->memory[0].index != PM_REGISTER_NONE ||
            store->memory[0].displacement != load->memory[0].displacement ||
            store->memory[0].size_bytes != load->memory[0].size_bytes || !word_at(slice, at, &word))
            continue;
        *k = at;
        *number = pm_a64_rd(word);
        return *number != PM_A64_SP;
    }
    return false;
}

/* The value of register NUMBER before instruction K, if the nearest definition makes it a
   constant. */
static bool find_constant(struct slice *slice, uint32_t k, unsigned number, unsigned depth,
                          uint64_t *value) {
    struct pm_definition definition;
    uint32_t at;
    if (depth > MAX_DEPTH || !find_definition(slice, k, number, &at))
        return false;
    if (!definition_at(slice, at, number, &definition) || definition.kind != PM_DEFINED_AS_SUM)
        return false;
    if (definition.n_terms == 0) {
        *value = (uint64_t)definition.constant;
        return true;
    }
    if (definition.n_terms != 1 || definition.terms[0].factor != 1)
        return false;
    unsigned source = definition.terms[0].place;
    if (source == PM_PLACE_MEMORY && !find_spill(slice, &at, &source))
        return false;
    if (!find_constant(slice, at, source, depth + 1, value))
        return false;
    *value += (uint64_t)definition.constant;
    return true;
}

/* ---- the bounds check ----------------------------------------------------------------------- */

/* Entries that a comparison with LIMIT and the branch behind it let through. */
static uint64_t entries_of_branch(const struct slice *slice, uint32_t compare, uint64_t limit) {
    for (uint32_t k = compare + 1; k < slice->jump && k - compare < LOOK_BACK; k++) {
        uint32_t word;
        if (slice->insns[k].control == PM_CONTROL_NONE)
            continue;
        if (!word_at(slice, k, &word) || (word & 0xff000010) != 0x54000000)
            return 0;
        switch (word & 15) {
        case 8: /* hi */
        case 9: /* ls */
            return limit + 1;
        case 2: /* hs */
        case 3: /* lo */
            return limit;
        default:
            return 0;
        }
    }
    return 0;
}

/* `cmp reg, #limit` or `cmp reg, r` with a constant in r. */
static bool compares(struct slice *slice, uint32_t k, unsigned number, uint64_t *limit) {
    uint32_t word;
    if (!word_at(slice, k, &word) || pm_a64_rn(word) != number)
        return false;
    if ((word & 0x7f80001f) == 0x7100001f) {
        *limit = (uint64_t)pm_a64_bits(word, 21, 10) << (pm_a64_bits(word, 22, 22) ? 12 : 0);
        return true;
    }
    return (word & 0x7fe0fc1f) == 0x6b00001f &&
           find_constant(slice, k, pm_a64_rm(word), 0, limit) && *limit <= UINT32_MAX;
}

/* and reg, r, #2^n − 1; ubfx: the most values that the result has. */
static uint64_t values_of_field(uint32_t word) {
    enum { WIDEST = 16 };
    bool is_and = (word & 0x7fc00000) == 0x12000000, is_field = (word & 0x7f800000) == 0x53000000;
    unsigned rotation = pm_a64_bits(word, 21, 16), last = pm_a64_bits(word, 15, 10);
    if (is_and && rotation == 0 && last < WIDEST)
        return UINT64_C(2) << last;
    if (is_field && last >= rotation && last - rotation < WIDEST)
        return UINT64_C(2) << (last - rotation);
    return 0;
}

/* Does the value of register NUMBER not come down through INSN?  A call that a register of the
   caller's would be lost in does not come back, if that register is used behind it. */
static bool ends_flow(const struct pm_insn *insn, unsigned number) {
    enum { FIRST_SAVED = 19 };
    switch (insn->control) {
    case PM_CONTROL_NONE:
    case PM_CONTROL_BRANCH:
        return false;
    case PM_CONTROL_CALL:
    case PM_CONTROL_CALL_INDIRECT:
        return number < FIRST_SAVED;
    default:
        return true;
    }
}

/* The nearest branch before the jump that goes to instruction TO. */
static bool find_way(struct slice *slice, uint32_t to, uint32_t *from) {
    for (uint32_t k = slice->jump; k-- > slice->first && slice->steps;) {
        slice->steps--;
        if (slice->insns[k].target == slice->insns[to].address &&
            slice->insns[k].control == PM_CONTROL_BRANCH) {
            *from = k;
            return true;
        }
    }
    return false;
}

/* Follows the index backwards through copies and extensions to its comparison. */
static uint64_t find_bound(struct slice *slice, uint32_t load, unsigned index) {
    unsigned left = LOOK_BACK;
    for (uint32_t k = load; k-- > slice->first && left--;) {
        const struct pm_insn *insn = &slice->insns[k];
        struct pm_definition definition;
        uint64_t limit;
        uint32_t word;
        if (ends_flow(insn, index) && !find_way(slice, k + 1, &k))
            return 0;
        insn = &slice->insns[k];
        if (compares(slice, k, index, &limit))
            return entries_of_branch(slice, k, limit);
        if (!defines(insn, index) || !word_at(slice, k, &word))
            continue;
        if (values_of_field(word))
            return values_of_field(word);
        if (!definition_at(slice, k, index, &definition) || definition.n_terms != 1 ||
            definition.kind != PM_DEFINED_AS_SUM || definition.constant ||
            definition.terms[0].factor != 1)
            return 0;
        unsigned source = definition.terms[0].place;
        uint32_t at = k;
        if (source == PM_PLACE_MEMORY && !find_spill(slice, &at, &source))
            return 0;
        k = at; /* from the store on, or the copy */
        index = source;
    }
    return 0;
}

/* ---- the form ------------------------------------------------------------------------------- */

static bool is_plausible(const struct slice *slice, const struct pm_table_form *form) {
    uint64_t jump = slice->insns[slice->jump].address, entry = 0;
    const uint8_t *bytes = slice->read(slice->image, form->table, form->entry_bytes);
    if (!bytes)
        return false;
    memcpy(&entry, bytes, form->entry_bytes);
    if (!form->relative)
        return true;
    unsigned unused = 64 - 8u * form->entry_bytes;
    int64_t distance = (int64_t)(entry << unused) >> unused;
    if (!form->is_signed)
        distance = (int64_t)entry;
    uint64_t target = form->base + (uint64_t)distance * form->scale;
    return target - jump + NEAR_CODE < 2 * (uint64_t)NEAR_CODE;
}

/* The address of the table that the load at LOAD reads, from any definition of its base before it,
   nearest first. */
static bool find_table(struct slice *slice, uint32_t load, bool relative_to_itself,
                       struct pm_table_form *form) {
    const struct pm_memory_operand *memory = &slice->insns[load].memory[0];
    uint32_t k = load;
    while (slice->steps) {
        uint64_t base;
        uint32_t at;
        if (find_constant(slice, k, memory->base, 0, &base)) {
            form->table = base + (uint64_t)memory->displacement;
            if (relative_to_itself)
                form->base = base;
            if (is_plausible(slice, form))
                return true;
        }
        if (!find_definition(slice, k, memory->base, &at))
            return false;
        k = at;
    }
    return false;
}

/* How `add x, base, entry` turns an entry into a distance: scale, and whether it is signed. */
static bool read_add(uint32_t word, struct pm_table_form *form) {
    if ((word & 0xffe00000) == 0x8b200000) { /* extended */
        unsigned kind = pm_a64_bits(word, 15, 13);
        form->scale = (uint8_t)(1u << pm_a64_bits(word, 12, 10));
        form->is_signed = kind >= 4;
        form->entry_bytes = (uint8_t)(1u << (kind & 3));
        return pm_a64_bits(word, 12, 10) <= 4 && (kind & 3) < 3;
    }
    form->scale = (uint8_t)(1u << pm_a64_bits(word, 12, 10));
    form->entry_bytes = 0; /* as it was loaded */
    return (word & 0xffe0e000) == 0x8b000000 && pm_a64_bits(word, 12, 10) <= 4;
}

/* The instruction that loads an entry of a table into register NUMBER. */
static bool find_load(struct slice *slice, uint32_t k, unsigned number, uint32_t *load) {
    if (!find_definition(slice, k, number, load) || slice->jump - *load > LOOK_BACK)
        return false;
    const struct pm_insn *insn = &slice->insns[*load];
    return insn->n_memory == 1 && insn->memory[0].access == PM_ACCESS_LOAD &&
           insn->memory[0].index != PM_REGISTER_NONE && insn->memory[0].base < PM_REGISTER_PC;
}

/* ldrsb, ldrsh, ldrsw. */
static bool extends_sign(const struct slice *slice, uint32_t load) {
    uint32_t word;
    return word_at(slice, load, &word) && pm_a64_bits(word, 23, 23);
}

/* The register that `br` goes through is label + scale · entry, which `add` at ADD makes of
   registers LABEL and ENTRY. */
static bool relative_form(struct slice *slice, uint32_t add, unsigned label, unsigned entry,
                          struct pm_table_form *form) {
    uint32_t load, at;
    if (!find_load(slice, add, entry, &load))
        return false;
    const struct pm_memory_operand *memory = &slice->insns[load].memory[0];
    if (form->entry_bytes == 0) {
        form->entry_bytes = (uint8_t)memory->size_bytes;
        form->is_signed = extends_sign(slice, load);
    }
    if (form->entry_bytes != memory->size_bytes || memory->size_bytes > 4)
        return false;
    bool relative_to_itself =
        label == memory->base && find_definition(slice, add, label, &at) && at < load;
    form->relative = true;
    if (!relative_to_itself && !find_constant(slice, add, label, 0, &form->base))
        return false;
    if (!find_table(slice, load, relative_to_itself, form))
        return false;
    form->max_entries = find_bound(slice, load, memory->index);
    return form->max_entries || memory->size_bytes == 4; /* short ones do not show where they end */
}

/* Without a shift or extension either register may be the entry. */
static bool sum_form(struct slice *slice, uint32_t add, uint32_t word, struct pm_table_form *form) {
    if (!read_add(word, form))
        return false;
    struct pm_table_form other = *form;
    if (relative_form(slice, add, pm_a64_rn(word), pm_a64_rm(word), form))
        return true;
    bool is_plain = other.scale == 1 && other.entry_bytes == 0;
    *form = other;
    return is_plain && relative_form(slice, add, pm_a64_rm(word), pm_a64_rn(word), form);
}

static bool absolute_form(struct slice *slice, uint32_t load, struct pm_table_form *form) {
    if (slice->insns[load].memory[0].size_bytes != 8)
        return false;
    *form = (struct pm_table_form){.entry_bytes = 8};
    if (!find_table(slice, load, false, form))
        return false;
    form->max_entries = find_bound(slice, load, slice->insns[load].memory[0].index);
    return true;
}

struct pm_table_form pm_a64_find_table(const struct pm_table_query *query, bool *found) {
    struct slice slice = {query->insns, query->jump, query->first,
                          query->image, query->read, MAX_STEPS};
    uint32_t jump = query->jump;
    struct pm_table_form form = {0};
    uint32_t word, at, load;
    *found = false;
    if (query->has_register) /* computed gotos load addresses here */
        return form;
    if (!word_at(&slice, jump, &word) || pm_a64_rn(word) == PM_A64_SP)
        return form;
    unsigned target = pm_a64_rn(word);
    if (!find_definition(&slice, jump, target, &at) || jump - at > LOOK_BACK ||
        !word_at(&slice, at, &word))
        return form;
    if (find_load(&slice, jump, target, &load))
        *found = absolute_form(&slice, load, &form);
    else
        *found = sum_form(&slice, at, word, &form);
    form.is_checked = form.max_entries != 0;
    return form;
}
