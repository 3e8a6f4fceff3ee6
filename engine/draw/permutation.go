package draw

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
)

// MaxCount is how many entries a draw may have.
const MaxCount = 1 << 30

// feistelRounds is the number of rounds of the Feistel network. With 4 rounds of random functions,
// nobody who sees few places can tell it from a random permutation (Luby and Rackoff). The other
// rounds are a margin for small counts, as in NIST SP 800-38G.
const feistelRounds = 10

// minHalf is the least number of bits of a half. With halves of 2 bits each single place is still
// fair, but the orders of 5 entries as a whole are not equally likely (TestSmallCounts).
const minHalf = 4

// Permutation maps the index of each entry to its place. It is a Feistel network over the smallest even number
// of bits that can hold all indexes, at least 8. Its round function is an HMAC-SHA256 over the round, as one
// byte, and a half, as 4 bytes. Of the HMAC, mix takes as many bits as a half has. The network permutes more
// numbers than there are indexes. If a result is no index, it is mapped again, until the result is one (cycle
// walking).
type Permutation struct {
	count uint32
	half  int // bits of one half of a number that the Feistel network permutes
	mask  uint32
	mac   hash.Hash
	sum   []byte
	table [feistelRounds][]uint32 // the round functions' values; only for All
}

// NewPermutation returns the permutation of 0 to count-1 under a key.
func NewPermutation(key Hash, count uint32) *Permutation {
	half := minHalf
	if count > 0 {
		half = max(half, (bits.Len32(count-1)+1)/2)
	}
	return &Permutation{count: count, half: half, mask: 1<<half - 1, mac: hmac.New(sha256.New, key[:]), sum: make([]byte, 0, sha256.Size)}
}

// Place returns the place of an index, which must be below the count. It uses buffers of p, so only
// one goroutine may call it at a time.
func (p *Permutation) Place(index uint32) uint32 {
	for {
		if index = p.mapOnce(index); index < p.count {
			return index
		}
	}
}

// All returns the places of all indexes. It computes the round functions once for every half
// before, because with many entries the same halves come again and again.
func (p *Permutation) All() []uint32 {
	for round := range p.table {
		values := make([]uint32, p.mask+1)
		for half := range values {
			values[half] = p.mix(byte(round), uint32(half)) //nolint:gosec // at most 15 bits
		}
		p.table[round] = values
	}
	places := make([]uint32, p.count)
	for index := range places {
		places[index] = p.Place(uint32(index)) //nolint:gosec // below the count
	}
	return places
}

// mapOnce sends a number once through the Feistel network: each round mixes one half into the
// other, and the halves change sides.
func (p *Permutation) mapOnce(index uint32) uint32 {
	left, right := index>>p.half, index&p.mask
	for round := range byte(feistelRounds) {
		left, right = right, left^p.value(round, right)
	}
	return left<<p.half | right
}

// value returns the round function's value from the table if All has made it, and computes it
// otherwise.
func (p *Permutation) value(round byte, half uint32) uint32 {
	if values := p.table[round]; values != nil {
		return values[half]
	}
	return p.mix(round, half)
}

// mix computes the round function: the last bits of the first 4 bytes of the HMAC.
func (p *Permutation) mix(round byte, half uint32) uint32 {
	p.mac.Reset()
	p.mac.Write([]byte{round, byte(half >> 24), byte(half >> 16), byte(half >> 8), byte(half)})
	p.sum = p.mac.Sum(p.sum[:0])
	return binary.BigEndian.Uint32(p.sum) & p.mask
}
