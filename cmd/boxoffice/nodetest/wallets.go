package nodetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
)

// WalletFields are the names of a wallet's members.
var WalletFields = Words("currency symbol balance pendingBalance lifetimePayout status")

// OpenWithAdmin opens a shop whose platform has an administrator. The administrator may credit wallets.
// OpenWithAdmin returns the shop as the organizer's and as the administrator's.
func OpenWithAdmin(t testing.TB, changes ...func(*node.Config)) (s, root *Shop) {
	t.Helper()
	s = Open(t, append(changes, func(c *node.Config) { c.AdminEmail, c.AdminPassword = "root@example.org", "correct horse" })...)
	root = s.As(s.Patient("POST", "/auth/login", Object{"email": "root@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken"))
	return s, root
}

// Balances reads an answer that lists wallets. It returns the available and the pending balance of
// each, by currency.
func (a Answer) Balances() map[string]string {
	a.T.Helper()
	out := make(map[string]string)
	for i := range a.Data("items").([]any) {
		w := fmt.Sprintf("items.%d.", i)
		require.Equal(a.T, WalletFields, a.Keys(strings.TrimSuffix(w, ".")))
		out[a.Str(w+"currency")] = a.Str(w+"balance") + " " + a.Str(w+"pendingBalance")
	}
	return out
}
