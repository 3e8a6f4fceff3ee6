package room

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// The operations of a run.
const (
	opOrder openloop.Op = iota
	opLook
)

// patience is how long a visitor repeats a join that was not answered.
const patience = 30 * time.Second

// order places an order for one ticket.
func (s *scene) order(ctx context.Context, from int, buyer, admission string) client.Answer {
	body := struct {
		rush.PlaceOrder
		Admission string `json:"admission,omitempty"`
	}{rush.PlaceOrder{
		Items: []rush.Item{{TicketTypeID: s.sale.Types[0].ID, Quantity: 1}}, GuestEmail: buyer + "@load.test", GuestName: "Load Buyer",
	}, admission}
	return s.svc.Do(ctx, s.net.Source(from), client.Call{Method: "POST", Path: "/orders", Key: uuid.NewString(), Body: rush.Encode(body)}, nil)
}

// buyer orders without a room: once, or again and again until a time.
type buyer struct {
	*scene
	name  string
	until time.Time
	n     int
}

// Step places an order, each under another e-mail address. With the zero time in until, the first order is the
// last.
func (b *buyer) Step(ctx context.Context) openloop.Result {
	b.n++
	a := b.order(ctx, b.n, fmt.Sprintf("%s-%d", b.name, b.n), "")
	return openloop.Result{Op: opOrder, Status: a.Status, Code: a.Code, Done: !time.Now().Before(b.until), Wait: a.RetryAfter}
}

// visitor waits in the room, and orders once admitted. It is of one goroutine at a time.
type visitor struct {
	*scene
	n         int
	token     string
	place     int64 // the place that the visitor was told when joining
	admission string
	ordered   time.Time
}

// roomView is what a visitor reads of a room. You is missing for somebody who shows no token.
type roomView struct {
	Served int64
	You    *struct {
		Place     int64
		Estimate  *struct{ From, To time.Time }
		Admission *struct{ Token string }
	}
}

// roomPath returns the path of the sale's waiting room in the API, which needs no login.
func (s *scene) roomPath() string {
	return "/public/events/" + url.PathEscape(s.sale.EventID) + "/queue"
}

// join makes the visitor an entry of the room, and keeps the token by which the visitor looks at the room from now
// on. The key makes a repeated join the same join.
func (v *visitor) join(ctx context.Context) error {
	var joined struct {
		Token string
		Place int64
	}
	call := client.Call{Method: "POST", Path: v.roomPath(), Key: uuid.NewString(), Body: []byte("{}")}
	if a := v.svc.Insist(ctx, v.net.Source(v.n), call, patience, &joined); !a.OK() {
		return fmt.Errorf("join: %w", a.Err())
	}
	v.token, v.place = joined.Token, joined.Place
	return nil
}

// Step looks at the room, or orders. An order whose outcome is not known is sent again, as a person would do who
// sees no confirmation.
func (v *visitor) Step(ctx context.Context) openloop.Result {
	if v.admission == "" {
		return v.look(ctx)
	}
	a := v.order(ctx, v.n, fmt.Sprint("visitor-", v.n), v.admission)
	r := openloop.Result{Op: opOrder, Status: a.Status, Code: a.Code, Done: !a.Unsettled(), Wait: max(a.RetryAfter, rush.FirstPause)}
	if a.OK() {
		v.ordered = time.Now()
	}
	return r
}

// look asks for the place. A page that is not admitted looks again in the middle of the time in which its
// turn is expected, and at least once in a while. At the beginning of that time nearly all would be
// early, and would look twice more.
func (v *visitor) look(ctx context.Context) openloop.Result {
	var room roomView
	a := v.svc.Do(ctx, v.net.Source(v.n), client.Call{Method: "GET", Path: v.roomPath() + "?ticket=" + url.QueryEscape(v.token)}, &room)
	r := openloop.Result{Op: opLook, Status: a.Status, Code: a.Code, Wait: max(a.RetryAfter, rush.FirstPause)}
	switch {
	case !a.OK():
	case room.You != nil && room.You.Admission != nil:
		v.admission, r.Wait = room.You.Admission.Token, 0
	case room.You != nil && room.You.Estimate != nil:
		e := room.You.Estimate
		r.Wait = min(max(time.Until(e.From.Add(e.To.Sub(e.From)/2)), rush.FirstPause), v.cfg.Look)
	}
	return r
}

// watchEvery is how often the room's figures are read.
const watchEvery = 250 * time.Millisecond

// watchServed reads how many are admitted until ctx ends, and returns how many that were a second, in the
// middle four fifths.
func (s *scene) watchServed(ctx context.Context) float64 {
	type reading struct {
		at     time.Time
		served int64
	}
	var seen []reading
	for ; ctx.Err() == nil; rig.Wait(ctx, watchEvery) {
		var room roomView
		if a := s.svc.Do(ctx, s.net.Source(0), client.Call{Method: "GET", Path: s.roomPath()}, &room); !a.OK() {
			continue
		}
		if len(seen) == 0 || room.Served > seen[len(seen)-1].served { // what is kept for a second is seen once
			seen = append(seen, reading{time.Now(), room.Served})
		}
	}
	if len(seen) < 4 {
		return 0
	}
	// The first and the last tenth are left out: in them the room begins and runs empty.
	first, last := seen[len(seen)/10+1], seen[len(seen)-len(seen)/10-2]
	return float64(last.served-first.served) / last.at.Sub(first.at).Seconds()
}

// rateOf returns how many a second there are in the middle four fifths of the moments.
func rateOf(at []time.Time) float64 {
	slices.SortFunc(at, time.Time.Compare)
	if len(at) < 20 {
		return 0
	}
	from, to := len(at)/10, len(at)-len(at)/10-1
	return float64(to-from) / at[to].Sub(at[from]).Seconds()
}
