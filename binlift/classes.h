/* Instruction classes: which generic operations the mnemonics of an ISA stand for.  Text files of
   one format for all ISAs (machines/README.md); a file that is read later overrides what an earlier
   one says of a mnemonic. */
#ifndef PM_CLASSES_H
#define PM_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/structure/structure.h"
#include "core/base/base.h"

enum { PM_CLASS_OPS = 4 };

/* What one mnemonic does between its loads and its stores. */
struct pm_class_rule {
    uint8_t n_ops;                  /* 1 … PM_CLASS_OPS */
    uint8_t op_class[PM_CLASS_OPS]; /* enum pm_op_class, in order; each works on the result of the
                                      one before */
    uint8_t element_bytes;          /* 0: as the operands say */
    bool scalar;                    /* of a vector register only one element takes part */
};

struct pm_classes;

struct pm_classes *pm_classes_new(void);          /* without a class for anything */
void pm_classes_free(struct pm_classes *classes); /* NULL is fine */

/* Adds the file at PATH, which must be for ISA.  Errors name the file and the line. */
bool pm_classes_read(struct pm_classes *classes, const char *path, const char *isa,
                     struct pm_error *err);

/* The rule for a mnemonic in lower case; NULL: none. */
const struct pm_class_rule *pm_classes_find(const struct pm_classes *classes, const char *mnemonic);

/* Looks up all of an ISA's mnemonics once, so that pm_class_of is an index; to be called again
   after another file was read. */
void pm_classes_resolve(struct pm_classes *classes, uint32_t n_mnemonics,
                        const char *(*mnemonic)(uint32_t number));
/* The rule for mnemonic NUMBER of the ISA; NULL: none, also where CLASSES is NULL. */
const struct pm_class_rule *pm_class_of(const struct pm_classes *classes, uint32_t number);

/* Every name and pattern that was read, for checks of a file against an ISA: calls VISIT with the
   file, the line and the text (`*` stands for any characters). */
void pm_classes_visit(const struct pm_classes *classes,
                      void (*visit)(void *data, const char *path, unsigned line, const char *name),
                      void *data);

#endif
