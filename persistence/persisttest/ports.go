package persisttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/ports"
)

// Address returns a loopback address that no other test uses, in this process or in another.
func Address(t testing.TB) string {
	t.Helper()
	free, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	return free[0]
}
