#ifndef CPOSTGRES_SHIM_H
#define CPOSTGRES_SHIM_H

#include <libpq-fe.h>

/* The fields of an error are macros of characters, which Swift cannot import. */
static inline char *cpostgres_sql_state(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline char *cpostgres_primary_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/* The default receiver prints notices to standard error. */
static inline void cpostgres_drop_notice(void *argument, const PGresult *result) {
    (void)argument;
    (void)result;
}

static inline void cpostgres_drop_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, cpostgres_drop_notice, (void *)0);
}

#endif
