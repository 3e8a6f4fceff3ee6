package letters

import (
	"cmp"
	"context"
	"fmt"

	"boxoffice/edge/mail"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/mailqueue"
)

// disputers are the names by which people know the providers that report disputes.
var disputers = map[string]string{"stripe": "Stripe", "mollie": "Mollie", "paypal": "PayPal"}

// writeDispute makes the mail that tells an owner of an organization that a payment is disputed, and until when
// the organization can answer.
func (h *Writer) writeDispute(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	id, err := engine.ParseID(l.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	p, err := h.Pages.Event(ctx, id.Event())
	if err != nil {
		return nil, err
	}
	// An organization may make anybody its owner, so even mails to owners are counted.
	if err := h.admitOwn(ctx, l, l.Org); err != nil {
		return nil, err
	}
	return written(mail.PaymentDisputed(to, l.Organization, &mail.Dispute{
		Number: secrets.OrderNumber(id), Title: p.Event.Details.Title, Provider: cmp.Or(disputers[l.Provider], l.Provider), Reason: l.Reason,
		Amount: money(l.Amount, l.Currency), Until: clockOf(l.Until, p.Event.Details.Timezone), URL: h.signInURL() + "/settings/wallets",
	}), nil)
}
