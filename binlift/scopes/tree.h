/* Steps of the scope tree's making.  Private to binlift/scopes/. */
#ifndef PM_SCOPE_TREE_H
#define PM_SCOPE_TREE_H

#include "binlift/dwarf/dwarf.h"
#include "binlift/lifted.h"

/* inlined.c: for every loop the inlined code that it belongs to (PM_NONE: the routine),
   n_loops values owned by the caller; and the same for one basic block, by most of its
   instructions. */
uint32_t *pm_place_loops(const struct pm_lifted *lifted, const struct pm_debug *debug);
uint32_t pm_place_block(const struct pm_lifted *lifted, const struct pm_debug *debug,
                        uint32_t block);

/* clones.c: for every routine the one that it is a part or a clone of, which has a shorter
   name; PM_NONE.  n_routines values owned by the caller. */
uint32_t *pm_find_source_routines(const struct pm_structure *structure);

/* scope_lines.c: files, line ranges and addresses of all scopes, and lines of basic blocks.
   SCOPE_INLINE has for each scope the inlined code that it stands in, PM_NONE: the routine's own.
 */
void pm_set_lines(struct pm_lifted *lifted, const struct pm_debug *debug,
                  const uint32_t *scope_inline);

#endif
