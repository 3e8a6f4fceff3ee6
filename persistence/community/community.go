// Package community is the plain tables of what people say around an event: reviews of
// those who were there. The edge calls it. It owns no goroutine.
//
// A row has the id of the request that made it: a repeat of the request finds what it has
// made, and makes nothing more.
package community

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/publicfacts"
)

// What is refused.
var (
	ErrNotFound = errors.New("community: no such row")
	ErrExists   = errors.New("community: the ticket has been reviewed")
)

// Store reads and writes the tables.
type Store struct {
	pool  *pgxpool.Pool
	facts *publicfacts.Store
}

// New is the store of a database. facts tells what is written.
func New(pool *pgxpool.Pool, facts *publicfacts.Store) *Store { return &Store{pool, facts} }

// one makes ErrNotFound of a query that found no row.
func one(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
