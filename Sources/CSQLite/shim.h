#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast of -1 to a function pointer, a macro that Swift cannot import. */
static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* sqlite3_db_config takes variable arguments, which Swift cannot pass. */
static inline int csqlite_keep_log_on_close(sqlite3 *connection, int is_kept) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept, (int *)0);
}

/* sqlite3_config takes variable arguments, too. The cache of a connection then allocates each page when it
   is needed, and not 20 pages at once. Call this before the first connection. */
static inline int csqlite_allocate_pages_singly(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

#endif
