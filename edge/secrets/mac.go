package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// mac is HMAC-SHA256 (RFC 2104) under one key that is used for every order or
// ticket. Its states are kept, for a new one hashes two blocks of the key first.
type mac struct{ states sync.Pool }

func newMAC(key []byte) *mac {
	return &mac{states: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

func (m *mac) sum(text []byte) (sum [sha256.Size]byte) {
	h, _ := m.states.Get().(hash.Hash)
	h.Reset()
	h.Write(text)
	h.Sum(sum[:0])
	m.states.Put(h)
	return sum
}
