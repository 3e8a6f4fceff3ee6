package inventory_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestInventory(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
