package letters

import (
	"context"
	"fmt"
	"slices"

	"boxoffice/edge/mail"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// isFor reports whether a ticket of an order belongs to a person or names the person as its
// attendee.
func isFor(o *order.Order, email string, ticket uint32) bool {
	return o.IsOwnedBy(email, ticket) || order.NormalEmail(o.HolderOf(ticket).Email) == order.NormalEmail(email)
}

// tellHolders queues letters for other people whose tickets are affected by what l is about: the holders of
// tickets that a refund ends, and people whom a line names for a ticket that is passed on or moved. It
// queues none if the event is cancelled and not digital, because all holders get a mail about that.
func (h *Writer) tellHolders(ctx context.Context, l *mailqueue.Mail, o *order.Order, e *mail.Event) error {
	if e.Cancelled && !e.Digital {
		return nil
	}
	void := mailqueue.Mail{Template: mailqueue.TicketVoid, Order: l.Order}
	switch {
	case l.Template == mailqueue.TransferTaken:
		line, _, ok := o.LineOf(l.Ticket)
		if !ok || order.NormalEmail(l.To) != order.NormalEmail(o.Email) {
			return nil // The buyer passed the ticket on before: it no longer belongs to the person whom the line names.
		}
		void.To, void.Name, void.Ticket = o.Lines[line].AttendeeEmail, o.Lines[line].AttendeeName, l.Ticket
		if to := order.NormalEmail(void.To); to == "" || to == order.NormalEmail(l.To) || to == order.NormalEmail(l.Taker) {
			return nil
		}
		void.Subject = fmt.Sprintf("%s/%d", o.ID, l.Ticket)
		return h.Mail.Add(ctx, void)
	case l.Template == mailqueue.TicketRescheduled && l.To == "":
		named := o.HolderOf(l.Ticket)
		if named.Email == "" || o.IsOwnedBy(named.Email, l.Ticket) {
			return nil
		}
		return h.Mail.Add(ctx, mailqueue.Mail{
			Template: mailqueue.TicketRescheduled, Subject: l.ID, Order: l.Order, To: named.Email, Name: named.Name, Ticket: l.Ticket,
		})
	case l.Template == mailqueue.RefundDue && l.Reason == mailqueue.Granted:
		void.Refund = l.Refund
		told := map[string]bool{"": true, order.NormalEmail(readerOf(l, o)): true}
		for _, ticket := range ticketsOf(l, o) {
			holder := o.HolderOf(ticket)
			to := order.NormalEmail(holder.Email)
			if told[to] {
				continue
			}
			told[to] = true
			void.To, void.Name, void.Subject = holder.Email, holder.Name, fmt.Sprintf("%s/refund %d/%s", o.ID, l.Refund, to)
			if err := h.Mail.Add(ctx, void); err != nil {
				return err
			}
		}
	}
	return nil
}

// lostTickets returns the tickets that the reader of a letter has lost: one that was passed on, or
// those that a refund ended.
func lostTickets(l *mailqueue.Mail, o *order.Order) []uint32 {
	if l.Ticket != 0 {
		return []uint32{l.Ticket}
	}
	if l.Refund >= len(o.Refunds) || o.Refunds[l.Refund].Ask == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Refunds[l.Refund].Ask.Tickets), func(ticket uint32) bool { return !isFor(o, l.To, ticket) })
}

// writeVoid makes the mail to a person who has lost tickets that somebody else had bought, with the reason: passed
// on, given back, or taken back by the organization. It makes none if the order knows the person no more. If the
// person has no ticket left, the mail also cancels the entry in the person's calendar.
func (h *Writer) writeVoid(ctx context.Context, l *mailqueue.Mail, o *order.Order, to mail.Envelope, e *mail.Event) (*mail.Message, error) {
	lost := lostTickets(l, o)
	if len(lost) == 0 {
		return nil, nil //nolint:nilnil // its reader was erased from the order since
	}
	to.To, to.Name = l.To, l.Name
	v := mail.Void{Reason: mail.PassedOn, Count: len(lost), Rest: hasTickets(o, l.To)}
	if l.Ticket == 0 {
		r := &o.Refunds[l.Refund]
		v.IsPaidBack = r.Amount > 0
		if v.Reason = mail.GivenBack; r.AskedBy() == order.AskedByOrganization {
			v.Reason = mail.TakenBack
		}
	}
	e.GivenBack = !v.Rest
	m := mail.TicketVoid(to, e, v)
	if err := h.keepEntry(ctx, &m, o, e); err != nil {
		return nil, err
	}
	return &m, nil
}
