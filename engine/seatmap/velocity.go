package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/pace"
)

// Another holder name costs nothing, so a cap for each holder would not prevent somebody from holding the whole map
// under many names. Two rules therefore count by asker: how many seats a principal holds at a time, and how many seats a
// client network has newly held within a span. Both counts follow from facts, and so survive a crash. Giving seats back
// is never refused, and seats that an order takes are no longer held.

// These are the limits on held seats at a scale of 1.
const (
	MaxHeld      = 100 // seats of one principal at a time
	MaxNewlyHeld = 300 // seats of one network within any pace.Span
)

// HoldLimit is the detail of VELOCITY_LIMIT_EXCEEDED.
type HoldLimit struct {
	Rule              string `json:"rule"` // the rule that refuses: held_seats or seat_holds
	Limit             int64  `json:"limit"`
	WindowSeconds     int64  `json:"windowSeconds"` // seconds in which the rule counts; for held_seats, how long a selection is held
	RetryAfterSeconds int64  `json:"retryAfterSeconds"`
}

// Asker is the party that asks to hold seats.
type Asker struct {
	Principal uint64  // hash of the account, API key or address that asks; with 0 its limit does not apply
	Network   uint64  // keyed hash of the client's address; with 0 its limit does not apply
	Scale     float64 // multiplies the limits; 0 stands for 1
}

// scaleLimit returns a limit at the asker's scale.
func (a *Asker) scaleLimit(limit int64) int64 {
	if a.Scale > 0 {
		return max(1, int64(min(float64(limit)*a.Scale, 1<<53)))
	}
	return limit
}

// refuseHold returns the reason why the asker may not have the selection that a fact makes, or nil.
// own is the holder's selection so far.
func (s *State) refuseHold(a *Asker, own *hold, f *HeldFact) *engine.Refusal {
	// Giving seats back, or keeping the seats that the holder has, takes nothing from others.
	if len(f.Took) == 0 && (own == nil || own.principal == a.Principal) {
		return nil
	}
	if a.Principal != 0 {
		held := int64(s.holds.count[a.Principal]) + int64(len(f.Took)) - int64(len(f.Dropped))
		if own != nil && own.principal != a.Principal { // another principal's seats become this one's
			held += int64(len(own.seats))
		}
		if most := a.scaleLimit(MaxHeld); held > most {
			return tooManySeats("held_seats", most, s.holdTime, s.holdTime)
		}
	}
	if a.Network != 0 {
		one, most, took := s.pace.CurrentOf(a.Network, f.At), a.scaleLimit(MaxNewlyHeld), int64(len(f.Took))
		if took > 0 && one.Sum()+took > most {
			return tooManySeats("seat_holds", most, pace.Span, one.FindRoom(most-took)-f.At)
		}
	}
	return nil
}

// tooManySeats returns the refusal of a selection because of a rule. wait is after how many milliseconds the
// asker may try again; window is the rule's span, also in milliseconds.
func tooManySeats(rule string, limit, window, wait int64) *engine.Refusal {
	seconds := max(1, (wait+999)/1_000)
	return &engine.Refusal{
		Code: engine.VelocityLimited, Retry: int(seconds),
		Details: HoldLimit{rule, limit, window / 1_000, seconds},
	}
}
