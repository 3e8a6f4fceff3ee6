package activation

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/journal"
)

// The commands of a kind that panics at will.
type (
	read   struct{}
	write  struct{}
	panics struct{}
	hold   struct{}
	spoil  struct{} // answers those who are held, with a fact that panics
	garble struct{} // makes a fact that can't be encoded
)

// unwritable is a fact that can't be encoded.
type unwritable struct{ F func() }

func (unwritable) FactType() engine.FactType { return 1 }

func (read) Command()   {}
func (write) Command()  {}
func (panics) Command() {}
func (hold) Command()   {}
func (spoil) Command()  {}
func (garble) Command() {}

type brittle struct {
	key               engine.OrderID
	spoilt, sleepless bool // its next fact, its Wake panics
}

func (b *brittle) Decide(c engine.Command, _ time.Time) engine.Decision {
	fact := []engine.Fact{&order.Completed{}}
	switch c.(type) {
	case engine.Wake:
		if b.sleepless {
			panic("a Wake")
		}
	case panics:
		panic("a command")
	case hold:
		return engine.Decision{WaitKey: &b.key}
	case write:
		return engine.Decision{Facts: fact}
	case garble:
		return engine.Decision{Facts: []engine.Fact{unwritable{}}}
	case spoil:
		b.spoilt = true
		return engine.Decision{Answers: []engine.Answer{{Key: b.key}}, Facts: fact}
	}
	return engine.Decision{}
}

func (b *brittle) Apply(engine.Fact) {
	if b.spoilt {
		panic("a fact")
	}
}
func (b *brittle) Next() time.Time { return time.Time{} }
func (b *brittle) Freeze() any     { return nil }
func (b *brittle) Check() error    { return nil }

// bench is an activation and its shell, which keeps what it is asked for.
type bench struct {
	*Activation
	entries []*journal.Entry
	posted  []any
	now     time.Time
	sent    []engine.Command
	wakes   []time.Time
	fenced  []bool // of each End
}

var _ Shell = (*bench)(nil)

func newBench() *bench {
	b := &bench{now: time.Now()}
	b.Activation = New(engine.EventRef(1), 1<<40, b)
	return b
}

func (b *bench) Now() time.Time                             { return b.now }
func (b *bench) Log() *slog.Logger                          { return slog.New(slog.DiscardHandler) }
func (b *bench) Post(msg any)                               { b.posted = append(b.posted, msg) }
func (b *bench) Append(e *journal.Entry)                    { b.entries = append(b.entries, e) }
func (b *bench) Prove(journal.Claim)                        {}
func (b *bench) Send(_ engine.Ref, cmd engine.Command)      { b.sent = append(b.sent, cmd) }
func (b *bench) Here(engine.Ref) bool                       { return true }
func (b *bench) Join(engine.Ref, Joint)                     {}
func (b *bench) Arm(at time.Time)                           { b.wakes = append(b.wakes, at) }
func (b *bench) Keep(any, journal.Claim, int64)             {}
func (b *bench) Park(journal.Claim, int64, time.Time) error { return nil }
func (b *bench) End(fenced bool)                            { b.fenced = append(b.fenced, fenced) }

func (b *bench) loaded(s *brittle) {
	b.Handle(Loaded{State: s, Claim: journal.Claim{Stream: 1, Epoch: 1}, At: b.now})
}

func (b *bench) ask(cmd engine.Command) *Call {
	c := NewCall(cmd, &b.Load)
	b.Handle(c)
	return c
}

func (b *bench) tell(cmd engine.Command) {
	b.Load.Add(1)
	b.Handle(cmd)
}

// answer is what a call was told; by now, for nothing runs beside.
func answer(t *testing.T, c *Call) (engine.Reply, error) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	reply, err := c.Wait(gone, nil)
	require.NotErrorIs(t, err, context.Canceled, "nobody has answered")
	return reply, err
}

// A caller that asks an actor which can't be loaded is answered. What the actor is told does not
// go to its next activation, which may fare no better.
func TestATellToAnActorThatCannotBeLoadedIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bench){
		"no claim":      func(b *bench) { b.Handle(Failed{errors.New("the database is away")}) },
		"a Wake panics": func(b *bench) { b.loaded(&brittle{sleepless: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.tell(read{})
			c := b.ask(read{})
			b.tell(read{})
			end(b)
			_, err := answer(t, c)
			require.ErrorIs(t, err, ErrUnavailable)
			require.Empty(t, b.sent)
			require.Zero(t, b.Load.Load())
		})
	}
}

// An activation that ends may have used up the Wake that was due: it asks for one
// more, once.
func TestAnActorThatBreaksIsLookedAfterAgain(t *testing.T) {
	t.Parallel()
	away := Failed{errors.New("the database is away")}
	for name, end := range map[string]func(*bench){
		"not loaded": func(b *bench) { b.Handle(away) },
		"not proven": func(b *bench) { b.loaded(&brittle{}); b.Handle(away) },
		"a panic":    func(b *bench) { b.loaded(&brittle{}); b.tell(panics{}) },
		"no bytes":   func(b *bench) { b.loaded(&brittle{}); b.tell(garble{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			end(b)
			require.Equal(t, []time.Time{b.now.Add(mendAfter)}, b.wakes)
			require.Zero(t, b.pending.Load())
			b.Handle(away) // a proof that was on its way
			require.Len(t, b.wakes, 1)
		})
	}
}

// A caller that waited while the actor was loaded is answered, whatever another caller asked.
func TestAPanicAnswersThoseWhoWaitedForTheLoad(t *testing.T) {
	t.Parallel()
	b := newBench()
	first, second := b.ask(panics{}), b.ask(read{})
	b.loaded(&brittle{})
	reply, err := answer(t, first)
	require.NoError(t, err)
	require.IsType(t, &engine.Refusal{}, reply)
	_, err = answer(t, second)
	require.ErrorIs(t, err, ErrUnavailable)
	require.Zero(t, b.Load.Load())
}

// A caller whose fact can't be encoded is answered, and so is one that is held.
func TestAFactWithoutBytesAnswersItsCaller(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.loaded(&brittle{})
	for _, c := range []*Call{b.ask(hold{}), b.ask(garble{})} {
		_, err := answer(t, c)
		require.ErrorIs(t, err, ErrUnavailable)
	}
	require.Zero(t, b.Load.Load())
	require.Empty(t, b.posted)
}

// A caller that is held is answered even if the decision that would have answered it panics.
func TestAPanicAnswersThoseWhoAreHeld(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.loaded(&brittle{})
	held, spoiler := b.ask(hold{}), b.ask(spoil{})
	reply, err := answer(t, spoiler)
	require.NoError(t, err)
	require.IsType(t, &engine.Refusal{}, reply)
	_, err = answer(t, held)
	require.ErrorIs(t, err, ErrUnavailable)
	require.Zero(t, b.Load.Load())
}

// An answer that comes back from the journal after a long outage, without a proof of
// the claim, finds that the library has let go of its activation: nobody there can
// refuse it any more.
func TestWhoWaitedThroughAnOutageIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.loaded(&brittle{})
	b.ask(write{})
	behind := b.ask(read{})
	b.Handle(Failed{errors.New("the database is away")})
	b.now = b.now.Add(2 * proofLife)
	for _, e := range b.entries {
		e.Owner.Settled(nil)
	}
	_, err := answer(t, behind)
	require.ErrorIs(t, err, ErrUnavailable)
}

// Only an activation whose stream, or one that it depends on, has another claim counts as fenced: a lane that ends
// refuses what it was handed too.
func TestOnlyAClaimFences(t *testing.T) {
	t.Parallel()
	for verdict, fenced := range map[error]bool{journal.ErrFenced: true, journal.ErrClosed: false, journal.ErrOrder: false} {
		b := newBench()
		b.loaded(&brittle{})
		c := b.ask(write{})
		b.entries[0].Owner.Settled(verdict)
		_, err := answer(t, c)
		require.ErrorIs(t, err, ErrUnavailable)
		for _, msg := range b.posted {
			b.Handle(msg)
		}
		require.Equal(t, []bool{fenced}, b.fenced, verdict)
		require.Len(t, b.wakes, 1)
	}
}

// Commands of other actors keep an actor in memory too. Wakes do not: an actor that is only
// woken is put away again.
func TestAnActorThatIsToldIsUsed(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.loaded(&brittle{})
	b.tell(engine.Wake{})
	require.Zero(t, b.Used.Load())
	for _, cmd := range []any{read{}, Joint{Cmd: read{}}, NewCall(read{}, &b.Load)} {
		b.now = b.now.Add(time.Millisecond)
		b.Load.Add(1)
		b.Handle(cmd)
		require.Equal(t, b.now.UnixMilli(), b.Used.Load())
	}
}

// place is a command that is held under its key, or refused.
type place struct {
	key     engine.OrderID
	refused bool
}

func (place) Command()              {}
func (p place) Key() engine.OrderID { return p.key }

// picky refuses what it is told to refuse, and asks a keeper for the rest.
type picky struct{ brittle }

func (p *picky) Decide(c engine.Command, now time.Time) engine.Decision {
	ask, ok := c.(place)
	switch {
	case !ok:
		return p.brittle.Decide(c, now)
	case ask.refused:
		return engine.Decision{Reply: engine.Refuse(engine.TicketSoldOut, nil)}
	default:
		return engine.Decision{WaitKey: &ask.key, Asks: []engine.Send{{To: engine.InventoryRef(1, 1), Cmd: ask}}}
	}
}

// A refusal waits for the facts that were decided before it. Sent again meanwhile, the
// command may be granted: what it asks for leaves only behind the refusal, or the first
// try were told no when its order is made.
func TestARepeatDoesNotOvertakeARefusal(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.Handle(Loaded{State: &picky{}, Claim: journal.Claim{Stream: 1, Epoch: 1}, At: b.now})
	b.ask(write{})
	first, other := place{engine.OrderID{1}, true}, place{engine.OrderID{2}, false}
	refused := b.ask(first)
	b.ask(other)
	require.Equal(t, []engine.Command{other}, b.sent, "another command waits for nothing")
	again := place{key: first.key}
	b.ask(again)
	require.Equal(t, []engine.Command{other}, b.sent)

	settle := func() {
		e := b.entries[0]
		b.entries = b.entries[1:]
		e.Owner.Settled(nil)
	}
	settle()
	settle()
	reply, err := answer(t, refused)
	require.NoError(t, err)
	require.IsType(t, &engine.Refusal{}, reply)
	require.Equal(t, []engine.Command{other}, b.sent)
	settle()
	require.Equal(t, []engine.Command{other, again}, b.sent)
	b.ask(again)
	require.Equal(t, []engine.Command{other, again, again}, b.sent, "the refusal is out")
	require.Empty(t, b.refusals.last)
}
