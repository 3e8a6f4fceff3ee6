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

// shared is the node that tests of this process share: the first that wants it starts it, and Main
// stops it when all have ended.
var shared struct {
	start sync.Once
	shop  *Shop
	life  lifetime
	tests atomic.Int64
}

// Shared returns a shop at a node that other tests use at the same time, which saves the test to start
// one of its own. The shop has an organization and a client network of its own, and its addresses of mail
// are those of Email. A test needs Open if it changes or stops the node, or counts what all of the node's
// organizations did: public lists, all mails, metrics, fixed addresses that own accounts.
func Shared(t testing.TB) *Shop {
	t.Helper()
	shared.start.Do(func() {
		shared.shop = Open(&shared.life, func(c *node.Config) { c.TrustedProxies = []string{"127.0.0.1"} })
	})
	n := shared.tests.Add(1)
	s := *shared.shop
	s.T = t
	s.domain = fmt.Sprintf("test-%d.example.org", n)
	s.network = fmt.Sprintf("10.%d.%d.1", n>>8, n&0xff)
	return &s
}

// Email returns an address of mail that no other test of the node has.
func (s *Shop) Email(name string) string { return name + "@" + cmp.Or(s.domain, "example.org") }

// lifetime stands for a test that lasts as long as the process: cleanUp does what such a test would clean
// up at its end.
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

func (l *lifetime) cleanUp() {
	for len(l.cleanups) > 0 {
		last := len(l.cleanups) - 1
		f := l.cleanups[last]
		l.cleanups = l.cleanups[:last]
		f()
	}
}

// sharing stops the shared node after the tests.
type sharing struct{ m *testing.M }

func (s sharing) Run() int {
	code := s.m.Run()
	shared.life.cleanUp()
	return code
}
