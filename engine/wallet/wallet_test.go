package wallet_test

import (
	"testing"

	"boxoffice/engine/enginetest"
)

func TestWallet(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}
