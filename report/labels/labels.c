/* Names of scopes, bounds, strides and groups, in the words that every report uses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/labels/labels.h"

const char *pm_program_name(const struct pm_structure *structure) {
    return structure->n_modules && structure->modules[0].name ? structure->modules[0].name : "?";
}

json_t *pm_program_document(const char *name, const struct pm_structure *structure) {
    json_t *document = pm_json_document(name);
    json_object_set_new(document, "program", pm_json_text(pm_program_name(structure)));
    return document;
}

/* Appends ", WORD" (or WORD alone). */
static void append_word(char **list, const char *word) {
    pm_append(list, "%s%s", **list ? ", " : "", word);
}

/* ---- scopes --------------------------------------------------------------------------------- */

const char *pm_code_name(const struct pm_structure *structure, uint32_t scope) {
    for (; scope != PM_NONE; scope = structure->scopes[scope].parent) {
        const struct pm_scope *s = &structure->scopes[scope];
        if (s->kind == PM_SCOPE_INLINED && s->name)
            return s->name;
        if (s->kind == PM_SCOPE_ROUTINE) {
            if (s->routine < structure->n_routines && structure->routines[s->routine].display_name)
                return structure->routines[s->routine].display_name;
            return s->name ? s->name : "?";
        }
    }
    return "?";
}

/* The PM_SCOPE_MODULE around SCOPE; PM_NONE for the program's. */
static uint32_t module_scope(const struct pm_structure *structure, uint32_t scope) {
    while (scope != PM_NONE && structure->scopes[scope].kind != PM_SCOPE_MODULE)
        scope = structure->scopes[scope].parent;
    return scope;
}

const char *pm_scope_module(const struct pm_structure *structure, uint32_t scope) {
    uint32_t module = module_scope(structure, scope);
    return module == PM_NONE ? NULL : structure->scopes[module].name;
}

/* " (libm.so.6)" for code of a library, "" for the program's; owned by the caller. */
static char *library_suffix(const struct pm_structure *structure, uint32_t scope) {
    uint32_t module = module_scope(structure, scope);
    bool is_library = module != PM_NONE && structure->n_modules > 1 &&
                      module != structure->modules[0].scope && structure->scopes[module].name;
    return is_library ? pm_sprintf(" (%s)", structure->scopes[module].name) : pm_strdup("");
}

static char *loop_label(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *loop = &structure->scopes[scope];
    char *code = pm_short_name(pm_code_name(structure, scope)), *label;
    if (loop->name)
        label = pm_sprintf("%s/%u %s", code, loop->depth, loop->name);
    else if (loop->line_first)
        label = pm_sprintf("%s/%u :%u", code, loop->depth, loop->line_first);
    else
        label = pm_sprintf("%s/%u 0x%" PRIx64, code, loop->depth, loop->address_low);
    free(code);
    return label;
}

static char *inlined_label(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    char *callee = pm_short_name(s->name ? s->name : "?");
    char *caller = pm_short_name(pm_code_name(structure, s->parent));
    char *label = pm_sprintf("%s inlined in %s", callee, caller);
    free(caller);
    free(callee);
    return label;
}

static char *bare_label(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    switch (s->kind) {
    case PM_SCOPE_LOOP:
        return loop_label(structure, scope);
    case PM_SCOPE_INLINED:
        return inlined_label(structure, scope);
    case PM_SCOPE_ROUTINE:
        return pm_short_name(pm_code_name(structure, scope));
    default:
        return pm_strdup(s->name ? s->name : pm_scope_kind_word(s->kind));
    }
}

char *pm_scope_label_folded(const struct pm_structure *structure, uint32_t scope) {
    char *label = bare_label(structure, scope);
    if (structure->scopes[scope].kind == PM_SCOPE_MODULE)
        return label;
    char *suffix = library_suffix(structure, scope), *whole = pm_sprintf("%s%s", label, suffix);
    free(suffix);
    free(label);
    return whole;
}

char *pm_scope_label(const struct pm_structure *structure, uint32_t scope) {
    char *label = pm_scope_label_folded(structure, scope);
    uint16_t flags = structure->scopes[scope].flags;
    const char *apart = flags & PM_SCOPE_REMAINDER     ? " (remainder)"
                        : flags & PM_SCOPE_VECTOR_BODY ? " (vector)"
                        : flags & PM_SCOPE_IRREDUCIBLE ? " (irreducible)"
                                                       : "";
    char *whole = pm_sprintf("%s%s", label, apart);
    free(label);
    return whole;
}

char *pm_scope_source(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    if (!s->file)
        return pm_strdup("?");
    if (!s->line_first)
        return pm_sprintf("%s:?", pm_base_name(s->file));
    return pm_sprintf("%s:%u", pm_base_name(s->file), s->line_first);
}

uint32_t *pm_loop_entries(const struct pm_structure *structure, uint32_t loop, size_t *n) {
    struct {
        PM_ARRAY(uint32_t, blocks);
    } entries = {0};
    uint32_t r = structure->scopes[loop].routine;
    const struct pm_routine *routine = r < structure->n_routines ? &structure->routines[r] : NULL;
    for (uint32_t e = 0; routine && e < routine->n_edges; e++) {
        const struct pm_edge *edge = &structure->edges[routine->first_edge + e];
        if (edge->to == PM_NONE || !pm_is_in_loop(structure, edge->to, loop) ||
            (edge->from != PM_NONE && pm_is_in_loop(structure, edge->from, loop)))
            continue;
        size_t at = 0;
        while (at < entries.n_blocks && entries.blocks[at] < edge->to)
            at++;
        if (at < entries.n_blocks && entries.blocks[at] == edge->to)
            continue;
        (void)PM_PUSH(&entries, blocks);
        memmove(&entries.blocks[at + 1], &entries.blocks[at],
                (entries.n_blocks - 1 - at) * sizeof *entries.blocks);
        entries.blocks[at] = edge->to;
    }
    *n = entries.n_blocks;
    return entries.blocks;
}

/* "irreducible: entered at :12, :17"; an entry without a line by its address. */
static void append_entries(char **remarks, const struct pm_structure *structure, uint32_t loop) {
    enum { MOST_NAMED = 4 };
    size_t n;
    uint32_t *blocks = pm_loop_entries(structure, loop, &n);
    append_word(remarks, "irreducible: entered at");
    for (size_t i = 0; i < n && i < MOST_NAMED; i++) {
        const struct pm_block *block = &structure->blocks[blocks[i]];
        pm_append(remarks, i ? " and " : " ");
        if (block->line)
            pm_append(remarks, ":%u", block->line);
        else
            pm_append(remarks, "0x%" PRIx64, block->address);
    }
    if (n > MOST_NAMED)
        pm_append(remarks, " and %zu more places", n - MOST_NAMED);
    free(blocks);
}

char *pm_scope_remarks(const struct pm_structure *structure, uint32_t scope) {
    const struct pm_scope *s = &structure->scopes[scope];
    char *remarks = pm_strdup("");
    if (s->flags & PM_SCOPE_IRREDUCIBLE)
        append_entries(&remarks, structure, scope);
    if (s->flags & PM_SCOPE_VECTOR_BODY)
        append_word(&remarks, "vector body");
    if (s->flags & PM_SCOPE_REMAINDER)
        append_word(&remarks, "remainder");
    if (s->unroll > 1) {
        char *unrolled = pm_sprintf("unrolled %ux", s->unroll);
        append_word(&remarks, unrolled);
        free(unrolled);
    }
    if (s->fold != scope && s->fold < structure->n_scopes) {
        char *label = pm_scope_label(structure, s->fold);
        char *folded = pm_sprintf("reported with %s", label);
        append_word(&remarks, folded);
        free(folded);
        free(label);
    }
    return remarks;
}

const char *pm_scope_kind_word(uint8_t kind) {
    static const char *const words[] = {"program", "module", "routine", "loop", "inlined"};
    return kind < sizeof words / sizeof words[0] ? words[kind] : "?";
}

const char *pm_routine_state_word(uint8_t state) {
    static const char *const words[] = {"lifted", "partial", "refused"};
    return state < sizeof words / sizeof words[0] ? words[state] : "?";
}

/* ---- bounds --------------------------------------------------------------------------------- */

const char *pm_bound_kind_word(uint8_t bound) {
    static const char *const words[] = {
        [PM_BOUND_NONE] = "never_executed",
        [PM_BOUND_ISSUE] = "front_end",
        [PM_BOUND_UNIT] = "unit",
        [PM_BOUND_RECURRENCE] = "recurrence",
        [PM_BOUND_RETIREMENT] = "retirement",
        [PM_BOUND_LATENCY] = "latency",
        [PM_BOUND_MISPREDICTIONS] = "mispredictions",
        [PM_BOUND_LEVEL] = "level",
        [PM_BOUND_BANDWIDTH] = "bandwidth",
        [PM_BOUND_FIRST_TOUCHES] = "first_touches",
        [PM_BOUND_UNKNOWN] = "unknown_operations",
    };
    return bound < sizeof words / sizeof words[0] ? words[bound] : "?";
}

const char *pm_level_kind_word(uint8_t level_kind) {
    return level_kind == PM_LEVEL_TLB ? "tlb" : "cache";
}

/* A machine file writes fp_adder where a person says "fp adder". */
static char *unit_label(const char *name) {
    char *label = pm_strdup(name);
    for (char *at = label; *at; at++)
        if (*at == '_')
            *at = ' ';
    return label;
}

char *pm_bound_label(const struct pm_prediction *prediction, uint8_t bound, uint8_t unit,
                     uint8_t level) {
    switch (bound) {
    case PM_BOUND_NONE:
        return pm_strdup("-");
    case PM_BOUND_ISSUE:
        return pm_strdup("front end");
    case PM_BOUND_UNIT:
        return unit < prediction->n_units ? unit_label(prediction->unit_names[unit])
                                          : pm_strdup("?");
    case PM_BOUND_RECURRENCE:
        return pm_strdup("recurrence");
    case PM_BOUND_RETIREMENT:
        return pm_strdup("retirement");
    case PM_BOUND_LATENCY:
        return pm_strdup("latency");
    case PM_BOUND_MISPREDICTIONS:
        return pm_strdup("mispredictions");
    case PM_BOUND_LEVEL:
        return level < prediction->n_levels
                   ? pm_sprintf("%s misses", prediction->level_names[level])
                   : pm_strdup("?");
    case PM_BOUND_BANDWIDTH:
        return pm_strdup("bandwidth");
    case PM_BOUND_FIRST_TOUCHES:
        return pm_strdup("first touches");
    case PM_BOUND_UNKNOWN:
        return pm_strdup("unknown operations");
    default:
        return pm_strdup("?");
    }
}

/* ---- reference groups ----------------------------------------------------------------------- */

const char *pm_stride_kind_word(uint8_t kind) {
    static const char *const words[] = {"unknown", "constant", "symbolic", "indirect"};
    return kind < sizeof words / sizeof words[0] ? words[kind] : "unknown";
}

char *pm_stride_label(const struct pm_stride *stride) {
    switch (stride->kind) {
    case PM_STRIDE_CONSTANT:
        return pm_sprintf("%" PRId64, stride->bytes);
    case PM_STRIDE_SYMBOLIC:
        return pm_strdup(stride->expression ? stride->expression : "?");
    case PM_STRIDE_INDIRECT:
        return pm_strdup("indirect");
    default:
        return pm_strdup("?");
    }
}

char *pm_strides_label(const struct pm_group *group) {
    char *label = pm_strdup("");
    for (uint32_t i = 0; i < group->n_strides; i++) {
        char *stride = pm_stride_label(&group->strides[i]);
        append_word(&label, stride);
        free(stride);
    }
    return label;
}

char *pm_group_flags_label(const struct pm_group *group) {
    char *label = pm_strdup("");
    if (group->flags & PM_GROUP_IRREGULAR)
        append_word(&label, "irregular");
    if (group->flags & PM_GROUP_STACK)
        append_word(&label, "stack");
    if (group->flags & PM_GROUP_PUSHED)
        append_word(&label, "pushed");
    if (group->flags & PM_GROUP_CALLED)
        append_word(&label, "called");
    if (group->flags & PM_GROUP_CONSTANTS)
        append_word(&label, "constant pool");
    return label;
}
