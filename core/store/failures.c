/* What SQLite refuses, as a sentence that names the store and what to do.  SQLite's own words are
   about databases, which a store is only for those who wrote it. */
#include <errno.h>
#include <string.h>

#include "core/base/base.h"
#include "core/store/private.h"

/* Why the system refused; SQLite keeps its errno. */
static bool fail_system(struct pm_store *store, const char *what, struct pm_error *err) {
    int number = store->db ? sqlite3_system_errno(store->db) : 0;
    if (number == 0) {
        pm_fail(err, "%s: %s: is its folder there, and are both yours to write?", store->path,
                what);
        return false;
    }
    errno = number;
    return pm_fail_errno(err, "%s: %s", store->path, what);
}

/* What went wrong in the system, and is no fault of the file. */
static bool fail_for_now(struct pm_store *store, const char *what, struct pm_error *err) {
    pm_fail(err, "%s: %s", store->path, what);
    if (err)
        err->kind = PM_ERROR_SYSTEM;
    return false;
}

bool pm_store_fail(struct pm_store *store, struct pm_error *err) {
    int code = store->db ? sqlite3_errcode(store->db) : SQLITE_NOMEM;
    switch (code & 0xff) { /* above it are details */
    case SQLITE_CANTOPEN:
        return fail_system(store, "the store cannot be opened", err);
    case SQLITE_IOERR:
        return fail_system(store, "the store cannot be read or written", err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return fail_for_now(store,
                            "the store cannot be written: make the file and its folder writable, "
                            "or work with a copy",
                            err);
    case SQLITE_FULL:
        return fail_for_now(store,
                            "there is no room on the disk: nothing was added to the store; free "
                            "some and call again",
                            err);
    case SQLITE_NOMEM:
        return fail_for_now(store, "there is not enough memory for the store", err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail_for_now(store,
                            "another process has been writing to the store for a minute: call "
                            "again when it has ended",
                            err);
    case SQLITE_NOTADB:
        return pm_fail(err, "%s: not a pmodel store (make one with `pmodel run -o NAME.pmdb`)",
                       store->path);
    case SQLITE_TOOBIG:
        return pm_fail(err,
                       "%s: there is more to keep of one run than a store can: measure fewer "
                       "block sizes (--block), or part of the program (--include)",
                       store->path);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* a table is missing */
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_FORMAT:
        return pm_fail(err,
                       "%s: the store is damaged: take a copy of it from before, or measure again "
                       "into a new one",
                       store->path);
    default:
        return pm_fail(err, "%s: the store cannot be used (error %d of SQLite)", store->path, code);
    }
}
