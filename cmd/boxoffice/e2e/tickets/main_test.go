// Package tickets tests what buyers have and do with it: tickets that are held, passed on, printed and scanned at
// gates, and the downloads and courses that tickets deliver.
package tickets

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
