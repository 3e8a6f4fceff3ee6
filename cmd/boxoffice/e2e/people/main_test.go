// Package people tests accounts and organizations, and what organizations know of people and write to them:
// signing in, API keys, members, erasure, customers, followers, attendees and reviews.
package people

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
