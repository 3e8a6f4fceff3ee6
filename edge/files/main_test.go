package files_test

import (
	"testing"

	"go.uber.org/goleak"

	"boxoffice/edge/edgetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, edgetest.IgnoreClocks()...)
}
