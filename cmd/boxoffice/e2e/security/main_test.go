package security

import (
	"flag"
	"os"
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) {
	if seed := os.Getenv("BOXOFFICE_TEST_DRAWS"); seed != "" {
		_ = flag.Set("rapid.seed", seed) // the flag exists
	}
	nodetest.Main(m, nodetest.MostlyWaiting)
}
