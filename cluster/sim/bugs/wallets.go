package bugs

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// deafWallet acknowledges what an event has earned, and every other time notes nothing.
type deafWallet struct{ engine.State }

// Decide drops what every other telling would have made known.
func (w *deafWallet) Decide(c engine.Command, now time.Time) engine.Decision {
	d := w.State.Decide(c, now)
	if p, ok := c.(keeper.Proceeds); ok && p.Revision%2 == 0 {
		d.Facts = nil
	}
	return d
}
