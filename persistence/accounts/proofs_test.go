package accounts_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

// TestProofAgainstEnrolment lets a stranger make the account of an address whose owner then proves
// the mailbox by a code. Nothing of the stranger's remains, whatever comes first when the proof
// races with an enrolment, a sign-in or a confirmation.
func TestProofAgainstEnrolment(t *testing.T) {
	t.Parallel()
	b := open(t)
	for range 20 {
		b.exec(`INSERT INTO users (email, password_hash, first_name, last_name, phone, totp_secret) VALUES ($1, 'first', '', '', '', 'theirs')
			ON CONFLICT (email) DO UPDATE SET email_verified = false, password_hash = 'first', totp_secret = 'theirs'`, address)
		u, err := b.UserByEmail(t.Context(), address)
		require.NoError(t, err)
		b.pool.Exec(t.Context(), `DELETE FROM open_codes`) //nolint:errcheck // there may be none
		_, err = b.RequestCode(t.Context(), code("", "code"))
		require.NoError(t, err)
		var taken bool
		var wg sync.WaitGroup
		start := make(chan struct{})
		race := func(f func(context.Context) error) {
			wg.Go(func() {
				<-start
				if err := f(t.Context()); err != nil && !errors.Is(err, accounts.ErrUnproven) && !errors.Is(err, accounts.ErrTwoFactor) && !errors.Is(err, accounts.ErrPasswordChanged) {
					t.Error(err)
				}
			})
		}
		race(func(ctx context.Context) (err error) {
			_, taken, err = b.ExchangeCode(ctx, address, []byte("code"), nil)
			return err
		})
		race(func(ctx context.Context) error {
			return b.Activate(ctx, u.ID, []byte("theirs"), 1, [][]byte{[]byte("r")})
		})
		race(func(ctx context.Context) error {
			_, err := b.OpenSession(ctx, accounts.SignIn{User: u.ID, PasswordHash: "first"})
			return err
		})
		race(func(ctx context.Context) error {
			_, err := b.ConfirmEmail(ctx, [32]byte{9}, accounts.Owner{PasswordHash: "first"})
			return err
		})
		close(start)
		wg.Wait()
		require.True(t, taken)
		u, err = b.UserByEmail(t.Context(), address)
		require.NoError(t, err)
		require.True(t, u.EmailVerified)
		require.False(t, u.TwoFactor)
		require.Empty(t, u.PasswordHash)
		open, err := b.Sessions(t.Context(), u.ID)
		require.NoError(t, err)
		require.Empty(t, open)
		var codes int
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT count(*) FROM recovery_codes`).Scan(&codes))
		require.Zero(t, codes)
	}
}

// TestForsakenOrganization makes sure that an organization with another owner whose address is
// proven goes on without the account, and keeps its members and keys.
func TestForsakenOrganization(t *testing.T) {
	t.Parallel()
	b := open(t)
	stranger := b.user("bob@example.org")
	member, err := b.Memberships(t.Context(), stranger.ID)
	require.NoError(t, err)
	org := member[0].Org.ID
	_, err = b.AddMember(t.Context(), org, stranger.ID, accounts.NewMember{Command: [16]byte{1}, Email: "kim@example.org", Role: "owner"})
	require.NoError(t, err)
	_, err = b.RequestCode(t.Context(), &accounts.Code{Email: "bob@example.org", MAC: []byte("code")})
	require.NoError(t, err)
	_, taken, err := b.ExchangeCode(t.Context(), "bob@example.org", []byte("code"), nil)
	require.NoError(t, err)
	require.True(t, taken)
	owners, err := b.Owners(t.Context(), org)
	require.NoError(t, err)
	require.Len(t, owners, 1)
	require.Equal(t, "kim@example.org", owners[0].Email)
}
