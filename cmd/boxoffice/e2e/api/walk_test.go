package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestWalk is the README's walk.
func TestWalk(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(25, 100))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 2)).Is(201, "")
	require.Equal(t, "pending", o.Str("status"))
	require.Equal(t, "52.50", o.Str("total"))
	id, token := o.Str("id"), o.Str("accessToken")
	pay := s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "paystack", "token": token}).Is(200, "")
	again := s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "paystack", "token": token}).Is(200, "")
	require.Equal(t, pay.Str("authorizationUrl"), again.Str("authorizationUrl"))
	require.Equal(t, "pending", s.Call("POST", "/payments/verify", nodetest.Object{"orderId": id, "token": token}).Is(200, "").Str("status"))
	s.Settle(pay.Str("authorizationUrl"), "success")
	done := s.Call("POST", "/payments/verify", nodetest.Object{"orderId": id, "token": token}).Is(200, "")
	require.Equal(t, "completed", done.Str("status"))
	require.Len(t, done.Data("tickets"), 2)
	require.Equal(t, "completed", s.Call("POST", "/payments/verify", nodetest.Object{"orderId": id, "token": token}).Is(200, "").Str("status"))

	scan := nodetest.Object{"eventId": event, "qrData": done.Str("tickets.0.qr"), "gateName": "North", "deviceId": "gate-1"}
	require.Equal(t, "success", s.Own("POST", "/checkin/scan", scan).Is(200, "").Str("status"))
	scan["deviceId"] = "gate-2"
	require.Equal(t, "denied_duplicate", s.Own("POST", "/checkin/scan", scan).Is(200, "").Str("status"))
	scan["qrData"] = done.Str("tickets.1.shortCode")
	require.Equal(t, "success", s.Own("POST", "/checkin/scan", scan).Is(200, "").Str("status"))
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, "2", stats.Str("checkedIn"))
	require.Equal(t, "1", stats.Str("denied"))
	require.Equal(t, "98", s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items.0.available"))
	require.Equal(t, "completed", s.Call("GET", "/orders/"+id+"?token="+token, nil).Is(200, "").Str("status"))
}
