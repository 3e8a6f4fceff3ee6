// Package numbers hands out the numbers of events, ticket types and promo codes. They are parts of ids, by
// which any node finds the actors.
//
// It takes blocks from sequences of Postgres, and remembers for a day which number a command got
// (table command_numbers), so that a repeated command makes nothing new. Any goroutine may call its
// methods; it has none of its own.
package numbers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// commandsKept is how long the number of a command is remembered: as long as its answer is
// repeated.
const commandsKept = 24 * time.Hour

// leaseSize is how many numbers a node takes at a time.
const leaseSize = 16

// Lease hands out the numbers of a sequence, which it takes from Postgres in blocks. No two things get
// the same number. Numbers that are not used are lost.
type Lease struct {
	pool     *pgxpool.Pool
	sequence string

	mu         sync.Mutex
	next, last int64
}

// New returns a Lease on a sequence.
func New(pool *pgxpool.Pool, sequence string) *Lease {
	return &Lease{pool: pool, sequence: sequence, next: 1}
}

// Next returns a number that nobody else gets. It takes leaseSize numbers from the database at a time; those that are
// left when the process ends are never used.
func (l *Lease) Next(ctx context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next > l.last {
		// A block has leaseSize numbers, ending at leaseSize times the sequence's value.
		var block int64
		if err := l.pool.QueryRow(ctx, `SELECT nextval($1::regclass)`, l.sequence).Scan(&block); err != nil {
			return 0, fmt.Errorf("lease from %s: %w", l.sequence, err)
		}
		l.next, l.last = (block-1)*leaseSize+1, block*leaseSize
	}
	n := l.next
	l.next++
	return n, nil
}

// ForCommand returns the number for what a command makes: a new one, or the one that the same
// command got within the last day. Nodes that ask at the same moment get the same number.
func (l *Lease) ForCommand(ctx context.Context, command [32]byte) (int64, error) {
	n, err := l.Next(ctx)
	if err != nil {
		return 0, err
	}
	const note = `
INSERT INTO command_numbers AS c (sequence, command, number) VALUES ($1, $2, $3)
ON CONFLICT (sequence, command) DO UPDATE SET
  number = CASE WHEN c.created_at < now() - $4::interval THEN excluded.number ELSE c.number END,
  created_at = CASE WHEN c.created_at < now() - $4::interval THEN now() ELSE c.created_at END
RETURNING number`
	if err := l.pool.QueryRow(ctx, note, l.sequence, command[:], n, commandsKept).Scan(&n); err != nil {
		return 0, fmt.Errorf("number of a command from %s: %w", l.sequence, err)
	}
	return n, nil
}
