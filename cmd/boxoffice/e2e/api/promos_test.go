package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

const promosPath = "/organizer/promo-codes"

func promoBody(changes nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.Object{
		"code": "early-10", "discountType": "percentage", "discountValue": 10,
		"validFrom": "2020-01-01T00:00:00Z", "validUntil": "2031-01-01T00:00:00Z",
	}, changes)
}

func TestPromoCodes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.Sell(nil, nodetest.TypeBody(20, 10), nodetest.TypeBody(50, 10))
	other := s.Draft(nil)

	t.Log("a code and its defaults")
	wide := s.Own("POST", promosPath, promoBody(nil)).Is(201, "")
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
	own := s.Own("POST", promosPath, promoBody(nodetest.With(whole, nodetest.Object{"code": "VIP_5", "discountType": "flat", "discountValue": 100_000, "minOrderValue": 12.5}))).Is(201, "")
	for name, v := range whole {
		echoed(t, v, own.Data(name), name)
	}
	require.Equal(t, "12.50", own.Str("minOrderValue"))

	t.Log("the newest comes first, and an event has its own")
	list := s.Own("GET", promosPath, nil).Is(200, "")
	require.Equal(t, own.Str("id"), list.Str("promoCodes.0.id"))
	require.Equal(t, wide.Str("id"), list.Str("promoCodes.1.id"))
	page := s.Own("GET", promosPath+"?limit=1", nil).Is(200, "")
	page = s.Own("GET", promosPath+"?limit=1&cursor="+page.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, wide.Str("id"), page.Str("promoCodes.0.id"))
	require.Nil(t, page.Data("nextCursor"))
	of := s.Own("GET", promosPath+"?eventId="+event, nil).Is(200, "")
	require.Len(t, of.Data("promoCodes"), 1)

	t.Log("a name is unique where an order could mean either")
	for _, changes := range []nodetest.Object{nil, {"code": "EARLY-10"}, {"eventId": event}, {"code": "vip_5", "eventId": event}, {"code": "vip_5"}} {
		s.Own("POST", promosPath, promoBody(changes)).Is(409, "CODE_ALREADY_EXISTS")
	}
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "VIP_5", "eventId": other})).Is(201, "")
	stranger := s.Register("promo-stranger@example.com")
	stranger.Own("POST", promosPath, promoBody(nil)).Is(201, "")

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
		s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "NEW", f.name: f.value})).Invalid(f.name, f.code)
		s.Own("PUT", promosPath+"/"+wide.Str("id"), nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	for _, name := range nodetest.Words("code discountType discountValue validFrom validUntil") {
		s.Own("POST", promosPath, promoBody(nodetest.Object{name: nodetest.Absent})).Invalid(name, "required")
		s.Own("PUT", promosPath+"/"+wide.Str("id"), nodetest.Object{name: nil}).Invalid(name, "null")
	}
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "NEW", "eventId": other, "applicableTypes": []any{types[0]}})).Invalid("applicableTypes[0]", "enum")
	s.Own("POST", promosPath, promoBody(nodetest.Object{"eventId": stranger.Draft(nil)})).Is(404, "EVENT_NOT_FOUND")
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "NEW", "eventId": event})).Is(409, "EVENT_CANCELLED")

	t.Log("another's does not exist")
	for _, id := range []string{"x", "0", "999999999", wide.Str("id")} {
		stranger.Own("PUT", promosPath+"/"+id, nodetest.Object{}).Is(404, "NOT_FOUND")
		stranger.Own("DELETE", promosPath+"/"+id, nil).Is(404, "NOT_FOUND")
	}
	stranger.Own("GET", promosPath+"?eventId="+event, nil).Is(404, "EVENT_NOT_FOUND")
}

func TestPromoCodeChanges(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, types := s.Sell(nil, nodetest.TypeBody(20, 10))
	made := s.Own("POST", promosPath, promoBody(nodetest.Object{"maxUses": 5})).Is(201, "")
	path := promosPath + "/" + made.Str("id")
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "TAKEN"})).Is(201, "")

	s.Own("PUT", path, nodetest.Object{"code": "taken"}).Is(409, "CODE_ALREADY_EXISTS")
	changed := s.Own("PUT", path, nodetest.Object{"code": "late", "discountType": "flat", "discountValue": 200, "maxUses": nil}).Is(200, "")
	require.Equal(t, "LATE", changed.Str("code"))
	require.Equal(t, "200.00", changed.Str("discountValue"))
	require.Nil(t, changed.Data("maxUses"))
	s.Own("PUT", path, nodetest.Object{"discountType": "percentage"}).Invalid("discountValue", "maximum")
	s.Own("PUT", path, nodetest.Object{"discountType": "percentage", "discountValue": 100}).Is(200, "")
	s.Own("POST", promosPath, promoBody(nil)).Is(201, "") // its former name is free again

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
	fresh := s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "FRESH"})).Is(201, "")
	require.Equal(t, true, s.Own("DELETE", promosPath+"/"+fresh.Str("id"), nil).Is(200, "").Data("deleted"))
	s.Own("DELETE", promosPath+"/"+fresh.Str("id"), nil).Is(404, "NOT_FOUND")
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "FRESH"})).Is(201, "")
}

func TestPromoCodeInOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.Sell(nil, nodetest.TypeBody(19.99, 10), nodetest.TypeBody(50, 10))
	code := func(changes nodetest.Object) string {
		return s.Own("POST", promosPath, promoBody(changes)).Is(201, "").Str("code")
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

func TestValidatePromoCode(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.Sell(nil, nodetest.TypeBody(20, 10), nodetest.TypeBody(50, 10))
	slug := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{}).Is(200, "").Str("slug")
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "SOME", "discountValue": 12.5, "applicableTypes": []any{types[0]}, "minOrderValue": 10})).Is(201, "")
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
