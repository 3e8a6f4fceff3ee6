package main

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
	"boxoffice/engine"
)

// treasury is a shop with its platform's administrator.
func treasury(t *testing.T) (s, root *shop) {
	t.Helper()
	s = open(t, func(c *config) { c.AdminEmail, c.AdminPassword = "root@example.org", "correct horse" })
	root = s.as(s.call("POST", "/auth/login", object{"email": "root@example.org", "password": "correct horse"}).is(200, "").str("accessToken"))
	return s, root
}

// balances are those of an answer's wallets: available and pending, by currency.
func (a answer) balances() map[string]string {
	a.t.Helper()
	out := make(map[string]string)
	for i := range a.data("items").([]any) {
		w := fmt.Sprintf("items.%d.", i)
		require.Equal(a.t, walletFields, a.keys(strings.TrimSuffix(w, ".")))
		out[a.str(w+"currency")] = a.str(w+"balance") + " " + a.str(w+"pendingBalance")
	}
	return out
}

var (
	walletFields = words("currency symbol balance pendingBalance lifetimePayout status")
	entryFields  = words("id number kind amount currency balance pendingBalance reason reference note createdAt")
)

func TestWallets(t *testing.T) {
	t.Parallel()
	s, root := treasury(t)
	org := s.org()
	none := map[string]string{"USD": "0.00 0.00", "NGN": "0.00 0.00", "ZAR": "0.00 0.00"}
	a := s.own("GET", "/organizer/wallets", nil).is(200, "")
	require.Equal(t, none, a.balances())
	require.Nil(t, a.data("nextCursor"))
	for i, symbol := range []string{"$", "₦", "R"} {
		require.Equal(t, symbol, a.str(fmt.Sprintf("items.%d.symbol", i)))
		require.Equal(t, "active", a.str(fmt.Sprintf("items.%d.status", i)))
		require.Equal(t, "0.00", a.str(fmt.Sprintf("items.%d.lifetimePayout", i)))
	}
	require.Empty(t, s.own("GET", "/organizer/wallets/ZAR/entries", nil).is(200, "").data("items"))

	t.Log("a credit is read by whoever reads next")
	credit := "/admin/wallets/" + org + "/credit"
	body := object{"amount": 250.5, "currency": "ZAR", "note": "by wire", "reference": "FT-1"}
	a = root.own("POST", credit, body).is(201, "")
	require.Equal(t, words("wallet entry"), a.keys(""))
	require.Equal(t, walletFields, a.keys("wallet"))
	require.Equal(t, entryFields, a.keys("entry"))
	for path, want := range map[string]any{
		"wallet.currency": "ZAR", "wallet.symbol": "R", "wallet.balance": "250.50", "wallet.pendingBalance": "0.00", "wallet.lifetimePayout": "0.00",
		"entry.number": 1.0, "entry.kind": "credit", "entry.amount": "250.50", "entry.currency": "ZAR", "entry.balance": "250.50",
		"entry.pendingBalance": "0.00", "entry.reason": "top_up", "entry.reference": "FT-1", "entry.note": "by wire",
	} {
		require.Equal(t, want, a.data(path), path)
	}
	require.NoError(t, uuid.Validate(a.str("entry.id")))
	want := map[string]string{"USD": "0.00 0.00", "NGN": "0.00 0.00", "ZAR": "250.50 0.00"}
	require.Equal(t, want, s.own("GET", "/organizer/wallets?orgId="+org, nil).is(200, "").balances())
	require.Equal(t, want, s.own("GET", "/organizer/wallets/org/"+org, nil).is(200, "").balances())
	listed := s.own("GET", "/organizer/wallets/ZAR/entries", nil).is(200, "")
	require.Equal(t, []any{a.data("entry")}, listed.data("items"))
	require.Empty(t, s.own("GET", "/organizer/wallets/USD/entries", nil).is(200, "").data("items"))
	require.Equal(t, a.data("wallet"), s.own("GET", "/organizer/organizations/"+org, nil).is(200, "").data("wallets.2"))

	t.Log("without note and reference; the least")
	a = root.own("POST", credit, object{"amount": 0.01, "currency": "USD"}).is(201, "")
	require.Nil(t, a.data("entry.note"))
	require.Nil(t, a.data("entry.reference"))
	require.Equal(t, "0.01", a.str("wallet.balance"))
}

func TestCreditWalletFields(t *testing.T) {
	t.Parallel()
	s, root := treasury(t)
	credit := "/admin/wallets/" + s.org() + "/credit"
	body := object{"amount": 5, "currency": "USD"}
	for _, f := range []field{
		{"amount", absent, "", "required"},
		{"amount", nil, "", "required"},
		{"amount", 0, "", "minimum"},
		{"amount", -5, "", "minimum"},
		{"amount", 0.001, "", "decimals"},
		{"amount", "5", "", "type"},
		{"amount", 10_000_000_000_001, "", "maximum"},
		{"currency", absent, "", "required"},
		{"currency", "EUR", "", "enum"},
		{"currency", "usd", "", "enum"},
		{"note", text(501), "", "max_length"},
		{"note", "\u0000", "", "format"},
		{"reference", text(201), "", "max_length"},
	} {
		root.own("POST", credit, with(body, object{f.name: f.value})).invalid(f.name, f.code)
	}
	t.Log("a wallet takes so much and no more")
	root.own("POST", credit, with(body, object{"amount": 9_999_999_999_999.99, "note": text(500), "reference": text(200)})).is(201, "")
	a := root.own("POST", credit, with(body, object{"amount": 0.02}))
	a.invalid("amount", "maximum")
	require.Contains(t, a.get("error.details.issues.0.message"), "0.01")
	root.own("POST", credit, with(body, object{"amount": 0.01})).is(201, "")
	root.own("POST", credit, with(body, object{"amount": 0.01})).invalid("amount", "maximum")
	require.Equal(t, "10000000000000.00 0.00", s.own("GET", "/organizer/wallets", nil).balances()["USD"])
}

// A retry credits nothing, also when the answer was never stored, and after a
// restart.
func TestCreditWalletAgain(t *testing.T) {
	t.Parallel()
	s, root := treasury(t)
	org := s.org()
	credit, retry := "/admin/wallets/"+org+"/credit", append(root.bearer(), "Idempotency-Key", uuid.NewString())
	body := object{"amount": 10, "currency": "NGN", "note": "once"}
	first := s.call("POST", credit, body, retry...).is(201, "")
	require.Equal(t, first.body, s.call("POST", credit, body, retry...).is(201, "").body)
	s.call("POST", credit, with(body, object{"amount": 11}), retry...).is(409, "IDEMPOTENCY_KEY_REUSED")
	root.own("POST", credit, body).is(201, "") // another credit

	forget := func() {
		t.Helper()
		_, err := s.pool.Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
		require.NoError(t, err)
	}
	forget()
	again := s.call("POST", credit, body, retry...).is(201, "")
	require.Equal(t, first.data("entry"), again.data("entry"))
	require.Equal(t, "20.00", again.str("wallet.balance"), "the wallet is as it is now")
	forget()
	s.call("POST", credit, with(body, object{"amount": 11}), retry...).is(409, "IDEMPOTENCY_KEY_REUSED")
	forget()
	s.restart()
	require.Equal(t, first.data("entry"), s.call("POST", credit, body, retry...).is(201, "").data("entry"))

	var wg sync.WaitGroup
	for range 8 { // each a retry of one of two
		for _, key := range []string{keyOne, keyTwo} {
			wg.Go(func() {
				r := s.raw("POST", credit, "application/json", encode(t, body), append(root.bearer(), "Idempotency-Key", key)...)
				require.Contains(t, []int{201, 409}, r.status, r.body)
			})
		}
	}
	wg.Wait()
	require.Equal(t, "40.00 0.00", s.own("GET", "/organizer/wallets", nil).balances()["NGN"])
	require.Len(t, s.own("GET", "/organizer/wallets/NGN/entries", nil).data("items"), 4)
}

func TestWalletEntriesPages(t *testing.T) {
	t.Parallel()
	s, root := treasury(t)
	credit := "/admin/wallets/" + s.org() + "/credit"
	for i := range 5 {
		root.own("POST", credit, object{"amount": i + 1, "currency": "USD"}).is(201, "")
		root.own("POST", credit, object{"amount": 100, "currency": "ZAR"}).is(201, "")
	}
	var amounts, balances []string
	var sizes []int
	path := "/organizer/wallets/USD/entries"
	for query := "?limit=2"; query != ""; {
		page := s.own("GET", path+query, nil).is(200, "")
		items := page.data("items").([]any)
		sizes = append(sizes, len(items))
		for i := range items {
			require.Equal(t, entryFields, page.keys(fmt.Sprintf("items.%d", i)))
			amounts = append(amounts, page.str(fmt.Sprintf("items.%d.amount", i)))
			balances = append(balances, page.str(fmt.Sprintf("items.%d.balance", i)))
		}
		if query = ""; page.data("nextCursor") != nil {
			query = "?limit=2&cursor=" + page.str("nextCursor")
		}
	}
	require.Equal(t, []int{2, 2, 1}, sizes)
	require.Equal(t, strings.Fields("5.00 4.00 3.00 2.00 1.00"), amounts)
	require.Equal(t, strings.Fields("15.00 10.00 6.00 3.00 1.00"), balances)
	require.Nil(t, s.own("GET", path+"?limit=5", nil).is(200, "").data("nextCursor"))

	s.own("GET", path+"?limit=0", nil).invalid("limit", "minimum")
	s.own("GET", path+"?limit=101", nil).invalid("limit", "maximum")
	s.own("GET", path+"?cursor=x", nil).invalid("cursor", "format")
	for _, currency := range []string{"EUR", "usd", "1", "USD%00"} {
		s.own("GET", "/organizer/wallets/"+currency+"/entries", nil).is(404, "NOT_FOUND")
	}
}

func TestWhoSeesWallets(t *testing.T) {
	t.Parallel()
	s, root := treasury(t)
	org, other := s.org(), s.register("bob@example.org")
	credit := "/admin/wallets/" + org + "/credit"
	body := object{"amount": 5, "currency": "USD"}
	root.own("POST", credit, body).is(201, "")

	t.Log("only the platform's administrator credits")
	full := s.as(s.key(nil).str("secret"))
	for _, who := range []*shop{s, other, full} {
		who.own("POST", credit, body).is(403, "FORBIDDEN")
	}
	s.call("POST", credit, body).is(401, "UNAUTHORIZED")
	for _, id := range []string{"999999", "0", "-1", "x", "99999999999999999999", uuid.NewString()} {
		root.own("POST", "/admin/wallets/"+id+"/credit", body).is(404, "NOT_FOUND")
	}
	var streams int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM streams WHERE name LIKE 'wallet/%'`).Scan(&streams))
	require.Equal(t, 1, streams, "nobody's wallet was made")

	t.Log("another organization's wallets are not there")
	paths := []string{"/organizer/wallets?orgId=" + org, "/organizer/wallets/org/" + org, "/organizer/wallets/USD/entries?orgId=" + org}
	for _, path := range paths {
		s.own("GET", path, nil).is(200, "")
		full.own("GET", path, nil).is(200, "")
		other.own("GET", path, nil).is(404, "NOT_FOUND")
		root.own("GET", path, nil).is(403, "FORBIDDEN") // belongs to no organization
		s.call("GET", path, nil).is(401, "UNAUTHORIZED")
	}
	require.Equal(t, "0.00 0.00", other.own("GET", "/organizer/wallets", nil).is(200, "").balances()["USD"])
	require.Empty(t, other.own("GET", "/organizer/wallets/USD/entries", nil).is(200, "").data("items"))

	t.Log("money is for those who may see it")
	key := s.as(s.key(object{"scopes": []string{"orders:read"}}).str("secret"))
	payer := s.as(s.key(object{"scopes": []string{"payouts:read"}}).str("secret"))
	for _, path := range paths {
		key.own("GET", path, nil).refused(403, "FORBIDDEN", object{"required": []string{"payouts:read"}, "granted": []string{"orders:read"}})
		payer.own("GET", path, nil).is(200, "")
	}
}

// TestCurrenciesAreOneList: tags can't name the table.
func TestCurrenciesAreOneList(t *testing.T) {
	t.Parallel()
	var codes []string
	for i, c := range engine.Currencies {
		require.EqualValues(t, i+1, c.Number)
		codes = append(codes, c.Code)
	}
	want := strings.Join(codes, ",")
	for _, v := range []any{api.EventFields{}, api.CreditWallet{}, api.Wallet{}, api.WalletEntry{}} {
		f, ok := reflect.TypeOf(v).FieldByName("Currency")
		require.True(t, ok)
		require.Equal(t, want, f.Tag.Get("enum"), "%T", v)
	}
}
