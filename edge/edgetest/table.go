package edgetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// CheckTable fails the test for every row that is incomplete or contradicts
// another.
func CheckTable(t *testing.T, ops []route.Op) {
	t.Helper()
	for _, fault := range route.Incomplete(ops) {
		require.Fail(t, fault)
	}
}
