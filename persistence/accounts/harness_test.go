package accounts_test

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
	"boxoffice/persistence/persisttest"
)

// book is a store on a schema of its own.
type book struct {
	*accounts.Store
	t    testing.TB
	pool *pgxpool.Pool
}

func open(t testing.TB) *book {
	pool := persisttest.Migrated(t)
	return &book{accounts.New(pool), t, pool}
}

// exec makes a change for which there is no method; mostly, it lets time pass.
func (b *book) exec(sql string, args ...any) {
	b.t.Helper()
	tag, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
	require.NotZero(b.t, tag.RowsAffected(), sql)
}

func (b *book) user(email string) *accounts.User {
	b.t.Helper()
	u, err := b.Register(b.t.Context(), accounts.Registration{Email: email, PasswordHash: "first", Organization: "Hall"})
	require.NoError(b.t, err)
	return u
}

// confirm proves a user's mailbox by a mailed link and the password.
func (b *book) confirm(u *accounts.User) {
	b.t.Helper()
	hash := sha256.Sum256([]byte(u.Email))
	_, err := b.RequestConfirmation(b.t.Context(), u.Email, hash, time.Now())
	require.NoError(b.t, err)
	confirmed, err := b.ConfirmEmail(b.t.Context(), hash, accounts.Owner{PasswordHash: "first"})
	require.NoError(b.t, err)
	require.True(b.t, confirmed)
}

// twoFactor gives a user a second factor whose code of step 100 is used up, and returns the hash of
// its only recovery code.
func (b *book) twoFactor(user int64) []byte {
	b.t.Helper()
	u, err := b.User(b.t.Context(), user)
	require.NoError(b.t, err)
	if !u.EmailVerified {
		b.confirm(u)
	}
	sum := sha256.Sum256([]byte("recovery"))
	require.NoError(b.t, b.Enroll(b.t.Context(), user, []byte("sealed")))
	require.NoError(b.t, b.Activate(b.t.Context(), user, []byte("sealed"), 100, [][]byte{sum[:]}))
	return sum[:]
}

// together runs f n times at once and returns how often each error came; nil is success. An error
// that is not listed fails the test.
func together(t testing.TB, n int, f func(i int) error, known ...error) map[error]int {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	counts := map[error]int{}
	for _, err := range errs {
		found := err == nil
		if found {
			counts[nil]++
		}
		for _, k := range known {
			if errors.Is(err, k) {
				counts[k]++
				found = true
			}
		}
		require.True(t, found, "%v", err)
	}
	return counts
}
