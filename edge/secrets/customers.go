package secrets

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
)

// customerDigits are enough for 128 bits in base62.
const customerDigits = 22

// CustomerKey is what an organization is shown for a customer's address, in lower case:
// another one for each organization. Nobody learns the address from it.
func (m *Master) CustomerKey(org int64, address string) string {
	sum := sign(m.customers, append(binary.BigEndian.AppendUint64(nil, uint64(org)), address...)) //nolint:gosec // numbers are positive
	return base62(new(big.Int).SetBytes(sum[:16]), customerDigits)
}

// unsubscribing separates links that end mails from whatever else is sealed.
const unsubscribing = "unsubscribe"

// UnsubscribeToken ends the bulk mail of an organization to an address for whoever has it.
// What it is about cannot be read from it.
func (m *Master) UnsubscribeToken(org int64, address string) string {
	text := append(binary.BigEndian.AppendUint64(nil, uint64(org)), address...) //nolint:gosec // numbers are positive
	return base64.RawURLEncoding.EncodeToString(m.Seal(unsubscribing, nil, text))
}

// ParseUnsubscribe says what an UnsubscribeToken is about, if it is one.
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

// following separates links that begin a following from whatever else is sealed.
const following = "follow"

// FollowToken makes an address follow an organization for whoever has it, until the moment ends,
// in unix seconds. Its subject cannot be read from it.
func (m *Master) FollowToken(org, ends int64, address, name string) string {
	text := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(org)), uint64(ends)) //nolint:gosec // numbers are positive
	text = append(append(append(text, address...), 0), name...)
	return base64.RawURLEncoding.EncodeToString(m.Seal(following, nil, text))
}

// ParseFollow says what a FollowToken is about, if it is one.
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

// ReplyAddress is the left half of the address at which a reply to a broadcast arrives: of
// one thread for each recipient, which nobody else can guess.
func (m *Master) ReplyAddress(broadcast [16]byte, address string) string {
	sum := sign(m.customers, append(append([]byte("reply/"), broadcast[:]...), address...))
	return base62(new(big.Int).SetBytes(sum[:16]), customerDigits)
}
