/* Memory accesses in the words that the compiler's plugin, the lifter, the runtime and the models
   share: what an instruction does with memory, how its addresses follow from what is recorded of
   it, and how they move from iteration to iteration. */
#ifndef PM_ACCESS_H
#define PM_ACCESS_H

enum pm_access { PM_ACCESS_LOAD = 1, PM_ACCESS_STORE = 2, PM_ACCESS_BOTH = 3 };

/* How the addresses of one execution follow from a record, and the payload behind it.  The payload
   is a multiple of 16 bytes, zero padded; a rewritten instruction stores it before it executes. */
enum pm_access_kind {
    PM_ACCESS_PLAIN = 0,  /* size_bytes at address; no payload */
    PM_ACCESS_STRING = 1, /* rep string operation: payload {u64 count of elements (%rcx), u64 flags
                            register or 0}: element i at address + i·size_bytes (− if the direction
                            flag, bit 10 of the second word, is set).  Of an instruction with two
                            operands the record of the second, the next reference, follows at once:
                            their elements take turns */
    PM_ACCESS_MASK_K = 2, /* AVX-512 masked: payload {u64 mask, 0}: element i where bit i is set */
    PM_ACCESS_MASK_V = 3, /* AVX masked: payload 32 bytes of mask vector: element i where the sign
                            bit of its lane is set */
    PM_ACCESS_GATHER_K = 4, /* gather or scatter, AVX-512: payload {u64 mask, 0}, then 64 bytes of
                              index vector: element i at address + index[i]·scale, i set in mask */
    PM_ACCESS_GATHER_V = 5, /* gather, AVX2: payload 32 bytes of mask, then 32 of index vector */
    PM_ACCESS_PACKED_K = 6, /* compressing store, expanding load: payload {u64 mask, 0}: as many
                              elements from the address on as bits are set */
    PM_ACCESS_CALLED = 7,   /* by a called routine: payload {u64 bytes, u64 second address}, {u64
                              second reference or PM_PROBE_NONE, 0}: as many bytes at both */
    PM_ACCESS_BIT = 8,      /* a bit by its number: payload {u64 number, 0}: of a bit string at the
                              address the element of size_bytes that holds it.  The number is signed
                              and as wide as an element */
};

/* What a routine of the C library accesses, by its arguments.  Of text, as far as the C standard
   says that it is looked at; the zero at its end is of it. */
enum pm_called {
    PM_CALLED_COPY = 1,                  /* (to, from, n) */
    PM_CALLED_COPY_BACK = 2,             /* (from, to, n) */
    PM_CALLED_FILL = 3,                  /* (to, value, n) */
    PM_CALLED_CLEAR = 4,                 /* (to, n) */
    PM_CALLED_COMPARE = 5,               /* (a, b, n): up to the first difference */
    PM_CALLED_FIND = 6,                  /* (in, value, n): up to the first */
    PM_CALLED_FIND_LAST = 7,             /* (in, value, n): from the last on */
    PM_CALLED_FIND_ALWAYS = 8,           /* (in, value) */
    PM_CALLED_TEXT = 9,                  /* (text): all of it */
    PM_CALLED_TEXT_AT_MOST = 10,         /* (text, n) */
    PM_CALLED_FIND_IN_TEXT = 11,         /* (text, value) */
    PM_CALLED_COPY_TEXT = 12,            /* (to, from) */
    PM_CALLED_FILL_TEXT = 13,            /* (to, from, n): text of at most n, then zeros up to n */
    PM_CALLED_APPEND = 14,               /* (to, from): behind the text at `to` */
    PM_CALLED_APPEND_AT_MOST = 15,       /* (to, from, n) */
    PM_CALLED_COMPARE_TEXT = 16,         /* (a, b) */
    PM_CALLED_COMPARE_TEXT_AT_MOST = 17, /* (a, b, n) */
    /* No calls, but found out in the same way: string instructions that stop early. */
    PM_CALLED_REPE_CMPS = 18,  /* up to the first two that differ */
    PM_CALLED_REPNE_CMPS = 19, /* up to the first two that are equal */
    PM_CALLED_REPE_SCAS = 20,  /* up to the first that %rax's is not */
    PM_CALLED_REPNE_SCAS = 21, /* up to the first that %rax's is */
    /* No access: what the thread did before comes before what others do after, and is to be
       analysed in that order (PM_ENV_SHARED). */
    PM_CALLED_SYNCHRONISE = 22,
};

/* How an address moves from one iteration of a loop to the next. */
enum pm_stride_kind {
    PM_STRIDE_UNKNOWN = 0,
    PM_STRIDE_CONSTANT = 1,
    PM_STRIDE_SYMBOLIC = 2, /* invariant in its loop, value known at run time only */
    PM_STRIDE_INDIRECT = 3, /* depends on a value loaded from memory that moves in the loop */
};

#endif
