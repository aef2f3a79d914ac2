/* Which old instruction's frame each place of the new code has: what is added in front of an
   instruction has that of the instruction, what is added on an edge that of the jump.  Added code
   leaves the stack as it is, but for the few instructions of a call that pushes an old return
   address.  From these marks the new unwinding tables are written (unwinding/write_eh_frame.c), and
   from the returns of moved calls the runtime's way back to old addresses. */
#include <stdlib.h>

#include "binlift/x86/rewrite/private.h"

void pm_x86_mark_frame(struct pm_rewrite *rewrite, uint64_t old) {
    struct pm_code_place here = pm_code_here(&rewrite->code);
    struct pm_frame_mark *last =
        rewrite->n_frame_marks ? &rewrite->frame_marks[rewrite->n_frame_marks - 1] : NULL;
    if (!rewrite->plan->call_moves || (last && last->old == old))
        return;
    if (last && last->place.offset == here.offset &&
        last->place.n_items_before == here.n_items_before)
        last->old = old;
    else
        *PM_PUSH(rewrite, frame_marks) = (struct pm_frame_mark){here, old};
}

static int by_old(const void *left, const void *right) {
    const struct pm_moved_place *a = left, *b = right;
    return PM_COMPARE(a->old, b->old);
}

/* Where exceptions come to, by the old tables. */
static void list_landing_pads(struct pm_rewrite *rewrite) {
    const struct pm_unwinding *unwinding = rewrite->plan->unwinding;
    struct pm_exception_table table = {0};
    for (size_t f = 0; f < unwinding->n_fdes; f++) {
        const struct pm_unwind_fde *fde = &unwinding->fdes[f];
        if (!fde->lsda || !fde->can_move ||
            !pm_read_exception_table(&rewrite->lifted->image, fde, &table))
            continue;
        for (size_t i = 0; i < table.n_sites; i++)
            if (table.sites[i].landing_pad)
                *PM_PUSH(rewrite->made, landing_pads) =
                    (struct pm_moved_place){pm_x86_new_address(rewrite, table.sites[i].landing_pad),
                                            table.sites[i].landing_pad};
    }
    pm_exception_table_release(&table);
    PM_SORT(rewrite->made->landing_pads, rewrite->made->n_landing_pads, by_old);
}

void pm_x86_list_frames(struct pm_rewrite *rewrite) {
    const struct pm_code *code = &rewrite->code;
    struct pm_new_code *made = rewrite->made;
    made->places = pm_alloc(rewrite->n_frame_marks + 1, sizeof *made->places);
    for (size_t i = 0; i < rewrite->n_frame_marks; i++)
        made->places[i] =
            (struct pm_moved_place){pm_code_place_address(code, rewrite->frame_marks[i].place),
                                    rewrite->frame_marks[i].old};
    made->places[rewrite->n_frame_marks] =
        (struct pm_moved_place){code->address + code->size_bytes, 0};
    made->n_places = rewrite->n_frame_marks + 1;
    for (size_t i = 0; i < rewrite->n_returns; i++)
        *PM_PUSH(made, returns) = (struct pm_moved_place){
            pm_code_place_address(code, rewrite->returns[i].place), rewrite->returns[i].old};
    list_landing_pads(rewrite);
}
