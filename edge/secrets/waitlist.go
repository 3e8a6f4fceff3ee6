package secrets

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"boxoffice/engine"
)

// signedLen is the length of a signed id before it is encoded: the id and half a MAC of it.
const signedLen = len(engine.OrderID{}) + 16

// WaitlistToken is what takes what an entry of a waitlist is offered, or the entry out of
// line.
func (m *Master) WaitlistToken(id engine.OrderID) string { return signID(m.waitlists, id) }

// ParseWaitlist says which entry a token is of, if it is one of ours.
func (m *Master) ParseWaitlist(token string) (id engine.OrderID, ok bool) {
	return readSignedID(m.waitlists, token)
}

// PaymentLinkToken lets whoever has it pay an order. An order has one.
func (m *Master) PaymentLinkToken(id engine.OrderID) string { return signID(m.payers, id) }

// ParsePaymentLink says which order a token pays, if it is one of ours.
func (m *Master) ParsePaymentLink(token string) (id engine.OrderID, ok bool) {
	return readSignedID(m.payers, token)
}

// signID is an id that nobody without the key can write, in base64url.
func signID(key []byte, id engine.OrderID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], sign(key, id[:])[:16]...))
}

// readSignedID returns the id of a token that signID wrote under the same key.
func readSignedID(key []byte, token string) (id engine.OrderID, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(signedLen) {
		return id, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return id, false
	}
	copy(id[:], b)
	return id, hmac.Equal([]byte(token), []byte(signID(key, id)))
}

// joining separates links that put somebody in line from whatever else is sealed.
const joining = "join"

// Joining is what an address is asked to confirm before it waits.
type Joining struct {
	ID             engine.OrderID // of the entry
	Ends           int64          // when it can't be confirmed any more, in unix seconds
	Type, Quantity int64          // as in waitlist.Join
	Email, Name    string
}

// JoinToken lets its bearer confirm j. Its subject cannot be read from it.
func (m *Master) JoinToken(j *Joining) string {
	text := append([]byte(nil), j.ID[:]...)
	for _, n := range []int64{j.Ends, j.Type, j.Quantity} {
		text = binary.BigEndian.AppendUint64(text, uint64(n)) //nolint:gosec // numbers are positive
	}
	text = append(append(append(text, j.Email...), 0), j.Name...)
	return base64.RawURLEncoding.EncodeToString(m.Seal(joining, nil, text))
}

// ParseJoin says what a JoinToken is about, if it is one.
func (m *Master) ParseJoin(token string) (j *Joining, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, false
	}
	text, err := m.Open(joining, nil, sealed)
	if err != nil || len(text) < len(j.ID)+24 {
		return nil, false
	}
	j = new(Joining)
	text = text[copy(j.ID[:], text):]
	for _, n := range []*int64{&j.Ends, &j.Type, &j.Quantity} {
		*n = int64(binary.BigEndian.Uint64(text)) //nolint:gosec // it was one
		text = text[8:]
	}
	j.Email, j.Name, ok = strings.Cut(string(text), "\x00")
	return j, ok
}
