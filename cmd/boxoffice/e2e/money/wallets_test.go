package money

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/api"
	"boxoffice/engine"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

var entryFields = nodetest.Words("id number kind amount currency balance pendingBalance reason reference note createdAt")

func TestWallets(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t)
	org := s.Org()
	none := map[string]string{"USD": "0.00 0.00", "NGN": "0.00 0.00", "ZAR": "0.00 0.00"}
	a := s.Own("GET", "/organizer/wallets", nil).Is(200, "")
	require.Equal(t, none, a.Balances())
	require.Nil(t, a.Data("nextCursor"))
	for i, symbol := range []string{"$", "₦", "R"} {
		require.Equal(t, symbol, a.Str(fmt.Sprintf("items.%d.symbol", i)))
		require.Equal(t, "active", a.Str(fmt.Sprintf("items.%d.status", i)))
		require.Equal(t, "0.00", a.Str(fmt.Sprintf("items.%d.lifetimePayout", i)))
	}
	require.Empty(t, s.Own("GET", "/organizer/wallets/ZAR/entries", nil).Is(200, "").Data("items"))

	t.Log("a credit is read by whoever reads next")
	credit := "/admin/wallets/" + org + "/credit"
	body := nodetest.Object{"amount": 250.5, "currency": "ZAR", "note": "by wire", "reference": "FT-1"}
	a = root.Own("POST", credit, body).Is(201, "")
	require.Equal(t, nodetest.Words("wallet entry"), a.Keys(""))
	require.Equal(t, nodetest.WalletFields, a.Keys("wallet"))
	require.Equal(t, entryFields, a.Keys("entry"))
	for path, want := range map[string]any{
		"wallet.currency": "ZAR", "wallet.symbol": "R", "wallet.balance": "250.50", "wallet.pendingBalance": "0.00", "wallet.lifetimePayout": "0.00",
		"entry.number": 1.0, "entry.kind": "credit", "entry.amount": "250.50", "entry.currency": "ZAR", "entry.balance": "250.50",
		"entry.pendingBalance": "0.00", "entry.reason": "top_up", "entry.reference": "FT-1", "entry.note": "by wire",
	} {
		require.Equal(t, want, a.Data(path), path)
	}
	require.NoError(t, uuid.Validate(a.Str("entry.id")))
	want := map[string]string{"USD": "0.00 0.00", "NGN": "0.00 0.00", "ZAR": "250.50 0.00"}
	require.Equal(t, want, s.Own("GET", "/organizer/wallets?orgId="+org, nil).Is(200, "").Balances())
	require.Equal(t, want, s.Own("GET", "/organizer/wallets/org/"+org, nil).Is(200, "").Balances())
	listed := s.Own("GET", "/organizer/wallets/ZAR/entries", nil).Is(200, "")
	require.Equal(t, []any{a.Data("entry")}, listed.Data("items"))
	require.Empty(t, s.Own("GET", "/organizer/wallets/USD/entries", nil).Is(200, "").Data("items"))
	require.Equal(t, a.Data("wallet"), s.Own("GET", "/organizer/organizations/"+org, nil).Is(200, "").Data("wallets.2"))

	t.Log("without note and reference; the least")
	a = root.Own("POST", credit, nodetest.Object{"amount": 0.01, "currency": "USD"}).Is(201, "")
	require.Nil(t, a.Data("entry.note"))
	require.Nil(t, a.Data("entry.reference"))
	require.Equal(t, "0.01", a.Str("wallet.balance"))
}

func TestCreditWalletFields(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t)
	credit := "/admin/wallets/" + s.Org() + "/credit"
	body := nodetest.Object{"amount": 5, "currency": "USD"}
	for _, f := range []field{
		{"amount", nodetest.Absent, "", "required"},
		{"amount", nil, "", "required"},
		{"amount", 0, "", "minimum"},
		{"amount", -5, "", "minimum"},
		{"amount", 0.001, "", "decimals"},
		{"amount", "5", "", "type"},
		{"amount", 10_000_000_000_001, "", "maximum"},
		{"currency", nodetest.Absent, "", "required"},
		{"currency", "EUR", "", "enum"},
		{"currency", "usd", "", "format"},
		{"note", nodetest.Text(501), "", "max_length"},
		{"note", "\u0000", "", "format"},
		{"reference", nodetest.Text(201), "", "max_length"},
	} {
		root.Own("POST", credit, nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	t.Log("a wallet takes so much and no more")
	root.Own("POST", credit, nodetest.With(body, nodetest.Object{"amount": 9_999_999_999_999.99, "note": nodetest.Text(500), "reference": nodetest.Text(200)})).Is(201, "")
	a := root.Own("POST", credit, nodetest.With(body, nodetest.Object{"amount": 0.02}))
	a.Invalid("amount", "maximum")
	require.Contains(t, a.Get("error.details.issues.0.message"), "0.01")
	root.Own("POST", credit, nodetest.With(body, nodetest.Object{"amount": 0.01})).Is(201, "")
	root.Own("POST", credit, nodetest.With(body, nodetest.Object{"amount": 0.01})).Invalid("amount", "maximum")
	require.Equal(t, "10000000000000.00 0.00", s.Own("GET", "/organizer/wallets", nil).Balances()["USD"])
}

// A retry credits nothing, also when the answer was never stored, and after a
// restart.
func TestCreditWalletAgain(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t)
	org := s.Org()
	credit, retry := "/admin/wallets/"+org+"/credit", append(root.Bearer(), "Idempotency-Key", uuid.NewString())
	body := nodetest.Object{"amount": 10, "currency": "NGN", "note": "once"}
	first := s.Call("POST", credit, body, retry...).Is(201, "")
	require.Equal(t, first.Body, s.Call("POST", credit, body, retry...).Is(201, "").Body)
	s.Call("POST", credit, nodetest.With(body, nodetest.Object{"amount": 11}), retry...).Is(409, "IDEMPOTENCY_KEY_REUSED")
	root.Own("POST", credit, body).Is(201, "") // another credit

	forget := func() {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
		require.NoError(t, err)
	}
	forget()
	again := s.Call("POST", credit, body, retry...).Is(201, "")
	require.Equal(t, first.Data("entry"), again.Data("entry"))
	require.Equal(t, "20.00", again.Str("wallet.balance"), "the wallet is as it is now")
	forget()
	s.Call("POST", credit, nodetest.With(body, nodetest.Object{"amount": 11}), retry...).Is(409, "IDEMPOTENCY_KEY_REUSED")
	forget()
	s.Restart()
	require.Equal(t, first.Data("entry"), s.Call("POST", credit, body, retry...).Is(201, "").Data("entry"))

	var wg sync.WaitGroup
	for range 8 { // each a retry of one of two
		for _, key := range []string{nodetest.KeyOne, nodetest.KeyTwo} {
			wg.Go(func() {
				r := s.Raw("POST", credit, "application/json", nodetest.Encode(t, body), append(root.Bearer(), "Idempotency-Key", key)...)
				require.Contains(t, []int{201, 409}, r.Status, r.Body)
			})
		}
	}
	wg.Wait()
	require.Equal(t, "40.00 0.00", s.Own("GET", "/organizer/wallets", nil).Balances()["NGN"])
	require.Len(t, s.Own("GET", "/organizer/wallets/NGN/entries", nil).Data("items"), 4)
}

func TestWalletEntriesPages(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t)
	credit := "/admin/wallets/" + s.Org() + "/credit"
	for i := range 5 {
		root.Own("POST", credit, nodetest.Object{"amount": i + 1, "currency": "USD"}).Is(201, "")
		root.Own("POST", credit, nodetest.Object{"amount": 100, "currency": "ZAR"}).Is(201, "")
	}
	var amounts, balances []string
	var sizes []int
	path := "/organizer/wallets/USD/entries"
	for query := "?limit=2"; query != ""; {
		page := s.Own("GET", path+query, nil).Is(200, "")
		items := page.Data("items").([]any)
		sizes = append(sizes, len(items))
		for i := range items {
			require.Equal(t, entryFields, page.Keys(fmt.Sprintf("items.%d", i)))
			amounts = append(amounts, page.Str(fmt.Sprintf("items.%d.amount", i)))
			balances = append(balances, page.Str(fmt.Sprintf("items.%d.balance", i)))
		}
		if query = ""; page.Data("nextCursor") != nil {
			query = "?limit=2&cursor=" + page.Str("nextCursor")
		}
	}
	require.Equal(t, []int{2, 2, 1}, sizes)
	require.Equal(t, strings.Fields("5.00 4.00 3.00 2.00 1.00"), amounts)
	require.Equal(t, strings.Fields("15.00 10.00 6.00 3.00 1.00"), balances)
	require.Nil(t, s.Own("GET", path+"?limit=5", nil).Is(200, "").Data("nextCursor"))

	s.Own("GET", path+"?limit=0", nil).Invalid("limit", "minimum")
	s.Own("GET", path+"?limit=101", nil).Invalid("limit", "maximum")
	s.Own("GET", path+"?cursor=x", nil).Invalid("cursor", "format")
	for _, currency := range []string{"EUR", "usd", "1", "USD%00"} {
		s.Own("GET", "/organizer/wallets/"+currency+"/entries", nil).Is(404, "NOT_FOUND")
	}
}

func TestWhoSeesWallets(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t)
	org, other := s.Org(), s.Register("bob@example.org")
	credit := "/admin/wallets/" + org + "/credit"
	body := nodetest.Object{"amount": 5, "currency": "USD"}
	root.Own("POST", credit, body).Is(201, "")

	t.Log("only the platform's administrator credits")
	full := s.As(s.Key(nil).Str("secret"))
	for _, who := range []*nodetest.Shop{s, other, full} {
		who.Own("POST", credit, body).Is(403, "FORBIDDEN")
	}
	s.Call("POST", credit, body).Is(401, "UNAUTHORIZED")
	for _, id := range []string{"999999", "0", "-1", "x", "99999999999999999999", uuid.NewString()} {
		root.Own("POST", "/admin/wallets/"+id+"/credit", body).Is(404, "NOT_FOUND")
	}
	var streams int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM streams WHERE name LIKE 'wallet/%'`).Scan(&streams))
	require.Equal(t, 1, streams, "nobody's wallet was made")

	t.Log("another organization's wallets are not there")
	paths := []string{"/organizer/wallets?orgId=" + org, "/organizer/wallets/org/" + org, "/organizer/wallets/USD/entries?orgId=" + org}
	for _, path := range paths {
		s.Own("GET", path, nil).Is(200, "")
		full.Own("GET", path, nil).Is(200, "")
		other.Own("GET", path, nil).Is(404, "NOT_FOUND")
		root.Own("GET", path, nil).Is(403, "FORBIDDEN") // belongs to no organization
		s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
	}
	require.Equal(t, "0.00 0.00", other.Own("GET", "/organizer/wallets", nil).Is(200, "").Balances()["USD"])
	require.Empty(t, other.Own("GET", "/organizer/wallets/USD/entries", nil).Is(200, "").Data("items"))

	t.Log("money is for those who may see it")
	key := s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret"))
	payer := s.As(s.Key(nodetest.Object{"scopes": []string{"payouts:read"}}).Str("secret"))
	for _, path := range paths {
		key.Own("GET", path, nil).Refused(403, "FORBIDDEN", nodetest.Object{"required": []string{"payouts:read"}, "granted": []string{"orders:read"}})
		payer.Own("GET", path, nil).Is(200, "")
	}
}

// TestCurrenciesAreOneList makes sure that the numbers of currencies, which are stored, stay, and that all
// amounts of an organization are in a currency of the list.
func TestCurrenciesAreOneList(t *testing.T) {
	t.Parallel()
	for i, c := range engine.Currencies {
		require.EqualValues(t, i+1, c.Number)
	}
	for _, v := range []any{api.EventFields{}, api.CreditWallet{}, api.Wallet{}, api.WalletEntry{}} {
		f, ok := reflect.TypeOf(v).FieldByName("Currency")
		require.True(t, ok)
		require.Equal(t, "currency", f.Tag.Get("format"), "%T", v)
	}
}
