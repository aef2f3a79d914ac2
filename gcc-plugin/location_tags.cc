/* The identity of a reference, carried from GIMPLE to the final instructions.

   GCC keeps, for a statement, an expression and an instruction, a location: a caret position, a
   range of text and a lexical scope.  A *tagged* location has the same position, the same range
   and the same scope; but the range's end is given as a location with a range of its own, which
   nobody asks for, and that inner range is {MARK, identity}.  Expansion, unrolling, scheduling and
   register allocation copy locations as they copy anything else; debug information and diagnostics
   look at positions only. */
#include "function_state.h"

/* No range of a real program begins there and stands inside a range's end. */
static const location_t MARK = 0x7ffe0000;

/* A location without position needs a scope, or GCC does not store its range. */
static location_t tagged(location_t location, tree scope, int identity) {
    source_range range = get_range_from_loc(line_table, location);
    location_t locus = LOCATION_LOCUS(location);
    location_t end = LOCATION_LOCUS(range.m_finish);
    if (end == UNKNOWN_LOCATION)
        end = locus;
    if (range.m_start == UNKNOWN_LOCATION)
        range.m_start = locus;

    source_range inner;
    inner.m_start = MARK;
    inner.m_finish = (location_t)identity;
    range.m_finish = get_combined_adhoc_loc(line_table, end, inner, end ? NULL : scope);
    location_t result = get_combined_adhoc_loc(line_table, locus, range, scope);

    /* Suppressed warnings are remembered by location. */
    if (nowarn_map)
        if (nowarn_spec_t *suppressed = nowarn_map->get(location)) {
            nowarn_spec_t copy = *suppressed;
            nowarn_map->put(result, copy);
        }
    return result;
}

/* A statement without a location stays so: giving it one would change the line table. */
void pm_tag_statement(gimple *statement, int identity) {
    location_t location = gimple_location(statement);
    if (LOCATION_LOCUS(location) != UNKNOWN_LOCATION)
        gimple_set_location(statement, tagged(location, LOCATION_BLOCK(location), identity));
}

/* Tags REFERENCE and what it is a component of: the memory attributes of an instruction may keep
   an inner part only.  Expansion gives an instruction the position of the expression it comes from
   where that has one; so each keeps its own, or none. */
void pm_tag_tree(tree reference, int identity) {
    for (tree t = reference; t && CAN_HAVE_LOCATION_P(t); t = TREE_OPERAND(t, 0)) {
        location_t location = EXPR_LOCATION(t);
        tree scope = LOCATION_BLOCK(location);
        if (!scope && LOCATION_LOCUS(location) == UNKNOWN_LOCATION)
            scope = DECL_INITIAL(current_function_decl);
        SET_EXPR_LOCATION(t, tagged(location, scope, identity));
        if (!handled_component_p(t))
            break;
    }
}

int pm_tag_of_location(location_t location) {
    if (!IS_ADHOC_LOC(location))
        return 0;
    const location_adhoc_data *data = line_table->location_adhoc_data_map.data;
    location_t end = data[location & MAX_LOCATION_T].src_range.m_finish;
    if (!IS_ADHOC_LOC(end))
        return 0;
    source_range inner = data[end & MAX_LOCATION_T].src_range;
    return inner.m_start == MARK ? (int)inner.m_finish : 0;
}

int pm_tag_of_tree(tree reference) {
    for (tree t = reference; t && CAN_HAVE_LOCATION_P(t); t = TREE_OPERAND(t, 0)) {
        int identity = pm_tag_of_location(EXPR_LOCATION(t));
        if (identity || !handled_component_p(t))
            return identity;
    }
    return 0;
}
