package accounts

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// leaseSize is how many numbers a node takes at a time.
const leaseSize = 16

// Lease hands out the numbers of a sequence, taken in blocks. Numbers that a
// node leaves unused are lost; none is handed out twice.
type Lease struct {
	pool     *pgxpool.Pool
	sequence string

	mu         sync.Mutex
	next, last int64
}

// NewLease leases from a sequence.
func NewLease(pool *pgxpool.Pool, sequence string) *Lease {
	return &Lease{pool: pool, sequence: sequence, next: 1}
}

// Next is a number that nobody else has.
func (l *Lease) Next(ctx context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next > l.last {
		// A block is all the numbers between two of the sequence.
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
