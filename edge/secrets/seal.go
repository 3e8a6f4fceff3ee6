package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
)

// ErrSealed is the error for bytes that were not sealed under the same label, context and master key, or
// were changed since then.
var ErrSealed = errors.New("secrets: cannot open what is sealed")

// Seal encrypts text with AES-256-GCM under a key that is derived from the label. Open needs the same
// context, which need not be secret, such as the number of the row. The result begins with the nonce, 12
// random bytes, so equal texts are sealed differently each time.
func (m *Master) Seal(label string, context, text []byte) []byte {
	aead := m.aead(label)
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(text)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(nonce, nonce, text, context)
}

// Open returns the text that Seal encrypted under the same label and context, or ErrSealed.
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

// aead makes the cipher of a label, which takes about two microseconds. It keeps none, because clients can
// choose a part of some labels and would fill the memory with ciphers.
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
