package live

import (
	"context"
	"strconv"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/calendar"
)

func calendarKey(number int64) string { return "calendar/" + strconv.FormatInt(number, 10) }

// Calendar returns what is booked of a reservation event. The node caches it for a second, or until a call of
// ForgetCalendar: after an order for the event that this node took, or after a change of the calendar's settings.
func (p *Pages) Calendar(ctx context.Context, node *cluster.Node, number int64) (*calendar.Record, error) {
	return CachePage(ctx, p, calendarKey(number), func() (*calendar.Record, error) {
		return cluster.AskFor[calendar.Record](ctx, node, engine.CalendarRef(number), calendar.Get{Counts: true})
	})
}

// ForgetCalendar drops an event's calendar from the cache, so that the next reader asks the
// calendar's actor again.
func (p *Pages) ForgetCalendar(number int64) { p.Forget(calendarKey(number)) }
