package sales

import (
	"encoding/hex"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/persistence/mailqueue"
)

// resendOrder queues a letter that mails an order's confirmation with its tickets to the buyer once more. A request
// that is repeated with its Idempotency-Key queues only one. It refuses an order that has no tickets,
// because it is not completed or was refunded as a whole, and an order that was made without an address.
func (h *Handlers) resendOrder(c *route.Call, in *api.ByID) (*api.Resent, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	o, _, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	switch {
	case !o.KeepsTickets():
		return nil, engine.Refuse(engine.Conflict, ledger.OrderState{Status: o.Status, Reason: "the order has no tickets to send"})
	case o.Email == "":
		return nil, engine.Refuse(engine.Conflict, ledger.OrderState{Status: o.Status, Reason: "the order was made without an e-mail"})
	}
	if err := h.Settled(c.Context); err != nil { // the mail is written from the read model
		return nil, err
	}
	name := c.CommandID()
	mail := mailqueue.Mail{Template: mailqueue.OrderConfirmation, Subject: "resend/" + hex.EncodeToString(name[:]), Order: o.ID.String(), Again: true}
	if err := h.Letters.Mail.Add(c.Context, mail); err != nil {
		return nil, err
	}
	return &api.Resent{OrderID: o.ID.String(), Email: o.Email}, nil
}
