package secrets

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
)

// customerDigits is how many digits in base 62 hold 128 bits.
const customerDigits = 22

// CustomerKey returns the key by which an organization names a customer in place of the address, which must
// be in lower case. Each organization has another key for the same address, and nobody can compute the
// address from it.
func (m *Master) CustomerKey(org int64, address string) string {
	sum := sign(m.customers, append(binary.BigEndian.AppendUint64(nil, uint64(org)), address...)) //nolint:gosec // numbers are positive
	return base62(new(big.Int).SetBytes(sum[:16]), customerDigits)
}

// unsubscribing is the label for sealing UnsubscribeTokens, so that no other sealed text opens as one.
const unsubscribing = "unsubscribe"

// UnsubscribeToken returns a token with which anybody can end an organization's bulk mail to an address. The
// token is encrypted, so nobody else can read the address in it.
func (m *Master) UnsubscribeToken(org int64, address string) string {
	text := append(binary.BigEndian.AppendUint64(nil, uint64(org)), address...) //nolint:gosec // numbers are positive
	return base64.RawURLEncoding.EncodeToString(m.Seal(unsubscribing, nil, text))
}

// ParseUnsubscribe returns the organization and the address in an UnsubscribeToken. ok is false if the token
// is not one of ours.
func (m *Master) ParseUnsubscribe(token string) (org int64, address string, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, "", false
	}
	text, err := m.Open(unsubscribing, nil, sealed)
	if err != nil || len(text) < 8 {
		return 0, "", false
	}
	return int64(binary.BigEndian.Uint64(text)), string(text[8:]), true //nolint:gosec // it was one
}

// following is the label for sealing FollowTokens, so that no other sealed text opens as one.
const following = "follow"

// FollowToken returns a token with which anybody can make an address follow an organization. It must not be
// accepted after ends, in unix seconds. It is encrypted, so nobody else can read the address and the name.
func (m *Master) FollowToken(org, ends int64, address, name string) string {
	text := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(org)), uint64(ends)) //nolint:gosec // numbers are positive
	text = append(append(append(text, address...), 0), name...)
	return base64.RawURLEncoding.EncodeToString(m.Seal(following, nil, text))
}

// ParseFollow returns what is in a FollowToken. ok is false if the token is not one of ours. The caller must
// check ends.
func (m *Master) ParseFollow(token string) (org, ends int64, address, name string, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, 0, "", "", false
	}
	text, err := m.Open(following, nil, sealed)
	if err != nil || len(text) < 16 {
		return 0, 0, "", "", false
	}
	address, name, ok = strings.Cut(string(text[16:]), "\x00")
	return int64(binary.BigEndian.Uint64(text)), int64(binary.BigEndian.Uint64(text[8:])), address, name, ok //nolint:gosec // they were
}

// ReplyAddress returns what the part before the "@" ends with in the address for replies to a mail. broadcast
// is the id of a broadcast or of another mail. Each recipient has another address, which nobody else can guess,
// so it tells which mail a reply answers.
func (m *Master) ReplyAddress(broadcast [16]byte, address string) string {
	sum := sign(m.customers, append(append([]byte("reply/"), broadcast[:]...), address...))
	return base62(new(big.Int).SetBytes(sum[:16]), customerDigits)
}
