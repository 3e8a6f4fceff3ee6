package letters

import (
	"math/big"
	"slices"
	"strings"

	"boxoffice/edge/mail"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// writePayment makes the mail about coins that have been seen but do not pay the order yet. It
// returns nil when the order or the attempt to pay it has gone on since.
func writePayment(l *mailqueue.Mail, o *order.Order, to mail.Envelope, about *mail.Order, e *mail.Event, zone string) *mail.Message {
	i := slices.IndexFunc(o.Attempts, func(a order.Attempt) bool { return a.Status == l.Reason && a.Deposit.Address != "" && !a.IsTransfer() })
	if i < 0 || !o.Unpaid() {
		return nil
	}
	d := &o.Attempts[i].Deposit
	c := mail.Coins{Ticker: strings.ToUpper(d.Currency), Arrived: d.Arrived, Asked: d.Amount}
	if l.Reason == order.AttemptUnderpaid {
		if c.Missing = missingCoins(d); c.Missing == "" {
			return nil
		}
	}
	m := mail.PaymentSeen(to, about, e, c, clockOf(o.ExpiresAt, zone))
	return &m
}

// missingCoins is how much a deposit still lacks, in coins; "" if nothing.
func missingCoins(d *order.Deposit) string {
	asked, isAsked := new(big.Rat).SetString(d.Amount)
	arrived, isArrived := new(big.Rat).SetString(d.Arrived)
	if !isAsked || !isArrived || asked.Cmp(arrived) <= 0 {
		return ""
	}
	text := asked.Sub(asked, arrived).FloatString(18)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
