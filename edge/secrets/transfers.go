package secrets

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
)

// transferLen is the bytes of a transfer's token before it is encoded: the event, the ticket's serial, the
// number of the ticket's transfer (round), and the first 16 bytes of a MAC of these.
const transferLen = 8 + 4 + 2 + 16

// TransferToken returns the token with which anybody can claim a ticket that its holder has offered. round
// counts the ticket's transfers, so that the token of an earlier offer claims nothing.
func (m *Master) TransferToken(event int64, serial uint32, round uint16) string {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, transferLen), uint64(event)) //nolint:gosec // numbers are positive
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(b, serial), round)
	return base64.RawURLEncoding.EncodeToString(append(b, sign(m.transfers, b)[:16]...))
}

// ParseTransfer returns the offer that a TransferToken names. ok is false if the token is not one of ours.
func (m *Master) ParseTransfer(token string) (event int64, serial uint32, round uint16, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(transferLen) {
		return 0, 0, 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return 0, 0, 0, false
	}
	event = int64(binary.BigEndian.Uint64(b)) //nolint:gosec // it was one, or the MAC is wrong
	serial, round = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint16(b[12:])
	return event, serial, round, hmac.Equal([]byte(token), []byte(m.TransferToken(event, serial, round)))
}
