package gates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlarmsAreToldOnce has the people inside go over a limit and below it again and again.
func TestAlarmsAreToldOnce(t *testing.T) {
	t.Parallel()
	s := new(gateSource)
	for i, step := range []struct {
		alarm int64
		told  bool
	}{{0, false}, {90, true}, {0, false}, {90, false}, {100, true}, {90, false}, {100, false}} {
		s.latest.Store(&gateFrame{data: []byte("{}"), alarm: step.alarm})
		update, _ := s.Take(false)
		require.Equal(t, "snapshot", update[0].Name)
		require.Equal(t, step.told, len(update) == 2 && update[1].Name == "alarm", "step %d", i)
		again, _ := s.Take(false)
		require.Empty(t, again)
	}
}
