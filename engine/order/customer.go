package order

import (
	"crypto/sha256"
	"encoding/binary"
)

// CustomerOf returns the hash of an address in its normal form. Caps count by it, and orders are
// looked up by it. Among 100 million addresses, two share a hash, and so their caps, with a
// probability of 3e-4.
func CustomerOf(email string) uint64 {
	sum := sha256.Sum256([]byte(email))
	return binary.BigEndian.Uint64(sum[:8])
}
