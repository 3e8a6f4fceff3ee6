package readmodel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
)

// rows are rows in COPY's binary format. Written by hand, because pgx boxes
// every value and asks the server for the columns' types each time.
type rows struct {
	buf []byte
	n   int
}

var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

func (r *rows) reset() {
	r.buf = append(r.buf[:0], copyHeader...)
	r.n = 0
}

// beginRow starts a row of a given number of columns.
func (r *rows) beginRow(columns int) {
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(columns))
	r.n++
}

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

// epochMillis is 2000-01-01 UTC, from which the server counts microseconds.
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

// insert sends the rows; a row that is there already is an error.
func (r *rows) insert(ctx context.Context, tx pgx.Tx, table, columns string) error {
	if r.n == 0 {
		return nil
	}
	r.buf = binary.BigEndian.AppendUint16(r.buf, 0xffff)
	copyIn := "COPY " + table + " (" + columns + ") FROM STDIN BINARY"
	if _, err := tx.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(r.buf), copyIn); err != nil {
		return fmt.Errorf("readmodel: insert %s: %w", table, err)
	}
	return nil
}
