// Package rushtest is for tests of the load generators. It has a small ticketing service in memory.
// The service is right by default, and wrong where a test says so: then the audit of a load test
// must find what is wrong. A test can start the service inside itself, or have the harness start it
// as a node. Only tests import this package.
package rushtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/loadtest/report"
)

// FindCheck returns the first of the audit's checks with a name that begins with the prefix. The
// test fails if there is none.
func FindCheck(t *testing.T, r *report.Report, prefix string) report.Check {
	t.Helper()
	for _, c := range r.Audit.Checks {
		if strings.HasPrefix(c.Name, prefix) {
			return c
		}
	}
	require.Fail(t, "no such check", prefix)
	return report.Check{}
}

// LeftByFasthttp returns the goroutines that fasthttp leaves behind for a while, so that tests for
// leaks ignore them.
func LeftByFasthttp() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	}
}
