package orders

import (
	"context"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
)

// Show returns an order as a reader sees it. A sold order has its tickets with what the gates know
// of them and with what may change at any time (addCurrent).
func (d *Desk) Show(c *route.Call, o *order.Order, r Reader) (*api.Order, error) {
	if !o.Sold() {
		return d.ShowPlaced(c.Context, o, r, c.Now)
	}
	gates, err := d.Read.Tickets(c.Context, o.ID.Event(), o.FirstTicket, int(o.Tickets()))
	if err != nil {
		return nil, err
	}
	used := make(map[uint32]admission, len(gates))
	for _, t := range gates {
		used[t.Serial] = admission{status: t.Status, at: t.CheckedInAt, gate: t.Gate}
	}
	return d.showCurrent(c, o, r, used)
}

// ShowPaid is like Show, for an order that had no tickets when the request came. If it has tickets
// now, no gate can have seen their codes yet, so the read model need not be asked about admissions.
func (d *Desk) ShowPaid(c *route.Call, o *order.Order, r Reader) (*api.Order, error) {
	if !o.Sold() {
		return d.ShowPlaced(c.Context, o, r, c.Now)
	}
	return d.showCurrent(c, o, r, nil)
}

// showCurrent shows an order with what may change at any time (addCurrent). used has what the gates know of its
// tickets.
func (d *Desk) showCurrent(c *route.Call, o *order.Order, r Reader, used map[uint32]admission) (*api.Order, error) {
	v, err := d.showOrder(c.Context, o, r, used, c.Now)
	if err != nil {
		return nil, err
	}
	return v, d.addCurrent(c.Context, o, r, v.Tickets, c.Now)
}

// ShowPlaced returns an order whose tickets no gate can have seen yet, with the QR payloads for the
// time at. Unlike ShowPaid, it leaves out what may change at any time (addCurrent).
func (d *Desk) ShowPlaced(ctx context.Context, o *order.Order, r Reader, at time.Time) (*api.Order, error) {
	return d.showOrder(ctx, o, r, nil, at)
}

// showOrder shows an order's record and, if it is sold, its tickets as showTickets does.
func (d *Desk) showOrder(ctx context.Context, o *order.Order, r Reader, used map[uint32]admission, now time.Time) (*api.Order, error) {
	v := &api.Order{OrderRecord: view.Order(o, d.Known.PublicID(o.ID.Event()), d.Secrets.Event(o.ID.Event())), Tickets: []api.Ticket{}}
	if !o.Sold() {
		return v, nil
	}
	var err error
	v.Tickets, err = d.showTickets(ctx, o, r, used, now)
	return v, err
}

// showTickets shows an order's tickets. It shows the codes of a ticket (with QR payloads for the time now) and
// its holder only to a reader who may see them (reader.Sees). A ticket in used has the status that its gate
// gave it. A ticket that the order knows as given back is "refunded", even if the read model still says "issued".
func (d *Desk) showTickets(ctx context.Context, o *order.Order, reader Reader, used map[uint32]admission, now time.Time) ([]api.Ticket, error) {
	where, err := d.Feed.Where(ctx, o)
	if err != nil {
		return nil, err
	}
	codes := d.Secrets.Event(o.ID.Event())
	records := view.Tickets(o, d.Known.PublicID(o.ID.Event()), codes, where)
	out := make([]api.Ticket, len(records))
	for i := range records {
		t, r := &out[i], &records[i]
		t.TicketRecord = r.TicketRecord
		sight := reader.Sees(o, r.Serial)
		if sight.Codes {
			showCodes(t, codes, r.Serial, r.Version, now)
		}
		if !sight.Holder {
			t.Holder = nil
		}
		if a, ok := used[r.Serial]; ok {
			t.Status, t.CheckedInAt, t.GateName = a.status, api.At(a.at), view.Optional(a.gate)
		}
		if t.Status == "issued" && o.IsGivenBack(r.Serial) { // the read model's tickets may be a moment behind the order
			t.Status = "refunded"
		}
	}
	return out, nil
}

// showCodes sets the codes that admit a ticket's holder: full code, door code, and the QR payload
// with the time when it expires.
func showCodes(t *api.Ticket, codes *secrets.Codes, serial uint32, version byte, now time.Time) {
	qr, expires := codes.QR(serial, version, now)
	t.Code, t.ShortCode, t.QR = codes.Code(serial, version), codes.Short(serial, version), qr
	t.QRExpiresAt = api.At(expires.UnixMilli())
}

// mostAhead is how many tickets an order may have if QR payloads of later hours are added to its
// answer (AddAhead). The payloads of six hours take 41 KB for each ticket. The tickets of larger
// orders are usually shown by several people, or printed.
const mostAhead = 10

// AddAhead adds the QR payloads of the next hours to those tickets of an order that show codes. It
// adds nothing to an order of more than mostAhead tickets.
func (d *Desk) AddAhead(v *api.Order, o *order.Order, hours int, now time.Time) {
	if hours == 0 || len(v.Tickets) > mostAhead {
		return
	}
	codes := d.Secrets.Event(o.ID.Event())
	for i := range v.Tickets {
		if t := &v.Tickets[i]; t.QR != "" {
			serial := o.FirstTicket + uint32(i) //nolint:gosec // an order's ticket
			t.QRAhead = codes.QRAhead(serial, o.HolderOf(serial).Version, now, hours*secrets.QRPerHour)
		}
	}
}

// ShowTicket returns one ticket of an order as its holder sees it.
func (d *Desk) ShowTicket(c *route.Call, o *order.Order, serial uint32) (*api.Ticket, error) {
	v, err := d.Show(c, o, Person(o.OwnerOf(serial).Email))
	if err != nil {
		return nil, err
	}
	return &v.Tickets[serial-o.FirstTicket], nil
}

// addCurrent adds to an order's tickets what may change at any time: whether a refund may be
// requested, what the ticket delivers, whether it has expired, and whether gates accept it on
// paper. Whatever the terms are, a refund for a cancelled event may be requested, and for a moved
// event for some days; but a ticket that was used, cancelled or refunded is never eligible. The codes of a
// ticket that no longer admits are removed, so that nobody queues up with them.
func (d *Desk) addCurrent(ctx context.Context, o *order.Order, r Reader, tickets []api.Ticket, now time.Time) error {
	p, err := d.Pages.Event(ctx, o.ID.Event())
	if err != nil {
		return err
	}
	types := make(map[string]*inventory.Details, len(p.Types))
	for i := range p.Types {
		types[engine.NumberedID(o.ID.Event(), p.Types[i].Ref.ID).String()] = &p.Types[i].Details
	}
	for i := range tickets {
		t, serial := &tickets[i], o.FirstTicket+uint32(i) //nolint:gosec // an order's ticket
		eligible := t.Refundable && (t.RefundDeadline == nil || !now.After(*t.RefundDeadline))
		if p.Event.Status == event.StatusCancelled {
			t.Refundable, t.RefundDeadline, eligible = true, nil, true
		} else if until := p.Event.Details.MoneyBackUntil(o.EndedAt); now.UnixMilli() < until && isLater(until, t) {
			t.Refundable, t.RefundDeadline, eligible = true, api.At(until), true
		}
		eligible = eligible && t.Status == "issued"
		t.RefundEligible = &eligible
		if of := types[t.TicketTypeID]; of != nil && r.Sees(o, serial).Delivery && (t.Status == "issued" || t.Status == "checked_in") {
			link, note, ours := d.Letters.Access(p.Event.Details, of)
			t.Downloadable, t.AccessURL, t.AccessNote = &ours, api.Shown(link), api.Shown(note)
		}
		t.Status = view.StatusAt(t.Status, o, serial, p.Event.Status, now)
		if p.Event.Status == event.StatusCancelled || t.Status != "issued" && t.Status != "checked_in" {
			t.Code, t.ShortCode, t.QR, t.QRExpiresAt = "", "", "", nil
		}
		t.Printable = new(t.Code != "" && p.Event.Details.TakesPaper())
	}
	return nil
}

// isLater reports whether until (unix milliseconds) is after the time up to which a ticket's own
// terms permit a refund, or whether they never permit one.
func isLater(until int64, t *api.Ticket) bool {
	return !t.Refundable || t.RefundDeadline != nil && t.RefundDeadline.UnixMilli() < until
}

// admission is what the read model knows of a ticket at the gates. at is in unix milliseconds.
type admission struct {
	status string
	at     int64
	gate   string
}
