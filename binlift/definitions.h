/* What an instruction defines (isa.h, struct pm_definition), put together; for the ISAs. */
#ifndef PM_DEFINITIONS_H
#define PM_DEFINITIONS_H

#include "binlift/isa.h"

/* Appends a definition of PLACE, a sum without terms yet, to the *N of DEFINITIONS. */
static inline struct pm_definition *pm_define(struct pm_definition *definitions, unsigned *n,
                                              uint8_t place) {
    definitions[*n] = (struct pm_definition){.place = place, .kind = PM_DEFINED_AS_SUM};
    return &definitions[(*n)++];
}

static inline void pm_definition_add(struct pm_definition *definition, uint8_t place,
                                     int64_t factor) {
    for (unsigned i = 0; i < definition->n_terms; i++)
        if (definition->terms[i].place == place) {
            definition->terms[i].factor += factor;
            return;
        }
    definition->terms[definition->n_terms].place = place;
    definition->terms[definition->n_terms++].factor = factor;
}

/* The place gets a value that is not described. */
static inline void pm_definition_give_up(struct pm_definition *definition) {
    definition->kind = PM_DEFINED_OTHERWISE;
    definition->n_terms = 0;
    definition->constant = 0;
}

#endif
