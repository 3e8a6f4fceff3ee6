// Package outward tests what is told outside and who sees it: mails, webhooks, the feed of public facts, and the
// interface for agents.
package outward

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
