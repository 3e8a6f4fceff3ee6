package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

func TestParseRef(t *testing.T) {
	t.Parallel()
	for _, ref := range []engine.Ref{
		engine.EventRef(1), engine.EventRef(engine.MaxEvent), engine.InventoryRef(42, 7), engine.InventoryRef(42, 1<<62-1),
		engine.WalletRef(7, "ZAR"), engine.SeatmapRef(42),
	} {
		got, err := engine.ParseRef(ref.Name())
		require.NoError(t, err)
		require.Equal(t, ref, got)
	}
	for _, name := range []string{"", "event", "event/1", "event/1/", "event//1", "seat/1/1", "event/01/1", "event/+1/1", "event/1/1/1", "event/x/1", "kind0/1/1"} {
		_, err := engine.ParseRef(name)
		require.ErrorIs(t, err, engine.ErrRef, name)
	}
}
