package form

import (
	"sync"

	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// These are how many files are received at a time at most: of a credential, of a network, and of all callers of
// the node. So callers that send slowly leave places for others.
const (
	uploadsPerCredential = 4
	uploadsPerNetwork    = 8
	maxUploads           = 64
)

// Places counts the files that callers send at a time. Any goroutine may call its methods.
type Places struct {
	mu   sync.Mutex
	all  int
	held map[string]int // by credential and by network; it leaves out those that hold none
}

// NewPlaces makes places; none is taken.
func NewPlaces() *Places { return &Places{held: make(map[string]int)} }

// Take gives the call a place to send a file, until done is called. The error is RATE_LIMITED if the caller or
// its network has as many places as it may, and OVERLOADED if the node has no more.
func (s *Places) Take(c *route.Call) (done func(), err error) {
	credential, network := limit.CredentialName(&c.Principal), "network/"+route.Network(c.Client).String()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.held[credential] >= uploadsPerCredential, s.held[network] >= uploadsPerNetwork:
		return nil, &engine.Refusal{Code: engine.RateLimited, Message: "You are sending as many files as you may at a time.", Retry: 1}
	case s.all >= maxUploads:
		return nil, &engine.Refusal{Code: engine.Overloaded, Message: "Too many files are being uploaded; try again shortly."}
	}
	s.add(1, credential, network)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(-1, credential, network)
	}, nil
}

// add adds n places, or takes them back if n is negative: once to all, and once to each of the names. s.mu must be
// held.
func (s *Places) add(n int, names ...string) {
	s.all += n
	for _, name := range names {
		if s.held[name] += n; s.held[name] == 0 {
			delete(s.held, name)
		}
	}
}
