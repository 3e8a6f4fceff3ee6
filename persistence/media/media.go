// Package media owns the plain table of the files that organizations have uploaded: what each file
// is, its owner, and the room that it takes. The bytes are in a store of files (persistence/blobs)
// under the file's number. The request handlers (the packages in edge) call it. It has no
// goroutine.
package media

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence"
)

// ErrQuota says that the organization has no room left for the file.
var ErrQuota = errors.New("media: the organization has no room for the file")

// File is the row of one uploaded file.
type File struct {
	ID        int64
	Org       int64
	Kind      string
	Name      string // the name that the uploader gave it
	Type      string // media type
	Bytes     int64
	Variants  map[string]Variant // by name; empty if the file is not an image
	Sum       []byte             // SHA-256 of the file
	Private   bool
	Ready     bool
	CreatedAt time.Time
}

// Variant is an image in another size or format, and how many bytes and pixels it has.
type Variant struct {
	Bytes  int64 `json:"bytes"`
	Width  int   `json:"width"` // pixels
	Height int   `json:"height"`
}

// Room returns how many bytes the file counts for in the organization's quota. An image counts with
// the bytes of its variants only.
func (f *File) Room() int64 {
	if len(f.Variants) == 0 {
		return f.Bytes
	}
	room := int64(0)
	for _, v := range f.Variants {
		room += v.Bytes
	}
	return room
}

// Store reads and writes files' rows.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// The order of the columns is the order in which scan reads them.
const selected = `SELECT id, org, kind, filename, mime, bytes, variants, sha256, private, ready, created_at FROM media `

// Begin makes the row of a file whose bytes are about to be stored. It returns ErrQuota if the
// organization's files would then take more than quota bytes. A repeated command finds the row that
// it has made, whether the file is ready or not.
func (s *Store) Begin(ctx context.Context, command [16]byte, quota int64, f *File) (*File, error) {
	var made *File
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		// The lock makes Begins of one organization wait for one another, so that only one at a
		// time adds up the bytes.
		if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, f.Org); err != nil {
			return err
		}
		// A repeated command must not count its own file against the quota.
		if made, err = one(ctx, tx, selected+`WHERE command = $1 AND org = $2`, command, f.Org); err != nil || made != nil {
			return err
		}
		used, err := s.used(ctx, tx, f.Org)
		if err != nil {
			return err
		}
		if used+f.Room() > quota {
			return ErrQuota
		}
		variants := f.Variants
		if variants == nil {
			variants = map[string]Variant{}
		}
		if _, err = tx.Exec(ctx, `INSERT INTO media (id, org, command, kind, filename, mime, bytes, variants, room, sha256, private)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			drawID(), f.Org, command, f.Kind, f.Name, f.Type, f.Bytes, variants, f.Room(), f.Sum, f.Private); err != nil {
			return err
		}
		made, err = one(ctx, tx, selected+`WHERE command = $1`, command)
		return err
	})
	if err != nil && !errors.Is(err, ErrQuota) {
		return nil, fmt.Errorf("begin media: %w", err)
	}
	return made, err
}

// Used returns how many bytes the organization's files take.
func (s *Store) Used(ctx context.Context, org int64) (int64, error) {
	used, err := s.used(ctx, s.pool, org)
	if err != nil {
		return 0, fmt.Errorf("room of media: %w", err)
	}
	return used, nil
}

// used does the work of Used, in a transaction or outside of one.
func (s *Store) used(ctx context.Context, q persistence.Querier, org int64) (used int64, err error) {
	rows, _ := q.Query(ctx, `SELECT coalesce(sum(room), 0)::bigint FROM media WHERE org = $1`, org) // CollectExactlyOneRow returns its error
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
}

// drawID draws a random number below 2^52. Nobody can guess it, and every JSON reader keeps it exactly, because
// a float holds whole numbers of up to 53 bits.
func drawID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:])                                  // never fails
	return int64(binary.BigEndian.Uint64(b[:])>>12) | 1<<50 //nolint:gosec // of 52 bits
}

// Finish makes a file ready after its bytes have been stored.
func (s *Store) Finish(ctx context.Context, id int64) error {
	if _, err := s.pool.Exec(ctx, `UPDATE media SET ready = true WHERE id = $1`, id); err != nil {
		return fmt.Errorf("finish media: %w", err)
	}
	return nil
}

// Get returns a file that is ready, whichever organization owns it. If there is none with this id, it returns nil.
func (s *Store) Get(ctx context.Context, id int64) (*File, error) {
	f, err := one(ctx, s.pool, selected+`WHERE id = $1 AND ready`, id)
	if err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	return f, nil
}

// one returns the file that a statement returns, or nil.
func one(ctx context.Context, q persistence.Querier, sql string, args ...any) (*File, error) {
	rows, _ := q.Query(ctx, sql, args...) // CollectOneRow returns its error
	f, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no file is an answer
	}
	return f, err
}

// scan reads a file from a row with the selected columns.
func scan(row pgx.CollectableRow) (*File, error) {
	f := new(File)
	err := row.Scan(&f.ID, &f.Org, &f.Kind, &f.Name, &f.Type, &f.Bytes, &f.Variants, &f.Sum, &f.Private, &f.Ready, &f.CreatedAt)
	return f, err
}
