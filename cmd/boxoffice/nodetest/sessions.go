package nodetest

import (
	"slices"
	"sync"
	"time"
)

// sessionTime is after how long the organizer signs in again. It is shorter than an access token lasts.
const sessionTime = 10 * time.Minute

// ownerSession keeps the organizer of a shop signed in. On a busy machine a test may wait for its turn for
// longer than an access token lasts. All copies of a Shop share it. The zero value, and nil, has nobody
// signed in.
type ownerSession struct {
	mu     sync.Mutex
	tokens []string // the access tokens that it got, the last one valid
	since  time.Time
}

// signIn registers the organizer, and returns the access token.
func (o *ownerSession) signIn(s *Shop) string {
	token := s.registerAccount(s.Email("owner"))
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.tokens, o.since = append(o.tokens, token), time.Now()
	}
	return token
}

// currentToken returns the shop's token, or a new one in the place of one that the organizer got too long ago. A token
// of somebody else, which a test gave the shop, stays.
func (o *ownerSession) currentToken(s *Shop) string {
	if o == nil {
		return s.Token
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.tokens, s.Token) {
		return s.Token
	}
	if time.Since(o.since) > sessionTime {
		o.tokens, o.since = append(o.tokens, s.registerAccount(s.Email("owner"))), time.Now()
	}
	return o.tokens[len(o.tokens)-1]
}

// Refresh exchanges a refresh token for new tokens, and returns the answer unchecked.
func (s *Shop) Refresh(token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/refresh", Object{"refreshToken": token})
}

// Works returns the status of a request with an access token. It is 200 as long as the token is
// valid.
func (s *Shop) Works(access string) int {
	s.T.Helper()
	return s.Call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+access).Status
}
