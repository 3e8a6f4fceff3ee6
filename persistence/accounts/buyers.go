package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// NoteBuyer keeps the name that the buyer of an order gave, for the account that the address gets
// when its owner signs in. The newest name counts. It does nothing if there is an account with a
// name, because the buyer has not proven to have the mailbox.
func (s *Store) NoteBuyer(ctx context.Context, email, name string) error {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "") // makes it valid for a text column
	_, err := s.pool.Exec(ctx, `INSERT INTO buyer_names AS b (email, name) SELECT $1, $2
		WHERE NOT EXISTS (SELECT FROM users WHERE email = $1 AND (first_name <> '' OR last_name <> '' OR password_hash <> ''))
		ON CONFLICT (email) DO UPDATE SET name = excluded.name, noted_at = now() WHERE b.name <> excluded.name`, email, name)
	if err != nil {
		return fmt.Errorf("note a buyer's name: %w", err)
	}
	return nil
}

// nameBuyer gives an account that has neither name nor password the name that its owner gave at
// checkout, if one was noted.
func nameBuyer(ctx context.Context, tx pgx.Tx, u *User) error {
	if u.Name() != "" || u.PasswordHash != "" {
		return nil
	}
	var name string
	err := tx.QueryRow(ctx, `DELETE FROM buyer_names WHERE email = $1 RETURNING name`, u.Email).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE users SET first_name = $2 WHERE id = $1`, u.ID, name)
	u.FirstName = name
	return err
}
