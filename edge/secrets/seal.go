package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
)

// ErrSealed reports bytes that were not sealed under the same label and context,
// or were changed since.
var ErrSealed = errors.New("secrets: cannot open what is sealed")

// Seal encrypts text for the table: AES-256-GCM under a key derived from the
// label, bound to a context that need not be secret. The nonce, 12 random
// bytes, comes first.
func (m *Master) Seal(label string, context, text []byte) []byte {
	aead := m.aead(label)
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, text, context)
}

// Open is the text that was sealed under the label and the context, or
// ErrSealed.
func (m *Master) Open(label string, context, sealed []byte) ([]byte, error) {
	aead := m.aead(label)
	if len(sealed) < aead.NonceSize() {
		return nil, ErrSealed
	}
	text, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], context)
	if err != nil {
		return nil, ErrSealed
	}
	return text, nil
}

// aead is the cipher of a label. It is made each time, in about two
// microseconds, and never kept: labels may have in them what clients send.
func (m *Master) aead(label string) cipher.AEAD {
	block, err := aes.NewCipher(m.derive("seal/"+label, KeySize))
	if err != nil {
		panic(err) // the key's size is right
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return aead
}
