package main

import (
	"os"
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

// nodeForTest makes the process boxoffice and nothing else, if it was started for
// that.
func nodeForTest() {
	if os.Getenv("BOXOFFICE_TEST_NODE") != "" {
		main()
		os.Exit(0)
	}
}

func TestMain(m *testing.M) {
	nodeForTest()
	nodetest.Main(m)
}
