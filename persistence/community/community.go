// Package community is the plain tables of what people say around an event: reviews, reports and
// messages. The edge calls it. It has no goroutine.
//
// A row has the id of the request that made it, so that a repeat of the request finds the row and
// makes no other.
package community

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/publicfacts"
)

// These are the reasons for refusals.
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
