/* Cold parts: GCC moves what is rarely executed out of a routine, behind a label `.cold` or, where
   symbols are gone, into a range that has only its own unwinding information.  Here such a range
   becomes a part of the routine that it belongs to.  Needs decoded routines of one part each, and
   metadata; allocates the marks of instructions.

   The parent is, in this order: the one that `.pmodel` names; for a name with `.cold`, the routine
   of that name from or to which jumps lead, or the only one of that name, or the only one that
   jumps there; for a range without a name that nobody calls, the only routine that jumps there, if
   the range jumps back into its middle, is entered in its own middle, by a conditional branch
   (compilers of C do not make tail calls of those) or through a jump table, or starts with a frame
   that another has made, by its unwinding information.  Of two ranges that
   would each be the cold part of the other, the lower one is it, as linkers place .text.unlikely.
 */
#define _GNU_SOURCE /* qsort_r */
#include "binlift/cfg/jumps.h"
#include "binlift/lifted.h"
#include "binlift/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

enum { SEVERAL = PM_NONE - 1 };

/* What the direct jumps into and out of a range tell. */
struct evidence {
    uint32_t from;         /* the only other routine that jumps into it; PM_NONE, SEVERAL */
    uint32_t back_to;      /* the only routine into whose middle it jumps */
    bool called;           /* its start, by any routine */
    bool enters_middle;    /* a jump from outside does not lead to its start */
    bool enters_by_branch; /* a jump from outside is conditional */
};

struct joining {
    struct pm_lifted *lifted;
    struct evidence *evidence; /* per routine */
    uint32_t *parent;          /* per routine: whose part it is; PM_NONE: a routine of its own */
    uint32_t *by_name;         /* routines in the order of their names */
    size_t n;
};

/* ---- evidence ------------------------------------------------------------------------------- */

static void note(uint32_t *only, uint32_t routine) {
    if (*only == PM_NONE)
        *only = routine;
    else if (*only != routine)
        *only = SEVERAL;
}

static void note_jump(struct joining *joining, uint32_t from, const struct pm_insn *insn) {
    uint32_t to = pm_routine_at(joining->lifted, insn->target);
    if (to == PM_NONE || to == from)
        return;
    struct evidence *evidence = &joining->evidence[to];
    bool to_start = joining->lifted->structure->routines[to].address == insn->target;
    if (insn->control == PM_CONTROL_CALL) {
        evidence->called |= to_start;
        return;
    }
    note(&evidence->from, from);
    evidence->enters_middle |= !to_start;
    evidence->enters_by_branch |= insn->control == PM_CONTROL_BRANCH;
    if (!to_start)
        note(&joining->evidence[from].back_to, to);
}

static void find_evidence(struct joining *joining) {
    const struct pm_lifted *lifted = joining->lifted;
    for (uint32_t r = 0; r < joining->n; r++)
        joining->evidence[r] = (struct evidence){.from = PM_NONE, .back_to = PM_NONE};
    for (uint32_t r = 0; r < joining->n; r++) {
        const struct pm_routine *routine = &lifted->structure->routines[r];
        const struct pm_routine_code *code = &lifted->routine_codes[r];
        for (uint32_t k = code->first_insn; k < code->first_insn + code->n_insns; k++) {
            uint64_t target = lifted->insns[k].target;
            if (target && target - routine->address >= routine->size_bytes)
                note_jump(joining, r, &lifted->insns[k]);
        }
    }
}

/* Tables lead to labels of their own routine only. */
static void note_tables(struct joining *joining) {
    struct pm_table_exits exits = {0};
    pm_find_table_exits(joining->lifted, &exits);
    for (size_t i = 0; i < exits.n_items; i++) {
        uint32_t to = pm_routine_at(joining->lifted, exits.items[i].target);
        note(&joining->evidence[to].from, exits.items[i].routine);
        joining->evidence[to].enters_middle = true;
    }
    free(exits.items);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right, void *all) {
    const struct pm_routine *routines = all;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(routines[a].name, routines[b].name);
    return order ? order : PM_COMPARE(a, b);
}

static void sort_names(struct joining *joining) {
    for (uint32_t r = 0; r < joining->n; r++)
        joining->by_name[r] = r;
    if (joining->n)
        qsort_r(joining->by_name, joining->n, sizeof *joining->by_name, compare_names,
                joining->lifted->structure->routines);
}

/* Is the name of ROUTINE the first LENGTH characters of NAME? */
static int compare_name(const struct pm_routine *routine, const char *name, size_t length) {
    int order = strncmp(routine->name, name, length);
    return order ? order : routine->name[length] != 0;
}

/* The routine that `NAME.cold` names, if there is only one or the evidence tells which. */
static uint32_t parent_by_name(const struct joining *joining, uint32_t part, size_t length) {
    const struct pm_routine *routines = joining->lifted->structure->routines;
    const struct evidence *evidence = &joining->evidence[part];
    size_t low = PM_LOWER_BOUND(
        joining->n, i,
        compare_name(&routines[joining->by_name[i]], routines[part].name, length) < 0);
    uint32_t only = PM_NONE;
    for (; low < joining->n; low++) {
        uint32_t r = joining->by_name[low];
        if (compare_name(&routines[r], routines[part].name, length) != 0)
            break;
        if (r == evidence->from || r == evidence->back_to)
            return r;
        note(&only, r);
    }
    if (only < SEVERAL)
        return only;
    return evidence->from < SEVERAL ? evidence->from : PM_NONE;
}

/* ---- parents -------------------------------------------------------------------------------- */

static bool starts_in_frame(const struct pm_lifted *lifted, uint32_t routine) {
    const struct pm_unwind_ranges *all = &lifted->unwind_ranges;
    uint64_t address = lifted->structure->routines[routine].address;
    size_t i = PM_LOWER_BOUND(all->n_ranges, i, all->ranges[i].address < address);
    return i < all->n_ranges && all->ranges[i].address == address && all->ranges[i].starts_in_frame;
}

static uint32_t parent_by_code(const struct joining *joining, uint32_t part) {
    const struct evidence *evidence = &joining->evidence[part];
    if (evidence->called || evidence->from >= SEVERAL)
        return PM_NONE;
    if (evidence->back_to != evidence->from && evidence->back_to != PM_NONE)
        return PM_NONE;
    bool belongs = evidence->back_to == evidence->from || evidence->enters_middle ||
                   evidence->enters_by_branch || starts_in_frame(joining->lifted, part);
    return belongs ? evidence->from : PM_NONE;
}

static uint32_t find_parent(const struct joining *joining, uint32_t part) {
    const char *name = joining->lifted->structure->routines[part].name;
    const char *cold = strstr(name, ".cold");
    if (cold && cold > name)
        return parent_by_name(joining, part, (size_t)(cold - name));
    return strncmp(name, "sub_", 4) == 0 ? parent_by_code(joining, part) : PM_NONE;
}

static void ask_metadata(struct joining *joining) {
    const struct pm_lifted *lifted = joining->lifted;
    const struct pm_metadata *metadata = lifted->metadata;
    for (size_t c = 0; metadata && c < metadata->n_contributions; c++) {
        const struct pm_contribution *contribution = &metadata->contributions[c];
        if (!contribution->used || !contribution->cold_base)
            continue;
        uint32_t hot = pm_routine_at(lifted, contribution->base);
        uint32_t cold = pm_routine_at(lifted, contribution->cold_base);
        if (hot != PM_NONE && cold != PM_NONE && hot != cold &&
            lifted->structure->routines[hot].address == contribution->base &&
            lifted->structure->routines[cold].address == contribution->cold_base)
            joining->parent[cold] = hot;
    }
}

/* Refused ranges stay by themselves: what is known of the rest must not be lost with them. */
static bool can_join(const struct joining *joining, uint32_t routine) {
    return joining->lifted->routine_codes[routine].n_insns > 0;
}

static void find_parents(struct joining *joining) {
    for (uint32_t r = 0; r < joining->n; r++)
        joining->parent[r] = PM_NONE;
    ask_metadata(joining);
    for (uint32_t r = 0; r < joining->n; r++)
        if (joining->parent[r] == PM_NONE)
            joining->parent[r] = find_parent(joining, r);
    for (uint32_t r = 0; r < joining->n; r++) {
        uint32_t parent = joining->parent[r];
        if (parent == PM_NONE)
            continue;
        if (!can_join(joining, r) || !can_join(joining, parent) || parent == r)
            joining->parent[r] = PM_NONE;
        else if (joining->parent[parent] == r) /* the lower one is cold */
            joining->parent[parent > r ? parent : r] = PM_NONE;
    }
    for (uint32_t r = 0; r < joining->n; r++) { /* a part of a part; in a ring nobody is */
        uint32_t root = r, steps = 0;
        while (joining->parent[root] != PM_NONE && steps++ < 8)
            root = joining->parent[root];
        joining->parent[r] = joining->parent[root] == PM_NONE && root != r ? root : PM_NONE;
    }
}

/* ---- the new order -------------------------------------------------------------------------- */

/* Instructions in the order of routines, cold parts behind their parents.  Those of cold parts are
   set aside, the others move up, then down to their places from the last one on. */
static void reorder_insns(struct joining *joining, const uint32_t *next) {
    struct pm_lifted *lifted = joining->lifted;
    struct pm_routine_code *codes = lifted->routine_codes;
    size_t n_aside = 0, n = 0, end = lifted->n_insns;
    for (uint32_t r = 0; r < joining->n; r++)
        n_aside += joining->parent[r] == PM_NONE ? 0 : codes[r].n_insns;
    struct pm_insn *aside = pm_alloc(n_aside, sizeof *aside);
    n_aside = 0;
    for (uint32_t r = 0; r < joining->n; r++) {
        bool is_cold = joining->parent[r] != PM_NONE;
        struct pm_insn *to = is_cold ? aside + n_aside : lifted->insns + n;
        memmove(to, lifted->insns + codes[r].first_insn, codes[r].n_insns * sizeof *to);
        codes[r].first_insn = (uint32_t)(is_cold ? n_aside : n);
        *(is_cold ? &n_aside : &n) += codes[r].n_insns;
    }
    for (uint32_t r = (uint32_t)joining->n; r-- > 0;) {
        if (joining->parent[r] != PM_NONE)
            continue;
        size_t n_cold = 0, at;
        for (uint32_t c = next[r]; c != PM_NONE; c = next[c])
            n_cold += codes[c].n_insns;
        at = end - n_cold;
        for (uint32_t c = next[r]; c != PM_NONE; c = next[c]) {
            memcpy(lifted->insns + at, aside + codes[c].first_insn,
                   codes[c].n_insns * sizeof *aside);
            at += codes[c].n_insns;
        }
        end -= n_cold + codes[r].n_insns;
        memmove(lifted->insns + end, lifted->insns + codes[r].first_insn,
                codes[r].n_insns * sizeof *aside);
        codes[r].first_insn = (uint32_t)end;
        codes[r].n_insns += (uint32_t)n_cold;
    }
    free(aside);
}

/* Routines and parts without those that became parts of others.  Every routine had one part, of its
   own number. */
static void rebuild_routines(struct joining *joining, const uint32_t *next) {
    struct pm_lifted *lifted = joining->lifted;
    struct pm_structure *structure = lifted->structure;
    struct pm_part *parts = structure->parts;
    uint32_t n = 0, gs = lifted->gs_routine;
    if (gs != PM_NONE && joining->parent[gs] != PM_NONE)
        gs = joining->parent[gs];
    structure->parts = NULL;
    structure->n_parts = structure->cap_parts = 0;
    for (uint32_t r = 0; r < joining->n; r++) {
        struct pm_routine *routine = &structure->routines[r];
        if (joining->parent[r] != PM_NONE) {
            free(routine->name);
            free(routine->display_name);
            free(routine->reason);
            continue;
        }
        if (r == gs)
            lifted->gs_routine = n;
        routine->first_part = (uint32_t)structure->n_parts;
        for (uint32_t p = r; p != PM_NONE; p = next[p])
            *PM_PUSH(structure, parts) = (struct pm_part){parts[p].address, parts[p].size_bytes, n};
        routine->n_parts = (uint32_t)structure->n_parts - routine->first_part;
        lifted->routine_codes[n] = lifted->routine_codes[r];
        structure->routines[n++] = *routine;
    }
    structure->n_routines = lifted->n_routine_codes = n;
    free(parts);
}

static void join(struct joining *joining) {
    uint32_t *next = pm_alloc(joining->n, sizeof *next); /* the next part of the same routine */
    bool any = false;
    for (uint32_t r = 0; r < joining->n; r++)
        next[r] = PM_NONE;
    for (uint32_t r = (uint32_t)joining->n; r-- > 0;) {
        uint32_t parent = joining->parent[r];
        if (parent == PM_NONE)
            continue;
        next[r] = next[parent];
        next[parent] = r;
        any = true;
    }
    if (any) {
        reorder_insns(joining, next);
        rebuild_routines(joining, next);
        pm_index_insns(joining->lifted);
    }
    free(next);
}

void pm_join_parts(struct pm_lifted *lifted) {
    size_t n = lifted->structure->n_routines;
    lifted->insn_marks = pm_alloc(lifted->n_insns, sizeof *lifted->insn_marks);
    struct joining joining = {
        .lifted = lifted,
        .evidence = pm_alloc(n, sizeof *joining.evidence),
        .parent = pm_alloc(n, sizeof *joining.parent),
        .by_name = pm_alloc(n, sizeof *joining.by_name),
        .n = n,
    };
    find_evidence(&joining);
    if (!pm_image_section(&lifted->image, ".symtab")) /* else cold parts have names */
        note_tables(&joining);
    sort_names(&joining);
    find_parents(&joining);
    join(&joining);
    for (size_t i = 0; i < lifted->n_ranges; i++)
        if (lifted->ranges[i].n_insns)
            lifted->insn_marks[lifted->ranges[i].first_insn + lifted->ranges[i].n_insns - 1] |=
                PM_MARK_PART_END;
    free(joining.evidence);
    free(joining.parent);
    free(joining.by_name);
}
