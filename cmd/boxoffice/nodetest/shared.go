package nodetest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"boxoffice/cmd/boxoffice/node"
)

// shared is the node that tests of this process share. The first test that wants it starts it, and
// Main stops it when all tests have ended.
var shared struct {
	start sync.Once
	shop  *Shop
	life  lifetime
	tests atomic.Int64
}

// Shared returns a shop at a node that other tests use at the same time, so that the test need not
// start a node of its own. The shop has its own organization, its own client network and its own
// mail addresses (Email). A test needs Open instead if it changes or stops the node. It also needs
// Open if it counts what all organizations of the node did, such as public lists, all mails and
// metrics.
func Shared(t testing.TB) *Shop {
	t.Helper()
	shared.start.Do(func() {
		shared.shop = Open(&shared.life, func(c *node.Config) { c.TrustedProxies = []string{"127.0.0.1"} })
	})
	n := shared.tests.Add(1)
	s := *shared.shop
	s.T, s.owner = t, new(ownerSession)
	s.domain = fmt.Sprintf("test-%d.example.org", n)
	s.network = fmt.Sprintf("10.%d.%d.1", n>>8, n&0xff)
	return &s
}

// Email returns a mail address that no other test on the node has.
func (s *Shop) Email(name string) string { return name + "@" + cmp.Or(s.domain, "example.org") }

// lifetime stands in for a test that lasts as long as the process. Functions that a test would call
// at its end are called by cleanUp.
type lifetime struct {
	testing.TB // has the methods that nodes do not use

	cleanups []func()
}

func (l *lifetime) Helper()                  {}
func (l *lifetime) Context() context.Context { return context.Background() }
func (l *lifetime) Cleanup(f func())         { l.cleanups = append(l.cleanups, f) }

func (l *lifetime) TempDir() string {
	dir, err := os.MkdirTemp("", "boxoffice-shared-")
	if err != nil {
		panic(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (l *lifetime) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }

// FailNow ends the process: none of the tests that share the node can be trusted.
func (l *lifetime) FailNow() { panic("nodetest: the node that tests share has failed") }

// cleanUp calls the noted functions, the last one first, as a test does. A function may note
// others.
func (l *lifetime) cleanUp() {
	for len(l.cleanups) > 0 {
		last := len(l.cleanups) - 1
		f := l.cleanups[last]
		l.cleanups = l.cleanups[:last]
		f()
	}
}

// sharing runs the tests and then stops the shared node, while the database still runs.
type sharing struct{ m *testing.M }

func (s sharing) Run() int {
	code := s.m.Run()
	shared.life.cleanUp()
	return code
}
