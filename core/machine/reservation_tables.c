/* A reservation table, what an operation reserves, as text:

       table     = term { "+" term }                       all of them
       term      = [ count "*" ] unit { "|" unit } [ ":" cycles ] [ "@" start ]

   COUNT times any one of the units, each busy for CYCLES (1) from cycle START (0) of the operation
   on.  A row with several tables is executed by any one of them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/machine/private.h"

int pm_unit_named(const struct pm_machine *machine, const char *name, size_t length) {
    for (size_t unit = 0; unit < machine->n_units; unit++)
        if (strlen(machine->units[unit].name) == length &&
            strncmp(machine->units[unit].name, name, length) == 0)
            return (int)unit;
    return -1;
}

static void skip_spaces(const char **at) { *at += strspn(*at, " \t"); }

/* A number from LOW to 10⁵ at *AT, which moves behind it. */
static bool take_number(const char **at, double low, double *number) {
    char *end;
    skip_spaces(at);
    if (!isdigit((unsigned char)**at))
        return false;
    *number = strtod(*at, &end);
    *at = end;
    skip_spaces(at);
    return *number >= low && *number <= 1e5;
}

static bool take_units(const struct pm_machine *machine, const char **at, uint64_t *units,
                       struct pm_error *err) {
    for (;;) {
        skip_spaces(at);
        size_t length = strcspn(*at, " \t|+:@*");
        int unit = pm_unit_named(machine, *at, length);
        if (unit < 0)
            return pm_fail(err,
                           "there is no unit `%.*s` (a `unit` section must stand above its use)",
                           (int)length, *at);
        *units |= UINT64_C(1) << unit;
        *at += length;
        skip_spaces(at);
        if (**at != '|')
            return true;
        ++*at;
    }
}

/* Does a count stand at AT?  A unit may begin with a digit, too. */
static bool has_count(const char *at) {
    at += strspn(at, "0123456789");
    at += strspn(at, " \t");
    return *at == '*';
}

static bool take_term(const struct pm_machine *machine, const char **at,
                      struct pm_reservation *reservation, struct pm_error *err) {
    *reservation = (struct pm_reservation){.count = 1, .busy_cycles = 1};
    skip_spaces(at);
    double count = 1;
    if (has_count(*at)) {
        if (!take_number(at, 1, &count) || count != floor(count))
            return pm_fail(err, "`%s`: a count before `*` is a whole number from 1", *at);
        reservation->count = (uint32_t)count;
        ++*at;
    }
    if (!take_units(machine, at, &reservation->units, err))
        return false;
    if (**at == ':') {
        ++*at;
        if (!take_number(at, 0, &reservation->busy_cycles))
            return pm_fail(err, "`%s`: after `:` stands for how many cycles the unit is busy", *at);
    }
    if (**at == '@') {
        ++*at;
        if (!take_number(at, 0, &reservation->start_cycle))
            return pm_fail(err, "`%s`: after `@` stands the cycle from which the unit is busy",
                           *at);
    }
    return true;
}

bool pm_reservation_table_parse(const struct pm_machine *machine, const char *text,
                                struct pm_reservation_table *table, struct pm_error *err) {
    *table = (struct pm_reservation_table){0};
    for (const char *at = text;; at++) {
        if (table->n_reservations == PM_MOST_RESERVATIONS)
            return pm_fail(err, "`%s`: more than %d terms", text, PM_MOST_RESERVATIONS);
        if (!take_term(machine, &at, &table->reservations[table->n_reservations++], err))
            return false;
        if (*at == '\0')
            return true;
        if (*at != '+')
            return pm_fail(err, "`%s` is not understood: terms are joined by `+`", at);
    }
}

char *pm_reservation_table_text(const struct pm_machine *machine,
                                const struct pm_reservation_table *table) {
    char *text = pm_strdup("");
    for (size_t i = 0; i < table->n_reservations; i++) {
        const struct pm_reservation *r = &table->reservations[i];
        pm_append(&text, "%s", i ? " + " : "");
        if (r->count > 1)
            pm_append(&text, "%u*", (unsigned)r->count);
        const char *before = "";
        for (size_t unit = 0; unit < machine->n_units; unit++)
            if (r->units >> unit & 1) {
                pm_append(&text, "%s%s", before, machine->units[unit].name);
                before = "|";
            }
        if (r->busy_cycles != 1)
            pm_append(&text, ":%.15g", r->busy_cycles);
        if (r->start_cycle != 0)
            pm_append(&text, "@%.15g", r->start_cycle);
    }
    return text;
}
