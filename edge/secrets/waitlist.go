package secrets

import (
	"crypto/hmac"
	"encoding/base64"

	"boxoffice/engine"
)

// waitlistLen is the length of a waitlist's token before it is encoded: the entry's id and
// half a MAC of it.
const waitlistLen = len(engine.OrderID{}) + 16

// WaitlistToken is what takes what an entry of a waitlist is offered, or the entry out of
// line.
func (m *Master) WaitlistToken(id engine.OrderID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], sign(m.waitlists, id[:])[:16]...))
}

// ParseWaitlist says which entry a token is of, if it is one of ours.
func (m *Master) ParseWaitlist(token string) (id engine.OrderID, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(waitlistLen) {
		return id, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return id, false
	}
	copy(id[:], b)
	return id, hmac.Equal([]byte(token), []byte(m.WaitlistToken(id)))
}
