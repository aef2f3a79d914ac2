/* A machine as a machine file: its figures without comments, from which the reader makes the same
   machine. */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

struct writing {
    FILE *to;
    const struct pm_machine *machine;
};

/* Is TEXT one bare word for libconfuse? */
static bool is_bare(const char *text) {
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_.-")] == '\0';
}

static void write_text(FILE *to, const char *text) {
    if (is_bare(text)) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

static const char *interval_name(const struct pm_machine *machine, const char *section,
                                 const char *field, double *low, double *high) {
    char *name = *section ? pm_sprintf("%s.%s", section, field) : pm_strdup(field);
    const char *found = NULL;
    for (size_t i = 0; i < machine->n_intervals && !found; i++)
        if (strcmp(machine->intervals[i].name, name) == 0) {
            found = machine->intervals[i].name;
            *low = machine->intervals[i].low;
            *high = machine->intervals[i].high;
        }
    free(name);
    return found;
}

/* "BEFORE name = value" */
static void write_field(const struct writing *w, const struct pm_machine_section *section,
                        const char *name, const struct pm_machine_field *field, const void *content,
                        const char *before) {
    double low, high;
    bool is_list = field->type == PM_FIELD_LIST;
    char *value =
        is_list ? pm_list_text(w->machine, section, field, content) : pm_value_text(field, content);
    fprintf(w->to, "%s%s = ", before, field->name);
    if (!is_list && interval_name(w->machine, name, field->name, &low, &high))
        fprintf(w->to, "\"%s (%.17g to %.17g)\"", value, low, high);
    else if (is_list)
        fputs(value, w->to);
    else
        write_text(w->to, value);
    free(value);
}

static void write_trust(const struct writing *w, const struct pm_machine_section *section,
                        const struct pm_trust *trust, const char *before) {
    if (trust->source) {
        fprintf(w->to, "%ssource = ", before);
        write_text(w->to, trust->source);
    }
    if (!trust->unverified)
        return;
    fprintf(w->to, "%snot_verified = {", before);
    const char *comma = "";
    for (size_t i = 0; i < section->n_fields; i++)
        if (trust->unverified >> i & 1) {
            fprintf(w->to, "%s%s", comma, section->fields[i].name);
            comma = ", ";
        }
    fputs("}", w->to);
}

static void write_ends(const struct writing *w, const char *name, uint64_t classes,
                       uint32_t domains) {
    fprintf(w->to, " %s = {", name);
    const char *comma = "";
    for (int c = 0; c < PM_N_OP_CLASSES; c++)
        if (classes >> c & 1) {
            fprintf(w->to, "%s%s", comma, pm_op_class_name((enum pm_op_class)c));
            comma = ", ";
        }
    for (size_t d = 0; d < w->machine->n_domains; d++)
        if (domains >> d & 1) {
            fputs(comma, w->to);
            write_text(w->to, w->machine->domains[d]);
            comma = ", ";
        }
    fputs("}", w->to);
}

/* What stands before the fields: "cache L2 {", "cost { of = {fp_add}". */
static void write_head(const struct writing *w, const struct pm_machine_section *section,
                       const char *name, const void *content) {
    if (section == &pm_sections[PM_SECTION_COST]) {
        const struct pm_cost *row = content;
        fprintf(w->to, "cost { %s = {%s}", row->mnemonic ? "mnemonic" : "of",
                row->mnemonic ? row->mnemonic : pm_op_class_name(row->op_class));
        if (!row->n_alternatives)
            fputs(" free = true", w->to);
    } else if (section == &pm_sections[PM_SECTION_BYPASS]) {
        const struct pm_bypass *bypass = content;
        fputs("bypass {", w->to);
        write_ends(w, "from", bypass->from_classes, bypass->from_domains);
        write_ends(w, "to", bypass->to_classes, bypass->to_domains);
    } else if (section == &pm_sections[PM_SECTION_MEMORY]) {
        fputs("memory {", w->to);
    } else {
        fprintf(w->to, "%s ", section->name);
        const char *slash = strrchr(name, '/'); /* foreign/push */
        bool is_foreign = section == &pm_sections[PM_SECTION_FOREIGN];
        write_text(w->to, is_foreign && slash ? slash + 1 : name);
        fputs(" {", w->to);
    }
}

static void write_hits(const struct writing *w, const struct pm_curve *curve) {
    static const struct pm_machine_field point = {.type = PM_FIELD_REAL};
    for (size_t h = 0; h < curve->n_hits; h++) {
        fputs("\n    hits ", w->to);
        write_text(w->to, curve->hits[h].level);
        fputs(" { share = {", w->to);
        for (size_t i = 0; i < curve->n_points; i++) {
            char *one = pm_value_text(&point, &curve->hits[h].share[i]);
            fprintf(w->to, "%s%s", i ? ", " : "", one);
            free(one);
        }
        fputs("} }", w->to);
    }
}

static bool is_used(const struct writing *w, const char *unit) {
    return pm_units_used(w->machine) >> pm_unit_named(w->machine, unit, strlen(unit)) & 1;
}

static void write_section(void *context, const struct pm_machine_section *section, const char *name,
                          void *content) {
    const struct writing *w = context;
    const struct pm_trust *trust = pm_trust_of(section, content);
    bool is_root = section == &pm_sections[PM_SECTION_ROOT];
    bool is_curve = section == &pm_sections[PM_SECTION_CURVE];
    if (section == &pm_sections[PM_SECTION_MEMORY] && !trust->given)
        return;
    if (section == &pm_sections[PM_SECTION_UNIT] && !is_used(w, name))
        return; /* of an included file; this machine lacks it */
    const char *before = is_root ? "\n" : is_curve ? "\n    " : " ";
    if (!is_root)
        write_head(w, section, name, content);
    for (size_t i = 0; i < section->n_fields; i++)
        if (trust->given >> i & 1)
            write_field(w, section, name, &section->fields[i], content, before);
    write_trust(w, section, trust, before);
    if (is_curve)
        write_hits(w, content);
    fputs(is_root ? "\n\n" : " }\n", w->to);
    char *serves = section == &pm_sections[PM_SECTION_CACHE] ? pm_level_serves_text(content) : NULL;
    if (serves)
        fprintf(w->to, "# %s\n", serves);
    free(serves);
}

void pm_machine_write(FILE *to, const struct pm_machine *machine) {
    struct writing writing = {to, machine};
    fprintf(to, "# %s", machine->path);
    if (machine->includes)
        fprintf(to, ", which includes %s", machine->includes);
    if (machine->changes)
        fprintf(to, ", with %s", machine->changes);
    pm_visit_sections((struct pm_machine *)machine, write_section, &writing);
}
