package orders

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// refusedValue is a value that a field refuses, and the code.
type refusedValue struct {
	name  string
	value any
	code  string
}

func TestPromoCodes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.Sell(nil, nodetest.TypeBody(20, 10), nodetest.TypeBody(50, 10))
	other := s.Draft(nil)

	t.Log("a code and its defaults")
	wide := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nil)).Is(201, "")
	require.Equal(t, nodetest.Words(`id code eventId discountType discountValue validFrom validUntil description maxUses maxUsesPerCustomer
		minOrderValue applicableTypes usedCount status createdAt`), wide.Keys(""))
	require.Equal(t, "EARLY-10", wide.Str("code"))
	require.Equal(t, "10.00", wide.Str("discountValue"))
	require.Equal(t, "active", wide.Str("status"))
	require.Nil(t, wide.Data("maxUses"))
	whole := nodetest.Object{
		"eventId": event, "description": nodetest.Text(200), "maxUses": 1_000_000, "maxUsesPerCustomer": 1_000,
		"applicableTypes": []any{types[1]},
	}
	own := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.With(whole, nodetest.Object{"code": "VIP_5", "discountType": "flat", "discountValue": 100_000, "minOrderValue": 12.5}))).Is(201, "")
	for name, v := range whole {
		echoed(t, v, own.Data(name), name)
	}
	require.Equal(t, "12.50", own.Str("minOrderValue"))

	t.Log("the newest comes first, and an event has its own")
	list := s.Own("GET", nodetest.PromosPath, nil).Is(200, "")
	require.Equal(t, own.Str("id"), list.Str("promoCodes.0.id"))
	require.Equal(t, wide.Str("id"), list.Str("promoCodes.1.id"))
	page := s.Own("GET", nodetest.PromosPath+"?limit=1", nil).Is(200, "")
	page = s.Own("GET", nodetest.PromosPath+"?limit=1&cursor="+page.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, wide.Str("id"), page.Str("promoCodes.0.id"))
	require.Nil(t, page.Data("nextCursor"))
	of := s.Own("GET", nodetest.PromosPath+"?eventId="+event, nil).Is(200, "")
	require.Len(t, of.Data("promoCodes"), 1)

	t.Log("a name is unique where an order could mean either")
	for _, changes := range []nodetest.Object{nil, {"code": "EARLY-10"}, {"eventId": event}, {"code": "vip_5", "eventId": event}, {"code": "vip_5"}} {
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(changes)).Is(409, "CODE_ALREADY_EXISTS")
	}
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "VIP_5", "eventId": other})).Is(201, "")
	stranger := s.Register("promo-stranger@example.com")
	stranger.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nil)).Is(201, "")

	t.Log("what is refused")
	for _, f := range []refusedValue{
		{"code", "ab", "min_length"},
		{"code", nodetest.Text(51), "max_length"},
		{"code", "a b", "format"},
		{"code", "äöü", "format"},
		{"discountType", "half", "enum"},
		{"discountValue", 0, "minimum"},
		{"discountValue", 100.01, "maximum"},
		{"discountValue", 1.001, "decimals"},
		{"validFrom", "soon", "type"},
		{"validUntil", "2020-01-01T00:00:00Z", "minimum"},
		{"description", nodetest.Text(201), "max_length"},
		{"maxUses", 0, "minimum"},
		{"maxUses", 1_000_001, "maximum"},
		{"maxUsesPerCustomer", 0, "minimum"},
		{"minOrderValue", -1, "minimum"},
	} {
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "NEW", f.name: f.value})).Invalid(f.name, f.code)
		s.Own("PUT", nodetest.PromosPath+"/"+wide.Str("id"), nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	for _, name := range nodetest.Words("code discountType discountValue validFrom validUntil") {
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{name: nodetest.Absent})).Invalid(name, "required")
		s.Own("PUT", nodetest.PromosPath+"/"+wide.Str("id"), nodetest.Object{name: nil}).Invalid(name, "null")
	}
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "NEW", "eventId": other, "applicableTypes": []any{types[0]}})).Invalid("applicableTypes[0]", "enum")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"eventId": stranger.Draft(nil)})).Is(404, "EVENT_NOT_FOUND")
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "NEW", "eventId": event})).Is(409, "EVENT_CANCELLED")

	t.Log("another's does not exist")
	for _, id := range []string{"x", "0", "999999999", wide.Str("id")} {
		stranger.Own("PUT", nodetest.PromosPath+"/"+id, nodetest.Object{}).Is(404, "NOT_FOUND")
		stranger.Own("DELETE", nodetest.PromosPath+"/"+id, nil).Is(404, "NOT_FOUND")
	}
	stranger.Own("GET", nodetest.PromosPath+"?eventId="+event, nil).Is(404, "EVENT_NOT_FOUND")
}

func TestPromoCodeChanges(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, types := s.Sell(nil, nodetest.TypeBody(20, 10))
	made := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"maxUses": 5})).Is(201, "")
	path := nodetest.PromosPath + "/" + made.Str("id")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "TAKEN"})).Is(201, "")

	s.Own("PUT", path, nodetest.Object{"code": "taken"}).Is(409, "CODE_ALREADY_EXISTS")
	changed := s.Own("PUT", path, nodetest.Object{"code": "late", "discountType": "flat", "discountValue": 200, "maxUses": nil}).Is(200, "")
	require.Equal(t, "LATE", changed.Str("code"))
	require.Equal(t, "200.00", changed.Str("discountValue"))
	require.Nil(t, changed.Data("maxUses"))
	s.Own("PUT", path, nodetest.Object{"discountType": "percentage"}).Invalid("discountValue", "maximum")
	s.Own("PUT", path, nodetest.Object{"discountType": "percentage", "discountValue": 100}).Is(200, "")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nil)).Is(201, "") // its former name is free again

	t.Log("redeemed, it keeps its name and is only disabled")
	order := nodetest.With(nodetest.OrderBody("ada@example.org", types[0], 1), nodetest.Object{"promoCode": " late "})
	placed := s.Call("POST", "/orders", order).Is(201, "")
	require.Equal(t, "completed", placed.Str("status"), "nothing is to be paid")
	require.Equal(t, "LATE", placed.Str("promoCode"))
	s.Becomes("1", func() string { return s.Own("PUT", path, nodetest.Object{}).Is(200, "").Str("usedCount") })
	s.Own("PUT", path, nodetest.Object{"code": "other"}).Is(409, "CODE_LOCKED")
	gone := s.Own("DELETE", path, nil).Is(200, "")
	require.Equal(t, true, gone.Data("disabled"))
	require.Equal(t, "disabled", gone.Str("promoCode.status"))
	require.EqualValues(t, 1, gone.Data("promoCode.usedCount"))
	s.Call("POST", "/orders", order).Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": "DISABLED"})
	verdict := s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": "late", "ticketTypeIds": []any{types[0]}}).Is(200, "")
	require.Equal(t, []any{false, "CODE_NOT_FOUND", nil}, []any{verdict.Data("valid"), verdict.Data("reason"), verdict.Data("discountValue")})

	t.Log("never redeemed, it goes and its name is free")
	fresh := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "FRESH"})).Is(201, "")
	require.Equal(t, true, s.Own("DELETE", nodetest.PromosPath+"/"+fresh.Str("id"), nil).Is(200, "").Data("deleted"))
	s.Own("DELETE", nodetest.PromosPath+"/"+fresh.Str("id"), nil).Is(404, "NOT_FOUND")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "FRESH"})).Is(201, "")
}

// TestARenameWithoutAnAnswer has another node claim a code while it is renamed. Nobody knows then whether the code has
// its new name, so the name stays the code's: a repeat makes it the code's name.
func TestARenameWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	rival, err := journal.Open(t.Context(), journal.Config{Pool: s.Pool(), Node: "rival", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rival.Stop(context.Background())) })
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	org, unknown := number(s.Org()), false
	for i := 0; i < 20 && !unknown; i++ {
		name := fmt.Sprintf("NEW-%d", i)
		made := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": fmt.Sprintf("OLD-%d", i)})).Is(201, "")
		path := nodetest.PromosPath + "/" + made.Str("id")
		_, err = rival.Claim(t.Context(), engine.PromoRef(org, number(made.Str("id"))))
		require.NoError(t, err)
		s.Own("PUT", path, nodetest.Object{"code": name}).Is(503, "UNAVAILABLE")
		taken := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": name}))
		if taken.Status == 201 { // the code found out before the rename that it was claimed, so nothing was renamed
			continue
		}
		unknown = true
		taken.Is(409, "CODE_ALREADY_EXISTS")
		s.Becomes(name, func() string { return s.Own("PUT", path, nodetest.Object{"code": name}).Str("code") })
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": fmt.Sprintf("OLD-%d", i)})).Is(201, "")
	}
	require.True(t, unknown)
}

func TestPromoCodeInOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.Sell(nil, nodetest.TypeBody(19.99, 10), nodetest.TypeBody(50, 10))
	code := func(changes nodetest.Object) string {
		return s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(changes)).Is(201, "").Str("code")
	}
	place := func(promo string, typ string, n int) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ada@example.org", typ, n), nodetest.Object{"promoCode": promo}))
	}
	refused := func(a nodetest.Answer, reason string) {
		t.Helper()
		a.Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": reason})
	}

	t.Log("a percentage is rounded for each ticket, and fees are of what is left")
	o := place(code(nodetest.Object{"code": "EIGHTH", "discountValue": 12.5}), types[0], 2).Is(201, "")
	require.Equal(t, []string{"39.98", "5.00", "1.74", "36.72"}, []string{o.Str("subtotal"), o.Str("discount"), o.Str("fees"), o.Str("total")})

	t.Log("an amount is at most what the tickets that it is for come to")
	flat := code(nodetest.Object{"code": "FLAT", "discountType": "flat", "discountValue": 60, "applicableTypes": []any{types[1]}, "minOrderValue": 20, "maxUses": 1})
	refused(place(flat, types[0], 2), "NOT_APPLICABLE_TO_THESE_TICKETS")
	o = place(flat, types[1], 1).Is(201, "")
	require.Equal(t, "50.00", o.Str("discount"))
	require.Equal(t, "completed", o.Str("status"))
	require.Equal(t, "0.00", o.Str("tickets.0.faceValue"))
	refused(place(flat, types[1], 1), "MAX_USES_REACHED")

	refused(place("NOPE", types[0], 1), "CODE_NOT_FOUND")
	refused(place(code(nodetest.Object{"code": "LATER", "validFrom": "2030-12-01T00:00:00Z"}), types[0], 1), "NOT_YET_ACTIVE")
	refused(place(code(nodetest.Object{"code": "OVER", "validUntil": "2020-02-01T00:00:00Z"}), types[0], 1), "EXPIRED")
	refused(place(code(nodetest.Object{"code": "RICH", "minOrderValue": 20}), types[0], 1), "BELOW_MIN_ORDER")
	refused(place(code(nodetest.Object{"code": "ELSEWHERE", "eventId": s.Draft(nil)}), types[0], 1), "CODE_NOT_FOUND")
	once := code(nodetest.Object{"code": "ONCE", "eventId": event, "maxUsesPerCustomer": 1})
	first := place(once, types[0], 1).Is(201, "")
	refused(place(once, types[0], 1), "CUSTOMER_LIMIT")

	t.Log("the use comes back with the order's end")
	s.Call("POST", "/orders/"+first.Str("id")+"/cancel", nodetest.Object{"token": first.Str("accessToken")}).Is(200, "")
	s.Becomes("true", func() string {
		return s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": once, "eventId": event}).Str("valid")
	})
	place(once, types[0], 1).Is(201, "")
}

// TestCodesThatTakeNothingOff orders what costs nothing with a code: the order is refused, whoever
// asks before is told so, and the code's one use is left for somebody who pays.
func TestCodesThatTakeNothingOff(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, types := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free"}), nodetest.TypeBody(20, 10))
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"maxUses": 1})).Is(201, "")
	place := func(of string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ada@example.org", of, 1), nodetest.Object{"promoCode": "EARLY-10"}))
	}
	place(types[0]).Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": "NOT_APPLICABLE_TO_THESE_TICKETS"})
	told := s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": "early-10", "ticketTypeIds": []any{types[0]}, "subtotal": 0}).Is(200, "")
	require.Equal(t, "NOT_APPLICABLE_TO_THESE_TICKETS", told.Str("reason"))
	require.Equal(t, false, told.Data("valid"))
	place(types[1]).Is(201, "")
	place(types[1]).Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": "MAX_USES_REACHED"})
}

// TestPromoVerdictsAreTheOrders asks what codes take off a cart, and then orders it: to the cent the
// same, or refused for the same reason.
func TestPromoVerdictsAreTheOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, types := s.Sell(nil, nodetest.TypeBody(19.99, 100), nodetest.TypeBody(50, 100), nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
	codes := []nodetest.Object{
		{"code": "EIGHTH", "discountValue": 12.5},
		{"code": "THIRD", "discountValue": 33.33, "applicableTypes": []any{types[0]}},
		{"code": "ALL", "discountValue": 100},
		{"code": "FLAT", "discountType": "flat", "discountValue": 10, "applicableTypes": []any{types[1]}},
		{"code": "FLAT-ALL", "discountType": "flat", "discountValue": 33.34},
		{"code": "RICH", "discountValue": 10, "minOrderValue": 60},
		{"code": "RICH-OF-ONE", "discountValue": 10, "minOrderValue": 60, "applicableTypes": []any{types[0]}},
	}
	carts := [][3]int{{1, 0, 0}, {3, 0, 0}, {0, 1, 0}, {3, 1, 0}, {2, 1, 1}, {0, 0, 2}}
	for _, code := range codes {
		name := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(code)).Is(201, "").Str("code")
		for _, cart := range carts {
			var items []nodetest.Object
			for i, n := range cart {
				if n > 0 {
					items = append(items, nodetest.Object{"ticketTypeId": types[i], "quantity": n})
				}
			}
			told := s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": name, "items": items}).Is(200, "")
			o := s.Call("POST", "/orders", nodetest.Object{"guestEmail": fmt.Sprintf("%s-%d%d%d@example.org", strings.ToLower(name), cart[0], cart[1], cart[2]), "items": items, "promoCode": name})
			if o.Status == 201 {
				require.Equal(t, true, told.Data("valid"), "%s %v", name, cart)
				require.Equal(t, o.Str("discount"), told.Str("discount"), "%s %v", name, cart)
			} else {
				o.Refused(409, "PROMO_CODE_INVALID", nodetest.Object{"reason": told.Str("reason")})
				require.Equal(t, []any{false, "0.00"}, []any{told.Data("valid"), told.Data("discount")}, "%s %v", name, cart)
			}
		}
	}
}

// TestAddressesInOtherLetters orders by both spellings of a domain: they are one mailbox.
func TestAddressesInOtherLetters(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, types := s.OnSale(nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"maxPerOrder": 2, "maxPerCustomer": 2}))
	for _, email := range []string{"ada@m\u00fcller.example", "ada@xn--mller-kva.example"} {
		s.Call("POST", "/orders", nodetest.OrderBody(email, types[0], 1)).Is(201, "")
	}
	s.Call("POST", "/orders", nodetest.OrderBody("ada@M\u00dcLLER.example", types[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER")
}

func TestValidatePromoCode(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.Sell(nil, nodetest.TypeBody(20, 10), nodetest.TypeBody(50, 10))
	slug := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{}).Is(200, "").Str("slug")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "SOME", "discountValue": 12.5, "applicableTypes": []any{types[0]}, "minOrderValue": 10})).Is(201, "")
	validate := func(changes nodetest.Object) nodetest.Answer {
		return s.Call("POST", "/tickets/promo/validate", nodetest.With(nodetest.Object{"code": "some", "eventId": event, "ticketTypeIds": []any{types[0]}, "subtotal": 100}, changes))
	}
	for _, id := range []string{event, slug} {
		require.Equal(t, nodetest.Object{"valid": true, "discount": "12.50", "discountType": "percentage", "discountValue": "12.50", "reason": nil}, validate(nodetest.Object{"eventId": id}).Is(200, "").Get("data"))
	}
	for reason, changes := range map[string]nodetest.Object{
		"CODE_NOT_FOUND": {"code": "other"}, "NOT_APPLICABLE_TO_THESE_TICKETS": {"ticketTypeIds": []any{types[1]}}, "BELOW_MIN_ORDER": {"subtotal": 9.99},
	} {
		a := validate(changes).Is(200, "")
		require.Equal(t, false, a.Data("valid"))
		require.Equal(t, reason, a.Str("reason"))
	}
	validate(nodetest.Object{"code": nodetest.Absent}).Invalid("code", "required")
	validate(nodetest.Object{"subtotal": "x"}).Invalid("subtotal", "type")
	validate(nodetest.Object{"eventId": "no-such-event"}).Is(200, "")
}

// TestPromoQuote asks what a cart would cost with a code, and then orders it: both say the same, to
// the last unit.
func TestPromoQuote(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, types := s.OnSale(nodetest.TypeBody(19.99, 50), nodetest.TypeBody(7.35, 50))
	_, elsewhere := s.OnSale(nodetest.TypeBody(19.99, 50))
	for code, changes := range map[string]nodetest.Object{
		"SHARE": {"discountValue": 12.5}, "FLAT": {"discountType": "flat", "discountValue": 10.01}, "ONE": {"discountValue": 33.33, "applicableTypes": []any{types[1]}},
		"HIGH": {"minOrderValue": 1000}, "ALL": {"discountValue": 100},
	} {
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.With(changes, nodetest.Object{"code": code}))).Is(201, "")
	}
	lines := []nodetest.Object{{"ticketTypeId": types[0], "quantity": 3}, {"ticketTypeId": types[1], "quantity": 2}}
	ask := func(code string, items ...nodetest.Object) nodetest.Answer {
		return s.Call("POST", "/tickets/promo/validate", nodetest.Object{"code": code, "items": items})
	}
	for _, code := range []string{"share", "flat", "one", "all"} {
		told := ask(code, lines...).Is(200, "")
		require.Equal(t, true, told.Data("valid"), code)
		o := s.Call("POST", "/orders", nodetest.Object{"items": lines, "guestEmail": code + "@example.org", "guestName": "Ada", "promoCode": code}).Is(201, "")
		for _, sum := range []string{"subtotal", "discount", "fees", "total", "currency"} {
			require.Equal(t, o.Str(sum), told.Str("quote."+sum), "%s %s", code, sum)
		}
		require.Equal(t, o.Str("discount"), told.Str("discount"))
	}

	t.Log("a code that would not hold leaves the whole price")
	for code, reason := range map[string]string{"high": "BELOW_MIN_ORDER", "nosuch": "CODE_NOT_FOUND"} {
		told := ask(code, lines...).Is(200, "")
		require.Equal(t, reason, told.Str("reason"))
		require.Equal(t, "78.41", told.Str("quote.total"))
	}
	told := ask("one", lines[0]).Is(200, "")
	require.Equal(t, "NOT_APPLICABLE_TO_THESE_TICKETS", told.Str("reason"))
	ask("share", lines[0], nodetest.Object{"ticketTypeId": elsewhere[0], "quantity": 1}).Invalid("items[1].ticketTypeId", "format")
	ask("share", nodetest.Object{"ticketTypeId": "00000000-0000-4000-8000-000000000000", "quantity": 1}).Invalid("items[0].ticketTypeId", "format")
}
