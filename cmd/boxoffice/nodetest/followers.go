package nodetest

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/attendees"
	"boxoffice/persistence/readmodel"
)

// HoldBack keeps the followers that write lists from moving on until release is called. It locks
// their positions in the database, so that a test can see what a list shows that is behind.
func (s *Shop) HoldBack() (release func()) {
	s.T.Helper()
	require.NoError(s.T, s.AwaitLists(s.T.Context()))
	tx, err := s.Pool().Begin(s.T.Context())
	require.NoError(s.T, err)
	rows, _ := tx.Query(s.T.Context(), `SELECT batch FROM followers WHERE name IN ($1, $2) FOR UPDATE`, readmodel.Follower, attendees.Follower)
	held, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(s.T, err)
	require.NotEmpty(s.T, held)
	release = sync.OnceFunc(func() { require.NoError(s.T, tx.Rollback(context.WithoutCancel(s.T.Context()))) })
	s.T.Cleanup(release)
	return release
}
