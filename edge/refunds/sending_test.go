package refunds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/psp"
)

// A refund is looked at again after a pause that grows with its age and has an end, however
// long its provider was away.
func TestRefundsAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		age  time.Duration
		err  error
		want time.Duration
	}{
		{0, nil, firstLook},
		{time.Minute, nil, time.Minute},
		{72 * time.Hour, nil, lastLook},
		{0, psp.ErrTimeout, lostLook},
		{time.Minute, psp.ErrFault, time.Minute},
		{72 * time.Hour, psp.ErrFault, lastLook},
	} {
		require.Equal(t, c.want, lookPause(c.age, c.err), "%s %v", c.age, c.err)
	}
}
