/* The fields that say where a row is in the program; see labels.h. */
#include "report/labels/labels.h"

static const struct pm_scope *scope_at(const void *at) {
    const struct pm_row_place *place = at;
    return place->scope == PM_NONE ? NULL : &place->structure->scopes[place->scope];
}

struct pm_field_value pm_place_program(const void *at) {
    const struct pm_row_place *place = at;
    return pm_text(pm_program_name(place->structure));
}

struct pm_field_value pm_place_label(const void *at) {
    const struct pm_row_place *place = at;
    return scope_at(at) ? pm_owned_text(pm_scope_label(place->structure, place->scope))
                        : pm_unknown();
}

struct pm_field_value pm_place_label_folded(const void *at) {
    const struct pm_row_place *place = at;
    return scope_at(at) ? pm_owned_text(pm_scope_label_folded(place->structure, place->scope))
                        : pm_unknown();
}

struct pm_field_value pm_place_source(const void *at) {
    const struct pm_row_place *place = at;
    return scope_at(at) ? pm_owned_text(pm_scope_source(place->structure, place->scope))
                        : pm_unknown();
}

struct pm_field_value pm_place_name(const void *at) {
    const struct pm_row_place *place = at;
    return scope_at(at) ? pm_text(pm_code_name(place->structure, place->scope)) : pm_unknown();
}

struct pm_field_value pm_place_module(const void *at) {
    const struct pm_row_place *place = at;
    return scope_at(at) ? pm_text(pm_scope_module(place->structure, place->scope)) : pm_unknown();
}

struct pm_field_value pm_place_kind(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_text(pm_scope_kind_word(scope->kind)) : pm_unknown();
}

struct pm_field_value pm_place_depth(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_integer(scope->depth) : pm_unknown();
}

struct pm_field_value pm_place_file(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_text(scope->file) : pm_unknown();
}

struct pm_field_value pm_place_line_first(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_integer(scope->line_first) : pm_unknown();
}

struct pm_field_value pm_place_line_last(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_integer(scope->line_last) : pm_unknown();
}

struct pm_field_value pm_place_key(const void *at) {
    const struct pm_scope *scope = scope_at(at);
    return scope ? pm_integer(scope->key) : pm_unknown();
}
