package rooms

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestSeatsAreBought is the way of a seat: held, refused to others, ordered,
// sold.
func TestSeatsAreBought(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	m := h.Call("GET", h.Path+"seatmap", nil).Is(200, "")
	require.Len(t, m.Data("seats"), 52)
	require.Equal(t, "50.00", m.Str("sections.0.price"))
	require.Equal(t, "52.50", m.Str("sections.0.priceTotal"))
	require.Equal(t, "stage", m.Str("elements.0.type"))

	held := h.Hold(nodetest.AdaHolds, "stalls-A-1", "stalls-A-2", "nowhere-1").Is(200, "")
	require.Equal(t, []any{"stalls-A-1", "stalls-A-2"}, held.Data("held"))
	require.Equal(t, []any{"nowhere-1"}, held.Data("failed"))
	require.Equal(t, []any{"stalls-A-2"}, h.Hold(nodetest.BobHolds, "stalls-A-2", "stalls-A-3", "stalls-A-4").Is(200, "").Data("failed"))
	h.Becomes("[stalls-A-1 stalls-A-2 stalls-A-3 stalls-A-4]", func() string { return strings.Join([]string{"[" + strings.Join(h.Seats("held"), " ") + "]"}, "") })

	h.Buy(nodetest.BobHolds, h.Stalls, "stalls-A-1").Refused(409, "SEAT_TAKEN", nodetest.Object{"seatIds": []any{"stalls-A-1"}})
	o := h.Buy(nodetest.AdaHolds, h.Stalls, "stalls-A-1", "stalls-A-2").Is(201, "")
	require.Equal(t, "105.00", o.Str("total"))
	require.Equal(t, []any{"stalls-A-1", "stalls-A-2"}, o.Data("items.0.venueSeatIds"))
	h.Becomes("38", func() string { return h.Left(h.Stalls) })
	require.True(t, slices.Contains(h.Seats("sold"), "stalls-A-1"), "seats of a pending order are sold to the public")

	id, token := o.Str("id"), o.Str("accessToken")
	pay := h.Pay(id, token)
	h.Settle(pay.Str("authorizationUrl"), "success")
	done := h.Verify(id, token)
	require.Equal(t, "completed", done.Str("status"))
	require.Equal(t, "stalls-A-1", done.Str("tickets.0.seat.id"))
	require.Equal(t, "Stalls", done.Str("tickets.0.seat.section"))
	require.Equal(t, "2", done.Str("tickets.1.seat.label"))
	h.Own("DELETE", h.Organize+"seating", nil).Is(409, "SEATS_SOLD")
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": []string{"stalls-A-1"}}).Refused(409, "SEAT_SOLD", nodetest.Object{"seatIds": []any{"stalls-A-1"}})
	h.Restart()
	require.True(t, slices.Contains(h.Seats("sold"), "stalls-A-2"), "after a restart too")
}

// TestCancelledSeatsComeBack to the public, and to the type's stock.
func TestCancelledSeatsComeBack(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	o := h.Buy("", h.Gods, "balcony-A-1", "balcony-A-2").Is(201, "")
	h.Becomes("10", func() string { return h.Left(h.Gods) })
	h.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
	h.Becomes("12", func() string { return h.Left(h.Gods) })
	h.Becomes("0", func() string { return string(rune('0' + len(h.Seats("sold")))) })
	h.Buy("", h.Gods, "balcony-A-2", "balcony-A-1").Is(201, "")
}

// TestLiveSeats sees a snapshot, and then what others do.
func TestLiveSeats(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	h.Hold(nodetest.AdaHolds, "stalls-B-1", "stalls-B-2").Is(200, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", h.URL+h.Path+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	require.NotEmpty(t, res.Header.Get("X-Request-Id"))
	lines := bufio.NewScanner(res.Body)
	next := func(name string) (data map[string][]string) {
		event := ""
		for lines.Scan() {
			if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = e
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && event == name {
				require.NoError(t, json.Unmarshal([]byte(text), &data))
				return data
			}
		}
		require.NoError(t, lines.Err())
		return nil
	}
	require.Equal(t, map[string][]string{"sold": {}, "blocked": {}, "held": {"stalls-B-1", "stalls-B-2"}}, next("snapshot"))
	h.Hold(nodetest.BobHolds, "stalls-C-1", "stalls-C-2").Is(200, "")
	require.Equal(t, map[string][]string{"held": {"stalls-C-1", "stalls-C-2"}}, next("seat_update"))
	require.Equal(t, "2", h.Call("DELETE", h.Path+"seats/hold", nodetest.Object{"holder": nodetest.AdaHolds}).Is(200, "").Str("released"))
	require.Equal(t, map[string][]string{"released": {"stalls-B-1", "stalls-B-2"}}, next("seat_update"))
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": []string{"stalls-D-5"}}).Is(200, "")
	require.Equal(t, map[string][]string{"blocked": {"stalls-D-5"}}, next("seat_update"))
	h.Becomes("39", func() string { return h.Left(h.Stalls) })
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"unblock": []string{"stalls-D-5"}}).Is(200, "")
	require.Equal(t, map[string][]string{"unblocked": {"stalls-D-5"}}, next("seat_update"))
	h.Buy(nodetest.BobHolds, h.Stalls, "stalls-C-1", "stalls-C-2").Is(201, "")
	require.Equal(t, map[string][]string{"sold": {"stalls-C-1", "stalls-C-2"}}, next("seat_update"))
}

// TestBestSeats are beside each other, before the stage.
func TestBestSeats(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	best := h.Call("POST", h.Path+"seats/best-available", nodetest.Object{"holder": nodetest.AdaHolds, "quantity": 4, "adjacent": true}).Is(200, "")
	require.Equal(t, true, best.Data("adjacent"))
	require.Equal(t, []any{"stalls-A-4", "stalls-A-5", "stalls-A-6", "stalls-A-7"}, best.Data("held"))
	h.Call("POST", h.Path+"seats/best-available", nodetest.Object{"holder": nodetest.BobHolds, "quantity": 11, "adjacent": true}).Is(409, "TICKET_SOLD_OUT")
}

// TestSeatingIsRefused asks for what an event without seats, a map, a hold or an order does not allow.
func TestSeatingIsRefused(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	plain, types := h.OnSale(nodetest.TypeBody(10, 10))
	none, own := "/public/events/"+plain+"/", "/organizer/events/"+plain+"/"
	h.Call("GET", none+"seatmap", nil).Is(404, "NO_SEATING")
	h.Call("GET", none+"seats", nil).Is(404, "NO_SEATING")
	h.Call("GET", none+"seats/live", nil).Is(404, "NO_SEATING")
	h.Call("POST", none+"seats/hold", nodetest.Object{"holder": nodetest.AdaHolds, "seatIds": []string{"x"}}).Is(409, "NO_SEATING")
	require.Equal(t, false, h.Own("GET", own+"seating", nil).Is(200, "").Data("enabled"))
	h.Own("PUT", own+"seating/pricing", nodetest.Object{"mappings": []nodetest.Object{}}).Is(409, "NO_SEATING")
	h.Own("POST", own+"seating/blocks", nodetest.Object{"block": []string{"x"}}).Is(409, "NO_SEATING")

	draft := h.Own("POST", "/organizer/venues", nodetest.With(nodetest.Hall(), nodetest.Object{"name": "Draft"})).Is(201, "").Str("id")
	h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": draft}).Is(409, "MAP_NOT_PUBLISHED")
	h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": draft, "holdTtlSeconds": 59}).Invalid("holdTtlSeconds", "minimum")
	h.Own("PUT", h.Organize+"seating", nodetest.Object{"venueMapId": draft, "holdTtlSeconds": 3601}).Invalid("holdTtlSeconds", "maximum")
	mapping := func(section, ticketType string) nodetest.Object {
		return nodetest.Object{"mappings": []nodetest.Object{{"venueSectionId": section, "ticketTypeId": ticketType}}}
	}
	h.Own("PUT", h.Organize+"seating/pricing", mapping("stalls", types[0])).Is(400, "VALIDATION_ERROR")
	h.Own("PUT", h.Organize+"seating/pricing", mapping("nowhere", h.Stalls)).Invalid("mappings[0].venueSectionId", "enum")
	twice := nodetest.Object{"venueSectionId": "stalls", "ticketTypeId": h.Stalls}
	h.Own("PUT", h.Organize+"seating/pricing", nodetest.Object{"mappings": []nodetest.Object{twice, twice}}).Invalid("mappings[1].venueSectionId", "duplicate")

	h.Hold("short", "stalls-A-1").Invalid("holder", "min_length")
	h.Hold(strings.Repeat("h", 81), "stalls-A-1").Invalid("holder", "max_length")
	h.Hold(nodetest.AdaHolds, slices.Repeat([]string{"stalls-A-1"}, 51)...).Invalid("seatIds", "max_items")
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": slices.Repeat([]string{"x"}, 5001)}).Invalid("block", "max_items")
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": []string{"stalls-A-1", "nowhere-1"}}).Invalid("block[1]", "enum")
	h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"unblock": []string{"nowhere-1"}}).Invalid("unblock[0]", "enum")
	h.Call("POST", h.Path+"seats/best-available", nodetest.Object{"holder": nodetest.AdaHolds, "quantity": 1, "adjacent": false, "sectionIds": []string{"stalls", "nowhere"}}).
		Invalid("sectionIds[1]", "enum")
	h.Buy("", h.Stalls, "balcony-A-1").Invalid("items[0].venueSeatIds", "enum")
	h.Buy("", h.Stalls, "nowhere-1").Invalid("items[0].venueSeatIds", "enum")
	h.Buy("", h.Stalls, "stalls-A-1", "stalls-A-1").Invalid("items[0].venueSeatIds", "duplicate")
	h.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", h.Stalls, 1)).Invalid("items[0].venueSeatIds", "required")
	h.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 1)).Is(201, "")
}

// TestStadium seats an event by a map of 70,000, which is there again after a
// restart, and streams.
func TestStadium(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	venue := s.Own("POST", nodetest.VenuesPath, nodetest.SampleMap(t, "stadium")).Is(201, "").Str("id")
	s.Own("POST", nodetest.VenuesPath+"/"+venue+"/publish", nil).Is(200, "")
	event, types := s.Sell(nil, nodetest.TypeBody(25, 100))
	own, public := "/organizer/events/"+event+"/", "/public/events/"+event+"/"
	seating := s.Own("PUT", own+"seating", nodetest.Object{"venueMapId": venue}).Is(200, "")
	require.Equal(t, "70000", seating.Str("counts.total"))
	section, seat := seating.Str("map.sections.0.id"), seating.Str("map.seats.0.id")
	s.Own("PUT", own+"seating/pricing", nodetest.Object{"mappings": []nodetest.Object{{"venueSectionId": section, "ticketTypeId": types[0]}}}).Is(200, "")
	require.Equal(t, []any{seat}, s.Call("POST", public+"seats/hold", nodetest.Object{"holder": "holder-ada", "seatIds": []string{seat}}).Is(200, "").Data("held"))
	s.Restart()
	began := time.Now()
	require.Equal(t, []any{seat}, s.Call("GET", public+"seats", nil).Is(200, "").Data("held"))
	t.Logf("the first answer about 70,000 seats after a restart took %s", time.Since(began).Round(time.Millisecond))
	require.Len(t, s.Call("GET", public+"seatmap", nil).Is(200, "").Data("seats"), 70_000)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+public+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
	}
	require.Equal(t, `data: {"sold":[],"blocked":[],"held":["`+seat+`"]}`, lines.Text())
}
