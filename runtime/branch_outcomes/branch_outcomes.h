/* How predictable the program's branches are; README.md says how. */
#ifndef PM_RUNTIME_BRANCHES_H
#define PM_RUNTIME_BRANCHES_H

#include "runtime/threads.h"

struct pm_raw_builder;

extern bool pm_branches_are_followed;

/* To be called once, in the first thread, when the modules are known: whether PM_ENV_BEHAVIOUR is
   set. */
void pm_branches_begin(void);

/* The records from FROM up to END happened in THREAD, whose `busy` the caller holds. */
void pm_branches_follow(struct pm_thread *thread, const struct pm_branch_record *from,
                        const struct pm_branch_record *end);

/* In the child of a fork: forgets what THREAD did. */
void pm_branches_after_fork(struct pm_thread *thread);

/* What THREAD did of MODULE becomes a section of the raw file; none if that is nothing. */
void pm_branches_add(struct pm_raw_builder *builder, uint32_t module,
                     const struct pm_thread *thread);

#endif
