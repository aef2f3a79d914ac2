/* Call paths: which calls were open, as far as they are of routines that were measured.

   A path is a number: that of its last call's site, which names the path around it.  So a set of
   paths is a tree, in which each call on each way stands once. */
#ifndef PM_CALL_PATHS_H
#define PM_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "core/structure/structure.h"

#define PM_NO_PATH 0 /* no call is open: where a thread begins or ends */

struct pm_call_site {
    uint32_t parent;         /* the path around it, smaller than its own number; PM_NO_PATH */
    uint32_t module;         /* of the structure */
    uint64_t return_address; /* where the call returns to, in the module's own text: link time */
};

struct pm_call_paths {
    PM_ARRAY(struct pm_call_site, sites); /* site 0 is PM_NO_PATH, once there is another one */
    PM_ARRAY(char *, callees); /* beside the sites: what is called there; NULL: not known; owned */
    struct pm_map map;         /* of the sites */
};

/* The path of a call in PARENT that returns to RETURN_ADDRESS; each has one number. */
uint32_t pm_call_paths_add(struct pm_call_paths *paths, uint32_t parent, uint32_t module,
                           uint64_t return_address);
/* NAME is what PATH's last call calls, unless that is known already. */
void pm_call_paths_set_callee(struct pm_call_paths *paths, uint32_t path, const char *name);
/* The path in TO that equals PATH of FROM, its last call included; it is added, with the paths
   around it, if it is new. */
uint32_t pm_call_paths_copy(struct pm_call_paths *to, const struct pm_call_paths *from,
                            uint32_t path);
void pm_call_paths_free(struct pm_call_paths *paths); /* what it owns; leaves none */

/* Is there such a path, and do all its sites have a module of STRUCTURE? */
bool pm_call_path_fits(const struct pm_structure *structure, const struct pm_call_paths *paths,
                       uint32_t path);

/* The basic block that the last call of PATH is in; PM_NONE: in none that is known. */
uint32_t pm_call_path_block(const struct pm_structure *structure, const struct pm_call_paths *paths,
                            uint32_t path);

/* PATH for people: "main:40 > solve:112 > MPI_Allreduce": of each call the routine and the inlined
   code that it is in, with the line of what is called there, that of the call itself being where
   its basic block begins; and what is called last, if that is known.  "-" of PM_NO_PATH.  The short
   one has the innermost step only: "solve:112 MPI_Allreduce".  Owned by the caller. */
char *pm_call_path_text(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path);
char *pm_call_path_name(const struct pm_structure *structure, const struct pm_call_paths *paths,
                        uint32_t path);

/* Short names, one for each path, of those for which IS_NAMED[path] (NULL of the others), with as
   many steps as it takes to tell them from each other, and where steps do not, the address of the
   last call.  Freed by pm_call_path_names_free. */
char **pm_call_path_names(const struct pm_structure *structure, const struct pm_call_paths *paths,
                          const bool *is_named);
void pm_call_path_names_free(char **names, const struct pm_call_paths *paths);

#endif
