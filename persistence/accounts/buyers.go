package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Buyer is an address, in lower case, and the name that was given with it.
type Buyer struct{ Email, Name string }

// noteBuyers stores names of buyers. It leaves out the address of an account that has a name or a
// password: the buyer has not proven to own the address, and must not change what its owner is
// called.
const noteBuyers = `
INSERT INTO buyer_names AS b (email, name) SELECT * FROM unnest($1::text[], $2::text[]) AS n(email, name)
WHERE NOT EXISTS (SELECT FROM users u WHERE u.email = n.email AND (u.first_name <> '' OR u.last_name <> '' OR u.password_hash <> ''))
ON CONFLICT (email) DO UPDATE SET name = excluded.name, noted_at = now() WHERE b.name <> excluded.name`

// maxAddress is how long the address of a mailbox can be, in bytes (RFC 5321, 4.5.3.1.3). A text
// that is much longer would not fit into an index.
const maxAddress = 254

// isAddress reports whether an account can have the address. A text that is not valid is not
// repaired, because the result would be somebody else's address.
func isAddress(email string) bool {
	return len(email) <= maxAddress && utf8.ValidString(email) && !strings.Contains(email, "\x00")
}

// NoteBuyers keeps the names that buyers gave. When the owner of such an address signs in, the account gets the
// name (nameBuyer). If buyers has an address several times, its last name counts. A text that can't be an
// account's address is left out.
func NoteBuyers(ctx context.Context, tx pgx.Tx, buyers []Buyer) error {
	if len(buyers) == 0 {
		return nil
	}
	newest := make(map[string]string, len(buyers))
	for _, b := range buyers {
		if isAddress(b.Email) {
			newest[b.Email] = cleanName(b.Name)
		}
	}
	emails := slices.Sorted(maps.Keys(newest)) // All nodes write the rows in the same order, so that two calls do not deadlock.
	names := make([]string, len(emails))
	for i, email := range emails {
		names[i] = newest[email]
	}
	if _, err := tx.Exec(ctx, noteBuyers, emails, names); err != nil {
		return fmt.Errorf("note buyers' names: %w", err)
	}
	return nil
}

// NoteBuyer keeps the name of one buyer as NoteBuyers does, in a transaction of its own. The address must be one
// that an account can have.
func (s *Store) NoteBuyer(ctx context.Context, email, name string) error {
	if _, err := s.pool.Exec(ctx, noteBuyers, []string{email}, []string{cleanName(name)}); err != nil {
		return fmt.Errorf("note a buyer's name: %w", err)
	}
	return nil
}

// cleanName makes a name valid for a text column: in valid UTF-8 and without zero bytes.
func cleanName(name string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "")
}

// nameBuyer gives an account the name that was last given with its address at a checkout, if one was noted. An
// account that has a name or a password stays as it is. The noted name is deleted, because it has done its work.
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
