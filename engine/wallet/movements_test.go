package wallet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// TestFull fills a wallet's memory: new movements are refused until the oldest are a day old, but
// repeats and ends of pending credits never are.
func TestFull(t *testing.T) {
	t.Parallel()
	s, _ := New(engine.WalletRef(7, "USD")).(*State)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	do := func(c engine.Command) engine.Reply {
		d := s.Decide(c, now)
		for _, f := range d.Facts {
			s.Apply(f)
		}
		return d.Reply
	}
	credit := func(n int64, pending bool) Credit {
		return Credit{ID: engine.NumberedID(7, n), Amount: 1, Pending: pending}
	}
	require.IsType(t, new(Reply), do(credit(0, true)))
	for n := int64(1); n < maxRecent; n++ {
		s.Apply(&Entered{Entry: Entry{
			ID: engine.NumberedID(7, n), Kind: Credited, Number: n + 1, Amount: 1, Balance: n, Pending: 1, At: now.UnixMilli(),
		}, Print: fingerprintOf(&Entry{Kind: Credited, Amount: 1})})
	}
	refused := engine.Refuse(engine.Overloaded, nil)
	require.Equal(t, refused, do(credit(maxRecent, false)))
	require.Equal(t, refused, do(Debit{ID: engine.NumberedID(7, maxRecent), Amount: 1}))
	require.IsType(t, new(Reply), do(credit(5, false)), "known")
	require.IsType(t, new(Reply), do(Clear{ID: engine.NumberedID(7, 0)}))
	now = now.Add(24 * time.Hour)
	require.Equal(t, refused, do(credit(maxRecent, false)))
	now = now.Add(time.Millisecond)
	before := len(s.recent)
	for n := range int64(maxRecent/maxForget + 1) {
		require.IsType(t, new(Reply), do(credit(maxRecent+n, false)))
		require.NoError(t, s.Check())
		require.GreaterOrEqual(t, len(s.recent), before-maxForget, "a little at a time")
		before = len(s.recent)
	}
	require.Len(t, s.known, maxRecent/maxForget+1)

	s.open = make([]*movement, maxRecent)
	require.Equal(t, refused, do(credit(2*maxRecent, true)))
	require.IsType(t, new(Reply), do(credit(2*maxRecent, false)))
}

// TestLife makes sure that no sum can overflow: a wallet takes only a limited amount in its whole
// life, however much has left it.
func TestLife(t *testing.T) {
	t.Parallel()
	s, _ := New(engine.WalletRef(7, "USD")).(*State)
	s.credited, s.debited = maxLife-5, maxLife-5
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, pending := range []bool{false, true} {
		require.IsType(t, new(Reply), s.Decide(Credit{Amount: 5, Pending: pending}, now).Reply)
		require.Equal(t, engine.Refuse(engine.Validation, Range{Min: "0.01", Max: "0.05"}), s.Decide(Credit{Amount: 6, Pending: pending}, now).Reply)
	}
}

// TestCheckFinds breaks each invariant, as no command can.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	entered := func(kind EntryKind, number, amount, balance, pending int64) *Entered {
		return &Entered{Entry: Entry{
			ID: engine.NumberedID(7, number), Kind: kind, Number: number, Amount: amount, Balance: balance, Pending: pending, At: number,
		}}
	}
	for name, facts := range map[string][]*Entered{
		"overdrawn":                {entered(Debited, 1, 5, -5, 0)},
		"less than there was":      {entered(Credited, 1, 5, 4, 0)},
		"more than there was":      {entered(Credited, 1, 5, 5, 0), entered(Debited, 2, 5, 1, 0)},
		"pending and never made":   {entered(Credited, 1, 5, 5, 5)},
		"cleared and never made":   {entered(Cleared, 1, 5, 5, 0)},
		"an entry is missing":      {entered(Credited, 1, 5, 5, 0), entered(Credited, 3, 5, 10, 0)},
		"a mistake that is passed": {entered(Credited, 1, 5, 6, 0), entered(Credited, 2, 5, 11, 0), entered(Debited, 3, 1, 10, 0)},
	} {
		s, _ := New(engine.WalletRef(7, "USD")).(*State)
		require.NoError(t, s.Check())
		for _, f := range facts {
			s.Apply(f)
		}
		require.Error(t, s.Check(), name)
	}
}
