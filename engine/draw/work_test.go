package draw_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/draw"
)

// solve finds a proof of so many bits.
func solve(w draw.Work, want int, at int64) draw.Work {
	for n := uint64(0); ; n++ {
		binary.BigEndian.PutUint64(w.Nonce[:], n)
		if w.Check(want, at) == nil {
			return w
		}
	}
}

// TestWork holds the proof of work to the vector of docs/waiting-room.md, to its bits and its age, and to all
// that it is bound to.
func TestWork(t *testing.T) {
	t.Parallel()
	const at = 30_000_000 * 60_000
	w := solve(draw.Work{Event: "e", Draw: 1, Minute: 30_000_000, Party: 2, Email: "ann@example.org"}, 16, at)
	require.Equal(t, "30000000.0000000000023499", w.Text())
	hash := w.Hash()
	require.Equal(t, "0000e73f802f6b35ccbd44ac1a476c1cd47bd17355cf994350f5179286ca686f", hash.String())
	read := draw.Work{Event: "e", Draw: 1, Party: 2, Email: "ann@example.org"}
	require.NoError(t, read.Read(w.Text()))
	require.Equal(t, w, read)
	require.NoError(t, w.Check(0, at))
	require.NoError(t, w.Check(16, at+10*60_000))
	require.NoError(t, w.Check(16, at-2*60_000))
	for name, wrong := range map[string]func(*draw.Work) int64{
		"old":         func(*draw.Work) int64 { return at + 11*60_000 },
		"early":       func(*draw.Work) int64 { return at - 3*60_000 },
		"other event": func(w *draw.Work) int64 { w.Event = "f"; return at },
		"other draw":  func(w *draw.Work) int64 { w.Draw++; return at },
		"other party": func(w *draw.Work) int64 { w.Party++; return at },
		"other mail":  func(w *draw.Work) int64 { w.Email = "bob@example.org"; return at },
		"other nonce": func(w *draw.Work) int64 { w.Nonce[0]++; return at },
		"other time":  func(w *draw.Work) int64 { w.Minute++; return at },
	} {
		changed := w
		require.ErrorIs(t, changed.Check(16, wrong(&changed)), draw.ErrWork, name)
	}
	for _, text := range []string{"", ".", "1", "1.", "-1.0000000000000000", "1.00000000000000", "1.000000000000000x", "x.0000000000000000", "1.000000000000000000"} {
		require.ErrorIs(t, read.Read(text), draw.ErrWork, text)
	}
}
