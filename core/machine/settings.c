/* A figure changed for a question: "L2.size=4MiB", "clock_mhz=2000", "memory.latency_dirty=150",
   "fp_add.latency=3" (all rows of the class), "fp_add/256/8.latency=3" (one), or any of them for
   one machine of several, "r12000:L2.size=4MiB". */
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

struct change {
    const char *setting; /* for messages */
    const char *section; /* "" outside sections */
    size_t section_length;
    const char *field, *text;
    size_t field_length;
    size_t n_changed;
    bool failed, knows_section;
    struct pm_nearest nearest;
};

static bool is_named(const char *name, const char *text, size_t length) {
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* Is NAME the section that is meant?  "fp_add" means all rows "fp_add/256", "fp_add/512/8". */
static bool is_meant(const struct change *change, const struct pm_machine_section *section,
                     const char *name) {
    if (is_named(name, change->section, change->section_length))
        return true;
    return section == &pm_sections[PM_SECTION_COST] &&
           strncmp(name, change->section, change->section_length) == 0 &&
           name[change->section_length] == '/';
}

static void store(struct change *change, const struct pm_machine_section *section, const char *name,
                  int number, void *content) {
    const struct pm_machine_field *field = &section->fields[number];
    struct pm_trust *trust = pm_trust_of(section, content);
    struct pm_machine_value value;
    struct pm_error why = {0};
    if (field->type == PM_FIELD_LIST || field->type == PM_FIELD_TEXT) {
        change->failed = true;
        pm_machine_refuse(0,
                          "`%s` is no figure that can be set: write a machine file with "
                          "`include`",
                          field->name);
    } else if (!pm_value_parse(field, change->text, &value, &why)) {
        change->failed = true;
        pm_machine_refuse(0, "%s", why.text);
    } else {
        pm_value_store(field, &value, change->text, content);
        pm_note_interval(pm_machine_reading->machine, *name ? name : NULL, field->name, &value);
        trust->given |= UINT64_C(1) << number;
        trust->unverified &= ~(UINT64_C(1) << number);
        trust->path = change->setting;
        trust->line = 0;
        change->n_changed++;
    }
}

/* A row with `units` is busy for `repeat` cycles. */
static void renew_row(struct pm_cost *row) {
    if (!row->has_tables && row->n_alternatives)
        row->alternatives[0].reservations[0].busy_cycles = row->repeat_cycles;
}

static void change_section(void *context, const struct pm_machine_section *section,
                           const char *name, void *content) {
    struct change *change = context;
    if (change->failed)
        return;
    if (!is_meant(change, section, name)) {
        char *wanted = pm_sprintf("%.*s", (int)change->section_length, change->section);
        pm_nearest_try(&change->nearest, wanted, name);
        free(wanted);
        return;
    }
    if (!change->knows_section)
        change->nearest = (struct pm_nearest){0};
    change->knows_section = true;
    for (size_t i = 0; i < section->n_fields; i++) {
        const char *field = section->fields[i].name;
        if (is_named(field, change->field, change->field_length)) {
            store(change, section, name, (int)i, content);
            if (section == &pm_sections[PM_SECTION_COST])
                renew_row(content);
            return;
        }
        char *wanted = pm_sprintf("%.*s", (int)change->field_length, change->field);
        pm_nearest_try(&change->nearest, wanted, field);
        free(wanted);
    }
}

static bool fail_unknown(const struct change *change) {
    struct pm_error text = {0};
    if (!change->knows_section)
        pm_fail(&text, "machine %s has no `%.*s`", pm_machine_reading->machine->name,
                (int)change->section_length, change->section);
    else
        pm_fail(&text, "there is no figure `%.*s`%s%.*s", (int)change->field_length, change->field,
                change->section_length ? " of " : "", (int)change->section_length, change->section);
    pm_fail_nearest(&text, &change->nearest);
    return pm_machine_refuse(0, "%s", text.text) == 0;
}

bool pm_machine_set(const char *setting) {
    struct pm_machine_reader *reader = pm_machine_reading;
    struct pm_machine *machine = reader->machine;
    const char *equals = strchr(setting, '='), *colon = strchr(setting, ':');
    if (colon && (!equals || colon < equals)) {
        if (!is_named(machine->name, setting, (size_t)(colon - setting)))
            return true; /* of another machine */
        setting = colon + 1;
    }
    char *shown = pm_sprintf("--set %s", setting);
    *PM_PUSH(machine, paths) = shown;
    reader->path = shown;
    if (!equals || equals == setting || !equals[1])
        return pm_machine_refuse(0, "a setting is NAME=VALUE, as in L2.size=4MiB") == 0;
    const char *dot = equals;
    while (dot > setting && *dot != '.')
        dot--;
    bool has_section = *dot == '.';
    struct change change = {.setting = shown,
                            .section = has_section ? setting : "",
                            .section_length = has_section ? (size_t)(dot - setting) : 0,
                            .field = has_section ? dot + 1 : setting,
                            .text = equals + 1};
    change.field_length = (size_t)(equals - change.field);
    pm_visit_sections(machine, change_section, &change);
    if (change.failed)
        return false;
    if (!change.n_changed)
        return fail_unknown(&change);
    pm_append(&machine->changes, "%s%s", machine->changes ? ", " : "", setting);
    return true;
}
