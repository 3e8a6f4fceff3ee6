package live

import (
	"context"
	"strconv"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/calendar"
)

func calendarKey(number int64) string { return "calendar/" + strconv.FormatInt(number, 10) }

// Calendar is what is booked of a reservation event. The node keeps it for a second, or until it
// has itself taken an order for the event.
func (p *Pages) Calendar(ctx context.Context, node *cluster.Node, number int64) (*calendar.Record, error) {
	return CachePage(ctx, p, calendarKey(number), func() (*calendar.Record, error) {
		return cluster.AskFor[calendar.Record](ctx, node, engine.CalendarRef(number), calendar.Get{Counts: true})
	})
}

// ForgetCalendar makes the next reader ask again what is booked of an event.
func (p *Pages) ForgetCalendar(number int64) { p.Forget(calendarKey(number)) }
