package rooms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// What is wanted of a seat map, seen through HTTP: what it grants is linearizable,
// and what it refuses was so at some moment of the second before or during the
// request. So an answer becomes an
// operation that grants, and one for each seat refused, which began a second
// earlier. Holds last longer than a test, so that none ends by itself.
const stale = time.Second

const rowSeats = 4

// rowState is who has each seat of a row: nobody (0), a client (1 and on), or an
// order (firstOrder and on).
type rowState [rowSeats]int

const firstOrder = 1000

// rowOp is one operation, and all that is known of its result.
type rowOp struct {
	what   string // hold, release, order, cancel, refused
	client int
	seats  [rowSeats]bool // granted, refused, or of the order
	count  int            // released
	order  int
}

func (op rowOp) String() string {
	return fmt.Sprintf("%s by %d: %v, %d released, order %d", op.what, op.client, op.seats, op.count, op.order)
}

// step is what the operation does to a row, if it can happen there.
func (op rowOp) step(s rowState) (rowState, bool) {
	own := 0
	for i := range s {
		his := s[i] == op.client
		if his {
			own++
		}
		switch op.what {
		case "refused":
			if op.seats[i] && (s[i] == 0 || his) {
				return s, false
			}
			continue
		case "cancel":
			if op.seats[i] != (s[i] == op.order) {
				return s, false
			}
		case "hold", "order":
			if op.seats[i] && s[i] != 0 && !his {
				return s, false
			}
		}
		switch {
		case op.what == "hold" && op.seats[i]:
			s[i] = op.client
		case op.what == "order" && op.seats[i]:
			s[i] = op.order
		case op.what == "cancel" && op.seats[i], op.what == "hold" && his, op.what == "release" && his:
			s[i] = 0
		}
	}
	return s, op.what != "release" || own == op.count
}

var rowModel = porcupine.Model{
	Init: func() any { return rowState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, op := state.(rowState), input.(rowOp)
		after, ok := op.step(s)
		return ok, after
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprint(input) },
}

// history is what the clients of one row did.
type history struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) note(op rowOp, from, to time.Time) {
	if op.what == "refused" {
		from = from.Add(-stale)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: op.client, Input: op, Call: from.Sub(h.began).Nanoseconds(), Return: to.Sub(h.began).Nanoseconds(),
	})
}

// check fails the test if the history is not linearizable.
func (h *history) check(t *testing.T) {
	t.Helper()
	if result := porcupine.CheckOperationsTimeout(rowModel, h.telling(), time.Minute); result != porcupine.Ok {
		for _, op := range h.ops {
			t.Logf("%8.3f to %8.3f ms: %v", float64(op.Call)/1e6, float64(op.Return)/1e6, op.Input)
		}
		require.Equal(t, porcupine.Ok, result)
	}
}

// telling is the history without the refusals that are right in whichever order
// the rest has happened: somebody else surely had the seat at some moment of their
// time. Nearly all are, and each costs the search dear, for its time is long.
func (h *history) telling() (ops []porcupine.Operation) {
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	var had []having
	for i, op := range h.ops {
		if in := op.Input.(rowOp); in.what == "hold" || in.what == "order" {
			had = append(had, having{in, op.Return, ending(in, h.ops[i+1:])})
		}
	}
	for _, op := range h.ops {
		in := op.Input.(rowOp)
		if in.what != "refused" || !slices.ContainsFunc(had, func(by having) bool {
			return by.to > op.Call && by.from < op.Return && by.explains(in)
		}) {
			ops = append(ops, op)
		}
	}
	return ops
}

// having is a time for which seats surely were somebody's.
type having struct {
	op       rowOp
	from, to int64
}

// explains reports whether a refusal at that time is right.
func (h having) explains(refused rowOp) bool {
	for i := range refused.seats {
		if refused.seats[i] {
			return h.op.seats[i] && (h.op.what == "order" || h.op.client != refused.client)
		}
	}
	return false
}

// ending is when what an operation granted may have ended: by the next operation
// of who holds it, or when the order was to be cancelled.
func ending(in rowOp, later []porcupine.Operation) int64 {
	end := int64(math.MaxInt64)
	for _, op := range later {
		next := op.Input.(rowOp)
		if in.what == "hold" && next.client == in.client && next.what != "refused" || next.what == "cancel" && next.order == in.order {
			end = min(end, op.Call)
		}
	}
	return end
}

// contender is one client of a row.
type contender struct {
	*nodetest.House
	ctx    context.Context
	past   *history
	number int // from 1
	holder string
	row    string
	seats  int // how many of the row it is after
	placed int // orders so far
	mine   []placed
	rng    *rand.Rand
}

// placed is an order that has not been cancelled.
type placed struct {
	number    int
	id, token string
	seats     [rowSeats]bool
}

// reaction is an answer, for goroutines that must not end the test.
type reaction struct {
	Data struct {
		Held, Failed []string
		Released     int
		ID           string
		AccessToken  string `json:"accessToken"`
		Status       string
	}
	Error struct {
		Code    string
		Details struct {
			SeatIDs []string `json:"seatIds"`
		}
	}
}

// ask sends a request. The answer is a success, or the refusal named.
func (c *contender) ask(method, path string, body nodetest.Object, refusal string) (r reaction, from, to time.Time, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return r, from, to, err
	}
	req, err := http.NewRequestWithContext(c.ctx, method, c.URL+path, bytes.NewReader(text))
	if err != nil {
		return r, from, to, err
	}
	req.Header.Set("Content-Type", "application/json")
	from = time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return r, from, to, err
	}
	defer func() { _ = res.Body.Close() }() // it has been read, or it does not matter
	to = time.Now()
	if err = json.NewDecoder(res.Body).Decode(&r); err == nil && r.Error.Code != "" && r.Error.Code != refusal {
		err = fmt.Errorf("%s %s answers %s", method, path, r.Error.Code)
	}
	return r, from, to, err
}

// act does something at random.
func (c *contender) act() error {
	switch n := c.rng.IntN(10); {
	case len(c.mine) > 0 && n < 6:
		return c.cancel()
	case n < 5:
		return c.take()
	case n < 7:
		return c.giveBack()
	default:
		return c.order()
	}
}

// choice is one to most seats of those it is after.
func (c *contender) choice(most int) (ids []string) {
	for _, i := range c.rng.Perm(c.seats)[:1+c.rng.IntN(min(most, c.seats))] {
		ids = append(ids, c.seat(i))
	}
	return ids
}

func (c *contender) seat(i int) string { return fmt.Sprintf("%s-%d", c.row, i+1) }

// places are the seats of ids.
func (c *contender) places(ids []string) (seats [rowSeats]bool) {
	for i := range seats {
		for _, id := range ids {
			seats[i] = seats[i] || id == c.seat(i)
		}
	}
	return seats
}

// refused notes each seat by itself: they may be refused for what was so at
// different moments.
func (c *contender) refused(ids []string, from, to time.Time) {
	for _, id := range ids {
		c.past.note(rowOp{what: "refused", client: c.number, seats: c.places([]string{id})}, from, to)
	}
}

func (c *contender) take() error {
	r, from, to, err := c.ask("POST", c.Path+"seats/hold", nodetest.Object{"holder": c.holder, "seatIds": c.choice(rowSeats)}, "")
	if err == nil {
		c.past.note(rowOp{what: "hold", client: c.number, seats: c.places(r.Data.Held)}, from, to)
		c.refused(r.Data.Failed, from, to)
	}
	return err
}

func (c *contender) giveBack() error {
	r, from, to, err := c.ask("DELETE", c.Path+"seats/hold", nodetest.Object{"holder": c.holder}, "")
	if err == nil {
		c.past.note(rowOp{what: "release", client: c.number, count: r.Data.Released}, from, to)
	}
	return err
}

func (c *contender) order() error {
	ids := c.choice(2)
	c.placed++
	number := firstOrder*c.number + c.placed
	body := nodetest.OrderBody(fmt.Sprintf("%s-%d@example.org", c.row, number), c.Stalls, len(ids))
	body["items"].([]nodetest.Object)[0]["venueSeatIds"], body["holder"] = ids, c.holder
	r, from, to, err := c.ask("POST", "/orders", body, "SEAT_TAKEN")
	switch {
	case err != nil:
		return err
	case r.Error.Code != "":
		c.refused(r.Error.Details.SeatIDs, from, to)
		return nil
	}
	o := placed{number, r.Data.ID, r.Data.AccessToken, c.places(ids)}
	c.past.note(rowOp{what: "order", client: c.number, seats: o.seats, order: number}, from, to)
	c.mine = append(c.mine, o)
	return nil
}

func (c *contender) cancel() error {
	o := c.mine[0]
	c.mine = c.mine[1:]
	_, from, to, err := c.ask("POST", "/orders/"+o.id+"/cancel", nodetest.Object{"token": o.token}, "")
	if err == nil {
		c.past.note(rowOp{what: "cancel", client: c.number, seats: o.seats, order: o.number}, from, to)
	}
	return err
}

// contested is an event on sale with rows of four seats with an aisle between any
// two, so that no choice leaves a single one.
func contested(t *testing.T, rows int) *nodetest.House {
	t.Helper()
	h := &nodetest.House{Shop: nodetest.Open(t)}
	venue := h.Own("POST", "/organizer/venues", nodetest.Object{
		"name": "Rows", "canvas": nodetest.Object{"width": 2000, "height": 2000}, "focus": []int{500, 20},
		"sections": []nodetest.Object{{"id": "s", "name": "S", "rows": []nodetest.Object{{
			"label": "1", "from": []int{100, 100}, "to": []int{1000, 100}, "count": rowSeats, "repeat": rows, "step": []int{0, 60},
			"aislesAfter": []int{1, 2, 3},
		}}}},
	}).Is(201, "").Str("id")
	h.Own("POST", "/organizer/venues/"+venue+"/publish", nil).Is(200, "")
	var types []string
	h.Event, types = h.OnSale(nodetest.With(nodetest.TypeBody(50, 1), nodetest.Object{"type": "reserved"}))
	h.Path, h.Organize, h.Stalls = "/public/events/"+h.Event+"/", "/organizer/events/"+h.Event+"/", types[0]
	h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": venue}).Is(200, "")
	h.Own("PUT", h.Organize+"seating/pricing", nodetest.Object{"mappings": []nodetest.Object{{"venueSectionId": "s", "ticketTypeId": h.Stalls}}}).Is(200, "")
	h.Becomes(fmt.Sprint(rows*rowSeats), func() string { return h.Left(h.Stalls) })
	return h
}

// TestSeatHistories: eight clients contend for one seat, and for a row of four,
// again and again, and every history is linearizable.
func TestSeatHistories(t *testing.T) {
	t.Parallel()
	const clients, acts = 8, 12
	rows := []int{1, 1, 1, 1, rowSeats, rowSeats, rowSeats, rowSeats} // seats contended for
	h := contested(t, len(rows))
	granted := map[string]int{}
	for n, seats := range rows {
		past := &history{began: time.Now()}
		var all sync.WaitGroup
		failed := make(chan error, clients)
		for i := range clients {
			c := &contender{
				House: h, ctx: t.Context(), past: past, number: i + 1, holder: fmt.Sprintf("holder-%d-%d", n, i),
				row: fmt.Sprintf("s-%d", n+1), seats: seats, rng: rand.New(rand.NewPCG(uint64(n), uint64(i))),
			}
			all.Go(func() {
				for range acts {
					if err := c.act(); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		all.Wait()
		close(failed)
		require.NoError(t, <-failed)
		past.check(t)
		for _, op := range past.ops {
			if op := op.Input.(rowOp); op.seats != [rowSeats]bool{} || op.count > 0 {
				granted[op.what]++
			}
		}
	}
	t.Log(granted)
	for _, what := range []string{"hold", "release", "order", "cancel", "refused"} {
		require.Positive(t, granted[what], what)
	}
}

// TestSeatModel: the model finds what must not be.
func TestSeatModel(t *testing.T) {
	t.Parallel()
	one, both := [rowSeats]bool{true}, [rowSeats]bool{true, true}
	hold := func(client int, seats [rowSeats]bool) rowOp { return rowOp{what: "hold", client: client, seats: seats} }
	order := func(client, number int, seats [rowSeats]bool) rowOp {
		return rowOp{what: "order", client: client, order: number, seats: seats}
	}
	cancel := func(number int, seats [rowSeats]bool) rowOp {
		return rowOp{what: "cancel", order: number, seats: seats}
	}
	refused := rowOp{what: "refused", client: 2, seats: one}
	for name, c := range map[string]struct {
		ops  []rowOp // one after the other, two seconds apart
		good bool
	}{
		"held in turn":            {[]rowOp{hold(1, both), hold(1, [rowSeats]bool{}), hold(2, both)}, true},
		"held by two":             {[]rowOp{hold(1, both), hold(2, one)}, false},
		"replaced":                {[]rowOp{hold(1, one), hold(1, [rowSeats]bool{1: true}), hold(2, one)}, true},
		"ordered by its holder":   {[]rowOp{hold(1, both), order(1, 1001, one), {what: "release", client: 1, count: 1}}, true},
		"ordered by another":      {[]rowOp{hold(1, both), order(2, 2001, one)}, false},
		"ordered twice":           {[]rowOp{order(1, 1001, one), order(1, 1002, one)}, false},
		"cancelled":               {[]rowOp{order(1, 1001, one), cancel(1001, one), hold(2, one)}, true},
		"cancelled, not all":      {[]rowOp{order(1, 1001, both), cancel(1001, one)}, false},
		"more released than held": {[]rowOp{hold(1, one), {what: "release", client: 1, count: 2}}, false},
		"refused while held":      {[]rowOp{hold(1, one), refused}, true},
		"refused too long after":  {[]rowOp{hold(1, one), {what: "release", client: 1, count: 1}, refused}, false},
		"refused its own":         {[]rowOp{hold(2, one), refused}, false},
	} {
		past := &history{began: time.Now()}
		for i, op := range c.ops {
			at := past.began.Add(time.Duration(i) * 2 * stale)
			past.note(op, at, at.Add(time.Millisecond))
		}
		require.Equal(t, c.good, porcupine.CheckOperations(rowModel, past.ops), name)
		require.Equal(t, c.good, porcupine.CheckOperations(rowModel, past.telling()), name)
	}
}
