package secrets

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"boxoffice/engine"
)

// signedLen is the bytes of a signed id before it is encoded: the id and the first 16 bytes of its MAC.
const signedLen = len(engine.OrderID{}) + 16

// WaitlistToken returns the token with which anybody can claim what a waitlist's entry is offered, or take the
// entry off the waitlist.
func (m *Master) WaitlistToken(id engine.OrderID) string { return signID(m.waitlists, id) }

// ParseWaitlist returns the entry that a WaitlistToken names. ok is false if the token is not one of ours.
func (m *Master) ParseWaitlist(token string) (id engine.OrderID, ok bool) {
	return readSignedID(m.waitlists, token)
}

// PaymentLinkToken returns the token of the link with which anybody can pay an order. It is always the same.
func (m *Master) PaymentLinkToken(id engine.OrderID) string { return signID(m.payers, id) }

// ParsePaymentLink returns the order that a PaymentLinkToken pays. ok is false if the token is not one of ours.
func (m *Master) ParsePaymentLink(token string) (id engine.OrderID, ok bool) {
	return readSignedID(m.payers, token)
}

// signID returns the id with 16 bytes of its MAC under the key, in base64url.
func signID(key []byte, id engine.OrderID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], sign(key, id[:])[:16]...))
}

// readSignedID returns the id in a token. ok is false if signID has not made the token under the same key.
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

// joining is the label for sealing JoinTokens, so that no other sealed text opens as one.
const joining = "join"

// Joining is what a mailed link asks the owner of an address to confirm before they are on a waitlist.
type Joining struct {
	ID             engine.OrderID // the id that the entry will have
	Ends           int64          // until when it can be confirmed, in unix seconds
	Type, Quantity int64          // as in waitlist.Join
	Email, Name    string
}

// JoinToken returns a token with which anybody can confirm j. The token is encrypted, so nobody else can read
// the address and the name in it.
func (m *Master) JoinToken(j *Joining) string {
	text := append([]byte(nil), j.ID[:]...)
	for _, n := range []int64{j.Ends, j.Type, j.Quantity} {
		text = binary.BigEndian.AppendUint64(text, uint64(n)) //nolint:gosec // numbers are positive
	}
	text = append(append(append(text, j.Email...), 0), j.Name...)
	return base64.RawURLEncoding.EncodeToString(m.Seal(joining, nil, text))
}

// ParseJoin returns what is in a JoinToken. ok is false if the token is not one of ours. The caller must check
// Ends.
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
