/* What the files of loop_runner/ share; README.md says in which order they run. */
#ifndef PM_PROBE_LOOPS_PRIVATE_H
#define PM_PROBE_LOOPS_PRIVATE_H

#include <setjmp.h>

#include "binlift/elf/elf.h"
#include "machines/probe/loop_runner/enter.h"
#include "machines/probe/loop_runner/loop_runner.h"

/* ---- path_code.c: an iteration as a list of instructions ------------------------------------- */

enum pm_loop_control {
    PM_LOOP_PLAIN = 0,
    PM_LOOP_BRANCH,         /* conditional */
    PM_LOOP_COUNTED_BRANCH, /* loop, jrcxz: cannot be inverted */
    PM_LOOP_JUMP,
};

struct pm_loop_insn {
    uint64_t address;
    uint32_t at; /* its bytes in pm_loop_code.bytes */
    uint8_t length;
    uint8_t control;           /* enum pm_loop_control */
    bool taken;                /* the path goes on at its target */
    uint8_t opcode_at;         /* of a branch or jump: behind its prefixes */
    uint8_t pc_relative_at;    /* of a 32-bit displacement to be recomputed; 0 none */
    uint8_t prefetch_modrm_at; /* of a prefetch; 0 none */
    uint64_t pc_target;        /* what a pc-relative operand names */
};

/* A general register whose value, with something added, another one gets. */
struct pm_loop_move {
    uint8_t to, from;
};

struct pm_loop_code {
    PM_ARRAY(struct pm_loop_insn, insns);
    uint8_t *bytes;
    size_t n_bytes;
    unsigned n_branches;
    uint8_t vectors; /* enum pm_loop_vectors: the widest that it uses */
    /* Bits of general registers, by number. */
    uint16_t bases;   /* addresses come from them, straight or by way of others */
    uint16_t indices; /* added to bases */
    PM_ARRAY(struct pm_loop_move, moves);
    const struct pm_image *image; /* constants; NULL: none */
    uint8_t form;                 /* enum pm_loop_form */
    uint8_t counter;              /* of PM_LOOP_BLOCK_IN_LOOP: the general register that counts */
};

void pm_loop_code_free(struct pm_loop_code *code);
/* Appends the instructions of N_BYTES at ADDRESS; a refusal that ends it, or PM_LOOP_RAN. */
enum pm_loop_refusal pm_loop_code_append(struct pm_loop_code *code, const uint8_t *bytes,
                                         size_t n_bytes, uint64_t address);
/* The last instruction goes on at ADDRESS; false: it cannot. */
bool pm_loop_code_leads_to(struct pm_loop_code *code, uint64_t address);
/* CODE is complete: finds its bases, and fills what TIME says of it. */
void pm_loop_code_finish(struct pm_loop_code *code, struct pm_loop_time *time);

/* ---- unroll.c: the iteration unrolled -------------------------------------------------------- */

/* Where made-up things lie in the child: far from what a process has mapped. */
#define PM_LOOP_IMAGE UINT64_C(0x100000000000) /* the program's address 0 */
#define PM_LOOP_IMAGE_BYTES UINT64_C(0x40000000)
#define PM_LOOP_CODE (PM_LOOP_IMAGE + UINT64_C(0x50000000)) /* in reach of all of the image */
enum {
    PM_LOOP_COPY_BYTES = 32768, /* of one unrolled copy */
    PM_LOOP_MOST_COPIES = 128,
    /* A loop is timed several times: on other physical pages, with its code shifted so far. */
    PM_LOOP_SETTINGS = 3,
    PM_LOOP_SHIFT = 21 * 64,
    PM_LOOP_MOST_BRANCHES = 8192, /* of all copies of an iteration */
};

/* The area at PM_LOOP_CODE. */
struct pm_loop_area {
    uint8_t tracing[16 * PM_LOOP_COPY_BYTES];
    uint8_t timed[2][PM_LOOP_COPY_BYTES + PM_LOOP_SETTINGS * PM_LOOP_SHIFT];
    uint8_t taken[PM_LOOP_MOST_BRANCHES]; /* of each branch of each copy, as the tracing copy met it
                                           */
    uint64_t leave;                       /* where copies jump to at their end */
};

struct pm_loop_copy {
    uint8_t *begin, *leave; /* the jump at its end */
};

/* COUNT iterations in which each branch says in AREA whether it was taken, and goes on along the
   path in any case.  False: no room. */
bool pm_loop_put_tracing(struct pm_loop_area *area, const struct pm_loop_code *code, unsigned count,
                         struct pm_loop_copy *copy);
/* COUNT iterations in the form in which they are timed, in timed[WHICH], shifted by SETTING.  A
   block in a loop is there once, with the instructions that count and go back. */
bool pm_loop_put_timed(struct pm_loop_area *area, unsigned which, unsigned setting,
                       const struct pm_loop_code *code, unsigned count, struct pm_loop_copy *copy);

/* ---- made_up_data.c: made-up data ------------------------------------------------------------ */

/* What words of memory hold at first.  Each word has its number in it, so that an address that was
   computed from one leads back to it. */
enum pm_loop_fill {
    PM_LOOP_FILL_NUMBERS = 0, /* floating-point numbers between 1 and 2, as doubles and as floats */
    PM_LOOP_FILL_INDICES,     /* small integers */
    PM_LOOP_FILL_POINTERS,    /* addresses that can be mapped */
    PM_LOOP_N_FILLS
};

struct pm_loop_page {
    uint64_t address;
    uint64_t *first; /* what it holds at first, [512] */
    bool is_constant;
};

/* A word that holds another value than the fill says. */
struct pm_loop_patch {
    uint32_t word;
    uint64_t value;
};

enum { PM_LOOP_MOST_PATCHES = 512 };

struct pm_loop_memory {
    int file;                     /* of PM_LOOP_SETTINGS · PM_LOOP_MOST_PAGES physical pages */
    unsigned setting;             /* which of them are used */
    const struct pm_image *image; /* of constants; NULL */
    uint8_t fill;                 /* enum pm_loop_fill */
    uint16_t small;               /* registers that hold strides and indices, not addresses */
    uint16_t indices;             /* of these, the ones that are to differ from each other */
    unsigned layout;              /* 0, 1: two different ones */
    bool is_of_block;             /* registers and all words hold PM_LOOP_BLOCK_VALUE */
    unsigned n_pages;
    struct pm_loop_page pages[PM_LOOP_MOST_PAGES];
    unsigned n_patches;
    struct pm_loop_patch patches[PM_LOOP_MOST_PATCHES];
    unsigned n_adjustments;
    int64_t adjustments[16]; /* of the registers' first values */
};

/* Makes the physical pages. */
bool pm_loop_memory_init(struct pm_loop_memory *memory);
/* The same pages, with what they hold at first, on physical pages of SETTING. */
bool pm_loop_memory_move(struct pm_loop_memory *memory, unsigned setting);
/* Forgets all pages. */
void pm_loop_memory_clear(struct pm_loop_memory *memory);
/* Maps the page around ADDRESS. */
enum pm_loop_refusal pm_loop_memory_map(struct pm_loop_memory *memory, uint64_t address);
/* All pages as they are at first. */
void pm_loop_memory_restore(const struct pm_loop_memory *memory);
/* Registers as they are at first. */
void pm_loop_memory_fill_state(const struct pm_loop_memory *memory, struct pm_loop_state *state);
/* VALUE, of which the fill was part, was used as a pointer, or as an INDEX: from now on the word
   that it came from holds one that can be used so.  False: it did not come from a word. */
bool pm_loop_memory_patch(struct pm_loop_memory *memory, uint64_t value, bool index);

/* ---- mapping.c: a copy is run until its pages are there -------------------------------------- */

/* The child; one loop at a time. */
struct pm_loop_child {
    struct pm_loop_area *area;
    struct pm_loop_memory memory;
    struct pm_loop_state state;
    struct pm_loop_copy copies[2]; /* as they are timed */
    unsigned counts[2];
    bool restores; /* pages before each execution */
};

/* Handlers of all signals that a copy can cause. */
bool pm_loop_catch_signals(void);
/* Calls RUN, which executes copies: PM_LOOP_RAN, or what one met; then RUN was left where it stood.
 *AGAIN: what was made up has changed, and it has to begin anew.  MAPS: pages may be mapped. */
enum pm_loop_refusal pm_loop_guarded(struct pm_loop_child *child, bool maps, void (*run)(void *),
                                     void *context, bool *again);
/* One execution of COPY, for which all pages are there. */
enum pm_loop_refusal pm_loop_execute(struct pm_loop_child *child, const struct pm_loop_copy *copy);
/* The value that a general register NAME of the signal's CONTEXT (ucontext_t) holds; *NUMBER: the
   register's, or 16 and the value 0 where it is none. */
uint64_t pm_loop_general_value(const void *context, int name, unsigned *number);

/* What can be made up: registers that no address comes from hold strides, or all hold addresses;
   and what memory holds. */
struct pm_loop_sort {
    bool strides;
    uint8_t fill; /* enum pm_loop_fill */
};
void pm_loop_begin_anew(struct pm_loop_memory *memory, const struct pm_loop_code *code,
                        const struct pm_loop_sort *sort, unsigned layout);
/* One execution of a tracing copy, again until nothing made up has to change any more. */
enum pm_loop_refusal pm_loop_trace(struct pm_loop_child *child, const struct pm_loop_copy *copy);
/* Finds the counts at which CODE can run, its pages, and how its branches go. */
enum pm_loop_refusal pm_loop_prepare(struct pm_loop_child *child, const struct pm_loop_code *code);

/* ---- aliases.c: loads that get what was stored because data are made up -----------------------
 */

/* The layout in which there are none; PM_LOOP_ALIASES: neither. */
enum pm_loop_refusal pm_loop_choose_layout(struct pm_loop_child *child,
                                           const struct pm_loop_code *code,
                                           const struct pm_loop_sort *sort, unsigned *layout);
/* Of the handler of SIGTRAP, before each instruction; CONTEXT is its ucontext_t. */
void pm_loop_step(void *context);

/* ---- child.c --------------------------------------------------------------------------------- */

/* Of the shared page. */
struct pm_loop_shared {
    uint32_t next; /* the loop that is being run, or the next one */
    bool runs;     /* that loop is being run */
    bool has_clock;
    struct pm_error err; /* why it has none */
    /* On these pages, too; for each loop: */
    bool *wanted;   /* is it to be run? */
    double *widths; /* pm_clock_best_width when it had been */
    struct pm_loop_time times[];
};

/* Runs the loops of SET from shared->next on; does not return. */
void pm_loop_child_main(const struct pm_loop_set *set, const struct pm_loop_options *options,
                        struct pm_loop_shared *shared, int pipe) __attribute__((noreturn));

#endif
