package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// refreshLen is the length of a refresh token before it is encoded: the session,
// the generation, and a MAC of both.
const refreshLen = 16 + 4 + sha256.Size

// RefreshToken is a session's refresh token of a generation. Clients take it as
// opaque.
func (m *Master) RefreshToken(session [16]byte, generation uint32) string {
	b := binary.BigEndian.AppendUint32(session[:], generation)
	return base64.RawURLEncoding.EncodeToString(m.signRefresh(b))
}

// ParseRefresh says which session and generation a refresh token is of, if it is
// one of ours.
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

func (m *Master) signRefresh(b []byte) []byte {
	return append(b, sign(m.refresh, b)...)
}

func sign(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// Salt is what an address without a password has for a salt: 16 bytes, always
// the same.
func (m *Master) Salt(email string) []byte { return sign(m.salts, []byte(email))[:16] }

// LoginCode is what is kept of the login code that was sent to an address. Six
// digits have no entropy to hash: without the key, a million guesses would find
// the code.
func (m *Master) LoginCode(email, code string) []byte {
	return sign(m.logins, []byte(email+"\x00"+code))
}

// ResetToken is the token of the password reset that a letter brings: 256 bits,
// base64url. Every attempt to send the letter has the same.
func (m *Master) ResetToken(letter string) string {
	return base64.RawURLEncoding.EncodeToString(sign(m.resets, []byte(letter)))
}

// ConfirmationToken is such a token of the link that confirms an address.
func (m *Master) ConfirmationToken(letter string) string {
	return base64.RawURLEncoding.EncodeToString(sign(m.confirm, []byte(letter)))
}
