// Package rushtest is for tests of what rushes a service: a small ticketing service
// in memory, right by default and wrong where a test says so, that a test can start
// by itself or have the harness start as a node. Only tests import it.
package rushtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/loadtest/report"
)

// FindCheck returns the audit's check whose name starts so.
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

// LeftByFasthttp are the goroutines that fasthttp leaves behind for a while.
func LeftByFasthttp() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	}
}
