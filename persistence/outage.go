// Package persistence has what the packages below it share: how to tell an outage of the database or the store
// of files from a mistake, how to connect, and how to draw identifiers. Nothing in it has to be stopped but
// Valve.Watch, which ends with its context.
package persistence

import (
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/minio/minio-go/v7"
)

// Outage reports whether an error comes from the database or the store of files being unavailable,
// and not from the caller: the connection is gone or can't be made, the server lacks resources, is
// shutting down, is on standby or broke a deadlock, or our own disk is full. The same call may
// succeed later.
func Outage(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isTemporary(pg.Code)
	}
	if s3, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return s3.StatusCode >= http.StatusInternalServerError || s3.StatusCode == http.StatusTooManyRequests
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrAway)
}

// isTemporary reports whether a SQLSTATE is of a class of temporary errors: connection, transaction
// state, rollback, resources, state of objects, operator, system.
func isTemporary(code string) bool {
	if len(code) < 2 {
		return false
	}
	switch code[:2] {
	case "08", "25", "40", "53", "55", "57", "58":
		return true
	default:
		return false
	}
}
