/* Touches that go on from one block to the next, as hardware prefetchers follow them: a property of
   the program, for any number of streams side by side and whatever the code says of strides.

   Model.  A touch of block X that is not in the stack top (reuse_state.h) is SEQUENTIAL if, for a
   step s of +1 or −1, fewer than PM_NEAR_BEFORE distinct other blocks were touched since the last
   touch of X − s, and fewer than twice as many since that of X − 2s: two blocks before it in a row
   were touched a short while ago, which is how long prefetchers need to follow a stream and about
   how many streams they follow.  Two lines of training: the constant `training_lines` of
   sched/constants.h is the same for strides that code says.  Where n streams go on in turn, fewer
   than 2n other blocks lie between two blocks of one, so that 32 are followed.  Chance makes a
   touch of one of M blocks at random sequential with a probability of about 2 · 64 · 128 / M².
   Sequential touches are counted by their own reuse distance, so that of the misses of a cache of C
   blocks those that were sequential are those with a distance of at least C.  Touches in the stack
   top, distances below 16, miss in no cache and are not looked at.

   Of a thread's touches outside the stack top the first PM_SEQUENTIAL_ALL are looked at, then one
   of PM_SEQUENTIAL_STRIDE, drawn anew for each touch, which counts for all: of a share p of n
   touches the standard error is √(8 p (1 − p) / n) at most, 0.014 of a group with 10,000.

   How.  Where blocks X − s and X − 2s are in the LRU order is known by their slots: the same tables
   and stamps as for the distance of X, so that nothing is kept beside the counts.

   Holds for the smallest block size, of which all others are multiples.  Not under sampling, where
   most blocks' neighbours are not known; not in pieces, which begin without a past.  Where memory
   is bounded to fewer blocks than 128, what is forgotten was not touched. */
#ifndef PM_RUNTIME_REUSE_SEQUENTIAL_TOUCHES_H
#define PM_RUNTIME_REUSE_SEQUENTIAL_TOUCHES_H

#include "runtime/reuse/reuse_state.h"

enum {
    PM_NEAR_BEFORE = 64, /* blocks */
    PM_SEQUENTIAL_ALL = 1 << 22,
    PM_SEQUENTIAL_STRIDE = 8,
};

#endif
