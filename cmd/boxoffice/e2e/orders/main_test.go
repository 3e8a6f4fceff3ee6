// Package orders tests orders from placing to their end: promo codes, limits for each buyer, bookings, tickets that
// organizers issue or give away, and waiting lines for tickets that are sold out.
package orders

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
