package persistence

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// drawTries bounds Redraw. Identifiers collide so rarely that a second collision in a row means a
// fault that no further draw would mend.
const drawTries = 4

// uniqueViolation is the SQLSTATE of a row that violates a unique constraint.
const uniqueViolation = "23505"

// Redraw runs write, which draws an identifier and stores it in a transaction of its
// own. When another row has the identifier already, which Postgres tells by the name
// of the unique constraint, Redraw runs write again: up to four times in all. It
// returns write's last error. The violation of another constraint is not a collision
// of the draw, and is returned at once.
func Redraw(write func() error, constraints ...string) error {
	var err error
	for range drawTries {
		err = write()
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pg.Code != uniqueViolation || !slices.Contains(constraints, pg.ConstraintName) {
			return err
		}
	}
	return err
}
