/* Seeds from a store: its structure, models, histograms, reuse patterns and strides, each as the
   blob that is stored and as what is packed in it.

       seeds STORE FOLDER      writes FOLDER/structure/…, FOLDER/models/…, FOLDER/histogram/…,
                               FOLDER/carried/…, FOLDER/strides/…

   The folders must be there.  Ends with 1 and a sentence if the store lacks one of the five. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/base/base.h"

enum { BLOB_HEADER = 24 };

static void fail(const char *what) {
    fprintf(stderr, "seeds: %s\n", what);
    exit(1);
}

static void write_seed(const char *folder, const char *name, const char *form, int number,
                       const void *bytes, size_t n_bytes) {
    char *path = pm_sprintf("%s/%s/%s-%d", folder, name, form, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes || fclose(file) != 0)
        fail("a seed cannot be written");
    free(path);
}

static void write_blob(const char *folder, const char *name, int number, const char *blob,
                       size_t n_bytes) {
    const char *packed = blob + BLOB_HEADER;
    if (n_bytes < BLOB_HEADER)
        fail("a blob is too short");
    size_t n_packed = n_bytes - BLOB_HEADER;
    unsigned long long room = ZSTD_getFrameContentSize(packed, n_packed);
    if (room > UINT32_MAX)
        fail("a blob does not state its size");
    char *content = pm_alloc(room, 1);
    if (ZSTD_decompress(content, room, packed, n_packed) != room)
        fail("a blob cannot be unpacked");
    write_seed(folder, name, "blob", number, blob, n_bytes);
    write_seed(folder, name, "content", number, content, room);
    free(content);
}

static void write_seeds(sqlite3 *db, const char *folder, const char *name) {
    char *sql = pm_sprintf("SELECT data FROM %s ORDER BY length(data) DESC LIMIT 20", name);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(db));
    int number = 0;
    while (sqlite3_step(statement) == SQLITE_ROW)
        write_blob(folder, name, number++, sqlite3_column_blob(statement, 0),
                   (size_t)sqlite3_column_bytes(statement, 0));
    if (number == 0)
        fail("the store lacks something that would be a seed");
    sqlite3_finalize(statement);
    free(sql);
}

int main(int argc, char **argv) {
    sqlite3 *db;
    if (argc != 3)
        fail("usage: seeds STORE FOLDER");
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(db));
    write_seeds(db, argv[2], "structure");
    write_seeds(db, argv[2], "models");
    write_seeds(db, argv[2], "histogram");
    write_seeds(db, argv[2], "carried");
    write_seeds(db, argv[2], "strides");
    sqlite3_close(db);
    return 0;
}
