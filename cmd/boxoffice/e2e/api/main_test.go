// Package api tests what holds for the API as a whole: its document, repeated writes, limits, the log of requests
// and the examples of its pages.
package api

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
