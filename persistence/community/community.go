// Package community has the plain tables of what people say around an event: reviews, reports and messages. These
// rows are no part of an event's journal: the request handlers read and write them directly. The package has no
// goroutine.
//
// A row has the id of the request that made it. A client that repeats a request therefore finds its first row and
// does not make a second one.
package community

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/publicfacts"
)

// These are errors of a Store's methods. Callers tell them apart with errors.Is.
var (
	ErrNotFound = errors.New("community: no such row")
	ErrExists   = errors.New("community: the ticket has been reviewed")
)

// Store reads and writes the tables.
type Store struct {
	pool  *pgxpool.Pool
	facts *publicfacts.Store
}

// New returns the store of a database. facts publishes facts about what is written.
func New(pool *pgxpool.Pool, facts *publicfacts.Store) *Store { return &Store{pool, facts} }

// requireRow turns the error of a query without a row into ErrNotFound.
func requireRow(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
