package enginetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// sayQueue reads what happens to the event's waiting room. The leaf of a visitor is derived from the
// visitor's name. Unless a story says otherwise, registration begins in 10 minutes and is closed
// after another 20, the opening is 3 minutes later, and 60 are admitted in a minute.
//
//	room opens Rate=60 Rules.Mode=draw     room hears Join ann person=7 class=1     room hears Look ann
//	room hears Admit ann                   room hears Prove ann                     room hears Bring
//	room hears Bring wrong                 room hears Pause yes                     room hears End
//	room hears Use ann Buyer=7             room hears Steer Rate=90                 room hears Drain
//	room is read
func (w *story) sayQueue(c *character, verb string, args []string) error {
	switch verb {
	case "opens":
		s := queue.Settings{
			Event: "evt_story", Chain: storyBeacon().Chain, Rate: 60, Hold: 10 * time.Minute.Milliseconds(),
			Rules: draw.Rules{
				Mode: draw.ByDraw, PartyMax: 4, Proof: "none", VoidAfter: 60, RegistersFrom: Epoch.Add(10 * time.Minute).UnixMilli(),
				ClosesAt: Epoch.Add(30 * time.Minute).UnixMilli(), OpensAt: Epoch.Add(33 * time.Minute).UnixMilli(),
			},
		}
		// A room that is open already keeps the settings that the sentence does not name.
		if r, ok := c.state.Decide(queue.Get{}, w.now).Reply.(*queue.Record); ok && r.Settings != nil {
			s = *r.Settings
		}
		if err := w.set(&s, args); err != nil {
			return err
		}
		return w.tell(c, queue.Open{Settings: s})
	case "hears":
		return w.sayQueueHears(c, args)
	default: // is read
		return w.tell(c, queue.Get{})
	}
}

// sayQueueHears reads what a visitor or the organizer asks of a waiting room. The hash of a visitor's name stands for
// the visitor.
func (w *story) sayQueueHears(c *character, args []string) error {
	leaf := func() draw.Hash { return sha256.Sum256([]byte(args[1])) }
	switch args[0] {
	case "Join":
		join := queue.Join{Leaf: leaf()}
		if err := w.set(&join, args[2:]); err != nil {
			return err
		}
		return w.tell(c, join)
	case "Crowd": // n visitors join; the transcript shows nothing of them
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		// Hundreds of joins would fill the transcript, so they are silenced; the sentence after them is shown
		// again.
		given := w.given
		w.given = true
		defer func() { w.given = given }()
		for i := range n {
			if err := w.tell(c, queue.Join{Leaf: sha256.Sum256([]byte("crowd" + strconv.Itoa(i)))}); err != nil {
				return err
			}
		}
		return nil
	case "Look":
		return w.tell(c, queue.Look{Leaf: leaf()})
	case "Admit":
		return w.tell(c, queue.Admit{Leaf: leaf()})
	case "Prove":
		return w.tell(c, queue.Prove{Leaf: leaf()})
	case "Pause":
		return w.tell(c, queue.Pause{On: args[1] == "yes"})
	case "End":
		return w.tell(c, queue.End{})
	case "Drain":
		return w.tell(c, queue.Drain{})
	case "Steer":
		var steer queue.Steer
		if err := w.set(&steer, args[1:]); err != nil {
			return err
		}
		return w.tell(c, steer)
	case "Use":
		use := queue.Use{Leaf: leaf()}
		if err := w.set(&use, args[2:]); err != nil {
			return err
		}
		return w.tell(c, use)
	// The beacon signs the round that the room waits for. With one more word the signature is made a wrong one.
	case "Bring":
		r, ok := c.state.Decide(queue.Get{}, w.now).Reply.(*queue.Record)
		if !ok || r.Settings == nil {
			return fmt.Errorf("%s has no room", c.name)
		}
		signature := storyBeacon().Sign(r.Settings.Rules.Round)
		if len(args) > 1 {
			signature[7] ^= 1
		}
		return w.tell(c, queue.Bring{Signature: signature})
	default:
		return fmt.Errorf("nobody says %s", args[0])
	}
}

// storyBeacon is the public source of randomness by which the rooms of all stories are drawn. Its seed is constant,
// so that a story comes out the same each time.
func storyBeacon() *draw.TestBeacon {
	b, err := draw.NewTestBeacon(bytes.Repeat([]byte{9}, 32), Epoch.Unix()-1000, 3)
	if err != nil {
		panic(err) // the seed is long enough
	}
	return b
}

// showRoom writes a waiting room's record.
func (w *story) showRoom(r *queue.Record) string {
	s := fmt.Sprintf("%s, draw %d, %d entries, %d served", r.Phase, r.Draw, r.Count, r.Served)
	if r.Paused {
		s += ", paused"
	}
	if r.Draining {
		s += ", draining"
	}
	if r.Settings != nil {
		s += fmt.Sprintf(", round %d at %s, %d a minute", r.Settings.Rules.Round, w.clock(r.Settings.Chain.Time(r.Settings.Rules.Round)), r.Settings.Rate)
	}
	if r.Statement != nil {
		s += fmt.Sprintf(", root %.8s of %d %v", r.Statement.Root, r.Statement.Count, r.Statement.ByClass)
	}
	if r.Signature != nil {
		s += fmt.Sprintf(", beacon %.4x", r.Signature)
	}
	return s
}

// showPlace writes where a visitor of a waiting room stands.
func (w *story) showPlace(p *queue.Placed) string {
	s := fmt.Sprintf("%s, entry %d", p.Phase, p.Index)
	if p.Place >= 0 {
		s += fmt.Sprintf(", place %d of which %d are served", p.Place, p.Served)
	}
	if p.Admitted {
		s += ", admitted"
	}
	if p.Until != 0 {
		s += " until " + w.clock(p.Until)
	}
	return s
}

// showQueueFact writes a waiting room's fact in short, or "" if its fields are good enough to be written as they are.
func showQueueFact(f engine.Fact) string {
	switch f := f.(type) {
	case *queue.Opened:
		return fmt.Sprintf("draw %d, %s, %d a minute", f.Draw, f.Settings.Rules.Mode, f.Settings.Rate)
	case *queue.Joined:
		return fmt.Sprintf("%.8s class %d", f.Leaf, f.Class)
	case *queue.ClosedFact:
		return fmt.Sprintf("%d entries, root %.8s", f.Count, f.Root)
	case *queue.Bound:
		return fmt.Sprintf("entry %d to %d", f.Index, f.Person)
	case *queue.Drawn:
		return fmt.Sprintf("%.4x", f.Signature)
	default:
		return ""
	}
}
