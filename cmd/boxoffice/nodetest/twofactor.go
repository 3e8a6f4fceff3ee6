package nodetest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"time"
)

// Authenticator is a person's device for one-time codes, written directly from RFC 6238.
type Authenticator struct {
	Secret    []byte
	Activated time.Time // time of the code that activated it, which is used up
}

func (a Authenticator) Code(at time.Time, steps int) string {
	mac := hmac.New(sha1.New, a.Secret)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30+int64(steps))
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&0xf:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}

func (s *Shop) Answer2FA(challenge, code string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/2fa-verify", Object{"challengeToken": challenge, "code": code})
}
