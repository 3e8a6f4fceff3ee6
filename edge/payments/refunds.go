package payments

import (
	"fmt"
	"strconv"
	"strings"
)

// A provider tells no repeat of a refund from a second one. So each attempt to send one
// carries a note, and whoever sends looks first for what was sent under the same key: a
// lost answer, or a node that died before it had one, may hide a refund that was made.

// attemptKey is the note that an attempt to send a refund carries: the key for
// the first, the key and a number for each further one.
func attemptKey(key string, attempt int) string {
	if attempt == 1 {
		return key
	}
	return key + "-" + strconv.Itoa(attempt)
}

// attemptOf is the number of the attempt that carries the note, or 0 when it is
// none of the key's.
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

// madeRefunds is what a provider has of the attempts under one key.
type madeRefunds struct {
	attempts int            // the number of the last
	standing *RefundOutcome // one that has not failed; nil: none
	failed   *RefundOutcome // the last that failed; nil: none
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

// findMade returns the outcome of a refund that was made under the request's key, or false
// when another may be sent. One of another amount was made by somebody else, and a person has
// to look at it.
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
