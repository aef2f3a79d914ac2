/* The profile store: traffic on sockets (core/communication/communication.h). */
#include "core/store/private.h"

static bool put_sockets(struct pm_store *store, int64_t run, const struct pm_communication *of,
                        struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "INSERT INTO socket (run, number, process, text) VALUES (?,?,?,?)", err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < of->n_sockets; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, (int64_t)i);
        sqlite3_bind_int64(s, 3, of->sockets[i].process);
        sqlite3_bind_text(s, 4, of->sockets[i].text, -1, SQLITE_STATIC);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

/* Paths that were apart in the process may be one in the store: their rows are added up. */
bool pm_store_put_sockets(struct pm_store *store, int64_t run, const struct pm_communication *of,
                          const uint32_t *paths, struct pm_error *err) {
    if (!put_sockets(store, run, of, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(
        store,
        "INSERT INTO socket_traffic (run, process, thread, path, socket, sends, receives,"
        " bytes_sent, bytes_received) VALUES (?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT DO UPDATE SET sends = sends + excluded.sends,"
        " receives = receives + excluded.receives, bytes_sent = bytes_sent + excluded.bytes_sent,"
        " bytes_received = bytes_received + excluded.bytes_received",
        err);
    bool ok = s != NULL;
    for (size_t i = 0; ok && i < of->n_traffic; i++) {
        const struct pm_socket_traffic *traffic = &of->traffic[i];
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, traffic->process);
        sqlite3_bind_int64(s, 3, traffic->thread);
        sqlite3_bind_int64(s, 4, paths[traffic->path]);
        sqlite3_bind_int64(s, 5, traffic->socket);
        sqlite3_bind_int64(s, 6, (int64_t)traffic->sends);
        sqlite3_bind_int64(s, 7, (int64_t)traffic->receives);
        sqlite3_bind_int64(s, 8, (int64_t)traffic->bytes_sent);
        sqlite3_bind_int64(s, 9, (int64_t)traffic->bytes_received);
        ok = pm_store_step(store, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool read_sockets(struct pm_store *store, int64_t run, struct pm_communication *to,
                         struct pm_error *err) {
    sqlite3_stmt *s = pm_store_prepare(
        store, "SELECT process, text FROM socket WHERE run = ? ORDER BY number", err);
    bool ok = true;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while (pm_store_next_row(store, s, &ok, err)) {
        const char *text = (const char *)sqlite3_column_text(s, 1);
        *PM_PUSH(to, sockets) =
            (struct pm_socket){(uint32_t)sqlite3_column_int64(s, 0), pm_strdup(text ? text : "")};
    }
    sqlite3_finalize(s);
    return ok;
}

bool pm_store_read_sockets(struct pm_store *store, int64_t run, struct pm_communication *to,
                           struct pm_error *err) {
    bool has;
    if (!pm_store_has_table(store, "socket_traffic", &has, err))
        return false;
    if (!has) /* a store from before there was such a table */
        return true;
    if (!read_sockets(store, run, to, err))
        return false;
    sqlite3_stmt *s = pm_store_prepare(store,
                                       "SELECT process, thread, path, socket, sends, receives,"
                                       " bytes_sent, bytes_received FROM socket_traffic"
                                       " WHERE run = ? ORDER BY process, thread, path, socket",
                                       err);
    bool ok = true;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    while (pm_store_next_row(store, s, &ok, err))
        *PM_PUSH(to, traffic) = (struct pm_socket_traffic){
            .process = (uint32_t)sqlite3_column_int64(s, 0),
            .thread = (uint32_t)sqlite3_column_int64(s, 1),
            .path = (uint32_t)sqlite3_column_int64(s, 2),
            .socket = (uint32_t)sqlite3_column_int64(s, 3),
            .sends = (uint64_t)sqlite3_column_int64(s, 4),
            .receives = (uint64_t)sqlite3_column_int64(s, 5),
            .bytes_sent = (uint64_t)sqlite3_column_int64(s, 6),
            .bytes_received = (uint64_t)sqlite3_column_int64(s, 7),
        };
    sqlite3_finalize(s);
    return ok;
}
