package event_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestEvent(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
