/* What rewritten code and the runtime share: the control block that %gs points to, the memory
   record, and the descriptors that stand in the instrumented file.  The lifter emits for it
   (binlift/), the runtime implements it (runtime/).  Plain C without includes of other parts,
   because the runtime compiles it into a user's program.

   Every thread has a control block; its address is the %gs base and its first field.  Rewritten
   code uses the block only through %gs with the fixed offsets below:
     - a counter is `inc qword %gs:(PM_CB_COUNTERS + 8·counter)`;
     - spills go to PM_CB_SPILL…, never to the stack (the red zone is the program's);
     - memory records are appended at PM_CB_NEXT: a basic block checks once that
       next ≤ limit (flags dead or saved) and, when it is not, leaves through the slow path:
           lea back(%rip), R;  mov R, %gs:PM_CB_RETURN;  jmp *%gs:PM_CB_SLOW
       back:  mov %gs:PM_CB_NEXT, R
       The slow path preserves every register, flag and vector, consumes all records, resets next.
       R is the register that held next.  Between limit and the buffer's end there is room for
       PM_RECORD_SLACK bytes; a basic block that may need more checks several times;
     - an event (a loop or routine entered or left) is reported without touching a flag:
           mov R, %gs:SPILL;  lea back(%rip), R;  mov R, %gs:PM_CB_RETURN;  mov %gs:SPILL, R
           movl $event, %gs:PM_CB_EVENT;  jmp *%gs:PM_CB_EVENT_PATH
       back:
       The path preserves every register, flag and vector and leaves the program's stack alone;
     - an outcome of a conditional branch is stored at PM_CB_BRANCHES_END + branch_left, which is
       negative and rises to 0; then the buffer is full, and control goes to PM_CB_BRANCH_PATH,
       which preserves what the slow path does, too;
     - a call of a routine of the C library that accesses memory (enum pm_called) is reported in
   the same way right before it, with pm_called_word in PM_CB_EVENT and the arguments in their
   registers, through PM_CB_CALLED_PATH; and so is a string instruction that may stop early.
   A signal handler runs on another (nested) control block, so
   it never disturbs these fields. */
#ifndef PM_PROBE_ABI_H
#define PM_PROBE_ABI_H

#include <stdint.h>

#include "core/access.h"

#define PM_PROBE_MAGIC "PMPROBE"
#define PM_PROBE_VERSION 9

/* Offsets in the control block, in bytes from the %gs base. */
enum pm_control_block_offset {
    PM_CB_SELF = 0,          /* address of this block */
    PM_CB_NEXT = 8,          /* where the next memory record goes */
    PM_CB_LIMIT = 16,        /* highest value of next at which a basic block may start to append */
    PM_CB_SPILL = 24,        /* PM_CB_N_SPILL slots of 8 bytes for rewritten code */
    PM_CB_SLOW = 88,         /* address of the slow path */
    PM_CB_RETURN = 96,       /* where the slow path returns to */
    PM_CB_STACK = 104,       /* top of the runtime's private stack for this thread */
    PM_CB_EVENT = 112,       /* what happened: scope << 2 | enum pm_event_what */
    PM_CB_EVENT_PATH = 120,  /* address of the runtime's code for events */
    PM_CB_PRIVATE = 128,     /* first byte that only the runtime uses, but for … */
    PM_CB_CALLED_PATH = 256, /* … the addresses of its code for calls of the C library, */
    PM_CB_BOUND_DONE = 280,  /* for the end of a copy that a lower bound is measured with, */
    PM_CB_BOUND_OVER = 288,  /* and of a copy whose rings are at their end (core/bound_abi.h) */
    PM_CB_BRANCH_PATH = 344, /* where control goes when the buffer of branches is full, */
    PM_CB_BRANCH_LEFT = 352, /* and −bytes that are left in it */
    PM_CB_COUNTERS = 4096,   /* counter 0; 8 bytes each */
};
enum { PM_CB_N_SPILL = 8, PM_RECORD_SLACK = 65536 };

/* Counters of all modules of a process together; virtual memory of a control block is
   PM_CB_COUNTERS + 8·PM_MAX_COUNTERS bytes, of which only touched pages exist. */
#define PM_MAX_COUNTERS (1u << 22)

/* The buffer of branches, behind the counters: words of struct pm_branch_record. */
enum { PM_BRANCH_BUFFER_BYTES = 32768 };
#define PM_CB_BRANCHES_END (PM_CB_COUNTERS + 8 * PM_MAX_COUNTERS + PM_BRANCH_BUFFER_BYTES)

/* An execution of a conditional branch, or a visit of a loop (enum pm_branch_kind). */
struct pm_branch_record {
    uint32_t branch; /* pm_probe_header.first_branch + the index in the module's table */
    uint32_t value;  /* the lowest byte: 1 taken, 0 not, the others are anything; of a loop how
                        often its back edge was taken */
};

/* Branches of all modules of a process together. */
#define PM_MAX_BRANCHES (1u << 22)

/* References, and scopes, of all modules of a process together. */
#define PM_MAX_REFERENCES (1u << 22)
#define PM_MAX_SCOPES (1u << 22)

/* Memory records stand behind each other in units of 8 bytes.  The first word of a record tells its
   kind:
     below PM_RECORD_IS_ADDRESSES   struct pm_memory_record: one execution of one reference, which
                                    is
                                 pm_probe_header.first_reference + the index in the module's table.
                                 Of kinds other than PM_ACCESS_PLAIN payload follows
     with PM_RECORD_IS_ADDRESSES    one execution of an address record (struct
                                    pm_probe_address_record), which is
                                 pm_probe_header.first_address_record + the index in the module's
                                 table; behind it its addresses, n_addresses words
     with PM_RECORD_IS_EVENT     an event, behind it the stack pointer at the event */
struct pm_memory_record {
    uint64_t reference;
    uint64_t address;
};
#define PM_RECORD_IS_ADDRESSES (1u << 30)
#define PM_RECORD_IS_EVENT (1ull << 63)

/* Address records of all modules of a process together. */
#define PM_MAX_ADDRESS_RECORDS (1u << 22)

/* The word of a call: REFERENCE is pm_probe_header.first_reference + the index of the first
   reference of the call (of loads, if there are any; that of stores is the next), SCALE the width
   of an element as a power of two. */
static inline uint32_t pm_called_word(uint32_t reference, enum pm_called called, unsigned scale) {
    return reference | (uint32_t)called << 22 | (uint32_t)scale << 27;
}

/* The two lowest bits of an event; above them stands pm_probe_header.first_scope + the scope's
   index in the module's structure, and at the top PM_EVENT_NOW or PM_EVENT_ITERATION. */
enum pm_event_what {
    PM_EVENT_ENTER = 0,
    PM_EVENT_LEAVE = 1,
    PM_EVENT_INTERVAL_END =
        2, /* right before a call that ends an interval, directly in the scope */
    PM_EVENT_HERE =
        3, /* control arrived unseen, after an exception or a longjmp: this is the innermost probed
              scope, or, if it is a routine without a probe, no scope of that routine is entered */
};
#define PM_EVENT_NOW (1u << 31) /* the runtime must see it before the program goes on */
/* Instead of all these: another iteration of the loop begins, because control came to its header;
   the first one too, behind PM_EVENT_ENTER. */
#define PM_EVENT_ITERATION (1u << 30)
static inline uint32_t pm_event_scope(uint64_t event) {
    return (uint32_t)(event & 0x3fffffff) >> 2;
}
static inline enum pm_event_what pm_event_what(uint64_t event) {
    return (enum pm_event_what)(event & 3);
}

struct pm_probe_reference {
    uint32_t group;        /* index in the module's reference groups */
    uint32_t size_bytes;   /* of the access; for kinds other than plain, of one element */
    uint8_t access;        /* 1 load, 2 store, 3 both */
    uint8_t kind;          /* enum pm_access_kind */
    uint8_t elements;      /* of a masked or gather access */
    uint8_t index_bytes;   /* 4 or 8: width of an index of a gather */
    uint8_t scale;         /* of a gather: 1, 2, 4, 8 */
    uint8_t payload_slots; /* payload in units of 16 bytes */
    uint8_t takes_turns;   /* the first of the two of a string operation */
    uint8_t reserved;
};

/* An address record: consecutive plain references of one basic block, which are executed all or
   none.  Many of their addresses differ by a constant only, so a record has few addresses, the
   bases; a base is the address of the first access that refers to it. */
struct pm_probe_address_record {
    uint32_t first_access; /* in the table of struct pm_probe_access */
    uint16_t n_accesses;   /* 1 … PM_RECORD_ACCESSES */
    uint16_t n_addresses;  /* 0 … PM_RECORD_ADDRESSES */
};
enum { PM_RECORD_ADDRESSES = 15, PM_RECORD_ACCESSES = 48 };

struct pm_probe_access {
    int64_t offset;     /* from its address */
    uint32_t reference; /* index in the module's table; its kind is PM_ACCESS_PLAIN */
    uint32_t address; /* 1 … n_addresses: that word of the record; 0: OFFSET itself is the link-time
                         address (of a module that is loaded once) */
};

enum pm_branch_kind {
    PM_BRANCH_EACH,           /* a record an execution */
    PM_BRANCH_LOOP_TAKEN,     /* the only branch of an innermost loop, a record a visit of the loop;
                                 taken it is the back edge, … */
    PM_BRANCH_LOOP_NOT_TAKEN, /* … or not taken */
    PM_BRANCH_LEAVES_TAKEN,   /* a record an execution, of the only way out of a loop, which each of
                                 its iterations comes to once; taken it leaves, … */
    PM_BRANCH_LEAVES_NOT_TAKEN, /* … or not taken */
};
/* Whether a record is a visit of a loop. */
static inline int pm_branch_is_loop(uint32_t kind) {
    return kind == PM_BRANCH_LOOP_TAKEN || kind == PM_BRANCH_LOOP_NOT_TAKEN;
}
struct pm_probe_branch {
    uint64_t address; /* link-time, of the instruction */
    uint32_t block;   /* index in the module's structure */
    uint32_t kind;    /* enum pm_branch_kind */
};

/* A scope that events may name.  Events call it pm_probe_header.first_scope + its index here, which
   is its index in the module's own pm_structure. */
struct pm_probe_scope {
    uint32_t parent; /* index, PM_PROBE_NONE for the program */
    uint32_t kind;   /* enum pm_scope_kind */
    uint64_t name;   /* offset from the header of a NUL-terminated name */
    uint64_t file;   /* the same of the source file; an empty text if it is not known */
    uint32_t line;   /* first line; 0 unknown */
    uint32_t flags;  /* enum pm_probe_scope_flags */
};
enum pm_probe_scope_flags {
    PM_PROBE_SCOPE_PROBED = 1,   /* all its entries and exits are events */
    PM_PROBE_SCOPE_STARTS = 2,   /* measuring begins when it is entered … */
    PM_PROBE_SCOPE_STOPS = 4,    /* … and ends when it is left */
    PM_PROBE_SCOPE_ITERATES = 8, /* a loop each of whose iterations is an event */
};
#define PM_PROBE_NONE UINT32_MAX

/* What counter first_counter + index counts: how often control went along an edge. */
struct pm_probe_counter {
    uint64_t from, to; /* link-time addresses of basic blocks; 0: a caller */
    uint32_t scope;    /* index; the innermost that the edge leads to, else that it comes from */
    uint32_t reserved;
};

/* An old address whose int3 stands for a jump to `to`, because that does not fit or because nobody
   was expected there. */
struct pm_probe_trap {
    uint64_t from;        /* link-time virtual address in the old text */
    uint64_t to;          /* link-time virtual address in the new text */
    uint32_t is_expected; /* control is known to arrive there */
    uint32_t reserved;
};

/* A return address of a call that moved. */
struct pm_probe_return {
    uint32_t to;   /* in the new text, from the header on */
    uint32_t from; /* where the call returned to, from old_text on */
};

/* A call, or a jump that is one, that ends an interval: right before it PM_EVENT_INTERVAL_END
   happens. */
struct pm_probe_interval {
    uint32_t to; /* where the program goes on behind the event (PM_CB_RETURN), from the header on */
    uint32_t from; /* the end of the call, where it returned to, from old_text on */
    uint64_t name; /* offset from the header of what is called, NUL-terminated; empty: not known */
};

/* A range of old text whose code was moved. */
struct pm_probe_moved {
    uint64_t address, end; /* link-time, as it was */
    uint64_t name;         /* offset from the header of the routine's name, NUL-terminated */
};

/* Stands at the very start of the added segment (a readable PT_LOAD), where the runtime finds it by
   going over the program headers of each loaded module.  Offsets count from this header. */
struct pm_probe_header {
    char magic[8]; /* PM_PROBE_MAGIC */
    uint32_t version;
    uint32_t header_bytes;
    uint64_t
        structure_hash; /* pm_placement_hash: a raw file belongs to one placement of counters */
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: the file has none */
    uint32_t first_counter, n_counters;
    uint32_t first_reference, n_references;
    uint32_t n_groups, n_scopes, n_traps, has_memory_records;
    uint32_t first_scope, has_events; /* ranges of modules that one process may load are disjoint;
                                         has_events: there are probes */
    uint32_t first_address_record, n_address_records;
    uint32_t n_accesses, n_moved;
    uint32_t n_returns, n_intervals;
    uint32_t first_branch, n_branches;
    uint64_t branches;        /* struct pm_probe_branch [n_branches] */
    uint64_t references;      /* struct pm_probe_reference [n_references] */
    uint64_t address_records; /* struct pm_probe_address_record [n_address_records] */
    uint64_t accesses;        /* struct pm_probe_access [n_accesses] */
    uint64_t scopes;          /* struct pm_probe_scope [n_scopes] */
    uint64_t counters;        /* struct pm_probe_counter [n_counters]; 0: not described */
    uint64_t group_scopes; /* u32 [n_groups]: the index of the scope that a group's references are
                              directly in; 0: not described */
    uint64_t reference_blocks; /* u32 [n_references]: the first reference of the basic block that
                                  each is in; 0: not described */
    uint64_t traps;            /* struct pm_probe_trap [n_traps], ascending by `from` */
    uint64_t returns;          /* struct pm_probe_return [n_returns], ascending by `to` */
    uint64_t moved;            /* struct pm_probe_moved [n_moved], ascending by address */
    uint64_t intervals;        /* struct pm_probe_interval [n_intervals], ascending by `to` */
    uint64_t old_text, old_text_end; /* link-time addresses whose int3 belong to us */
    uint64_t header_address;         /* link-time virtual address of this header */
};

/* What the environment tells the runtime.  Nothing set: the program runs and writes nothing. */
#define PM_ENV_OUT "PMODEL_OUT"     /* folder for raw files; each process writes one, PID.raw */
#define PM_ENV_BLOCK "PMODEL_BLOCK" /* block sizes in bytes, commas between; none: no analysis */
/* larger block sizes for which distances below 16 are told apart */
#define PM_ENV_APART "PMODEL_APART"
/* relative width up to which neighbouring bins of a histogram are merged; "0": none are */
#define PM_ENV_BIN_WIDTH "PMODEL_BIN_WIDTH"
#define PM_ENV_SAMPLE "PMODEL_SAMPLE"         /* R: one of R blocks is watched */
#define PM_ENV_MAX_BLOCKS "PMODEL_MAX_BLOCKS" /* how many blocks are kept at once */
#define PM_MAX_SAMPLE (1u << 20)
#define PM_MOST_BLOCKS ((1u << 31) - 1)
#define PM_ENV_TIME "PMODEL_TIME" /* anything: events time loops and routines */
/* anything: for each reuse where from, and which loop carries it */
#define PM_ENV_CARRY "PMODEL_CARRY"
/* anything: for each group the bytes that it is the first to touch */
#define PM_ENV_BYTES "PMODEL_BYTES"
/* anything: stores by dirty distance, from which write-backs follow; access by access, without
   carriers or samples, and of all blocks */
#define PM_ENV_WRITE_BACKS "PMODEL_WRITE_BACKS"
/* N: what each basic block does with memory, with strides that are looked for in the last N
   addresses of the block, in place of reuse distances (runtime/profiler/) … */
#define PM_ENV_PROFILE "PMODEL_PROFILE"
/* … and which caches would have had it: machines with `;` between them, of each the levels from the
   core outwards with `,` between them, SIZE/LINE/WAYS in bytes and letters: replacement l (LRU), p
   (PLRU), f (FIFO) or r (random); P physically indexed, I inclusive, X exclusive, T stores are
   written through, N they do not allocate.  0 ways: fully associative */
#define PM_ENV_SIMULATE "PMODEL_SIMULATE"
/* anything: address records are analysed access by access, which takes longer and must give the
   same */
#define PM_ENV_ACCESSES "PMODEL_ACCESSES"
/* anything: intervals have histograms of their own; not under sampling */
#define PM_ENV_INTERVAL_MEMORY "PMODEL_INTERVAL_MEMORY"
/* anything: how predictable branches are, of a copy that stores their outcomes; and, of all blocks,
   which touches go on from one to the next */
#define PM_ENV_BEHAVIOUR "PMODEL_BEHAVIOUR"
#define PM_ENV_LIBRARIES "PMODEL_LIBRARIES" /* set: instrumented modules may be loaded later */
#define PM_ENV_SHARED "PMODEL_SHARED" /* anything: the interleaved stream of all threads, too */
#define PM_ENV_SECOND_CORE "PMODEL_SECOND_CORE" /* anything: analysis beside the program */
#define PM_ENV_CHECKPOINT                                                                          \
    "PMODEL_CHECKPOINT" /* seconds between two raw files of what ran so far                        \
                         */
#define PM_ENV_COMMUNICATION                                                                       \
    "PMODEL_COMMUNICATION"             /* anything: communication events are kept …              \
                                        */
#define PM_COMMUNICATION_TIMES "times" /* … with when their calls began and ended */
/* names of routines, semicolons between: traffic on sockets in their calls */
#define PM_ENV_SOCKETS "PMODEL_SOCKETS"
#define PM_ENV_HANDLER "PMODEL_HANDLER" /* shared object with a pmodel_handler, see that header */

#endif
