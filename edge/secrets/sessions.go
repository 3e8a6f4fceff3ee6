package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// refreshLen is the bytes of a refresh token before it is encoded: the session, the generation, and a MAC of
// both.
const refreshLen = 16 + 4 + sha256.Size

// RefreshToken returns a session's refresh token of a generation, which counts how often the session was
// renewed. Clients must not read anything from the token.
func (m *Master) RefreshToken(session [16]byte, generation uint32) string {
	b := binary.BigEndian.AppendUint32(session[:], generation)
	return base64.RawURLEncoding.EncodeToString(m.signRefresh(b))
}

// ParseRefresh returns the session and the generation in a refresh token. ok is false if the token is not one
// of ours. It does not check whether the session is still open.
func (m *Master) ParseRefresh(token string) (session [16]byte, generation uint32, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(refreshLen) {
		return session, 0, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || !hmac.Equal(b, m.signRefresh(b[:20:20])) {
		return session, 0, false
	}
	return [16]byte(b), binary.BigEndian.Uint32(b[16:]), true
}

// signRefresh returns b with its MAC appended.
func (m *Master) signRefresh(b []byte) []byte {
	return append(b, sign(m.refresh, b)...)
}

func sign(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// Salt returns a salt of 16 bytes for an address that has no password, always the same. With it, an address
// without an account looks as if it had one.
func (m *Master) Salt(email string) []byte { return sign(m.salts, []byte(email))[:16] }

// LoginCode returns the MAC by which a login code that was mailed to an address is stored. A plain hash would
// not do, because a code has six digits and a million guesses would find it.
func (m *Master) LoginCode(email, code string) []byte {
	return sign(m.logins, []byte(email+"\x00"+code))
}

// ResetToken returns the token of the password reset that the letter (a mail in the queue) with this id brings:
// 256 bits in base64url. Every attempt to send the letter has the same token.
func (m *Master) ResetToken(letter string) string {
	return base64.RawURLEncoding.EncodeToString(sign(m.resets, []byte(letter)))
}

// ConfirmationToken returns the token in a letter's link that confirms an address. It is made as ResetToken is.
func (m *Master) ConfirmationToken(letter string) string {
	return base64.RawURLEncoding.EncodeToString(sign(m.confirm, []byte(letter)))
}
