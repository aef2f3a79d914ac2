/* The name that is written most like another; see nearest.h.

   Edits are counted by optimal string alignment: the least number of letters put in, left out,
   exchanged, or swapped with the next. */
#include "core/base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool are_alike(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Of texts shorter than PM_NEAREST_SIZE. */
static unsigned count_edits(const char *a, const char *b) {
    unsigned rows[3][PM_NEAREST_SIZE];
    unsigned *above = rows[0], *before = rows[1], *row = rows[2];
    size_t n = strlen(b);
    for (size_t k = 0; k <= n; k++)
        before[k] = (unsigned)k;
    for (size_t i = 1; i <= strlen(a); i++) {
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= n; k++) {
            unsigned kept = before[k - 1] + !are_alike(a[i - 1], b[k - 1]);
            row[k] = least(kept, 1 + least(before[k], row[k - 1]));
            if (i > 1 && k > 1 && are_alike(a[i - 1], b[k - 2]) && are_alike(a[i - 2], b[k - 1]))
                row[k] = least(row[k], above[k - 2] + 1);
        }
        unsigned *free_row = above;
        above = before;
        before = row;
        row = free_row;
    }
    return before[n];
}

/* A third of the letters and digits, rounded; none where there is but one. */
static unsigned most_edits(const char *written) {
    unsigned n = 0;
    for (; *written; written++)
        n += isalnum((unsigned char)*written) != 0;
    return (n + 1) / 3;
}

void pm_nearest_try(struct pm_nearest *nearest, const char *written, const char *name) {
    enum { PREFIX = 3 }; /* shorter ones begin too much */
    size_t length = strlen(written);
    if (length == 0 || length >= PM_NEAREST_SIZE || !*name || strlen(name) >= PM_NEAREST_SIZE)
        return;
    bool begins = length >= PREFIX && strncasecmp(name, written, length) == 0;
    unsigned edits = begins ? 1 : count_edits(written, name);
    if (edits > most_edits(written) || (*nearest->name && edits >= nearest->edits))
        return;
    nearest->edits = edits;
    strcpy(nearest->name, name);
}

bool pm_fail_nearest(struct pm_error *err, const struct pm_nearest *nearest) {
    if (!err || !*nearest->name)
        return false;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; did you mean %s?", nearest->name);
    return false;
}
