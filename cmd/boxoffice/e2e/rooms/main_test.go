// Package rooms tests halls and the crowds that come to them: venue maps, seats and their live streams, and waiting
// rooms.
package rooms

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
