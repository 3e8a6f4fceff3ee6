package accounts

import "github.com/jackc/pgx/v5/pgxpool"

// NewDrawing returns the store of a database for whose slugs drawTail draws the ends.
func NewDrawing(pool *pgxpool.Pool, drawTail func() string) *Store { return &Store{pool, drawTail} }
