package keeper

// Terms are the conditions that tickets are sold with. A sold ticket keeps them, whatever becomes
// of its type. Most tickets may be passed on and can't be returned: those have no Terms.
type Terms struct {
	Bound      bool `cbor:"1,keyasint,omitempty"` // whether tickets stay with their buyer
	Refundable bool `cbor:"2,keyasint,omitempty"`
	// RefundDeadline is in unix milliseconds, 0 for none. RefundHours count forward from the purchase, or
	// backward from the booked time; nil for no such limit. The earlier limit applies. Both also limit until
	// when a reservation's tickets may be moved, even if the tickets are not refundable.
	RefundDeadline int64  `cbor:"3,keyasint,omitempty"`
	RefundHours    *int64 `cbor:"4,keyasint,omitempty"`
}
