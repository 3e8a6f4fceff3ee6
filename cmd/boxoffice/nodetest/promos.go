package nodetest

// PromosPath is the path at which organizers manage promo codes.
const PromosPath = "/organizer/promo-codes"

// PromoBody returns the body of a promo code that takes 10 % off, with changes.
func PromoBody(changes Object) Object {
	return With(Object{
		"code": "early-10", "discountType": "percentage", "discountValue": 10,
		"validFrom": "2020-01-01T00:00:00Z", "validUntil": "2031-01-01T00:00:00Z",
	}, changes)
}
