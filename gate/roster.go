// Package gate is a device at a gate. It decides whom to let in, with the network or without it. It
// stores its decisions, and tells the service about them when the network is back.
//
// A Device is safe for concurrent use. It starts no goroutines: its owner calls Sync every few
// seconds.
package gate

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// These are the verdicts on a code. All but Undecided are also the service's. Undecided means that only the
// service can tell, or that it refuses to look at the code now.
const (
	Success    = "success"
	Duplicate  = "denied_duplicate"
	Cancelled  = "denied_cancelled"
	Expired    = "denied_expired"
	WrongEvent = "denied_wrong_event"
	NotInside  = "denied_not_inside"
	Undecided  = "undecided"
)

// Verdict is the answer to a code. If the device decides alone, Reason is NOT_YET, OVER,
// ROTATING_ONLY, EXITS_OFF, NOT_SEEN or empty. NOT_SEEN means that somebody goes out although the
// device knows of no gate that let the person in. In all other cases Reason is what the service
// says.
type Verdict struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

type (
	// Manifest is what the service tells about an event's tickets.
	Manifest struct {
		Cursor           string   `json:"cursor"`
		Full             bool     `json:"full"`
		Salt             string   `json:"salt"`
		OfflineDoorCodes bool     `json:"offlineDoorCodes"`
		RotatingOnly     bool     `json:"rotatingOnly"`
		Exits            bool     `json:"exits,omitempty"` // whether holders go out, and in again
		Tickets          []Ticket `json:"tickets"`
	}
	// Ticket is a ticket of a Manifest.
	Ticket struct {
		Hash   string `json:"h"`           // of the code
		Status string `json:"s"`           // i issued, c checked in, o gone out, x cancelled or passed on, r refunded, e expired
		Short  string `json:"k,omitempty"` // hash of the door code; empty if devices may not know it
		From   int64  `json:"a,omitempty"` // unix seconds; before then it does not admit
		Before int64  `json:"b,omitempty"` // unix seconds; from then on it does not admit
	}
)

const (
	codeLen   = 20 // characters of a full code
	doorLen   = 6  // characters of a door code
	codeBytes = 16 // bytes of a code's hash
	doorBytes = 6  // bytes of a door code's hash
	qrSeconds = 30 // seconds of a time step of a code that rotates
)

// sameScan is how long after a passage, in or out, the same code at the same device still counts as the same
// person.
const sameScan = 2 * time.Second

// manifestAge is how much older than the question the tickets in its answer may be.
const manifestAge = 2 * time.Second

// roster is what a device knows about the tickets of its event.
type roster struct {
	// All but the list of tickets, which the maps below have.
	Manifest

	// The tickets by the hash of the code.
	tickets map[string]*Ticket
	// The tickets by the hash of the door code.
	doors map[string]*Ticket
	// The last passage of each ticket at this device, by the hash of the code.
	own map[string]note
}

// note is a passage at this device.
type note struct {
	// Whether somebody went out.
	out bool
	// When the code was shown.
	at time.Time
	// When the service was told, by the device's own clock; zero before that.
	told time.Time
}

func newRoster() *roster {
	return &roster{tickets: map[string]*Ticket{}, doors: map[string]*Ticket{}, own: map[string]note{}}
}

// apply takes over an answer of the service, which was asked for at a time of the device's own clock. The
// answer may be older than what this device has done since, so a passage at this device is kept if the service
// was not told of it, or only shortly before it was asked (manifestAge).
func (r *roster) apply(m *Manifest, asked time.Time) {
	r.Manifest = *m
	r.Tickets = nil
	if m.Full {
		r.tickets, r.doors = make(map[string]*Ticket, len(m.Tickets)), map[string]*Ticket{}
	}
	for i := range m.Tickets {
		t := m.Tickets[i]
		if n, mine := r.own[t.Hash]; mine && (n.told.IsZero() || n.told.After(asked.Add(-manifestAge))) {
			t.move(n.out)
		}
		r.tickets[t.Hash] = &t
		if t.Short != "" {
			r.doors[t.Short] = &t
		}
	}
}

// move notes that a ticket's holder has come in or gone out. A ticket that has ended stays as it
// is.
func (t *Ticket) move(out bool) {
	switch {
	case t.Status != "i" && t.Status != "c" && t.Status != "o":
	case out:
		t.Status = "o"
	default:
		t.Status = "c"
	}
}

// shown is a code that was shown to a device, after reading its form.
type shown struct {
	code    string
	door    bool
	printed bool
	// The manifest tells nothing about codes of this form, so only the service can judge them.
	remote bool
	// The time step of a code that rotates; -1 for all others.
	step int64
}

var digits = regexp.MustCompile(`^[0-9]{1,12}$`)

// readShown reads what was scanned or, if typed is set, typed. It returns false for a text that is no code, and for
// a full code that was not typed.
func readShown(text string, typed bool) (shown, bool) {
	text = CleanShown(text)
	parts := strings.Split(text, ".")
	s := shown{code: text, step: -1}
	switch {
	case len(parts) == 4 && parts[0] == "V1", len(parts) == 3 && parts[0] == "P1": // of the release before
		s.remote = true
		return s, true
	case len(parts) == 4 && parts[0] == "V2" && digits.MatchString(parts[2]):
		s.code = parts[1]
		s.step, _ = strconv.ParseInt(parts[2], 10, 64) // these are digits
		return s, true
	case len(parts) == 3 && parts[0] == "P2":
		s.code, s.printed = parts[1], true
		return s, true
	case isDoor(text):
		s.door, s.printed = true, !typed
		return s, true
	default:
		s.remote = true
		return s, typed && isFull(text)
	}
}

// isFull reports whether a text has the length of a ticket's full code.
func isFull(text string) bool { return len(CleanShown(text)) == codeLen }

// isDoor reports whether a text has the length of a door code.
func isDoor(text string) bool { return len(CleanShown(text)) == doorLen }

// find returns the ticket of a code, or nil if no ticket has the code. ok is false if only the
// service can find it.
func (r *roster) find(s shown) (t *Ticket, ok bool) {
	switch {
	case r.Salt == "" || s.remote || s.door && !r.OfflineDoorCodes:
		return nil, false
	case s.door:
		return r.doors[hash(r.Salt, s.code, doorBytes)], true
	default:
		return r.tickets[hash(r.Salt, s.code, codeBytes)], true
	}
}

func hash(salt, code string, size int) string {
	sum := sha256.Sum256([]byte(salt + "|" + code))
	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// decideCode returns the verdict on a code that is shown at a time, and its ticket if there is one, without asking the
// service. Undecided means that the roster can't look the code up (find). A code that it can look up and no ticket of
// the event has is WrongEvent. decideCode changes nothing.
func (r *roster) decideCode(text string, typed, out bool, at time.Time) (Verdict, *Ticket) {
	s, ok := readShown(text, typed)
	if !ok {
		return Verdict{Status: WrongEvent}, nil
	}
	t, known := r.find(s)
	switch {
	case s.door && s.printed && r.RotatingOnly:
		return Verdict{Expired, "ROTATING_ONLY"}, t
	case !known:
		return Verdict{Status: Undecided}, nil
	case t == nil:
		return Verdict{Status: WrongEvent}, nil
	case out && !r.Exits:
		return Verdict{NotInside, "EXITS_OFF"}, t
	case t.Status == "x" || t.Status == "r":
		return Verdict{Status: Cancelled}, t
	case s.step >= 0 && max(at.Unix()/qrSeconds-s.step, s.step-at.Unix()/qrSeconds) > 1:
		return Verdict{Status: Expired}, t
	case s.printed && r.RotatingOnly:
		return Verdict{Expired, "ROTATING_ONLY"}, t
	case r.justPassed(t, out, at):
		return Verdict{Status: Success}, t
	case out:
		return decideExit(t), t
	case t.Status == "c":
		return Verdict{Status: Duplicate}, t
	case t.Status == "e":
		return Verdict{Status: Expired}, t
	case at.Unix() < t.From:
		return Verdict{Expired, "NOT_YET"}, t
	case t.Before != 0 && at.Unix() >= t.Before:
		return Verdict{Expired, "OVER"}, t
	default:
		return Verdict{Status: Success}, t
	}
}

// decideExit lets out everybody but somebody who has gone out already. Somebody whom no gate is known to have let in
// may have come in at another gate that is offline, and is let out with the reason NOT_SEEN.
func decideExit(t *Ticket) Verdict {
	switch t.Status {
	case "o":
		return Verdict{Status: NotInside}
	case "c":
		return Verdict{Status: Success}
	default:
		return Verdict{Success, "NOT_SEEN"}
	}
}

// justPassed reports whether this device let the ticket in, or out, within the last two seconds.
func (r *roster) justPassed(t *Ticket, out bool, at time.Time) bool {
	n, mine := r.own[t.Hash]
	return mine && n.out == out && at.Sub(n.at).Abs() <= sameScan
}

// notePassage notes that this device has let the holder of a code in or out. It does nothing for a code that
// the device cannot find.
func (r *roster) notePassage(text string, n note) {
	s, ok := readShown(text, true)
	if !ok {
		return
	}
	if t, _ := r.find(s); t != nil {
		r.own[t.Hash] = n
		t.move(n.out)
	}
}
