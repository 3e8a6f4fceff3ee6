package money

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/limit"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/receipts"
)

// byTransfer opens a node whose buyers may transfer money, with a type of tickets whose sale goes on for
// days, and one whose sale ends too soon.
func byTransfer(t *testing.T) (s *nodetest.Shop, types []string) {
	t.Helper()
	return byTransferScaled(t, 1_000)
}

// byTransferScaled is byTransfer with limits multiplied by scale.
func byTransferScaled(t *testing.T, scale float64) (s *nodetest.Shop, types []string) {
	t.Helper()
	s = nodetest.Open(t, func(c *node.Config) { c.PaysimProviders, c.LimitsScale = []string{"transfer"}, scale })
	_, ids := s.Sell(
		nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
		nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(3 * 24 * time.Hour)}),
		nodetest.TypeBody(25, 100))
	return s, ids
}

// transferred places an order that is to be paid by transfer, and returns what its buyer is told.
func transferred(s *nodetest.Shop, ticketType, email string) (id, token string, told nodetest.Answer) {
	s.T.Helper()
	id, token = s.Place(email, ticketType, 1)
	return id, token, payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "")
}

// line is money in a statement of Wise.
func line(number int, amount, currency, words string) string {
	return fmt.Sprintf("TRANSFER-%d,01-03-2027,%s,%s,Ada Obi,%s\n", number, amount, currency, words)
}

// statementHead is the first row of a statement of Wise.
const statementHead = "TransferWise ID,Date,Amount,Currency,Payer Name,Payment Reference\n"

// importLines imports a statement of Wise, and returns the counts that are not 0.
func importLines(s *nodetest.Shop, lines ...string) map[string]int {
	s.T.Helper()
	file := statementHead + strings.Join(lines, "")
	r := s.Raw("POST", "/organizer/statements", "text/csv", file, s.Bearer()...)
	require.Equal(s.T, 200, r.Status, r.Body)
	var answer struct{ Data map[string]int }
	require.NoError(s.T, json.Unmarshal([]byte(r.Body), &answer))
	for name, n := range answer.Data {
		if n == 0 {
			delete(answer.Data, name)
		}
	}
	return answer.Data
}

// TestTransferNeedsTheOperator has an organization say that money has come to the deployment's account, before
// the operator takes its word, while it is taken, and after.
func TestTransferNeedsTheOperator(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.TransferAccount = "Kulturverein Nord e.V.|DE89370400440532013000" })
	_, ids := s.Sell(nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
		nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(3 * 24 * time.Hour)}))
	id, token := s.Place("ada@example.org", ids[0], 1)
	offered := func() bool {
		t.Helper()
		event := s.Order(id, token).Str("eventId")
		return strings.Contains(fmt.Sprint(s.Call("GET", "/payments/methods?eventId="+event, nil).Is(200, "").Data("items")), "provider:transfer")
	}
	paid, statement := "/organizer/orders/"+id+"/paid", "TransferWise ID,Date,Amount,Currency,Payer Name,Payment Reference\n"+line(1, "26.25", "USD", "rent")
	refused := func() {
		t.Helper()
		require.False(t, offered())
		payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(503, "PROVIDER_NOT_CONFIGURED")
		s.Own("POST", paid, nodetest.Object{"amount": 26.25}).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "TRANSFERS_NOT_ALLOWED"})
		require.Contains(t, s.Raw("POST", "/organizer/statements", "text/csv", statement, s.Bearer()...).Body, "TRANSFERS_NOT_ALLOWED")
		require.Equal(t, "pending", s.Order(id, token).Str("status"))
	}
	refused()

	people := accounts.New(s.Pool())
	org, err := strconv.ParseInt(s.Org(), 10, 64)
	require.NoError(t, err)
	require.NoError(t, people.AllowTransfers(t.Context(), org, true))
	require.True(t, offered())
	payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "")
	require.NoError(t, people.AllowTransfers(t.Context(), org, false))
	refused()
	require.NoError(t, people.AllowTransfers(t.Context(), org, true))
	require.Equal(t, "completed", s.Own("POST", paid, nodetest.Object{"amount": 26.25}).Is(200, "").Str("status"))
	s.Call("GET", "/payments/methods?eventId="+id, nil).Is(404, "EVENT_NOT_FOUND")
}

// TestTransferPays has a buyer transfer money, and a statement tell of it, twice.
func TestTransferPays(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	id, token, told := transferred(s, kinds[0], "ada@example.org")
	require.Equal(t, "Boxoffice Test DE89370400440532013000 COBADEFFXXX 26.25 USD", strings.Join([]string{
		told.Str("transfer.holder"), told.Str("transfer.account"), told.Str("transfer.bic"), told.Str("transfer.amount"), told.Str("transfer.currency"),
	}, " "))
	reference := told.Str("transfer.reference")
	require.Regexp(t, `^RF\d\d[0-9A-Z]{17,21}$`, reference)
	require.Equal(t, told.Str("expiresAt"), told.Str("transfer.dueAt"))
	require.Equal(t, told.Body, payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "").Body)
	require.Equal(t, reference, s.Order(id, token).Str("payments.0.transfer.reference"))

	t.Log("the payer wrote small letters and blanks, among other words")
	words := "tickets " + strings.ToLower(reference[:4]+" "+reference[4:9]+" "+reference[9:]) + " thanks"
	paid := line(1, "26.25", "USD", words)
	require.Equal(t, map[string]int{"lines": 2, "matched": 1, "unknown": 1}, importLines(s, paid, line(2, "5.00", "USD", "rent")))
	o := s.Order(id, token)
	require.Equal(t, "completed succeeded 26.25", o.Str("status")+" "+o.Str("payments.0.status")+" "+o.Str("payments.0.received"))
	require.Equal(t, map[string]int{"lines": 1, "repeated": 1, "matched": 1}, importLines(s, paid))
	require.Empty(t, s.Order(id, token).Data("refunds"))
	listed := s.Own("GET", "/organizer/receipts", nil).Is(200, "")
	require.Len(t, listed.Data("items"), 1)
	require.Equal(t, "unknown 5.00 rent", listed.Str("items.0.state")+" "+listed.Str("items.0.amount")+" "+listed.Str("items.0.reference"))

	t.Log("what is no statement is refused, and other people see nothing")
	require.Contains(t, s.Raw("POST", "/organizer/statements", "text/csv", "hello", s.Bearer()...).Body, "VALIDATION_ERROR")
	require.Contains(t, s.Raw("POST", "/organizer/statements", "text/csv", statementHead+strings.Replace(paid, "-2027", "-9999", 1), s.Bearer()...).Body, "has a line of a day before 2000")
	other := s.Register("other@example.org")
	require.Equal(t, map[string]int{"lines": 1, "unknown": 1}, importLines(other, paid))
	other.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 1}).Is(404, "ORDER_NOT_FOUND")

	t.Log("the tickets' money goes back by hand")
	back := s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"reason": "ill"}).Is(200, "")
	require.Equal(t, "processing true", back.Str("status")+" "+back.Str("manual"))
	s.Own("POST", "/organizer/refunds/"+back.Str("id")+"/complete", nodetest.Object{"providerRef": "wire 1"}).Is(200, "")
}

// TestTransferDiffers has less, more and foreign money come, and money twice. Nothing is guessed.
func TestTransferDiffers(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	began := time.Now()
	id, token, told := transferred(s, kinds[0], "ada@example.org")
	require.Contains(t, s.Mail(t, "ada@example.org", "bank_transfer", began).Subject, "How to pay for")
	reference := told.Str("transfer.reference")
	began = time.Now()
	require.Equal(t, map[string]int{"lines": 2, "underpaid": 1, "otherCurrency": 1},
		importLines(s, line(1, "20.00", "USD", reference), line(2, "26.25", "EUR", reference)))
	o := s.Order(id, token)
	require.Equal(t, "processing underpaid 20.00", o.Str("status")+" "+o.Str("payments.0.status")+" "+o.Str("payments.0.received"))
	m := s.Mail(t, "ada@example.org", "bank_transfer", began)
	require.Contains(t, m.Text, "$20.00 of $26.25 has come")
	require.Contains(t, m.Text, "Amount:    $6.25\n")
	listed := s.Own("GET", "/organizer/receipts?limit=1", nil).Is(200, "")
	require.Equal(t, "currency", listed.Str("items.0.state"))
	listed = s.Own("GET", "/organizer/receipts?limit=1&cursor="+listed.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, "underpaid 26.25 20.00", listed.Str("items.0.state")+" "+listed.Str("items.0.asked")+" "+listed.Str("items.0.received"))
	require.Nil(t, listed.Data("nextCursor"))

	t.Log("the rest is marked by hand, and its line is the same money")
	paid := s.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 6.25, "note": "seen at the bank"}).Is(200, "")
	require.Equal(t, "completed 26.25", paid.Str("status")+" "+paid.Str("payments.0.received"))
	require.Equal(t, map[string]int{"lines": 1, "repeated": 1, "matched": 1}, importLines(s, line(3, "6.25", "USD", reference)))
	require.Len(t, s.Own("GET", "/organizer/receipts", nil).Is(200, "").Data("items"), 1)

	t.Log("what comes after it goes back by hand")
	require.Equal(t, map[string]int{"lines": 1, "overpaid": 1}, importLines(s, line(4, "1.00", "USD", reference)))
	o = s.Order(id, token)
	require.Equal(t, "1.00 deposit true", o.Str("refunds.0.amount")+" "+o.Str("refunds.0.reason")+" "+o.Str("refunds.0.manual"))
	importLines(s, line(4, "1.00", "USD", reference))
	require.Len(t, s.Order(id, token).Data("refunds"), 1)

	t.Log("more than the price, at once")
	id, token, told = transferred(s, kinds[0], "bob@example.org")
	require.Equal(t, map[string]int{"lines": 1, "overpaid": 1}, importLines(s, line(5, "30.00", "USD", told.Str("transfer.reference"))))
	o = s.Order(id, token)
	require.Equal(t, "completed 3.75 overpaid", o.Str("status")+" "+o.Str("refunds.0.amount")+" "+o.Str("refunds.0.reason"))

	t.Log("an order whose buyer pays otherwise")
	id, token = s.Place("eve@example.org", kinds[1], 1)
	payWith(s, id, token, nodetest.Object{"provider": "transfer"}).
		Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "pending", "reason": "a transfer would come too late"})
	s.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 26.25}).Is(409, "ORDER_NOT_PAYABLE")
	s.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 0}).Invalid("amount", "minimum")
}

// TestManyReceiptsOfOneOrder has more money come for one order than anybody sends: what is beyond the bound is
// of no order, so that neither its record nor its buyer's mailbox fills, whoever tells it.
func TestManyReceiptsOfOneOrder(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	id, token, told := transferred(s, kinds[0], "ada@example.org")
	reference := told.Str("transfer.reference")
	require.Equal(t, map[string]int{"lines": 1, "matched": 1}, importLines(s, line(0, "26.25", "USD", reference)))
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = line(i+1, "1.00", "USD", reference)
	}
	const most = receipts.MaxPerAttempt
	require.Equal(t, map[string]int{"lines": 30, "overpaid": most - 1, "unknown": 31 - most}, importLines(s, lines...))
	for range 3 {
		s.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 1}).Is(200, "")
	}
	require.Len(t, s.Order(id, token).Data("refunds"), most-1)
	require.Equal(t, map[string]int{"lines": 30, "repeated": 30, "overpaid": most - 1, "unknown": 31 - most}, importLines(s, lines...))
	listed := s.Own("GET", "/organizer/receipts?limit=1", nil).Is(200, "")
	require.Equal(t, "unknown hand", listed.Str("items.0.state")+" "+listed.Str("items.0.source"))
}

// TestTransferDays has an order wait for as many days as its event says, and never past the end of the sale.
func TestTransferDays(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	event := s.Order(s.Place("ada@example.org", kinds[0], 1)).Str("eventId")
	due := func() time.Duration {
		id, token, told := transferred(s, kinds[0], uuid.NewString()+"@example.org")
		at, err := time.Parse(time.RFC3339, told.Str("transfer.dueAt"))
		require.NoError(t, err)
		placed, err := time.Parse(time.RFC3339, s.Order(id, token).Str("createdAt"))
		require.NoError(t, err)
		return at.Sub(placed)
	}
	set := func(days any) nodetest.Answer {
		return s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"transferDays": days})
	}
	window := func() string {
		for _, m := range s.Call("GET", "/payments/methods?eventId="+event, nil).Is(200, "").Data("items").([]any) {
			if m := m.(nodetest.Object); m["provider"] == "transfer" {
				return fmt.Sprint(m["windowMinutes"])
			}
		}
		return "none"
	}
	for _, days := range []int{1, 2} {
		require.EqualValues(t, days, set(days).Is(200, "").Data("transferDays"))
		s.Becomes(fmt.Sprint(days*24*60), window) // a node's record of the event is a moment old
		require.Equal(t, time.Duration(days)*24*time.Hour, due())
	}
	require.Nil(t, set(nil).Is(200, "").Data("transferDays"))
	s.Becomes(fmt.Sprint(7*24*60), window)
	require.InDelta(t, 3*24, due().Hours(), 1, "the sale ends before")
	set(30).Is(200, "")
	s.Becomes(fmt.Sprint(30*24*60), window)
	require.InDelta(t, 3*24, due().Hours(), 1)
	set(31).Invalid("transferDays", "maximum")
	set(0).Invalid("transferDays", "minimum")
}

// TestTransfersOfOneNetwork has one network choose transfers, which keep stock for days, until it may no more:
// its other orders are paid at once, and those that wait already are told again.
func TestTransfersOfOneNetwork(t *testing.T) {
	t.Parallel()
	s, kinds := byTransferScaled(t, 1)
	most := limit.RuleTransfers.Most
	first, firstToken, _ := transferred(s, kinds[0], "ada0@example.org")
	for i := 1; i < most; i++ {
		transferred(s, kinds[0], fmt.Sprintf("ada%d@example.org", i))
	}
	id, token := s.Place("eve@example.org", kinds[0], 1)
	payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(429, "RATE_LIMITED")
	payWith(s, first, firstToken, nodetest.Object{"provider": "transfer"}).Is(200, "")
	payWith(s, id, token, nodetest.Object{"provider": "paystack"}).Is(200, "")
}

// TestTransferIsToldLater has a node die between keeping what came and telling the order: the sweep
// tells it.
func TestTransferIsToldLater(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	id, token, told := transferred(s, kinds[0], "ada@example.org")
	const keep = `
INSERT INTO receipts (org, name, by_hand, order_id, attempt, amount, currency, asked, fits, day, payer, words, note, teller)
VALUES ($1, 'line/1', false, $2::uuid, $3, 2625, 'USD', 2625, true, now(), '', '', '', 'user/1')`
	_, err := s.Pool().Exec(t.Context(), keep, s.Org(), id, told.Str("reference"))
	require.NoError(t, err)
	s.Becomes("completed", s.Status(id, token))
}

// TestMailOfTransfer has a buyer hear by mail where to transfer money, and once more before the order ends,
// but not of what is paid by then.
func TestMailOfTransfer(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	began := time.Now()
	_, _, told := transferred(s, kinds[0], "ada@example.org")
	m := s.Mail(t, "ada@example.org", "bank_transfer", began)
	require.Contains(t, m.Subject, "How to pay for")
	for _, said := range []string{"Boxoffice Test", "DE89370400440532013000", "COBADEFFXXX", "$26.25", told.Str("transfer.reference")} {
		require.Contains(t, m.Text, said)
	}
	bob, token, _ := transferred(s, kinds[0], "bob@example.org")
	s.Mail(t, "bob@example.org", "bank_transfer", began)
	s.Own("POST", "/organizer/orders/"+bob+"/paid", nodetest.Object{"amount": 26.25}).Is(200, "")
	require.Equal(t, "completed", s.Order(bob, token).Str("status"))

	t.Log("two days before the end")
	due := func() string {
		return count(s, `river_job WHERE kind = 'mail' AND state = 'scheduled' AND scheduled_at > now() + interval '23 hours' AND scheduled_at < now() + interval '24 hours'`)
	}
	s.Becomes("2", due)
	_, err := s.Pool().Exec(t.Context(), `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'mail' AND state = 'scheduled'`)
	require.NoError(t, err)
	s.Mailed()
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	subjects := map[string]int{}
	for _, m := range list {
		if m.Kind == "bank_transfer" {
			subjects[m.To+" "+strings.Fields(m.Subject)[0]]++
		}
	}
	require.Equal(t, map[string]int{"ada@example.org How": 1, "ada@example.org Your": 1, "bob@example.org How": 1}, subjects)
}

// TestTransferSent has a buyer say that a transfer is sent: it is a hint, and the first one stays.
func TestTransferSent(t *testing.T) {
	t.Parallel()
	s, kinds := byTransfer(t)
	id, token := s.Place("ada@example.org", kinds[0], 1)
	path, body := "/orders/"+id+"/transfer-sent", nodetest.Object{"token": token}
	s.Call("POST", path, body).Is(409, "ORDER_NOT_PAYABLE")
	payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "")
	require.Equal(t, "<nil>", s.Order(id, token).Str("payments.0.transfer.sentAt"))
	s.Call("POST", path, nodetest.Object{"token": "of-somebody-else"}).Is(404, "ORDER_NOT_FOUND")
	sent := s.Call("POST", path, body).Is(200, "").Str("payments.0.transfer.sentAt")
	require.NotEmpty(t, sent)
	require.Equal(t, sent, s.Call("POST", path, body).Is(200, "").Str("payments.0.transfer.sentAt"))
	s.Restart()
	require.Equal(t, "pending "+sent, s.Order(id, token).Str("status")+" "+s.Order(id, token).Str("payments.0.transfer.sentAt"))
	require.Equal(t, sent, s.Own("GET", "/organizer/orders/"+id, nil).Is(200, "").Str("payments.0.transfer.sentAt"))
	require.Contains(t, s.AtRoot().Raw("GET", "/orders/"+id+"?token="+token, "", "").Body, "We wait for your money")

	s.Own("POST", "/organizer/orders/"+id+"/paid", nodetest.Object{"amount": 26.25}).Is(200, "")
	require.Equal(t, "<nil>", s.Order(id, token).Str("payments.0.transfer.sentAt"))
	s.Call("POST", path, body).Is(409, "ALREADY_PAID")
}

// TestTransferAfterItsMoneyWentBack has money come for attempts whose money a person has sent back: of a paid order, and
// of one that ended unpaid, for which the rest of the price comes late. It is listed as a refund too.
func TestTransferAfterItsMoneyWentBack(t *testing.T) {
	t.Parallel()
	s := openLateShop(t, "transfer")
	paid, token, told := transferred(s.Shop, s.kind, "ada@example.org")
	short, other, asked := transferred(s.Shop, s.kind, "bob@example.org")
	importLines(s.Shop, line(1, "26.25", "USD", told.Str("transfer.reference")), line(2, "20.00", "USD", asked.Str("transfer.reference")))
	s.Own("POST", "/organizer/orders/"+paid+"/refund", nodetest.Object{"reason": "ill", "amount": 26.25}).Is(200, "")
	s.ahead.Add(int64(8 * 24 * time.Hour))
	s.Becomes("expired", s.Status(short, other))
	s.signIn()
	for _, id := range []string{paid, short} {
		s.Own("POST", "/organizer/refunds/"+id+"-r1/complete", nodetest.Object{"providerRef": "wire"}).Is(200, "")
	}
	require.Equal(t, "refunded refunded", s.Order(paid, token).Str("payments.0.status")+" "+s.Order(short, other).Str("payments.0.status"))

	importLines(s.Shop, line(3, "26.25", "USD", told.Str("transfer.reference")), line(4, "6.25", "USD", asked.Str("transfer.reference")))
	second := func(id, token string) string {
		o := s.Order(id, token)
		require.Len(t, o.Data("refunds"), 2)
		return o.Str("refunds.1.amount") + " " + o.Str("refunds.1.reason") + " " + o.Str("refunds.1.status")
	}
	require.Equal(t, "26.25 deposit processing", second(paid, token))
	require.Equal(t, "6.25 deposit processing", second(short, other))
}
