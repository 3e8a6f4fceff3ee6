package order

import (
	"crypto/sha256"
	"encoding/binary"
)

// CustomerOf is who caps count for, and whose orders are looked for, by the address in
// its normal form. Of 100 million addresses, two share their caps with a probability of
// 3e-4.
func CustomerOf(email string) uint64 {
	sum := sha256.Sum256([]byte(email))
	return binary.BigEndian.Uint64(sum[:8])
}
