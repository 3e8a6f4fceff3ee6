package money

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// sale is an event on sale.
type sale struct {
	event, currency string
	types           []string
	// The promo codes from which buyers draw. "" stands for no code, and is in the list several
	// times.
	codes []string
	// The providers that take the sale's currency.
	providers []string
}

// scale is the factor by which prices in dollars are multiplied in a currency without smaller
// units, so that all prices are whole.
func (s *sale) scale() float64 {
	if decimalsOf(s.currency) == 0 {
		return 100
	}
	return 1
}

// currencies returns the sales' currencies, each once.
func (m *market) currencies() (all []string) {
	for _, s := range m.sales {
		if !slices.Contains(all, s.currency) {
			all = append(all, s.currency)
		}
	}
	return all
}

// quantity is the number of tickets of each type, more than anybody asks for.
const quantity = 100_000

// treasure is the money that the administrator puts into each wallet, in major units. Fees are paid
// from it.
const treasure = 100_000

// openSales registers the organization and opens its sales and its customers' accounts. The last
// sale is cancelled at the end of the run.
func (m *market) openSales(ctx context.Context) (err error) {
	if m.organizer, err = rush.Register(ctx, m.svc, m.net.Source(0)); err != nil {
		return err
	}
	if err := m.organizer.UseKey(ctx); err != nil {
		return err
	}
	var root struct{ AccessToken string }
	a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/auth/login", Body: rush.Encode(map[string]string{"email": m.cfg.Admin, "password": m.cfg.Password})}, &root)
	if !a.OK() {
		return fmt.Errorf("money: administrator: %w", a.Err())
	}
	// Each currency is sold with the providers that take it. The last sale is a second one in dollars with all
	// providers, whose event is cancelled at the end.
	m.sales = []*sale{
		{currency: "USD", providers: []string{coins, paystack, flutterwave, stripe, mollie, transfer}},
		{currency: "NGN", providers: []string{paystack, flutterwave, stripe}},
		{currency: "EUR", providers: []string{stripe, mollie, transfer}},
		{currency: "JPY", providers: []string{stripe, mollie, transfer}},
		{currency: "KWD", providers: []string{transfer}},
		{currency: "USD", providers: []string{coins, paystack, flutterwave, stripe, mollie, transfer}},
	}
	if err := errors.Join(m.allowTransfers(ctx), m.openBystanders(ctx)); err != nil {
		return err
	}
	// Wallets need money before the first order is issued, because its fee is taken at once.
	for _, currency := range m.currencies() {
		a := m.insistAs(ctx, root.AccessToken, client.Call{
			Method: "POST", Path: "/admin/wallets/" + m.organizer.Organization + "/credit", Body: rush.Encode(map[string]any{"amount": treasure, "currency": currency}),
		}, nil)
		if !a.OK() {
			return fmt.Errorf("money: credit: %w", a.Err())
		}
	}
	for _, s := range m.sales {
		if err := m.openSale(ctx, s); err != nil {
			return err
		}
	}
	for i := range 6 {
		who := &customer{email: fmt.Sprintf("customer-%d@load.test", i)}
		if err := m.logIn(ctx, who); err != nil {
			return err
		}
		m.customers = append(m.customers, who)
	}
	return nil
}

// openSale puts an event on sale. Its promo codes take off a share of the price, a fixed amount, or
// the whole price, and one of them may be used only a few times.
func (m *market) openSale(ctx context.Context, s *sale) error {
	start := time.Now().Add(30 * 24 * time.Hour).UTC().Truncate(time.Hour)
	var event struct{ ID string }
	if err := m.organizer.Post(ctx, "/organizer/events", map[string]any{
		"title": "Money " + s.currency, "category": "concerts", "venueType": "physical", "timezone": "Africa/Lagos", "currency": s.currency,
		"startDate": start.Format(time.RFC3339), "endDate": start.Add(4 * time.Hour).Format(time.RFC3339),
		"venueName": "Test Hall", "venueCity": "Lagos", "venueCountry": "NG",
	}, &event); err != nil {
		return err
	}
	s.event = event.ID
	path := "/organizer/events/" + url.PathEscape(event.ID)
	for i, price := range []float64{25, 33.35} {
		var made rush.TicketType
		if err := m.organizer.Post(ctx, path+"/tickets", map[string]any{
			"name": fmt.Sprintf("Tier %d", i), "type": "general", "price": price * s.scale(), "quantityTotal": quantity, "maxPerOrder": 10, "maxPerCustomer": 1000,
			"saleStart": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "saleEnd": start.Format(time.RFC3339),
			"refundable": true, "refundDeadline": start.Add(-time.Hour).Format(time.RFC3339),
		}, &made); err != nil {
			return err
		}
		s.types = append(s.types, made.ID)
	}
	if err := m.organizer.Post(ctx, path+"/publish", nil, nil); err != nil {
		return err
	}
	// Five of nine draws are no code, so that most orders cost their full price.
	s.codes = []string{"", "", "", "", ""}
	for name, terms := range map[string]map[string]any{
		"TENTH": {"discountType": "percentage", "discountValue": 10}, "THREE": {"discountType": "flat", "discountValue": 3.33 * s.scale()},
		"FEW": {"discountType": "percentage", "discountValue": 50, "maxUses": 50}, "GIFT": {"discountType": "percentage", "discountValue": 100},
	} {
		terms["code"], terms["eventId"], terms["validFrom"], terms["validUntil"] = name, event.ID, "2020-01-01T00:00:00Z", "2035-01-01T00:00:00Z"
		if err := m.organizer.Post(ctx, "/organizer/promo-codes", terms, nil); err != nil {
			return err
		}
		s.codes = append(s.codes, name)
	}
	return nil
}

var (
	// mailLink finds, on the page of captured mails, a recipient and the address of the mail; digits finds a login
	// code in it.
	mailLink = regexp.MustCompile(`<td>([^<]+)</td><td><a href="(/dev/mail/[^"]+)"`)
	digits   = regexp.MustCompile(`\b[0-9]{6}\b`)
)

// logIn opens a customer's session by the code in a captured mail. It takes the newest mail, which
// comes first on the page.
func (m *market) logIn(ctx context.Context, who *customer) error {
	a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/auth/token/request", Body: rush.Encode(map[string]string{"email": who.email, "name": "Load Customer"})}, nil)
	if !a.OK() {
		return fmt.Errorf("money: login: %w", a.Err())
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; rig.Wait(ctx, 200*time.Millisecond) {
		for _, row := range mailLink.FindAllStringSubmatch(m.readPage(ctx, m.cfg.Target+"/dev/mail"), -1) {
			// The page lists the mails to everybody.
			if row[1] != who.email {
				continue
			}
			var session struct{ AccessToken string }
			code := digits.FindString(m.readPage(ctx, m.cfg.Target+row[2]))
			a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/auth/token/exchange", Body: rush.Encode(map[string]string{"email": who.email, "code": code})}, &session)
			if a.OK() {
				who.bearer, who.since = session.AccessToken, time.Now()
				return nil
			}
			break
		}
	}
	return fmt.Errorf("money: %s got no code that is good", who.email)
}

// readPage returns the text of a page, or "" if it cannot be read.
func (m *market) readPage(ctx context.Context, address string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return ""
	}
	res, err := m.web.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }() // the body has been read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), "&#43;", "+")
}

// issueAll lets the organization issue orders. The organization's wallets pay the fees.
func (m *market) issueAll(ctx context.Context) {
	rng := m.newRandom(-2)
	for i := range m.cfg.Issues {
		s := m.sales[i%len(m.sales)]
		var made struct {
			Order record
			Fee   struct{ Amount, Currency string }
		}
		a := m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "POST", Path: "/events/" + s.event + "/issue", Body: rush.Encode(map[string]any{
			"items": []rush.Item{{TicketTypeID: s.types[rng.IntN(len(s.types))], Quantity: 1 + rng.IntN(3)}},
			"buyer": map[string]string{"email": fmt.Sprintf("guest-%d@load.test", i), "name": "Load Guest"}, "sendEmail": false,
		})}, &made)
		if a.OK() {
			m.mu.Lock()
			m.issued = append(m.issued, issue{made.Order.ID, made.Fee.Currency, parseMinor(made.Fee.Amount)})
			m.mu.Unlock()
		}
		rig.Wait(ctx, 100*time.Millisecond)
	}
}

// decideRefunds decides the refunds that buyers ask for, until the context ends. Two organizers
// approve each of them at the same moment, because the money must go back only once. It also sends
// by hand what no provider sends.
func (m *market) decideRefunds(ctx context.Context) {
	for ctx.Err() == nil {
		m.decideOnce(ctx)
		rig.Wait(ctx, 500*time.Millisecond)
	}
}

// decideOnce decides the refunds that are open now. The last digit of the order decides which are
// denied, so that repeats decide alike.
func (m *market) decideOnce(ctx context.Context) {
	for _, r := range m.listRefunds(ctx, "requested") {
		path := "/organizer/refunds/" + r.ID
		if strings.HasSuffix(r.OrderID, "0") || strings.HasSuffix(r.OrderID, "8") {
			if m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "POST", Path: path + "/deny", Body: rush.Encode(map[string]string{"reason": "It takes place."})}, nil).OK() {
				m.denied.Add(1)
			}
			continue
		}
		// The second approval may be granted or refused; either way the money must go back only once.
		var both sync.WaitGroup
		for range 2 { // two organizers at once
			both.Go(func() {
				if m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "POST", Path: path + "/approve", Body: []byte("{}")}, nil).OK() {
					m.approved.Add(1)
				}
			})
		}
		both.Wait()
	}
	m.sendByHand(ctx)
}

// listRefunds returns the organization's refunds that have a status.
func (m *market) listRefunds(ctx context.Context, status string) (all []refund) {
	for cursor := ""; ; {
		var page struct {
			Items      []refund
			NextCursor *string
		}
		a := m.insistAs(ctx, m.organizer.Bearer, client.Call{
			Method: "GET", Path: "/organizer/refunds?limit=100&status=" + status + "&cursor=" + url.QueryEscape(cursor),
		}, &page)
		all = append(all, page.Items...)
		if !a.OK() || page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
}

// sendByHand does what a person does who sends money back by hand: it sends the money and then
// reports that to the service.
func (m *market) sendByHand(ctx context.Context) {
	due := m.listRefunds(ctx, "processing")
	var payments map[string]int64 // by reference
	for _, r := range due {
		if !r.Manual {
			continue
		}
		// The list of payments is long, so it is read only if something has to be sent by hand.
		if payments == nil {
			rows, err := m.readProviders(ctx)
			if err != nil {
				return
			}
			payments = make(map[string]int64)
			for i := range rows {
				if rows[i].Parent == 0 && rows[i].Paid > 0 {
					payments[rows[i].Order] = rows[i].ID
				}
			}
		}
		m.sendOne(ctx, r, payments[r.Reference])
	}
}

// sendOne sends the money of one refund by hand. It remembers what it has sent, because the report
// may have to be repeated but the money must not be sent twice.
func (m *market) sendOne(ctx context.Context, r refund, payment int64) {
	if r.Message != nil && r.Reason == "deposit" {
		payment, _ = strconv.ParseInt(strings.TrimPrefix(*r.Message, "Deposit "), 10, 64)
	}
	// A transfer is given back by the bank. Any other payment is given back at the simulator.
	if !m.returned[r.ID] && m.bank.giveBack(r.Reference, parseMinor(r.Amount)) {
		m.returned[r.ID] = true
		m.byHand.Add(1)
	}
	if !m.returned[r.ID] && parseMinor(r.Amount) > 0 {
		body, err := json.Marshal(map[string]int64{"payment": payment, "amount": parseMinor(r.Amount)})
		if err != nil || !m.visitCheckout(ctx, m.cfg.Paysim+"/_sim/return", string(body), "application/json") {
			return
		}
		m.returned[r.ID] = true
		m.byHand.Add(1)
	}
	// The report comes after the money. If it is not answered, the refund stays on the list, and the report is
	// repeated by the next round.
	m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "POST", Path: "/organizer/refunds/" + r.ID + "/complete", Body: []byte(`{"providerRef":"0xabc"}`)}, nil)
}

// closeSales cancels the last event, whose buyers get their money back, and cancels every order
// that is not paid.
func (m *market) closeSales(ctx context.Context) error {
	// The providers are well again from here on, so that all money can come to rest.
	m.setModes(ctx, "")
	path := "/organizer/events/" + m.sales[len(m.sales)-1].event
	if err := m.organizer.Send(ctx, "DELETE", path, map[string]string{"reason": "Flood."}, nil); err != nil {
		return err
	}
	if err := m.organizer.Post(ctx, path+"/refund-all", map[string]string{"reason": "Flood."}, nil); err != nil {
		return err
	}
	for _, o := range m.orders {
		if r, ok := m.readOrder(ctx, o); ok && !isFinal(r.Status) {
			m.giveUp(ctx, o)
		}
	}
	return context.Cause(ctx)
}
