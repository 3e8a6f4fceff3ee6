package payments

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A provider does not tell a repeated refund from a second one. So each attempt to send a refund
// carries a note, and before another attempt we look for what was sent under the same key: an
// answer may have been lost, or a node may have died before it got one.

// attemptKey is the note that an attempt to send a refund carries: the key for the first attempt,
// the key and a number for each further one.
func attemptKey(key string, attempt int) string {
	if attempt == 1 {
		return key
	}
	return key + "-" + strconv.Itoa(attempt)
}

// attemptOf returns the number of the attempt that carries the note, or 0 if the note does not
// belong to the key.
func attemptOf(key, note string) int {
	if note == key {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(note, key+"-"))
	if err != nil || n < 2 || attemptKey(key, n) != note {
		return 0
	}
	return n
}

// madeRefunds are the refunds that a provider has under one key.
type madeRefunds struct {
	attempts int            // the number of the last attempt
	standing *RefundOutcome // one that has not failed, or nil
	failed   *RefundOutcome // the last one that failed, or nil
}

func (m *madeRefunds) addAttempt(attempt int, o RefundOutcome) {
	switch {
	case o.Status != RefundFailed:
		m.standing = &o
	case m.failed == nil || attempt >= m.attempts:
		m.failed = &o
	}
	m.attempts = max(m.attempts, attempt)
}

// findMade returns the outcome of a refund that was made under the request's key, or false if
// another may be sent. A refund of a different amount was made by somebody else, and a person must
// look at it.
func (c *client) findMade(r RefundRequest, m madeRefunds) (o RefundOutcome, ok bool, err error) {
	switch {
	case m.standing != nil:
		o = *m.standing
	case m.failed != nil && m.failed.ID != r.After:
		return *m.failed, true, nil
	default:
		return RefundOutcome{}, false, nil
	}
	if r.Amount > 0 && o.Amount != r.Amount || r.Currency != "" && o.Currency != "" && o.Currency != r.Currency {
		return RefundOutcome{}, false, c.fail(ErrDeclined, fmt.Sprintf("refund %s with the note %s is of %d %s, not of %d %s",
			o.ID, r.Key, o.Amount, o.Currency, r.Amount, r.Currency))
	}
	return o, true, nil
}

// refunder is a provider whose charges have lists of refunds.
type refunder interface {
	Provider
	// refundsOf looks through the charge's refunds for the request's key.
	refundsOf(context.Context, RefundRequest) (madeRefunds, error)
	// sendRefund asks for a refund as the attempt of that number.
	sendRefund(ctx context.Context, r RefundRequest, attempt int) (RefundOutcome, error)
}

// refundOnce sends a refund, unless one that carries the request's key may still move the money. A request that
// does not have the provider's own id of the charge gets it from the provider.
func refundOnce(ctx context.Context, c *client, p refunder, r RefundRequest) (RefundOutcome, error) {
	if r.ProviderID == "" {
		o, err := p.Verify(ctx, Asked{Reference: r.Reference})
		if err != nil {
			return RefundOutcome{}, err
		}
		r.ProviderID = o.ProviderID
	}
	made, err := p.refundsOf(ctx, r)
	if err != nil {
		return RefundOutcome{}, err
	}
	if o, ok, err := c.findMade(r, made); ok || err != nil {
		return o, err
	}
	return p.sendRefund(ctx, r, made.attempts+1)
}
