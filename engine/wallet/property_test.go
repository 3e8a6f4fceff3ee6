package wallet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/codec"
)

// account is the wallet in its plainest form: the whole ledger as a list, and every answer from
// reading it.
type account struct {
	ledger []wallet.Entry
	bodies map[wallet.EntryID]engine.Command // the command that made a movement
}

const day = 24 * 3600 * 1000

// entries returns the entries of a movement as long as it is remembered: while it is pending, and
// for a day after its last entry.
func (a *account) entries(id wallet.EntryID) []wallet.Entry {
	var of []wallet.Entry
	for _, e := range a.ledger {
		if e.ID != id {
			continue
		}
		if len(of) > 0 && e.Kind != wallet.Cleared && e.Kind != wallet.Voided {
			of = of[:0] // the movement was forgotten and made again
		}
		of = append(of, e)
	}
	if len(of) > 0 && of[len(of)-1].Kind != wallet.Pended && of[len(of)-1].At < a.ledger[len(a.ledger)-1].At-day {
		return nil
	}
	return of
}

func (a *account) sums() (balance, pending, paid int64) {
	for _, e := range a.ledger {
		switch e.Kind {
		case wallet.Credited:
			balance += e.Amount
		case wallet.Pended:
			pending += e.Amount
		case wallet.Cleared:
			pending -= e.Amount
			balance += e.Amount
		case wallet.Sold, wallet.Refunded, wallet.Clearing: // they come from events, which this test does not have
		case wallet.Voided:
			pending -= e.Amount
		case wallet.Debited:
			balance -= e.Amount
			if e.Reason == wallet.Payout {
				paid += e.Amount
			}
		}
	}
	return balance, pending, paid
}

// expect returns the right answer to a command: an entry, or a code.
func (a *account) expect(c engine.Command, at int64) (e wallet.Entry, code engine.Code) {
	balance, pending, _ := a.sums()
	switch c := c.(type) {
	case wallet.Credit:
		e = wallet.Entry{ID: c.ID, Kind: wallet.Credited, Amount: c.Amount, Reason: c.Reason}
		if c.Pending {
			e.Kind = wallet.Pended
		}
	case wallet.Debit:
		e = wallet.Entry{ID: c.ID, Kind: wallet.Debited, Amount: c.Amount, Reason: c.Reason}
	case wallet.Clear:
		e = wallet.Entry{ID: c.ID, Kind: wallet.Cleared}
	case wallet.Void:
		e = wallet.Entry{ID: c.ID, Kind: wallet.Voided}
	}
	known := a.entries(e.ID)
	if e.Kind == wallet.Cleared || e.Kind == wallet.Voided {
		switch {
		case known == nil:
			return e, engine.NotFound
		case len(known) == 2 && known[1].Kind == e.Kind:
			return known[1], ""
		case len(known) == 2 || known[0].Kind != wallet.Pended:
			return e, engine.Conflict
		}
		e.Amount = known[0].Amount
	} else {
		switch {
		case known != nil && a.bodies[e.ID] != c:
			return e, engine.IdempotencyReused
		case known != nil:
			return known[0], ""
		case e.Amount < 1 || e.Amount > wallet.MaxAmount || e.Kind != wallet.Debited && balance+pending+e.Amount > wallet.MaxAmount:
			return e, engine.Validation
		case e.Kind == wallet.Debited && e.Amount > balance:
			return e, engine.InsufficientFunds
		}
		a.bodies[e.ID] = c
	}
	e.Number, e.At = int64(len(a.ledger)+1), at
	if n := len(a.ledger); n > 0 {
		e.At = max(at, a.ledger[n-1].At)
	}
	a.ledger = append(a.ledger, e)
	e.Balance, e.Pending, _ = a.sums()
	a.ledger[len(a.ledger)-1] = e
	return e, ""
}

// TestAgainstAccount sends random commands, some of them twice, with a clock that also jumps back,
// and lets the wallet crash and come back from its journal or a snapshot.
func TestAgainstAccount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ref := engine.WalletRef(7, "ZAR")
		s := wallet.New(ref)
		a := &account{bodies: make(map[wallet.EntryID]engine.Command)}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		var journal []engine.Fact
		kept := make(map[*wallet.Frozen][]byte)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.IntRange(0, 5).Draw(t, "wait") == 0 {
				now = now.Add(time.Duration(rapid.Int64Range(-day/8, day).Draw(t, "pause")) * time.Millisecond)
			}
			c := command(t)
			want, code := a.expect(c, now.UnixMilli())
			d := s.Decide(c, now)
			require.Equal(t, d, s.Decide(c, now), "a decision changes nothing")
			for _, f := range d.Facts {
				s.Apply(f)
				journal = append(journal, f)
			}
			require.NoError(t, s.Check())
			requireAnswer(t, d.Reply, want, code)
			requireRecord(t, s, a)
			switch rapid.IntRange(0, 9).Draw(t, "crash") {
			case 0:
				s = replayed(t, ref, journal)
			case 1:
				s = thawed(t, ref, s)
			case 2, 3:
				f, _ := s.Freeze().(*wallet.Frozen)
				kept[f] = encoded(t, f)
			}
		}
		for f, was := range kept {
			require.Equal(t, was, encoded(t, f), "a snapshot stands still")
		}
		require.Len(t, journal, len(a.ledger))
		for i, f := range journal {
			require.Equal(t, a.ledger[i], f.(*wallet.Entered).Entry)
		}
		want := frozen(t, replayed(t, ref, journal))
		require.Equal(t, want, frozen(t, s))
		require.Equal(t, want, frozen(t, thawed(t, ref, s)))
	})
}

// command draws a command for one of a few movements, so that many are repeated.
func command(t *rapid.T) engine.Command {
	id := engine.NumberedID(7, rapid.Int64Range(1, 6).Draw(t, "id"))
	amount := rapid.OneOf(
		rapid.Int64Range(1, 3), rapid.Int64Range(-1, 1_000), rapid.Int64Range(wallet.MaxAmount/3, wallet.MaxAmount+1),
	).Draw(t, "amount")
	reason := rapid.SampledFrom([]string{"sale", wallet.Payout}).Draw(t, "reason")
	switch rapid.IntRange(0, 4).Draw(t, "command") {
	case 0:
		return wallet.Clear{ID: id}
	case 1:
		return wallet.Void{ID: id}
	case 2:
		return wallet.Debit{ID: id, Amount: amount, Reason: reason}
	default:
		return wallet.Credit{ID: id, Amount: amount, Reason: reason, Pending: rapid.Bool().Draw(t, "pending")}
	}
}

func requireAnswer(t *rapid.T, got engine.Reply, want wallet.Entry, code engine.Code) {
	if code != "" {
		r, ok := got.(*engine.Refusal)
		require.True(t, ok, "%v is not %s", got, code)
		require.Equal(t, code, r.Code)
		return
	}
	r, ok := got.(*wallet.Reply)
	require.True(t, ok, "%v is no entry", got)
	require.Equal(t, want, r.Entry)
}

func requireRecord(t *rapid.T, s engine.State, a *account) {
	balance, pending, paid := a.sums()
	require.Equal(t, &wallet.Record{
		Ref: engine.WalletRef(7, "ZAR"), Balance: balance, Pending: pending, LifetimePayout: paid, Entries: int64(len(a.ledger)),
	}, s.Decide(wallet.Get{}, time.Time{}).Reply)
}

func replayed(t *rapid.T, ref engine.Ref, journal []engine.Fact) engine.State {
	s := wallet.New(ref)
	for _, f := range journal {
		s.Apply(f)
	}
	require.NoError(t, s.Check())
	return s
}

func frozen(t *rapid.T, s engine.State) []byte { return encoded(t, s.Freeze()) }

func encoded(t *rapid.T, snapshot any) []byte {
	b, err := codec.Marshal(snapshot)
	require.NoError(t, err)
	return b
}

func thawed(t *rapid.T, ref engine.Ref, s engine.State) engine.State {
	f := new(wallet.Frozen)
	require.NoError(t, codec.Unmarshal(frozen(t, s), f))
	again, err := wallet.Thaw(ref, f)
	require.NoError(t, err)
	require.NoError(t, again.Check())
	return again
}
