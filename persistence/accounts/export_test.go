package accounts

import "github.com/jackc/pgx/v5/pgxpool"

// NewDrawing is the store of a database whose slugs end as drawTail says.
func NewDrawing(pool *pgxpool.Pool, drawTail func() string) *Store { return &Store{pool, drawTail} }
