package seatmap_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestSeatmap(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
