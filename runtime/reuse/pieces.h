/* Reuse distances of pieces of a trace that are analysed at the same time, exactly.

   Model.  The trace of a thread is cut into pieces, runs of consecutive accesses.  A piece is
   analysed as if nothing came before it (its own stack top, stamps and slots).  A distance that is
   found so is the right one, because all touches since the last one of the block are of the piece.
   What is not known is the distance of a block's first touch in the piece.  These touches are left
   open, in their order, and resolved when all pieces before are.  Let S be the LRU stack before the
   piece, and x_0, x_1, … the blocks that are touched for the first time in the piece.  Then
       distance of x_j = |{y in S above x_j} \ {x_0 … x_(j-1)}| + j,
   or x_j is cold if it is not in S: what was touched since its last touch is what is above it in S,
   and what the piece has touched so far, which are x_0 … x_(j-1).  With the stamps of S (stamps.h)
   the first term is the number of stamps in use after that of x_j, where those of x_0 … x_(j-1)
   have been taken back.  Behind the piece its blocks are on top of S, in the order of their last
   touches.
   This is the method of PARDA (Niu, Dinan, Lu, Sadayappan: "PARDA: A Fast Parallel Reuse Distance
   Analysis Algorithm", IPDPS 2012), but the stack is one, in the hands of who resolves, instead of
   going on from one processor to the next.  Nothing is rounded.
   Assumed: pieces are resolved one after the other, in their order.

   Larger blocks that follow from the smallest (larger.h) do so in a piece too, from its stack top,
   and leave open the first touch of each larger block.  Those in the stack top get stamps while a
   piece is resolved, in the order of the stack top's most recent blocks, and behind it the stack
   top is set anew, for the smallest size and from that for the larger ones.

   Bounded (max_blocks): a piece forgets nothing; a distance that reaches the bound in the piece is
   beyond it anyway.  Memory is for so many blocks and those of the pieces under way.
   Not for sampling, nor for what carries a reuse.

   A first touch in a piece costs what a first touch costs, and again as much to be resolved: the
   longer the piece, the fewer of its touches are such. */
#ifndef PM_RUNTIME_REUSE_PIECES_H
#define PM_RUNTIME_REUSE_PIECES_H

#include <stdbool.h>

struct pm_record_reuse;
struct pm_reuse;

/* Makes REUSE, new and with its options chosen, an analysis of consecutive pieces; larger sizes
   that are added later are analysed so as well.  First touches in a piece are left open and counted
   as cold.  False: no memory. */
bool pm_piece_make_analysis(struct pm_reuse *reuse);
void pm_piece_free(struct pm_reuse *reuse);

/* The piece has ended: its blocks are put into the order of their last touches.  ADDRESS_RECORDS is
   above REUSE, or NULL.  Until the piece is resolved nothing may be analysed. */
void pm_piece_end(struct pm_reuse *reuse, struct pm_record_reuse *address_records);

/* Resolves what the piece of REUSE left open, after all that WHOLE analysed.  WHOLE may have
   analysed other parts of the trace itself, ADDRESS_RECORDS above it or NULL.  REUSE is ready for
   another piece.  If either has failed, WHOLE has. */
void pm_piece_resolve(struct pm_reuse *whole, struct pm_record_reuse *address_records,
                      struct pm_reuse *reuse);

/* Moves what REUSE counted to WHOLE; its pieces are resolved, and the address records above it
   flushed. */
void pm_piece_move_counts(struct pm_reuse *whole, struct pm_reuse *reuse);

#endif
