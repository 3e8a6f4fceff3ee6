package letters

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"boxoffice/edge/mail"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// writePayment makes the mail about money that has been seen but does not yet pay the order: coins, or a part of
// a bank transfer. It returns nil if the order has been paid or has ended since, if the attempt to pay has
// another status by now, or if no coins are missing any more.
func writePayment(l *mailqueue.Mail, o *order.Order, to mail.Envelope, about *mail.Order, e *mail.Event, zone string) *mail.Message {
	if a := transferOf(o); a != nil && a.Status == order.AttemptUnderpaid && l.Reason == order.AttemptUnderpaid && o.Unpaid() {
		m := mail.BankTransfer(to, about, e, transferMail(a, o), clockOf(o.ExpiresAt, zone), false)
		return &m
	}
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

// missingCoins returns how many coins a deposit still lacks, or "" if none. Coins have too many
// decimals for a float, so it computes with exact fractions.
func missingCoins(d *order.Deposit) string {
	asked, isAsked := new(big.Rat).SetString(d.Amount)
	arrived, isArrived := new(big.Rat).SetString(d.Arrived)
	if !isAsked || !isArrived || asked.Cmp(arrived) <= 0 {
		return ""
	}
	text := asked.Sub(asked, arrived).FloatString(18)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// beforeEnd is how long before the end of an order the buyer is reminded that the transfer has not come.
const beforeEnd = 48 * time.Hour

// writeBankTransfer makes the mail about the bank transfer that an order waits for. With the first such mail it
// also queues the reminder, if there is time for one. It returns nil if the order waits for no transfer any
// more.
func (h *Writer) writeBankTransfer(ctx context.Context, l *mailqueue.Mail, o *order.Order, to mail.Envelope, about *mail.Order, e *mail.Event, zone string) (*mail.Message, error) {
	a := transferOf(o)
	if a == nil || !o.Unpaid() {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	later := mailqueue.Mail{
		Template: l.Template, Subject: o.ID.String() + "/" + mailqueue.Reminder, Order: l.Order, Reason: mailqueue.Reminder,
		NotBefore: o.ExpiresAt - beforeEnd.Milliseconds(),
	}
	if l.Reason == "" && later.NotBefore > time.Now().UnixMilli() {
		if err := h.Mail.Add(ctx, later); err != nil {
			return nil, err
		}
	}
	return written(mail.BankTransfer(to, about, e, transferMail(a, o), clockOf(o.ExpiresAt, zone), l.Reason == mailqueue.Reminder), nil)
}

// transferOf returns the attempt to pay an order by bank transfer, or nil if there is none.
func transferOf(o *order.Order) *order.Attempt {
	if i := slices.IndexFunc(o.Attempts, func(a order.Attempt) bool { return a.IsTransfer() }); i >= 0 {
		return &o.Attempts[i]
	}
	return nil
}

// transferMail returns what mails say about a bank transfer: the account, the reference, how much was asked
// for, how much has arrived and how much is missing.
func transferMail(a *order.Attempt, o *order.Order) mail.Transfer {
	account := order.ParseBankAccount(a.Deposit.Address)
	return mail.Transfer{
		Holder: account.Holder, Account: account.Number, BIC: account.BIC, Reference: a.Deposit.ExtraID,
		Amount: money(a.Amount-a.Received, o.Currency), Asked: money(a.Amount, o.Currency), Came: money(a.Received, o.Currency),
	}
}
