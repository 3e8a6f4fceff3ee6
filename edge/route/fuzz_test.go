package route

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/route/format"
)

// FuzzBody feeds any bytes to an order's plan: it ends, without a panic, in
// issues or in a request that keeps every rule.
func FuzzBody(f *testing.F) {
	f.Add([]byte(orderBody))
	f.Add([]byte(`{"items":[{"ticketTypeId":null,"quantity":1e2}],"promoCode":"\u0000"}`))
	f.Add([]byte(`{"items":[[]],"items":1}`))
	f.Add([]byte("{\"guestName\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, issues := read[placeOrder](string(body), nothing{})
		if len(issues) > 0 {
			require.LessOrEqual(t, len(issues), MaxIssues)
			return
		}
		require.True(t, len(in.Items) >= 1 && len(in.Items) <= 20)
		requireText(t, in.GuestName, 200)
		requireText(t, in.PromoCode, 50)
		require.True(t, in.GuestEmail == "" || format.ValidEmail(in.GuestEmail))
		for _, l := range in.Items {
			require.True(t, format.ValidUUID(l.TicketTypeID))
			require.True(t, l.Quantity >= 1 && l.Quantity <= 100)
			require.LessOrEqual(t, len(l.SeatIDs), 100)
			for _, id := range l.SeatIDs {
				requireText(t, id, 80)
			}
		}
		// What was read is valid again.
		again, err := json.Marshal(jsonOf(in))
		require.NoError(t, err)
		_, issues = read[placeOrder](string(again), nothing{})
		require.Empty(t, issues, "%s", again)
	})
}

func requireText(t *testing.T, s string, limit int) {
	t.Helper()
	require.True(t, utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit && !strings.Contains(s, "\x00"), "%q", s)
}

// jsonOf is an order's body with the members that are set.
func jsonOf(in *placeOrder) map[string]any {
	var items []any
	for _, l := range in.Items {
		items = append(items, sent(map[string]any{
			"ticketTypeId": l.TicketTypeID, "quantity": l.Quantity, "venueSeatIds": l.SeatIDs,
			"reservationDate": l.Date, "attendeeName": l.Name, "attendeeEmail": l.Email,
		}))
	}
	return sent(map[string]any{
		"items": items, "guestEmail": in.GuestEmail, "guestName": in.GuestName, "promoCode": in.PromoCode, "presaleCode": in.Presale,
	})
}

// sent leaves the members out that are empty texts.
func sent(m map[string]any) map[string]any {
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == "" })
	return m
}

// breakers each break one rule of an order and name the issue that must come.
var breakers = []struct {
	issue string
	apply func(order, line map[string]any)
}{
	{"items: required", func(o, _ map[string]any) { delete(o, "items") }},
	{"items: required", func(o, _ map[string]any) { o["items"] = nil }},
	{"items: min_items", func(o, _ map[string]any) { o["items"] = []any{} }},
	{"items: max_items", func(o, l map[string]any) { o["items"] = slices.Repeat([]any{l}, 21) }},
	{"items: type", func(o, _ map[string]any) { o["items"] = map[string]any{} }},
	{"guestEmail: format", func(o, _ map[string]any) { o["guestEmail"] = "ada" }},
	{"guestEmail: type", func(o, _ map[string]any) { o["guestEmail"] = 7 }},
	{"guestName: max_length", func(o, _ map[string]any) { o["guestName"] = strings.Repeat("é", 201) }},
	{"guestName: format", func(o, _ map[string]any) { o["guestName"] = "a\x00" }},
	{"promoCode: max_length", func(o, _ map[string]any) { o["promoCode"] = strings.Repeat("x", 51) }},
	{"ticketTypeId: required", func(_, l map[string]any) { delete(l, "ticketTypeId") }},
	{"ticketTypeId: format", func(_, l map[string]any) { l["ticketTypeId"] = "7" }},
	{"ticketTypeId: type", func(_, l map[string]any) { l["ticketTypeId"] = true }},
	{"quantity: required", func(_, l map[string]any) { l["quantity"] = nil }},
	{"quantity: minimum", func(_, l map[string]any) { l["quantity"] = -1 }},
	{"quantity: maximum", func(_, l map[string]any) { l["quantity"] = 101 }},
	{"quantity: maximum", func(_, l map[string]any) { l["quantity"] = uint64(1) << 63 }},
	{"quantity: type", func(_, l map[string]any) { l["quantity"] = 1.5 }},
	{"quantity: type", func(_, l map[string]any) { l["quantity"] = "1" }},
	{"venueSeatIds: max_items", func(_, l map[string]any) { l["venueSeatIds"] = slices.Repeat([]any{"A1"}, 101) }},
	{"venueSeatIds[0]: max_length", func(_, l map[string]any) { l["venueSeatIds"] = []any{strings.Repeat("x", 81)} }},
	{"venueSeatIds[1]: type", func(_, l map[string]any) { l["venueSeatIds"] = []any{"A1", 2} }},
	{"reservationDate: format", func(_, l map[string]any) { l["reservationDate"] = "2026-02-30" }},
	{"attendeeEmail: format", func(_, l map[string]any) { l["attendeeEmail"] = "a@b\r\n.co" }},
}

// FuzzRules makes an order out of a seed: whole it is never refused, with one
// rule broken it always is, and at the right place.
func FuzzRules(f *testing.F) {
	for seed := range uint64(len(breakers)) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		order, lines := validOrder(r)
		body, err := json.Marshal(order)
		require.NoError(t, err)
		_, issues := read[placeOrder](string(body), nothing{})
		require.Empty(t, issues, "%s", body)

		b := breakers[int(which)%len(breakers)]
		n := r.IntN(len(lines))
		b.apply(order, lines[n])
		body, err = json.Marshal(order)
		require.NoError(t, err)
		_, issues = read[placeOrder](string(body), nothing{})
		require.Condition(t, func() bool {
			return slices.Contains(issues, b.issue) || slices.Contains(issues, fmt.Sprintf("items[%d].%s", n, b.issue))
		}, "%s: %v, not %s", body, issues, b.issue)
		require.Len(t, slices.Compact(issues), 1)
	})
}

// validOrder is any order that keeps every rule, at and within the bounds.
func validOrder(r *rand.Rand) (order map[string]any, lines []map[string]any) {
	text := func(limit int) string {
		runes := []rune("aZ é中😀\"\\/\t<")
		var b strings.Builder
		for range r.IntN(limit + 1) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return b.String()
	}
	maybe := func(m map[string]any, name string, value any) {
		if r.IntN(2) == 0 {
			m[name] = value
		} else if r.IntN(3) == 0 {
			m[name] = nil
		}
	}
	for range 1 + r.IntN(20) {
		line := map[string]any{"ticketTypeId": fmt.Sprintf("%08x-0000-8000-8000-%012x", r.Uint32(), r.Uint32()), "quantity": 1 + r.IntN(100)}
		maybe(line, "venueSeatIds", slices.Repeat([]any{text(80)}, r.IntN(101)))
		maybe(line, "reservationDate", fmt.Sprintf("20%02d-%02d-%02d", r.IntN(100), 1+r.IntN(12), 1+r.IntN(28)))
		maybe(line, "attendeeName", text(200))
		maybe(line, "attendeeEmail", fmt.Sprintf("u%d@example.org", r.IntN(1e6)))
		lines = append(lines, line)
	}
	order = map[string]any{"items": lines}
	maybe(order, "guestEmail", "ada@example.org")
	maybe(order, "guestName", text(200))
	maybe(order, "promoCode", text(50))
	maybe(order, text(20)+"!", map[string]any{"unknown": []any{1, nil, text(5)}})
	return order, lines
}
