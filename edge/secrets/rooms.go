package secrets

import (
	"crypto/ed25519"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"

	"boxoffice/engine/draw"
)

// Visitor is what a VisitorToken contains: a draw, and the visitor's entry in it.
type Visitor struct {
	Draw  uint32
	Index uint32 // the entry's number in the draw
	Entry draw.Entry
}

// visitorLen is the bytes of a visitor's token before it is encoded: the draw, the entry's number, the entry
// itself (secret, party, class), and the first 16 bytes of a MAC of these.
const visitorLen = 4 + 4 + draw.SecretSize + 2 + 16

// VisitorToken returns the token with which a visitor sees their place in the waiting room on any device.
func (m *Master) VisitorToken(event int64, v *Visitor) string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, visitorLen), v.Draw)
	b = binary.BigEndian.AppendUint32(b, v.Index)
	b = append(append(b, v.Entry.Secret[:]...), v.Entry.Party, byte(v.Entry.Class))
	return base64.RawURLEncoding.EncodeToString(append(b, m.signRoom("visitor", event, b)...))
}

// ParseVisitor reads a VisitorToken. ok is false if the token is not one of the event's.
func (m *Master) ParseVisitor(event int64, token string) (v Visitor, ok bool) {
	b, ok := m.openRoom("visitor", event, token, visitorLen)
	if !ok {
		return v, false
	}
	v.Draw, v.Index = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	copy(v.Entry.Secret[:], b[8:])
	v.Entry.Party, v.Entry.Class = b[8+draw.SecretSize], draw.Class(b[9+draw.SecretSize])
	return v, true
}

// EntrySecret returns the secret of the entry that a person makes with a mailed link. It is the same however
// often the link is used, so that the link makes one entry.
func (m *Master) EntrySecret(event int64, drawn uint32, person uint64) (secret [draw.SecretSize]byte) {
	text := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, drawn), person)
	copy(secret[:], m.signRoom("entry", event, text))
	return secret
}

// PaidSecret returns the secret of the entry for which somebody did a proof of work. It is derived from the
// work, so that one proof of work makes one entry.
func (m *Master) PaidSecret(work draw.Hash) (secret [draw.SecretSize]byte) {
	copy(secret[:], m.signRoom("paid", 0, work[:])) // no event is named (0), because the hash depends on it already
	return secret
}

// Invited is what a mailed link asks the owner of an address to confirm before they have an entry.
type Invited struct {
	Draw  uint32
	Ends  int64 // until when it can be confirmed, in unix seconds
	Party uint8 // how many people the entry is for
	Email string
}

// invitation is the label for sealing InvitationTokens, so that no other sealed text opens as one.
const invitation = "room"

// InvitationToken returns a token with which anybody can confirm i for an event's room. The token is
// encrypted, so nobody else can read the address in it.
func (m *Master) InvitationToken(event int64, i *Invited) string {
	text := binary.BigEndian.AppendUint32(nil, i.Draw)
	text = binary.BigEndian.AppendUint64(text, uint64(i.Ends)) //nolint:gosec // after 1970
	text = append(append(text, i.Party), i.Email...)
	return base64.RawURLEncoding.EncodeToString(m.Seal(invitation, binary.BigEndian.AppendUint64(nil, uint64(event)), text)) //nolint:gosec // numbers are positive
}

// ParseInvitation returns what is in an InvitationToken. ok is false if the token is not one of the event's.
// The caller must check Ends.
func (m *Master) ParseInvitation(event int64, token string) (i Invited, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return i, false
	}
	text, err := m.Open(invitation, binary.BigEndian.AppendUint64(nil, uint64(event)), sealed) //nolint:gosec // numbers are positive
	if err != nil || len(text) < 4+8+1 {
		return i, false
	}
	i.Draw, i.Ends = binary.BigEndian.Uint32(text), int64(binary.BigEndian.Uint64(text[4:])) //nolint:gosec // it was one
	i.Party, i.Email = text[12], string(text[13:])
	return i, true
}

// Admitted is what an AdmissionToken contains: which entry may order, and until when.
type Admitted struct {
	Draw  uint32
	Until int64 // unix milliseconds
	Leaf  draw.Hash
}

// admissionLen is the bytes of an admission before it is encoded: draw, time, leaf, and 16 bytes of a MAC.
const admissionLen = 4 + 8 + len(draw.Hash{}) + 16

// AdmissionToken returns the token that a visitor of a waiting room must send to order once it is their turn.
func (m *Master) AdmissionToken(event int64, a *Admitted) string {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, admissionLen), a.Draw)
	b = append(binary.BigEndian.AppendUint64(b, uint64(a.Until)), a.Leaf[:]...) //nolint:gosec // after 1970
	return base64.RawURLEncoding.EncodeToString(append(b, m.signRoom("admission", event, b)...))
}

// ParseAdmission reads an AdmissionToken. ok is false if the token is not one of the event's. The caller must
// check Until.
func (m *Master) ParseAdmission(event int64, token string) (a Admitted, ok bool) {
	b, ok := m.openRoom("admission", event, token, admissionLen)
	if !ok {
		return a, false
	}
	a.Draw, a.Until = binary.BigEndian.Uint32(b), int64(binary.BigEndian.Uint64(b[4:])) //nolint:gosec // it was one
	copy(a.Leaf[:], b[12:])
	return a, true
}

// signRoom returns the first 16 bytes of a MAC of a token's contents, its kind and the event.
func (m *Master) signRoom(kind string, event int64, text []byte) []byte {
	in := binary.BigEndian.AppendUint64(append([]byte(kind), 0), uint64(event)) //nolint:gosec // numbers are positive
	return sign(m.rooms, append(in, text...))[:16]
}

// openRoom returns the contents of a token that was made with signRoom for the same kind and event. ok is false if the
// token does not have size bytes with its MAC, or if the MAC is wrong; text must then not be used.
func (m *Master) openRoom(kind string, event int64, token string, size int) (text []byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(size) {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return nil, false
	}
	text = b[:size-16]
	return text, hmac.Equal(b[size-16:], m.signRoom(kind, event, text))
}

// DrawKey is the Ed25519 key that signs the receipts and statements of draws.
func (m *Master) DrawKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(m.derive("draw", ed25519.SeedSize))
}

// TestBeacon returns the random beacon for test deployments. Anybody with the master key can compute its rounds in
// advance, so a draw with it proves nothing, and its statements say so.
func (m *Master) TestBeacon() *draw.TestBeacon {
	const genesis, period = 1_700_000_000, 3 // genesis may be any time before the first draw; the period is quicknet's
	b, err := draw.NewTestBeacon(m.derive("test-beacon", 32), genesis, period)
	if err != nil {
		panic(err) // the seed is long enough
	}
	return b
}
