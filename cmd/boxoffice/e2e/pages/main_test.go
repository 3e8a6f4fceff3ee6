package pages

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMain runs few pages at a time: they are busy, unlike other scenarios.
func TestMain(m *testing.M) { nodetest.Main(m, 3) }
