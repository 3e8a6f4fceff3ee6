package live

import (
	"context"
	"strconv"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/calendar"
)

func calendarKey(number int64) string { return "calendar/" + strconv.FormatInt(number, 10) }

// Calendar returns the record of an event's reservation calendar, with what is booked. The node keeps the record for a
// second, or until it has itself sent the event an order (ForgetCalendar).
func (p *Pages) Calendar(ctx context.Context, node *cluster.Node, number int64) (*calendar.Record, error) {
	return CachePage(ctx, p, calendarKey(number), func() (*calendar.Record, error) {
		return cluster.AskFor[calendar.Record](ctx, node, engine.CalendarRef(number), calendar.Get{Counts: true})
	})
}

// ForgetCalendar drops this node's copy of an event's calendar, so that the next reader asks the calendar's actor.
func (p *Pages) ForgetCalendar(number int64) { p.Forget(calendarKey(number)) }
