package enginetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
)

// story is one transcript while it is made: its actors (an event with its ticket types, or a wallet), the
// messages that are on their way between them, and one clock for all.
type story struct {
	out strings.Builder
	// now moves only by "wait" and "sleep". The actors never read another clock.
	now    time.Time
	actors []*character
	// post has the messages that are on their way, the oldest first. They are delivered in this order unless the
	// story says otherwise.
	post  []engine.Send
	last  *engine.Send // the message that was delivered last, which "repeat" delivers once more
	waits bool         // the post is delivered only when the story says so
	busy  bool         // a message is being handled; what it sends is delivered after it
	given bool         // the results of the line are left out of the transcript
	// orders has the id of each order by its buyer's name. The names of entries of the waitlist and of movements of
	// a wallet are in it as well.
	orders  map[string]engine.OrderID
	records map[engine.OrderID]*order.Order // the orders as a read model would have them
}

// character is an actor of a story with its journal.
type character struct {
	name  string
	ref   engine.Ref
	kind  *engine.KindDef
	state engine.State
	// epoch counts the activations of the character, from 1.
	epoch   int32
	journal [][]byte // the facts that were journaled, each in its stored form
	saved   int      // how many of them the snapshot contains
	frozen  []byte   // the snapshot, or nil
}

// newStory begins a story without actors, at the time Epoch.
func newStory() *story {
	return &story{now: Epoch, orders: make(map[string]engine.OrderID), records: make(map[engine.OrderID]*order.Order)}
}

// actor returns the character with a name, and makes it when the name is new. "event", "wallet", "map", "calendar"
// and "room" name one actor each: the last three are the event's seats, dates and waiting room. A name that begins
// with a percent sign is a promo code. Any other name is a ticket type.
func (w *story) actor(name string) (*character, error) {
	for _, c := range w.actors {
		if c.name == name {
			return c, nil
		}
	}
	// A story has one event, with the number 1. Ticket types are numbered in the order in which the story names
	// them first.
	ref := engine.EventRef(1)
	switch name {
	case "event":
	case "wallet":
		ref = engine.WalletRef(1, "USD")
	case "map":
		ref = engine.SeatmapRef(1)
	case "calendar":
		ref = engine.CalendarRef(1)
	case "room":
		ref = engine.QueueRef(1)
	default:
		if strings.HasPrefix(name, "%") {
			ref = w.promoRef()
			break
		}
		types := 1
		for _, c := range w.actors {
			if c.ref.Kind == engine.KindInventory {
				types++
			}
		}
		ref = engine.InventoryRef(1, int64(types))
	}
	kind, err := all.Kind(ref.Kind)
	if err != nil {
		return nil, err
	}
	c := &character{name: name, ref: ref, kind: kind, state: kind.New(ref)}
	w.actors = append(w.actors, c)
	return c, w.wakeUp(c)
}

// wakeUp begins another activation of a character: its first command is a Wake with the new epoch.
func (w *story) wakeUp(c *character) error {
	c.epoch++
	return w.tell(c, engine.Wake{Epoch: c.epoch})
}

// nameOf returns the name that the story has for an actor. For an actor that is not in the story, it returns
// the stream name.
func (w *story) nameOf(ref engine.Ref) string {
	for _, c := range w.actors {
		if c.ref == ref {
			return c.name
		}
	}
	return ref.Name()
}

// printf writes a line of the transcript, unless the line's results are left out.
func (w *story) printf(format string, args ...any) {
	if w.given {
		return
	}
	fmt.Fprintf(&w.out, "    "+format+"\n", args...)
}

// tell gives an actor a command, and writes down what the actor decides.
func (w *story) tell(c *character, cmd engine.Command) error {
	// Facts are applied one by one as they are written, so that each line shows a fact as it was decided.
	d := c.state.Decide(cmd, w.now)
	for _, f := range d.Facts {
		if f.FactType().Volatile() {
			w.printf("(+) %s", w.showFact(c, f))
			c.state.Apply(f)
			continue
		}
		// The journal gets the stored form of the fact, so that a crash reads back what a store would have: a fact
		// that can't be stored fails the story.
		b, err := codec.AppendFact(nil, f)
		if err != nil {
			return err
		}
		c.journal = append(c.journal, b)
		w.printf("+ %s", w.showFact(c, f))
		c.state.Apply(f)
	}
	// The caller of a command that waits has no reply yet. A later decision answers all callers that wait with the
	// same key.
	if d.WaitKey != nil {
		w.printf("~ %s waits", w.OrderName(*d.WaitKey))
	}
	if d.Reply != nil {
		if err := listed(d.Reply); err != nil {
			return err
		}
		w.printf("= %s", w.show(d.Reply))
	}
	for _, a := range d.Answers {
		if err := listed(a.Reply); err != nil {
			return err
		}
		w.printf("= to %s: %s", w.OrderName(a.Key), w.show(a.Reply))
	}
	// The story does not tell asks, joint commands and sends apart: it has no journal that could be slow or fail.
	for _, s := range slices.Concat(d.Asks, d.Joint, d.Sends) {
		if w.waits {
			w.printf("> %s: %s", w.nameOf(s.To), w.showCommand(s.Cmd))
		}
		w.post = append(w.post, s)
	}
	// While a message is handled, the messages that it causes stay in the post. The call of deliver that is
	// running delivers them too, after those that were there before.
	if !w.waits && !w.busy {
		return w.deliver(1_000)
	}
	return nil
}

// deliver delivers the next n messages. Messages that these cause are queued after the ones that wait already,
// and count too. The bound n makes a story end even if two actors go on sending each other messages.
func (w *story) deliver(n int) error {
	w.busy = true
	defer func() { w.busy = false }()
	for ; n > 0 && len(w.post) > 0; n-- {
		s := w.post[0]
		w.post, w.last = w.post[1:], &s
		if err := w.hand(s); err != nil {
			return err
		}
	}
	return nil
}

// hand delivers a message to its receiver. It drops a message for an actor that is not in the story.
func (w *story) hand(s engine.Send) error {
	for _, c := range w.actors {
		if c.ref == s.To {
			w.printf("%s hears %s", c.name, w.showCommand(s.Cmd))
			return w.tell(c, s.Cmd)
		}
	}
	if p, ok := s.Cmd.(keeper.Proceeds); ok { // a wallet that is not in this story is taken to accept all proceeds
		given := w.given
		defer func() { w.given = given }()
		w.given = true
		return w.tellEvent(keeper.ProceedsSeen{Revision: p.Revision})
	}
	return nil
}

// wait lets time pass, and wakes each actor at the time at which it wants to be woken, the earliest first. A time
// that has passed already wakes the actor at once.
func (w *story) wait(d time.Duration) error {
	until := w.now.Add(d)
	for range 10_000 {
		c := slices.MinFunc(w.actors, func(a, b *character) int { return cmp.Compare(a.next(), b.next()) })
		next := time.UnixMilli(c.next())
		if next.After(until) {
			w.now = until
			return nil
		}
		if next.After(w.now) {
			w.now = next.UTC()
		}
		w.printf("%s %s wakes", w.clock(w.now.UnixMilli()), c.name)
		if err := w.tell(c, engine.Wake{}); err != nil {
			return err
		}
	}
	return errors.New("ten thousand wakes and no end")
}

// next returns when the character wants its next Wake, in unix milliseconds. A character that wants none has a time
// that no story reaches.
func (c *character) next() int64 {
	if t := c.state.Next(); !t.IsZero() {
		return t.UnixMilli()
	}
	return 1 << 60
}

// save keeps a snapshot of the character, in its stored form, and how many facts it contains.
func (c *character) save() (err error) {
	c.saved = len(c.journal)
	c.frozen, err = codec.Marshal(c.state.Freeze())
	return err
}

// crash makes the character forget everything but its journal, and begin again. The state that is loaded must be the
// one that it had, from all facts as well as from the snapshot and the facts after it.
func (w *story) crash(c *character) error {
	was := c.state
	if err := c.load(0, nil); err != nil {
		return err
	}
	if err := CompareStates(was, c.state); err != nil {
		return err
	}
	if c.frozen != nil {
		if err := c.load(c.saved, c.frozen); err != nil {
			return err
		}
		if err := CompareStates(was, c.state); err != nil {
			return fmt.Errorf("from the snapshot: %w", err)
		}
	}
	return w.wakeUp(c)
}

// load makes the state from a snapshot, if there is one, and the journaled facts from an index on.
func (c *character) load(from int, frozen []byte) (err error) {
	c.state = c.kind.New(c.ref)
	if frozen != nil {
		v := c.kind.Frozen()
		if err := codec.Unmarshal(frozen, v); err != nil {
			return err
		}
		if c.state, err = c.kind.Thaw(c.ref, v); err != nil {
			return err
		}
	}
	for _, b := range c.journal[from:] {
		facts, err := codec.Facts(c.ref.Kind, b)
		if err != nil {
			return err
		}
		for _, f := range facts {
			c.state.Apply(f)
		}
	}
	return nil
}

// listed returns an error if a reply is of a type that is not in the lists of engine/all. Such a reply could not be
// sent to another node.
func listed(r engine.Reply) error {
	refusal, refused := r.(*engine.Refusal)
	ok := slices.ContainsFunc(all.Replies, func(known engine.Reply) bool { return reflect.TypeOf(known) == reflect.TypeOf(r) })
	if refused {
		r = refusal.Details
		ok = r == nil || slices.ContainsFunc(all.Details, func(known any) bool { return reflect.TypeOf(known) == reflect.TypeOf(r) })
	}
	if !ok {
		return fmt.Errorf("%T is not on the list of messages in engine/all", r)
	}
	return nil
}

// check checks the invariants of all actors of the story. They must hold after every sentence, also while messages
// are on their way.
func (w *story) check() error {
	for _, c := range w.actors {
		if err := c.state.Check(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}
