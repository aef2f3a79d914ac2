/* What `.pmodel` says, read and checked: flat arrays over all contributions.  Names and numbers are
   those of core/pmodel_section.h; places in the code are link-time addresses here.  Strings lie in
   the image; NULL is "not known". */
#ifndef PM_BINLIFT_METADATA_H
#define PM_BINLIFT_METADATA_H

#include "binlift/lifted.h"
#include "core/pmodel_section.h"

struct pm_metadata_loop {
    uint32_t number, parent, depth, line, line_last, unroll, flags;
    const char *file, *trip_count, *variable;
};

struct pm_metadata_object {
    uint32_t number, kind;
    const char *name, *type;
};

struct pm_metadata_level {
    uint32_t loop, kind; /* kind: enum pm_stride_kind */
    int64_t bytes;
    const char *expression;
};

struct pm_metadata_reference {
    uint32_t number, loop, object, flags, size_bytes, line;
    const char *text, *file;
    uint32_t first_level, n_levels;
};

struct pm_metadata_pair { /* may touch the same bytes */
    uint32_t low, high;   /* numbers of references, low < high */
};

struct pm_metadata_block {
    uint64_t address;
    uint32_t number, loop;
};

struct pm_metadata_edge {     /* of the final CFG, between the compiler's numbers of basic blocks */
    uint32_t from, to, flags; /* flags: enum pm_cfg_edge_flags */
};

struct pm_metadata_memory {
    uint64_t address;
    uint32_t contribution; /* index */
    uint32_t order;        /* among the records of the section */
    uint32_t reference, loop;
    uint8_t operand_class, access;
};

struct pm_metadata_table {
    uint64_t address;
    uint32_t first_target, n_targets;
};

/* One function.  Its loops, objects and references are ranges of the arrays below. */
struct pm_contribution {
    uint64_t base, cold_base;
    uint32_t flags;
    bool used; /* false: the code was dropped, or another contribution has the same base */
    const char *compiler, *options;
    uint32_t first_loop, n_loops;
    uint32_t first_object, n_objects;
    uint32_t first_reference, n_references;
    uint32_t first_block, n_blocks;
    uint32_t first_edge, n_edges;
    uint32_t first_pair, n_pairs;
};

/* Where a basic block of a used contribution starts. */
struct pm_metadata_place {
    uint64_t address;
    uint32_t contribution, block; /* indices */
};

struct pm_metadata {
    PM_ARRAY(struct pm_contribution, contributions);
    PM_ARRAY(struct pm_metadata_loop, loops);
    PM_ARRAY(struct pm_metadata_object, objects);
    PM_ARRAY(struct pm_metadata_level, levels);
    PM_ARRAY(struct pm_metadata_reference, references);
    PM_ARRAY(struct pm_metadata_pair, pairs); /* of each contribution, ascending */
    PM_ARRAY(struct pm_metadata_block, blocks);
    PM_ARRAY(struct pm_metadata_edge, edges);
    PM_ARRAY(struct pm_metadata_memory, memory); /* of used contributions, by address and order */
    PM_ARRAY(struct pm_metadata_table, tables);  /* by address */
    PM_ARRAY(uint64_t, table_targets);
    PM_ARRAY(uint64_t, no_returns); /* ascending */

    PM_ARRAY(struct pm_metadata_place, places); /* by address, then in the layout's order */

    /* filled by pm_join_metadata */
    uint32_t *scope_loop; /* scope → index in `loops`, PM_NONE */
};

/* The loop, object or reference with this NUMBER in a contribution; NULL if there is none. */
const struct pm_metadata_loop *pm_metadata_find_loop(const struct pm_metadata *metadata,
                                                     const struct pm_contribution *contribution,
                                                     uint32_t number);
const struct pm_metadata_object *pm_metadata_find_object(const struct pm_metadata *metadata,
                                                         const struct pm_contribution *contribution,
                                                         uint32_t number);
const struct pm_metadata_reference *
pm_metadata_find_reference(const struct pm_metadata *metadata,
                           const struct pm_contribution *contribution, uint32_t number);

/* What the compiler says of the references A and B, which are directly in LOOP, over all iterations
   of one execution of it. */
enum pm_alias {
    PM_ALIAS_UNKNOWN,     /* nothing is said: no facts for this loop, two loads, or A is B */
    PM_ALIAS_MAY,         /* it could not prove them apart */
    PM_ALIAS_INDEPENDENT, /* they never touch the same bytes */
};
enum pm_alias pm_metadata_may_alias(const struct pm_metadata *metadata,
                                    const struct pm_contribution *contribution, uint32_t loop,
                                    uint32_t a, uint32_t b);

/* Memory records of the instruction at ADDRESS: the first, and how many follow each other. */
const struct pm_metadata_memory *pm_metadata_memory_at(const struct pm_metadata *metadata,
                                                       uint64_t address, size_t *n);

/* ---- for the passes ------------------------------------------------------------------------- */

/* metadata.c: `.pmodel`, whole and checked; not called if metadata is to be ignored. */
bool pm_read_metadata(struct pm_lifted *lifted, struct pm_error *err);
void pm_free_metadata(struct pm_metadata *metadata); /* NULL is fine */
/* match_loops.c: metadata → scopes; then folds loops and assigns keys, with metadata or not. */
bool pm_join_metadata(struct pm_lifted *lifted, struct pm_error *err);

/* What `.pmodel` tells the CFG, after pm_read_metadata; without metadata nothing is known. */
/* The call instruction at ADDRESS does not return. */
bool pm_metadata_no_return(const struct pm_lifted *lifted, uint64_t address);
/* The indirect jump at ADDRESS goes to *TARGETS (N, in table order; owned by the metadata). */
bool pm_metadata_table(const struct pm_lifted *lifted, uint64_t address, const uint64_t **targets,
                       size_t *n);

/* Does control go on behind the call K? */
enum pm_metadata_flow { PM_FLOW_NOT_KNOWN, PM_FLOW_GOES_ON, PM_FLOW_STOPS };
enum pm_metadata_flow pm_metadata_flow(const struct pm_lifted *lifted, uint32_t k);
/* Where the indirect jump K goes by the compiler's CFG: *TARGETS are appended to; *LEAVES: out of
   the routine.  False: not known. */
bool pm_metadata_jump(const struct pm_lifted *lifted, uint32_t k, struct pm_addresses *targets,
                      bool *leaves);

/* ---- parts of pm_read_metadata --------------------------------------------------------------- */

/* Appends the contributions in BYTES, a `.pmodel` section of the file PATH. */
bool pm_metadata_parse(struct pm_metadata *metadata, const char *path, const uint8_t *bytes,
                       size_t n_bytes, struct pm_error *err);
/* Sorts what was parsed, and leaves out duplicates.  Once, after the last pm_metadata_parse. */
void pm_metadata_index(struct pm_metadata *metadata);
/* Where the basic block really starts that the compiler says to start at ADDRESS: at the mark of an
   indirect entry (endbr64) right before it, if there is one. */
uint64_t pm_metadata_block_start(const struct pm_lifted *lifted, uint64_t address);
void pm_metadata_index_places(struct pm_metadata *metadata); /* block_ends.c: a part of it */

#endif
