// Package nowpayments is the adapter to NOWPayments: it makes the requests, reads the answers, and
// proves that a notice comes from NOWPayments.
package nowpayments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

// address is the live host. The sandbox is a different host, and has keys of its own.
const address = "https://api.nowpayments.io/v1"

// statuses leads from a payment's status to ours. A payment that came short is Succeeded with a
// smaller amount than was asked for, as with the other providers.
var statuses = map[string]psp.Status{
	"waiting":        psp.Pending,
	"confirming":     psp.Processing,
	"confirmed":      psp.Processing,
	"sending":        psp.Processing,
	"finished":       psp.Succeeded,
	"partially_paid": psp.Succeeded,
	"failed":         psp.Failed,
	"refunded":       psp.Refunded,
	"expired":        psp.Expired,
	"cancelled":      psp.Cancelled,
	"canceled":       psp.Cancelled,
}

// Currencies are the currencies in which NOWPayments takes our prices.
var Currencies = []string{"USD"}

const (
	// defaultCoin is the coin for a buyer who names none.
	defaultCoin = "btc"
	// coinsTime is how long the list of coins and their minimums is kept.
	coinsTime = 10 * time.Minute
	// maxCoins bounds the list.
	maxCoins = 2000
)

// Provider is the adapter to NOWPayments' API, for direct deposits: the buyer sends coins to an
// address, without a page of the provider. mu guards the lists that are kept for a while.
type Provider struct {
	client *psp.Client
	// The secret under which the provider signs its notices.
	secret string
	// The address to which the provider sends its notices.
	notify string

	mu       sync.Mutex
	coins    []Coin
	coinsAt  time.Time
	minimums map[string]minimum // by ticker; only of coins that were enabled for us when their minimum was asked for
}

// minimum is the least amount of a payment in a coin, and when the provider said so.
type minimum struct {
	amount int64 // US cents
	at     time.Time
}

// Coin is a crypto currency that a buyer may pay with.
type Coin struct {
	Ticker, Label, Symbol, Network, LogoURL string
	RequiresExtraID                         bool
}

// New makes the adapter of an account. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "nowpayments", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	c := psp.NewClient("nowpayments", a, via, log)
	c.KeyHeader, c.KeyPrefix = "X-Api-Key", ""
	return &Provider{
		client: c, secret: strings.TrimSpace(string(a.NoticeSecret)), notify: a.NoticeURL, minimums: make(map[string]minimum),
	}, nil
}

// Check refuses a price that can't be paid: in a currency other than Currencies, with a coin that is not enabled for
// us, or below the coin's minimum. The refusal must come before a payment begins: then no coins have been sent.
func (n *Provider) Check(ctx context.Context, p psp.Price) error {
	if err := n.client.RefuseCurrency(p.Currency, Currencies); err != nil {
		return err
	}
	coin := cmp.Or(p.PayCurrency, defaultCoin)
	coins, err := n.Coins(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(coins, func(c Coin) bool { return c.Ticker == coin }) {
		return n.client.Fail(psp.ErrUnknownCoin, coin)
	}
	least, err := n.minimumOf(ctx, coin)
	if err == nil && p.Amount < least {
		return n.client.RefuseBelow(least, p.Currency)
	}
	return err
}

// Coins returns the coins that are enabled for us. It keeps the list for coinsTime, because two
// calls are needed to make it. mu is not held during the calls: two askers at once may both ask,
// and the last answer stays.
func (n *Provider) Coins(ctx context.Context) ([]Coin, error) {
	n.mu.Lock()
	kept, at := n.coins, n.coinsAt
	n.mu.Unlock()
	if time.Since(at) < coinsTime {
		return kept, nil
	}
	coins, err := n.askCoins(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.coins, n.coinsAt = coins, time.Now()
	n.mu.Unlock()
	return coins, nil
}

// askCoins asks which coins are enabled for us, and joins them with their descriptions, which only the list of all
// coins has. An enabled coin that is missing in that list is left out, and so are all beyond maxCoins. It derives
// the symbol (what people call the coin) from the ticker, and adds the network to a label that does not name it.
func (n *Provider) askCoins(ctx context.Context) ([]Coin, error) {
	var mine struct {
		Currencies []string `json:"currencies"`
		Selected   []string `json:"selectedCurrencies"` // what older answers call the currencies
	}
	if err := n.call(ctx, http.MethodGet, "/merchant/coins", nil, &mine, nil); err != nil {
		return nil, err
	}
	enabled := make(map[string]bool)
	for _, code := range append(mine.Currencies, mine.Selected...) {
		enabled[strings.ToLower(code)] = true
	}
	var all struct {
		Currencies []struct {
			Code    string `json:"code"`
			Name    string `json:"name"`
			Network string `json:"network"`
			Logo    string `json:"logo_url"`
			Extra   bool   `json:"extra_id_exists"`
		} `json:"currencies"`
	}
	if err := n.call(ctx, http.MethodGet, "/full-currencies", nil, &all, nil); err != nil {
		return nil, err
	}
	coins := make([]Coin, 0, len(enabled))
	for _, c := range all.Currencies {
		ticker := strings.ToLower(c.Code)
		if !enabled[ticker] || len(coins) == maxCoins {
			continue
		}
		coin := Coin{Ticker: ticker, Label: c.Name, Network: strings.ToLower(c.Network), LogoURL: c.Logo, RequiresExtraID: c.Extra}
		// A ticker of a coin on another network is the coin's symbol and the network's name:
		// usdttrc20 is USDT on trc20. People know the symbol alone.
		coin.Symbol = strings.ToUpper(ticker)
		if base := strings.TrimSuffix(ticker, coin.Network); base != "" && base != ticker {
			coin.Symbol = strings.ToUpper(base)
		}
		if strings.HasPrefix(coin.LogoURL, "/") {
			coin.LogoURL = "https://nowpayments.io" + coin.LogoURL
		}
		// The label of such a coin must name its network. Otherwise the buyer might send the coins
		// over the wrong one.
		if coin.Network != ticker && !strings.Contains(strings.ToLower(coin.Label), coin.Network) {
			coin.Label += " (" + strings.ToUpper(coin.Network) + ")"
		}
		coins = append(coins, coin)
	}
	return coins, nil
}

// minimumOf returns the least amount of a payment in the coin, in US cents, and keeps it for coinsTime. It rounds up,
// because an amount below the true minimum must not pass. An answer that names no minimum is an
// error (psp.ErrFault).
func (n *Provider) minimumOf(ctx context.Context, coin string) (int64, error) {
	n.mu.Lock()
	kept := n.minimums[coin]
	n.mu.Unlock()
	if time.Since(kept.at) < coinsTime {
		return kept.amount, nil
	}
	q := url.Values{"currency_from": {coin}, "currency_to": {coin}, "fiat_equivalent": {"usd"}, "is_fixed_rate": {"True"}}
	var data struct {
		Fiat psp.Decimal `json:"fiat_equivalent"`
	}
	if err := n.call(ctx, http.MethodGet, "/min-amount?"+q.Encode(), nil, &data, nil); err != nil {
		return 0, err
	}
	// The call itself did not fail: one coin without a price must not count against the provider's health.
	dollars, ok := data.Fiat.Rat()
	if !ok {
		return 0, n.client.Fail(psp.ErrFault, "no minimum in dollars for "+coin)
	}
	cents := dollars.Mul(dollars, big.NewRat(100, 1))
	least := minimum{amount: psp.Floor(cents), at: time.Now()}
	if new(big.Rat).SetInt64(least.amount).Cmp(cents) < 0 {
		least.amount++
	}
	n.mu.Lock()
	n.minimums[coin] = least
	n.mu.Unlock()
	return least.amount, nil
}

// charge is the request for a new payment.
type charge struct {
	Price       json.Number `json:"price_amount"`
	Currency    string      `json:"price_currency"`
	PayCurrency string      `json:"pay_currency"`
	CallbackURL string      `json:"ipn_callback_url,omitempty"`
	Order       string      `json:"order_id"`
	Description string      `json:"order_description"`
	FixedRate   bool        `json:"is_fixed_rate"`
}

// payment has those parts of a payment that the adapter reads. Ids come as numbers or in quotes.
type payment struct {
	ID           psp.Number  `json:"payment_id"`
	Parent       psp.Number  `json:"parent_payment_id"`
	Status       string      `json:"payment_status"`
	Address      string      `json:"pay_address"`
	ExtraID      *string     `json:"payin_extra_id"`
	Price        psp.Decimal `json:"price_amount"`
	Currency     string      `json:"price_currency"`
	PayAmount    psp.Decimal `json:"pay_amount"`
	PayCurrency  string      `json:"pay_currency"`
	ActuallyPaid psp.Decimal `json:"actually_paid"`
	Order        string      `json:"order_id"`
	Network      string      `json:"network"`
	ValidUntil   psp.Moment  `json:"valid_until"`
	Estimated    psp.Moment  `json:"expiration_estimate_date"`
}

// Begin calls POST /payment, at a rate that is fixed for a time. NOWPayments recognises no repeats:
// each call makes a new payment, and none can be found by our reference. If there are several
// payments, the order keeps the one that it notes first, and money that is sent to the others goes
// back.
func (n *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 {
		return psp.Begun{}, n.client.Fail(psp.ErrDeclined, "reference or amount is not valid")
	}
	var p payment
	err := n.call(ctx, http.MethodPost, "/payment", charge{
		Price: psp.Major(c.Amount, c.Currency), Currency: strings.ToLower(c.Currency), PayCurrency: cmp.Or(c.PayCurrency, defaultCoin),
		CallbackURL: n.notify, Order: c.Reference, Description: "Order " + c.Reference, FixedRate: true,
	}, &p, func() error {
		if _, ok := p.PayAmount.Rat(); !ok || p.ID == "" || p.Address == "" || p.PayCurrency == "" {
			return errors.New("no id, address, amount or currency")
		}
		return nil
	})
	if err != nil {
		return psp.Begun{}, err
	}
	d := &psp.Deposit{Address: p.Address, Amount: p.PayAmount.ShowPlain(), Currency: strings.ToLower(p.PayCurrency), Network: p.Network}
	if p.ExtraID != nil {
		d.ExtraID = *p.ExtraID
	}
	// Answers have the end of the time in one of two fields. If both are empty, Window counts from
	// now.
	if d.ValidUntil = time.Time(p.ValidUntil); d.ValidUntil.IsZero() {
		d.ValidUntil = time.Time(p.Estimated)
	}
	if d.ValidUntil.IsZero() {
		d.ValidUntil = time.Now().Add(Window)
	}
	return psp.Begun{ProviderID: string(p.ID), Deposit: d}, nil
}

// Verify calls GET /payment/{id}. The coins that arrived count by their share of the coins that
// were asked for, because the rate is fixed. A later deposit to the same address is a payment of
// its own at the provider: Verify returns its outcome only with Asked.Apart, and psp.ErrFault without.
func (n *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	if !psp.IsNumber(of.ProviderID) {
		return psp.Outcome{}, n.client.Fail(psp.ErrUnknownReference, "the payment has no id")
	}
	var p payment
	err := n.call(ctx, http.MethodGet, "/payment/"+of.ProviderID, nil, &p, func() error {
		switch _, known := statuses[p.Status]; {
		case !known:
			return fmt.Errorf("payment_status %q", p.Status)
		case string(p.ID) != of.ProviderID:
			return fmt.Errorf("payment_id %q", p.ID)
		case p.Order != of.Reference:
			return fmt.Errorf("order_id %q", p.Order)
		case p.Currency == "":
			return errors.New("no price_currency")
		}
		return nil
	})
	if err != nil {
		return psp.Outcome{}, err
	}
	// The checks of the answer come first: an answer about another payment must never count as
	// money.
	o := psp.Outcome{Status: statuses[p.Status], Currency: strings.ToUpper(p.Currency), ProviderID: string(p.ID), Arrived: p.ActuallyPaid.ShowPlain()}
	// A later deposit gets no tickets, so it is refused here unless the caller asks for it apart.
	if p.Parent != "" && !of.Apart {
		return psp.Outcome{}, n.client.Fail(psp.ErrFault, fmt.Sprintf("the payment has a parent: %q", p.Parent))
	}
	o.RequestedAmount = p.Price.ToMinor(Currencies[0])
	if paid, ok := p.ActuallyPaid.Rat(); ok {
		if asked, ok := p.PayAmount.Rat(); ok && asked.Sign() > 0 {
			share := paid.Quo(paid, asked)
			// The amount is rounded down, so that nobody gets a ticket for less than it costs.
			o.Amount = psp.Floor(share.Mul(share, new(big.Rat).SetInt64(o.RequestedAmount)))
		}
	}
	return o, nil
}

// Refund leaves the refund to a person, because NOWPayments sends no money back by itself.
func (n *Provider) Refund(_ context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	return psp.RefundOutcome{ID: psp.ByHand, Status: psp.RefundNeedsAttention, Amount: r.Amount, Currency: r.Currency}, nil
}

// RefundStatus always says that the refund waits for a person.
func (n *Provider) RefundStatus(context.Context, string) (psp.RefundOutcome, error) {
	return psp.RefundOutcome{ID: psp.ByHand, Status: psp.RefundNeedsAttention}, nil
}

// call makes one call and decodes its answer. check may refuse the answer.
func (n *Provider) call(ctx context.Context, method, path string, body, data any, check func() error) error {
	return n.client.Fetch(ctx, psp.Request{Method: method, Path: path, Body: body}, n.refusalError, data, check)
}

// refusalError makes an error of a refusal by NOWPayments. Its kind is an unknown reference, an
// amount that is too little, or else declined.
func (n *Provider) refusalError(a psp.Answer) *psp.Error {
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.Body, &e) // if it can't be decoded, the body is quoted as it came
	words := fmt.Sprintf("status %d: %s %s", a.Status, e.Code, cmp.Or(e.Message, string(a.Body)))
	switch {
	case a.Status == http.StatusNotFound:
		return n.client.Fail(psp.ErrUnknownReference, words)
	case e.Code == "AMOUNT_MINIMAL_ERROR":
		return n.client.Fail(psp.ErrTooLittle, words)
	}
	return n.client.Fail(psp.ErrDeclined, words)
}

// Window is how long a buyer may pay: NOWPayments fixes a coin's rate for this long.
const Window = 20 * time.Minute
