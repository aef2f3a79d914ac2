/* A loop's body without a program: assembler text or bytes, made into a file that can be lifted. */
#ifndef PM_BARE_CODE_H
#define PM_BARE_CODE_H

#include <stdio.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

struct pm_bare_code {
    char *folder, *path; /* of the file, which pm_bare_code_free removes; owned */
    uint64_t closing;    /* address of the jump that was added to close the loop; 0: none was */
};

/* Of ASSEMBLER, a file, or HEX, bytes of instructions as hexadecimal digits; the other is NULL.  If
   nothing in it jumps backwards, all of it is the body.  False with a sentence: there is no
   assembler, or it complains. */
bool pm_bare_code_make(const char *assembler, const char *hex, struct pm_bare_code *code,
                       struct pm_error *err);
/* The jump that closes the loop is none of its instructions: takes it out of STRUCTURE, that of the
   file.  False with a sentence: there is no loop. */
bool pm_bare_code_trim(const struct pm_bare_code *code, struct pm_structure *structure,
                       struct pm_error *err);
/* The same of all loops of STRUCTURE, each closed by a jump of its own or by none. */
void pm_bare_code_trim_all(struct pm_structure *structure);
/* A file of the assembler text that PUT writes, called with CONTEXT. */
bool pm_bare_code_assemble(void (*put)(FILE *out, void *context), void *context,
                           struct pm_bare_code *code, struct pm_error *err);
void pm_bare_code_free(struct pm_bare_code *code);

#endif
