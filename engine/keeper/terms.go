package keeper

// Terms are what tickets are sold with, and keep whatever becomes of their type. Most
// tickets may be passed on and are not taken back: those have none.
type Terms struct {
	Bound      bool `cbor:"1,keyasint,omitempty"` // they stay with their buyer
	Refundable bool `cbor:"2,keyasint,omitempty"`
	// RefundDeadline is in unix milliseconds, 0 for none. RefundHours count from the
	// purchase, or back from the booked time; nil for no such bound. The earlier binds.
	RefundDeadline int64  `cbor:"3,keyasint,omitempty"`
	RefundHours    *int64 `cbor:"4,keyasint,omitempty"`
}
