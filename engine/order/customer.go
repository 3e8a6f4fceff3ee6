package order

import (
	"crypto/sha256"
	"encoding/binary"
)

// CustomerOf returns the hash of an address, which must be in its normal form. Orders are looked up
// by this hash. Caps use it to count the orders of people who have proven that they own the address
// (GuestOf is for the others). Among 100 million addresses, two share a hash, and so their caps,
// with a probability of 3e-4.
func CustomerOf(email string) uint64 {
	sum := sha256.Sum256([]byte(email))
	return binary.BigEndian.Uint64(sum[:8])
}

// GuestOf returns the hash by which caps count what is ordered for an address by people who have
// not proven that they own it. So nobody can use up another person's caps by typing that person's
// address.
func GuestOf(email string) uint64 { return CustomerOf("guest\x00" + email) }

// IsUnproven reports whether the person who placed the order had not proven to own its address. The
// order of a person who was erased is not recognized.
func (o *Order) IsUnproven() bool { return o.Customer == GuestOf(NormalEmail(o.Email)) }

// Buyer returns the hash by which the order is looked up. That is CustomerOf the order's address, whether it
// was proven or not. The order of a guest who was erased keeps GuestOf the address.
func (o *Order) Buyer() uint64 {
	if o.IsUnproven() {
		return CustomerOf(NormalEmail(o.Email))
	}
	return o.Customer
}

// IsCustomer reports whether customer is CustomerOf an address.
func IsCustomer(email string, customer uint64) bool {
	return email != "" && CustomerOf(NormalEmail(email)) == customer
}
