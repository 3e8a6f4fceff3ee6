package calendar_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestCalendar(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
