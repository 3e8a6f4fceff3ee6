package order

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFoldAgain folds facts into records that already contain them, as a follower does when the
// read model is ahead of the fact that it reads.
func TestFoldAgain(t *testing.T) {
	t.Parallel()
	o := &Order{Status: StatusPending}
	begun := &PaymentBegun{Attempt: Attempt{Reference: "a", Status: AttemptPending, At: 1}, ExpiresAt: 2}
	first := &RefundDue{Number: 1, Refund: Refund{Amount: 5, Status: RefundRequested, At: 3}}
	second := &RefundDue{Number: 2, Refund: Refund{Amount: 6, Status: RefundRequested, At: 4}}
	further := second.Fold(first.Fold(begun.Fold(o)))
	require.Len(t, further.Attempts, 1)
	require.Len(t, further.Refunds, 2)
	for _, f := range []Fact{begun, first, second} {
		require.Equal(t, further, Fold(further, f))
	}

	older := &RefundDue{Refund: Refund{Amount: 7, At: 5}}
	require.Len(t, Fold(further, older).Refunds, 3, "facts of before have no number")
}
