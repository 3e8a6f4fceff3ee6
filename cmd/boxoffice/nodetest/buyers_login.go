package nodetest

import (
	"regexp"
	"time"

	"github.com/stretchr/testify/require"
)

// SixDigits finds a login code in the text of a mail.
var SixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// LoginCode asks for a login code and reads it from the captured mail. It notes the time first, so
// that it does not find an earlier mail.
func (s *Shop) LoginCode(email, name string) string {
	s.T.Helper()
	before := time.Now()
	a := s.Call("POST", "/auth/token/request", Object{"email": email, "name": name}).Is(200, "")
	require.Equal(s.T, Words("sent expiresIn nonce"), a.Keys(""))
	require.Equal(s.T, "600", a.Str("expiresIn"))
	code := SixDigits.FindString(s.Mail(s.T, email, "login_code", before).Text)
	require.NotEmpty(s.T, code)
	return code
}

// Exchange exchanges a login code for a session, and returns the answer unchecked.
func (s *Shop) Exchange(email, code string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/token/exchange", Object{"email": email, "code": code})
}

// Buyer returns the shop with the token of a buyer who has just signed in for the first time, by a
// mailed code.
func (s *Shop) Buyer(email string) *Shop {
	s.T.Helper()
	c := *s
	c.Token = s.Exchange(email, s.LoginCode(email, "Grace Hopper")).Is(200, "").Str("accessToken")
	return &c
}

// Other returns a code that is surely not the given one.
func Other(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}
