package nodetest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"time"
)

// Authenticator is a person's device for one-time codes. It is written directly from RFC 6238 and
// not with the node's library, so that a fault of the library shows.
type Authenticator struct {
	Secret    []byte
	Activated time.Time // time of the code that activated it, which is used up
}

// Code returns the one-time code of a moment, some steps of 30 s later or earlier.
func (a Authenticator) Code(at time.Time, steps int) string {
	mac := hmac.New(sha1.New, a.Secret)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30+int64(steps))
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&0xf:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}

// Answer2FA answers the challenge of a sign-in with a code.
func (s *Shop) Answer2FA(challenge, code string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/2fa-verify", Object{"challengeToken": challenge, "code": code})
}
