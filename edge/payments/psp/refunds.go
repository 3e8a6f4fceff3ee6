package psp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Some providers never tell a repeated refund from a second one, and the others only for a while. So each attempt
// to send a refund carries a note, and before another attempt we look for what was sent under the same key: an
// answer may have been lost, or a node may have died before it got one.

// AttemptKey returns the note that an attempt to send a refund carries: the key for the first attempt,
// the key and a number for each further one.
func AttemptKey(key string, attempt int) string {
	if attempt == 1 {
		return key
	}
	return key + "-" + strconv.Itoa(attempt)
}

// AttemptOf returns the number of the attempt that carries the note, or 0 if the note does not
// belong to the key.
func AttemptOf(key, note string) int {
	if note == key {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(note, key+"-"))
	if err != nil || n < 2 || AttemptKey(key, n) != note {
		return 0
	}
	return n
}

// MadeRefunds are the refunds that a provider has under one key.
type MadeRefunds struct {
	Attempts int            // the number of the last attempt
	standing *RefundOutcome // one that has not failed, or nil
	failed   *RefundOutcome // the last one that failed, or nil
}

// AddAttempt takes in a refund that carries the key of the attempt of that number.
func (m *MadeRefunds) AddAttempt(attempt int, o RefundOutcome) {
	switch {
	case o.Status != RefundFailed:
		m.standing = &o
	case m.failed == nil || attempt >= m.Attempts:
		m.failed = &o
	}
	m.Attempts = max(m.Attempts, attempt)
}

// FindMade returns the refund that was made under the request's key: one that has not failed or, if all have failed,
// the last one. ok is false if there is none, or if r.After says that the caller knows of the last failure: then
// another may be sent. A refund that has not failed and has another amount or currency was made by somebody else. It
// is an error, because a person must look at it.
func (c *Client) FindMade(r RefundRequest, m MadeRefunds) (o RefundOutcome, ok bool, err error) {
	switch {
	case m.standing != nil:
		o = *m.standing
	case m.failed != nil && m.failed.ID != r.After:
		return *m.failed, true, nil
	default:
		return RefundOutcome{}, false, nil
	}
	if r.Amount > 0 && o.Amount != r.Amount || r.Currency != "" && o.Currency != "" && o.Currency != r.Currency {
		return RefundOutcome{}, false, c.Fail(ErrDeclined, fmt.Sprintf("refund %s with the note %s is of %d %s, not of %d %s",
			o.ID, r.Key, o.Amount, o.Currency, r.Amount, r.Currency))
	}
	return o, true, nil
}

// RefundOnce sends a refund, or returns the one that was made under the request's key (FindMade). A request that
// does not have the provider's own id of the charge gets it from the provider. find looks through the charge's
// refunds for the request's key, and send asks for a refund as the attempt of that number.
func RefundOnce(
	ctx context.Context, c *Client, p Provider, r RefundRequest,
	find func(context.Context, RefundRequest) (MadeRefunds, error),
	send func(ctx context.Context, r RefundRequest, attempt int) (RefundOutcome, error),
) (RefundOutcome, error) {
	if r.ProviderID == "" {
		o, err := p.Verify(ctx, Asked{Reference: r.Reference})
		if err != nil {
			return RefundOutcome{}, err
		}
		r.ProviderID = o.ProviderID
	}
	made, err := find(ctx, r)
	if err != nil {
		return RefundOutcome{}, err
	}
	if o, ok, err := c.FindMade(r, made); ok || err != nil {
		return o, err
	}
	return send(ctx, r, made.Attempts+1)
}

// These bound the lists of refunds that are read.
const (
	RefundsPerPage = 100
	RefundPages    = 50 // most pages for one charge; an order has at most 2,000 tickets
)

// ByHand is the id of a refund that a person sends, because the provider makes none.
const ByHand = "by-hand"
