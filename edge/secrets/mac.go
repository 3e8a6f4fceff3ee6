package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// mac computes HMAC-SHA256 (RFC 2104) under one key. It is for keys that are used very often: it keeps
// hashing states for reuse, because a new state first hashes two blocks of the key.
type mac struct{ states sync.Pool }

func newMAC(key []byte) *mac {
	return &mac{states: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// sum returns the MAC of a text. Any goroutine may call it.
func (m *mac) sum(text []byte) (sum [sha256.Size]byte) {
	h, _ := m.states.Get().(hash.Hash)
	h.Reset()
	h.Write(text)
	h.Sum(sum[:0])
	m.states.Put(h)
	return sum
}
