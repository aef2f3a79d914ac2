/* Which routines are measured, by files of names. */
#include <stdlib.h>
#include <string.h>

#include "measure/command/command.h"
#include "measure/copies/private.h"

struct line {
    char *name;
    const char *file; /* owned by who gave it */
    unsigned number;
    bool untouched; /* after a `!` */
    bool found;
    struct pm_nearest nearest; /* routine that is called so, or nearly so */
};

struct list {
    bool given;
    PM_ARRAY(struct line, lines);
};

struct pm_routine_lists {
    struct list include, exclude;
};

char *pm_trim_line(char *text) {
    text[strcspn(text, "#")] = '\0';
    text += strspn(text, " \t\r");
    size_t end = strlen(text);
    while (end && strchr(" \t\r", text[end - 1]))
        text[--end] = '\0';
    return text;
}

static bool read_list(struct list *list, const char *path, bool may_be_untouched,
                      struct pm_error *err) {
    if (!path)
        return true;
    char *content = pm_read_text(path, err);
    if (!content)
        return false;
    char *rest = content, *text;
    for (unsigned number = 1; (text = strsep(&rest, "\n")); number++) {
        char *name = pm_trim_line(text);
        bool untouched = may_be_untouched && *name == '!';
        name += untouched;
        if (*name)
            *PM_PUSH(list, lines) = (struct line){
                .name = pm_strdup(name), .file = path, .number = number, .untouched = untouched};
    }
    free(content);
    list->given = true;
    return list->n_lines > 0 || pm_fail(err, "%s: names no routine", path);
}

static void free_list(struct list *list) {
    for (size_t i = 0; i < list->n_lines; i++)
        free(list->lines[i].name);
    free(list->lines);
}

struct pm_routine_lists *pm_routine_lists_read(const char *include, const char *exclude,
                                               struct pm_error *err) {
    struct pm_routine_lists *lists = pm_alloc(1, sizeof *lists);
    if (read_list(&lists->include, include, false, err) &&
        read_list(&lists->exclude, exclude, true, err))
        return lists;
    pm_routine_lists_free(lists);
    return NULL;
}

void pm_routine_lists_free(struct pm_routine_lists *lists) {
    if (!lists)
        return;
    free_list(&lists->include);
    free_list(&lists->exclude);
    free(lists);
}

/* Sets left_out[r] to VALUE for the routines that LIST names, ONLY_UNTOUCHED: with a `!`. */
static void apply(struct list *list, const struct pm_structure *structure, bool only_untouched,
                  bool value, bool *left_out) {
    for (size_t i = 0; i < list->n_lines; i++) {
        if (only_untouched && !list->lines[i].untouched)
            continue;
        uint32_t n_named;
        bool *named = pm_routines_named(structure, list->lines[i].name, &n_named);
        for (size_t r = 0; r < structure->n_routines; r++)
            if (named[r])
                left_out[r] = value;
        list->lines[i].found |= n_named > 0;
        pm_nearest_routine(structure, list->lines[i].name, &list->lines[i].nearest);
        free(named);
    }
}

bool *pm_routine_lists_left_out(struct pm_routine_lists *lists,
                                const struct pm_structure *structure) {
    bool *left_out = pm_alloc(structure->n_routines, sizeof *left_out);
    for (size_t r = 0; r < structure->n_routines; r++)
        left_out[r] = lists->include.given;
    apply(&lists->include, structure, false, false, left_out);
    apply(&lists->exclude, structure, false, true, left_out);
    return left_out;
}

bool *pm_routine_lists_untouched(struct pm_routine_lists *lists,
                                 const struct pm_structure *structure) {
    bool *untouched = pm_alloc(structure->n_routines, sizeof *untouched);
    apply(&lists->exclude, structure, true, true, untouched);
    return untouched;
}

bool pm_routine_lists_all_found(const struct pm_routine_lists *lists, struct pm_error *err) {
    const struct list *all[] = {&lists->include, &lists->exclude};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < all[k]->n_lines; i++)
            if (!all[k]->lines[i].found) {
                pm_fail(err, "%s:%u: no routine is called %s (`pmodel loops` lists them)",
                        all[k]->lines[i].file, all[k]->lines[i].number, all[k]->lines[i].name);
                return pm_fail_nearest(err, &all[k]->lines[i].nearest);
            }
    return true;
}
