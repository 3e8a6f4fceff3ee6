package migrate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// TestAccountsOfBefore makes sure that accounts of the previous release are judged by what is known
// about them.
func TestAccountsOfBefore(t *testing.T) {
	t.Parallel()
	conn := connect(t, persisttest.Empty(t))
	require.NoError(t, migrate.UpToBefore(t.Context(), conn, "proofs"))
	user := func(email string, verified, factor bool, sessions ...bool) {
		var id int64
		require.NoError(t, conn.QueryRow(t.Context(), `INSERT INTO users (email, password_hash, first_name, last_name, phone, email_verified, totp_active)
			VALUES ($1, 'password', '', '', '', $2, $3) RETURNING id`, email, verified, factor).Scan(&id))
		for _, proven := range sessions {
			_, err := conn.Exec(t.Context(), `INSERT INTO sessions (usr, email_proven, idle_expires_at, expires_at, client_address, user_agent)
				VALUES ($1, $2, 'infinity', 'infinity', '', '')`, id, proven)
			require.NoError(t, err)
		}
	}
	user("registered", false, false, false)
	user("registered and exchanged", false, false, false, true)
	user("factor and exchanged", false, true, true)
	user("factor before the reset", true, true, false)
	user("factor after the reset", true, true, false, true)
	user("reset", true, false, true)
	require.NoError(t, migrate.Up(t.Context(), conn))
	for email, want := range map[string]string{
		"registered":               "false password false 1",
		"registered and exchanged": "true  false 1",
		"factor and exchanged":     "false password true 1",
		"factor before the reset":  "true password false 1",
		"factor after the reset":   "true password true 2",
		"reset":                    "true password false 1",
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT concat_ws(' ', email_verified::text, password_hash, totp_active::text,
			(SELECT count(*) FROM sessions WHERE usr = u.id AND revoked_at IS NULL)) FROM users u WHERE email = $1`, email).Scan(&got))
		require.Equal(t, want, got, email)
	}
}
