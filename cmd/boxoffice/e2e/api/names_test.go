package api

import (
	"testing"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestNobodyIsBoundByStrangers goes through the rules that count an e-mail address. Whatever a
// caller without a proof does with an address changes nothing of what its owner may do.
func TestNobodyIsBoundByStrangers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	_, few := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerCustomer": 2}))
	_, paid := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("POST", promosPath, promoBody(nodetest.Object{"code": "ONCE", "maxUsesPerCustomer": 1})).Is(201, "")
	once := func(address string) nodetest.Object {
		return nodetest.With(nodetest.OrderBody(address, paid[0], 1), nodetest.Object{"promoCode": "ONCE"})
	}
	for _, rule := range []struct {
		name     string
		stranger func(address string)
		owner    func(own *nodetest.Shop, address string)
	}{
		{"tickets of one customer", func(address string) {
			s.Call("POST", "/orders", nodetest.OrderBody(address, few[0], 2)).Is(201, "")
			s.Call("POST", "/orders", nodetest.OrderBody(address, few[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER") // strangers bind each other
		}, func(own *nodetest.Shop, address string) {
			own.Own("POST", "/orders", nodetest.OrderBody(address, few[0], 2)).Is(201, "")
			own.Own("POST", "/orders", nodetest.OrderBody(address, few[0], 1)).Is(409, "EXCEEDS_MAX_PER_CUSTOMER")
		}},
		{"unpaid orders at a time", func(address string) {
			for range 5 {
				s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "")
			}
			s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(429, "VELOCITY_LIMIT_EXCEEDED")
		}, func(own *nodetest.Shop, address string) {
			id := own.Own("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "").Str("id")
			own.Own("POST", "/orders/"+id+"/cancel", nodetest.Object{}).Is(200, "")
		}},
		{"uses of a promo code", func(address string) {
			s.Call("POST", "/orders", once(address)).Is(201, "")
			s.Call("POST", "/orders", once(address)).Is(409, "PROMO_CODE_INVALID")
		}, func(own *nodetest.Shop, address string) {
			own.Own("POST", "/orders", once(address)).Is(201, "")
			own.Own("POST", "/orders", once(address)).Is(409, "PROMO_CODE_INVALID")
		}},
		{"erasure", func(address string) {
			s.Call("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "")
		}, func(own *nodetest.Shop, address string) {
			id := own.Own("POST", "/orders", nodetest.OrderBody(address, paid[0], 1)).Is(201, "").Str("id")
			own.Own("DELETE", "/users/me", nil).Refused(409, "CONFLICT", nodetest.Object{"reason": "OPEN_ORDERS"})
			own.Own("POST", "/orders/"+id+"/cancel", nodetest.Object{}).Is(200, "")
			own.Own("DELETE", "/users/me", nil).Is(200, "")
		}},
	} {
		t.Log(rule.name)
		address := "ada" + rule.name[:2] + "@example.org"
		own := s.Buyer(address)
		rule.stranger(address)
		rule.owner(own, address)
	}
}
