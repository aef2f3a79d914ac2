/* Builds and saves raw files; see raw.h. */
#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include "runtime/raw_output/raw_output.h"

#include <fcntl.h>
#include <string.h>
#include <xxhash.h>

#include "core/raw_file.h"
#include "runtime/system.h"
#include "runtime/append_text.h"

/* ---- content --------------------------------------------------------------------------------- */

enum { FIRST_ROOM = 1 << 16 };

void pm_raw_add(struct pm_raw_builder *builder, const void *bytes, size_t count) {
    size_t room = builder->room ? builder->room : FIRST_ROOM;
    while (room < builder->used + count)
        room *= 2;
    if (room != builder->room && !builder->failed) {
        builder->failed = !pm_mgrow(&builder->bytes, builder->room, room);
        if (!builder->failed)
            builder->room = room;
    }
    if (builder->failed)
        return;
    memcpy(builder->bytes + builder->used, bytes, count);
    builder->used += count;
}

void pm_raw_add_u64(struct pm_raw_builder *builder, uint64_t value) {
    pm_raw_add(builder, &value, sizeof value);
}

void pm_raw_add_u32(struct pm_raw_builder *builder, uint32_t value) {
    pm_raw_add(builder, &value, sizeof value);
}

void pm_raw_begin(struct pm_raw_builder *builder) {
    struct pm_raw_header header = {.version = PM_RAW_VERSION};
    memcpy(header.magic, PM_RAW_MAGIC, sizeof header.magic);
    pm_raw_add(builder, &header, sizeof header);
}

void pm_raw_section_begin(struct pm_raw_builder *builder, uint32_t tag) {
    struct pm_raw_section section = {.tag = tag};
    builder->section = builder->used;
    builder->n_sections++;
    pm_raw_add(builder, &section, sizeof section);
}

void pm_raw_section_end(struct pm_raw_builder *builder) {
    static const char zeros[8];
    if (builder->failed)
        return;
    uint64_t bytes = builder->used - builder->section - sizeof(struct pm_raw_section);
    memcpy(builder->bytes + builder->section + offsetof(struct pm_raw_section, bytes), &bytes, 8);
    pm_raw_add(builder, zeros, -bytes & 7);
}

static void complete(struct pm_raw_builder *builder) {
    if (builder->failed)
        return;
    uint64_t file_bytes = builder->used + 8;
    memcpy(builder->bytes + offsetof(struct pm_raw_header, n_sections), &builder->n_sections, 4);
    memcpy(builder->bytes + offsetof(struct pm_raw_header, file_bytes), &file_bytes, 8);
    pm_raw_add_u64(builder, XXH3_64bits(builder->bytes, builder->used));
}

void pm_raw_builder_free(struct pm_raw_builder *builder) {
    pm_munmap(builder->bytes, builder->room);
}

/* ---- file ------------------------------------------------------------------------------------ */

enum { PATH_SIZE = 4400, MOST_NAMES = 10000 };

/* FOLDER/ID[-ORDINAL]ENDING; ordinal 1 has none. */
static void make_path(char *path, const char *folder, uint64_t id, unsigned ordinal,
                      const char *ending) {
    struct pm_text text = {path, PATH_SIZE, 0};
    pm_text_add(&text, folder);
    pm_text_add(&text, "/");
    pm_text_number(&text, id);
    if (ordinal > 1) {
        pm_text_add(&text, "-");
        pm_text_number(&text, ordinal);
    }
    pm_text_add(&text, ending);
}

static long write_all(long file, const char *bytes, size_t count) {
    enum { INTERRUPTED = -4 };
    while (count) {
        long written = pm_syscall3(SYS_write, file, (long)bytes, (long)count);
        if (written == INTERRUPTED)
            continue;
        if (written <= 0)
            return written ? written : -5 /* EIO */;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

/* Creates a file that did not exist, with these bytes, on disk.  0 or negative errno. */
static long write_new_file(const char *path, const char *bytes, size_t count) {
    long file = pm_syscall3(SYS_open, (long)path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0)
        return file;
    long error = write_all(file, bytes, count);
    long synced = error ? 0 : pm_syscall3(SYS_fsync, file, 0, 0);
    enum { NOT_SUPPORTED = -22 }; /* some file systems have no fsync */
    if (synced < 0 && synced != NOT_SUPPORTED)
        error = synced;
    long closed = pm_syscall3(SYS_close, file, 0, 0);
    if (!error && closed < 0)
        error = closed;
    if (error)
        pm_syscall3(SYS_unlink, (long)path, 0, 0);
    return error;
}

/* Renames without replacing: -EEXIST if TO is there. */
static long rename_new(const char *from, const char *to) {
    enum { RENAME_NO_REPLACE = 1 };
    long error =
        pm_syscall(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, RENAME_NO_REPLACE, 0);
    if (error != -22 /* EINVAL: this file system cannot */ && error != -38 /* ENOSYS */)
        return error;
    error = pm_syscall3(SYS_link, (long)from, (long)to, 0);
    if (error == 0)
        pm_syscall3(SYS_unlink, (long)from, 0, 0);
    return error;
}

enum { EXISTS = -17 };

/* A new file with these bytes, under a name that nobody reads. */
static long write_temporary(const struct pm_raw_builder *builder, const char *folder, uint64_t id,
                            char *path) {
    long error = EXISTS;
    for (unsigned ordinal = 1; error == EXISTS && ordinal < MOST_NAMES; ordinal++) {
        make_path(path, folder, id, ordinal, ".tmp");
        error = write_new_file(path, builder->bytes, builder->used);
    }
    return error;
}

/* Gives it a name that was free, with that ENDING: PATH. */
static long name_it(const char *temporary, const char *folder, uint64_t id, const char *ending,
                    char *path) {
    long error = EXISTS;
    for (unsigned ordinal = 1; error == EXISTS && ordinal < MOST_NAMES; ordinal++) {
        make_path(path, folder, id, ordinal, ending);
        error = rename_new(temporary, path);
    }
    return error;
}

static long save(const struct pm_raw_builder *builder, const char *folder, uint64_t id,
                 char *path) {
    char temporary[PATH_SIZE];
    long error = write_temporary(builder, folder, id, temporary);
    if (error)
        return error;
    error = name_it(temporary, folder, id, ".raw", path);
    if (error)
        pm_syscall3(SYS_unlink, (long)temporary, 0, 0);
    return error;
}

/* PATH: of the file that it replaces, or empty. */
static void save_again(const struct pm_raw_builder *builder, const char *folder, uint64_t id,
                       char *path) {
    char temporary[PATH_SIZE];
    if (write_temporary(builder, folder, id, temporary) != 0)
        return;
    if (*path ? pm_syscall3(SYS_rename, (long)temporary, (long)path, 0)
              : name_it(temporary, folder, id, ".checkpoint", path))
        pm_syscall3(SYS_unlink, (long)temporary, 0, 0);
}

static void save_reason(const char *folder, uint64_t id, long error) {
    char path[PATH_SIZE], line[256];
    struct pm_text text = {line, sizeof line, 0};
    pm_text_add(&text, "the raw file of process ");
    pm_text_number(&text, id);
    if (error == 0) {
        pm_text_add(&text, " does not fit into memory\n");
    } else {
        const char *reason = strerrordesc_np((int)-error);
        pm_text_add(&text, " could not be written: ");
        pm_text_add(&text, reason ? reason : "unknown error");
        pm_text_add(&text, "\n");
    }
    long result = EXISTS;
    for (unsigned ordinal = 1; result == EXISTS && ordinal < MOST_NAMES; ordinal++) {
        make_path(path, folder, id, ordinal, ".error");
        result = write_new_file(path, line, text.used);
    }
}

/* A write beyond RLIMIT_FSIZE leaves a SIGXFSZ behind, blocked as all signals are now; take it away
   unless the program had one pending itself. */
static bool size_signal_is_pending(void) {
    uint64_t pending = 0;
    pm_syscall3(SYS_rt_sigpending, (long)&pending, sizeof pending, 0);
    return pending >> (25 - 1) & 1;
}

static void take_size_signal(void) {
    uint64_t only = 1ull << (25 - 1);
    long no_time[2] = {0, 0};
    pm_syscall(SYS_rt_sigtimedwait, (long)&only, 0, (long)no_time, sizeof only, 0, 0);
}

static void copy_name(char *name, size_t name_size, const char *path) {
    struct pm_text text = {name, name_size, 0};
    pm_text_add(&text, path);
}

void pm_raw_save(struct pm_raw_builder *builder, const char *folder, uint64_t id, char *name,
                 size_t name_size) {
    char path[PATH_SIZE] = "";
    complete(builder);
    bool was_pending = size_signal_is_pending();
    long error = builder->failed ? 0 : save(builder, folder, id, path);
    if (!was_pending && size_signal_is_pending())
        take_size_signal();
    bool saved = !builder->failed && error == 0;
    if (!saved)
        save_reason(folder, id, error);
    if (name)
        copy_name(name, name_size, saved ? path : "");
}

void pm_raw_save_again(struct pm_raw_builder *builder, const char *folder, uint64_t id, char *name,
                       size_t name_size) {
    char path[PATH_SIZE] = "";
    copy_name(path, sizeof path, name);
    complete(builder);
    if (!builder->failed)
        save_again(builder, folder, id, path);
    copy_name(name, name_size, path);
}
