package readmodel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
)

// rows are rows in the binary format of Postgres' COPY. We write the format ourselves, because pgx
// would allocate memory for each value, and would ask the server for the types of the columns each
// time.
type rows struct {
	// buf begins with the header, and then has the rows that were begun. n counts these rows.
	buf []byte
	n   int
}

// copyHeader begins every stream of this format: a signature, no flags, and no extension.
var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// reset drops all rows, and keeps the memory for the next ones.
func (r *rows) reset() {
	r.buf = append(r.buf[:0], copyHeader...)
	r.n = 0
}

// beginRow starts a row. Exactly as many values must follow, each in the type of its column, or the
// server refuses all rows.
func (r *rows) beginRow(columns int) {
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(columns))
	r.n++
}

// A value is its length in bytes, in four bytes, and then its bytes. All numbers are big-endian.
func (r *rows) uuid(id engine.ID) {
	r.buf = append(binary.BigEndian.AppendUint32(r.buf, uint32(len(id))), id[:]...)
}

func (r *rows) int2(v int16) {
	r.buf = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(r.buf, 2), uint16(v))
}

func (r *rows) int4(v int32) {
	r.buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(r.buf, 4), uint32(v))
}

func (r *rows) int8(v int64) {
	r.buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(r.buf, 8), uint64(v))
}

// epochMillis is 2000-01-01 UTC in unix milliseconds. The server counts the microseconds of a timestamp from then on.
const epochMillis = 946_684_800_000

// time writes unix milliseconds as a timestamptz.
func (r *rows) time(millis int64) { r.int8((millis - epochMillis) * 1000) }

func (r *rows) text(s string) {
	s = text(s)
	r.buf = append(binary.BigEndian.AppendUint32(r.buf, uint32(len(s))), s...)
}

func (r *rows) bytes(b []byte) {
	r.buf = append(binary.BigEndian.AppendUint32(r.buf, uint32(len(b))), b...)
}

// insert sends the rows to a table. columns names the columns in the order in which each row has
// them. A row whose key is in the table already makes the whole statement fail.
func (r *rows) insert(ctx context.Context, tx pgx.Tx, table, columns string) error {
	if r.n == 0 {
		return nil
	}
	// This number, in the place of a row's count of columns, ends the stream.
	r.buf = binary.BigEndian.AppendUint16(r.buf, 0xffff)
	copyIn := "COPY " + table + " (" + columns + ") FROM STDIN BINARY"
	if _, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(r.buf), copyIn); err != nil {
		return fmt.Errorf("readmodel: insert %s: %w", table, err)
	}
	return nil
}
