/* The raw file (core/raw_file.h) of the process: built in memory, then put into a folder, whole or
   not at all.  Memory comes from mmap, file operations are plain system calls.

   content.c asks everybody who measured something for his part: nonlocal_exits and timers add their
   sections themselves. */
#ifndef PM_RUNTIME_RAW_H
#define PM_RUNTIME_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_raw_builder {
    char *bytes;
    size_t used, room;
    size_t section; /* where the open section's header is */
    uint32_t n_sections;
    bool failed; /* out of memory */
};

/* BUILDER is zeroed before. */
void pm_raw_begin(struct pm_raw_builder *builder);
void pm_raw_builder_free(struct pm_raw_builder *builder);

/* A section: begin, any number of additions, end. */
void pm_raw_section_begin(struct pm_raw_builder *builder, uint32_t tag);
void pm_raw_add(struct pm_raw_builder *builder, const void *bytes, size_t count);
void pm_raw_add_u64(struct pm_raw_builder *builder, uint64_t value);
void pm_raw_add_u32(struct pm_raw_builder *builder, uint32_t value);
void pm_raw_section_end(struct pm_raw_builder *builder);

/* Completes header and checksum and writes FOLDER/ID.raw; if that exists, as after an exec or from
   another machine, ID-2.raw and so on.  NAME, if not NULL, receives the path, or "" if nothing
   could be written; then FOLDER/ID.error says why, if at least that is possible. */
void pm_raw_save(struct pm_raw_builder *builder, const char *folder, uint64_t id, char *name,
                 size_t name_size);

/* The same for a file that replaces the one before: NAME is FOLDER/ID.checkpoint, or "" the first
   time, and receives the path.  Where it cannot be written nothing changes. */
void pm_raw_save_again(struct pm_raw_builder *builder, const char *folder, uint64_t id, char *name,
                       size_t name_size);

/* Into an open section the histogram of GROUP in MODULE, or a part of it, and the BYTES that the
   group was the first to touch. */
struct pm_reuse_result;
struct pm_raw_bin;
void pm_raw_add_histogram(struct pm_raw_builder *builder, uint32_t module, uint64_t thread,
                          uint32_t group, uint64_t bytes, const struct pm_reuse_result *result,
                          const struct pm_raw_bin *bins);

struct pm_raw_run {
    uint64_t process_id, parent_id, start_unix_ns, wall_ns, cpu_ns;
    uint64_t flags; /* enum pm_raw_flags */
};

/* All sections: run, modules, counters and histograms of all threads, notes. */
void pm_raw_add_content(struct pm_raw_builder *builder, const struct pm_raw_run *run);

/* ---- checkpoints (checkpoints.c) ---------------------------------------------------------------

   PM_ENV_CHECKPOINT: every so many seconds a raw file of what the process measured until then,
   FOLDER/ID.checkpoint, in place of the one before, whole or not at all.  What is lost when the
   process is killed is what came after it. */

/* To be called once, at the begin of the process, if raw files are to be written. */
void pm_checkpoints_begin(void);

/* In the child of a fork: it has checkpoints of its own. */
void pm_checkpoints_after_fork(void);

/* Before the raw file itself is written: no checkpoint is being written from here on, until
   pm_checkpoints_go_on. */
void pm_checkpoints_stop(void);
void pm_checkpoints_go_on(void);

/* The raw file is there, or could not be written: the last checkpoint goes. */
void pm_checkpoints_remove(void);

#endif
