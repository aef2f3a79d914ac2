/* Rows that would look the same, because code was inlined at several places or routines have one
   name, get what tells them apart: the call site that differs, from the innermost on, or else the
   address, as where one line of the source calls twice. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "report/labels/labels.h"

struct twin {
    const struct pm_structure *structure;
    struct pm_shown_label label;
    char *source;
};

/* By text, source and library; then in the order of the program. */
static int compare_looks(const struct twin *a, const struct twin *b) {
    int texts = strcmp(*a->label.text, *b->label.text);
    return texts ? texts : strcmp(a->source, b->source);
}

static int compare_twins(const void *left, const void *right) {
    const struct twin *a = left, *b = right;
    int looks = compare_looks(a, b);
    return looks ? looks : PM_COMPARE(a->label.scope, b->label.scope);
}

/* "heat.c:48 from main.c:7": where the inlined code was called that SCOPE is in, and where that
   was, N calls at most; NULL if it is not inlined, or nobody knows where. */
static char *call_sites(const struct pm_structure *structure, uint32_t scope, unsigned n) {
    char *text = NULL;
    for (; scope != PM_NONE && n; scope = structure->scopes[scope].parent) {
        const struct pm_scope *s = &structure->scopes[scope];
        if (s->kind != PM_SCOPE_INLINED)
            continue;
        if (!s->call_file_line)
            return text;
        pm_append(&text, "%s%s:%u", text ? " from " : "", pm_base_name(s->call_file),
                  s->call_file_line);
        n--;
    }
    return text;
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool are_distinct(char *const *texts, size_t n) {
    char **sorted = pm_alloc(n, sizeof *sorted);
    bool distinct = true;
    for (size_t i = 0; i < n && distinct; i++) {
        sorted[i] = texts[i];
        distinct = texts[i] != NULL;
    }
    if (distinct)
        PM_SORT(sorted, n, compare_texts);
    for (size_t i = 1; i < n && distinct; i++)
        distinct = strcmp(sorted[i - 1], sorted[i]) != 0;
    free(sorted);
    return distinct;
}

static void free_texts(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

/* One for each of N twins, all different, of as few calls as can be; NULL if there are none such.
   Owned by the caller. */
static char **different_sites(const struct twin *twins, size_t n) {
    enum { MOST_CALLS = 8 };
    for (unsigned n_calls = 1; n_calls <= MOST_CALLS; n_calls++) {
        char **sites = pm_alloc(n, sizeof *sites);
        for (size_t i = 0; i < n; i++)
            sites[i] = call_sites(twins[i].structure, twins[i].label.scope, n_calls);
        if (are_distinct(sites, n))
            return sites;
        free_texts(sites, n);
    }
    return NULL;
}

/* Of the code; a routine's where it is entered. */
static uint64_t address_of(const struct twin *twin) {
    const struct pm_scope *s = &twin->structure->scopes[twin->label.scope];
    bool is_routine = s->kind == PM_SCOPE_ROUTINE && s->routine < twin->structure->n_routines;
    return is_routine ? twin->structure->routines[s->routine].address : s->address_low;
}

static void tell_apart(struct twin *twins, size_t n) {
    char **sites = different_sites(twins, n);
    for (size_t i = 0; i < n; i++) {
        char **text = twins[i].label.text;
        uint64_t address = address_of(&twins[i]);
        char *site = sites ? NULL : call_sites(twins[i].structure, twins[i].label.scope, 1);
        if (sites)
            pm_append(text, " (at %s)", sites[i]);
        else if (site)
            pm_append(text, " (at %s, 0x%" PRIx64 ")", site, address);
        else if (address)
            pm_append(text, " (0x%" PRIx64 ")", address);
        free(site);
    }
    if (sites)
        free_texts(sites, n);
}

void pm_tell_labels_apart(const struct pm_structure *structure, const struct pm_shown_label *labels,
                          size_t n) {
    struct twin *twins = pm_alloc(n, sizeof *twins);
    for (size_t i = 0; i < n; i++)
        twins[i] = (struct twin){structure, labels[i], pm_scope_source(structure, labels[i].scope)};
    if (n)
        PM_SORT(twins, n, compare_twins);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && compare_looks(&twins[first], &twins[end]) == 0;)
            end++;
        if (end - first > 1)
            tell_apart(&twins[first], end - first);
    }
    for (size_t i = 0; i < n; i++)
        free(twins[i].source);
    free(twins);
}
