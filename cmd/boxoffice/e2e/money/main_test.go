// Package money tests what is paid and what goes back: payment providers and their notices, payment links, bank
// transfers, refunds, disputes and wallets.
package money

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
