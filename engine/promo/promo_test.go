package promo_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestPromo(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
