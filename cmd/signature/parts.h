/* What a stored program does at a size, for convolutions: basic blocks of a profile, or scopes. */
#ifndef PM_CMD_PARTS_H
#define PM_CMD_PARTS_H

#include "ask/ask.h"
#include "core/base/base.h"
#include "report/report.h"

struct pm_parts_request {
    const char *store_path;
    struct pm_parameters at; /* of -P */
    bool by_models;          /* scopes, also where there is a profile of basic blocks */
};

/* An opened store, and what of it is convolved. */
struct pm_stored_parts {
    struct pm_subject subject;
    struct pm_block_profile *blocks; /* NULL: ANSWER is used */
    struct pm_answer *answer;
    struct pm_convolved_program shown;
};

/* Of the largest run with the values of -P that has a profile of basic blocks; without one, and
   with -P, of the size by its counts or the models.  Freed by pm_stored_parts_close, also after an
   error. */
bool pm_stored_parts_open(const struct pm_parts_request *request, struct pm_stored_parts *stored,
                          struct pm_error *err);
void pm_stored_parts_close(struct pm_stored_parts *stored);

/* On one machine; PARTS is owned by the caller, also after an error. */
bool pm_stored_parts_on(const struct pm_stored_parts *stored, const struct pm_signature *signature,
                        struct pm_program_parts *parts, struct pm_error *err);

/* A signature for each machine of LIST; the caller frees both. */
struct pm_signature *pm_signatures_of(const struct pm_machine_list *list, struct pm_error *err);
void pm_signatures_free(struct pm_signature *signatures, size_t n);

#endif
