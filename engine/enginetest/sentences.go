package enginetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// These are the sentences of a story. A buyer's name is also the name of the buyer's only order.
// Settings are written key=value.
//
//	given ...   (any sentence; its outcome is not shown)
//	event opens Capacity=10 OrderWindow=15m     GA opens Price=20.00 Quantity=1
//	event changes Capacity=5                    GA changes Quantity=3
//	event moves to published                    event is deleted
//	ann places 2 GA + 1 VIP code=fans body=2    ann cancels      ann asks
//	bob places 1 GA by=1 from=7 scale=10 (buyer 1, address 7)
//	dan places 2 GA issue=R1 (the organization does, and calls it so)
//	ann,bob are given 2 GA (one order each)
//	ann extends After=1 (she asks for more time, and got more once before)
//	cat places 2 GA@A1,A2 holder=cat of=7 (seats, held by cat or else by principal 7)
//	ann begins paystack window=30m              ann opens ann-1
//	provider says ann-1 succeeded 21.00         provider says refund 0 of ann-1 processed
//	gate North scans 1 key=7 device=d           event counts     event is read
//	ticket 1 is offered Version=1 To=bob        ticket 1 is revoked     ticket 1 is claimed Round=1
//	post waits    post runs    deliver [n]      lose [n]         repeat      reverse
//	wait 15m      sleep 15m (nobody wakes)      event wakes (once)
//	event crashes    event saves
//	GA hears Reserve ann@1.1 quantity=2         GA hears Commit ann@1.1
//	GA hears OfferSeen Revision=1               GA hears Confirmed ann@1.1 bob@1.2
//	GA hears Resize Revision=1 Quantity=5 (none: it is not seated)
//	event hears Granted ann@1.1 GA 20.00        event hears Closed ann@1.1 GA
//
// The sentences about seats are in sentences_seatmap.go, those about a wallet in
// sentences_wallet.go, and likewise for promo codes, dates (sentences_calendar.go), refunds, the
// waitlist and the waiting room (sentences_queue.go).
func (w *story) say(words []string) error {
	// "given" stands before the sentence that it silences, so it is taken off before the sentence is read.
	w.given = words[0] == "given"
	if w.given {
		words = words[1:]
	}
	// These sentences begin with a fixed word, which therefore can't be the name of a buyer or of a ticket type.
	switch words[0] {
	case "post", "deliver", "lose", "repeat", "reverse", "wait", "sleep":
		return w.sayWorld(words)
	case "provider":
		return w.sayProvider(words[1:])
	case "gate":
		return w.sayGate(words[1:])
	case "organization":
		return w.sayOrganization(words[1:])
	case "remember":
		return w.remember(words[1])
	case "ticket":
		return w.sayTicket(words[1:])
	case "line":
		return w.sayLine(words[1], words[2:])
	}
	if len(words) < 2 {
		return fmt.Errorf("what of %s?", words[0])
	}
	// The second word is a verb. It decides whether a shopper, an actor or a buyer speaks, and how the rest is read.
	switch words[1] {
	case "holds", "drops", "seeks", "keeps":
		return w.sayShopper(words[0], words[1], words[2:])
	case "opens", "changes", "moves", "is", "counts", "wakes", "crashes", "saves", "hears", "attaches", "detaches", "prices", "blocks", "unblocks":
		c, err := w.actor(words[0])
		if err != nil {
			return err
		}
		return w.sayActor(c, words[1], words[2:])
	default:
		return w.sayBuyer(words[0], words[1], words[2:])
	}
}

// sayWorld reads what happens to messages and to time: "post waits", "post runs", "deliver 1", "lose 1", "repeat",
// "reverse", "wait 5m", which wakes the actors that are due, and "sleep 5m", which wakes nobody. After "post runs",
// messages are delivered at once again. Those that wait already stay until "deliver" or "lose".
func (w *story) sayWorld(words []string) error {
	// Without a number all messages are meant. A thousand is more than any story has on its way.
	n := 1_000
	if len(words) > 1 && (words[0] == "deliver" || words[0] == "lose") {
		var err error
		if n, err = strconv.Atoi(words[1]); err != nil {
			return err
		}
	}
	switch words[0] {
	case "post":
		w.waits = words[1] == "waits"
	case "deliver":
		return w.deliver(n)
	case "lose":
		for _, s := range w.post[:min(n, len(w.post))] {
			w.printf("lost: %s for %s", w.showCommand(s.Cmd), w.nameOf(s.To))
		}
		w.post = w.post[min(n, len(w.post)):]
	case "repeat":
		return w.hand(*w.last)
	case "reverse":
		slices.Reverse(w.post)
	case "wait", "sleep":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			return err
		}
		if words[0] == "wait" {
			return w.wait(d)
		}
		w.now = w.now.Add(d)
	}
	return nil
}

// sayProvider reads what a payment provider says of a payment, a deposit or a refund. The payment's reference begins
// with the buyer's name, which tells the order.
func (w *story) sayProvider(words []string) error {
	if words[1] == "refund" { // says refund 0 of ann-1 processed
		name, _, _ := strings.Cut(words[4], "-")
		position, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		return w.tellEvent(ledger.ReportRefund{
			Order: w.order(name), Position: position, Reference: words[4], Status: words[5], ProviderRef: "re-" + words[4],
		})
	}
	name, _, _ := strings.Cut(words[1], "-")
	// A payment is in the event's currency unless the sentence names another one. The amount is missing when
	// nothing has come.
	report := ledger.ReportPayment{Order: w.order(name), Reference: words[1], Status: words[2], Currency: "USD"}
	if len(words) > 3 {
		received, err := readMoney(words[3])
		if err != nil {
			return err
		}
		report.Received = received
	}
	switch {
	case len(words) > 5: // says ann-1 deposit 5.00 as 77
		return w.tellEvent(ledger.ReportDeposit{Order: report.Order, Reference: report.Reference, Deposit: words[5], Received: report.Received})
	case len(words) > 4: // says ann-1 succeeded 5.00 NGN
		report.Currency = words[4]
	}
	return w.tellEvent(report)
}

// sayGate reads that a gate scans a ticket. The settings that a sentence does not give have usual values.
func (w *story) sayGate(words []string) error { // North scans 1 key=7 device=d
	serial, err := strconv.ParseUint(words[2], 10, 32)
	if err != nil {
		return err
	}
	scan := admission.Scan{Ticket: uint32(serial), Gate: words[0], Method: "qr"}
	if err := w.set(&scan, words[3:]); err != nil {
		return err
	}
	return w.tellEvent(scan)
}

// sayTicket reads what is done with a ticket after its sale: it is offered to somebody, claimed, revoked, or moved to
// another date.
func (w *story) sayTicket(words []string) error { // 1 is offered Version=1 To=bob
	serial, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil {
		return err
	}
	switch words[2] {
	case "offered":
		cmd := admission.Transfer{Ticket: uint32(serial), Version: 1}
		if err := w.set(&cmd, words[3:]); err != nil {
			return err
		}
		return w.tellEvent(cmd)
	case "revoked":
		cmd := admission.RevokeTransfer{Ticket: uint32(serial), Version: 1}
		if err := w.set(&cmd, words[3:]); err != nil {
			return err
		}
		return w.tellEvent(cmd)
	case "claimed":
		cmd := admission.ClaimTransfer{Ticket: uint32(serial), Round: 1}
		if err := w.set(&cmd, words[3:]); err != nil {
			return err
		}
		return w.tellEvent(cmd)
	}
	if words[2] == "rescheduled" {
		return w.sayRescheduled(uint32(serial), words[3:])
	}
	return fmt.Errorf("a ticket is not %s", words[2])
}

// tellEvent gives a command to the story's event.
func (w *story) tellEvent(cmd engine.Command) error {
	c, err := w.actor("event")
	if err != nil {
		return err
	}
	return w.tell(c, cmd)
}

// sayActor reads what an actor is told, or what happens to it. The verbs that mean the same for all kinds come
// first, then each kind's own.
func (w *story) sayActor(c *character, verb string, args []string) error {
	switch verb {
	case "wakes":
		return w.tell(c, engine.Wake{})
	case "crashes":
		return w.crash(c)
	case "saves":
		return c.save()
	case "counts":
		return w.tell(c, admission.GateStats{})
	case "moves":
		return w.tell(c, event.Move{To: args[1], Reason: strings.Join(args[2:], " ")})
	}
	// Some kinds read "hears" or "opens" in their own way, so their sentences are taken out before the common ones.
	if c.ref.Kind == engine.KindWallet {
		return w.sayWallet(c, verb, args)
	}
	if c.ref.Kind == engine.KindQueue {
		return w.sayQueue(c, verb, args)
	}
	if verb == "hears" {
		return w.sayHears(c, args)
	}
	if c.ref.Kind == engine.KindPromo {
		return w.sayPromo(c, verb, args)
	}
	if c.ref.Kind == engine.KindCalendar {
		return w.sayCalendar(c, verb, args)
	}
	if c.ref.Kind == engine.KindSeatmap {
		return w.sayMap(c, verb, args)
	}
	if c.ref.Kind == engine.KindEvent {
		return w.sayEvent(c, verb, args)
	}
	return w.sayType(c, verb, args)
}

// sayEvent reads what the organizer does with the event. A new event has usual values for all settings that the story
// does not give; a change begins with the record as it is.
func (w *story) sayEvent(c *character, verb string, args []string) error {
	d := event.Details{
		Title: "Show", Category: "music", Currency: "USD", Capacity: event.NoCapacity, OrderWindow: 15 * 60_000,
		StartAt: w.now.Add(48 * time.Hour).UnixMilli(), EndAt: w.now.Add(50 * time.Hour).UnixMilli(),
	}
	switch verb {
	case "opens":
		if err := w.set(&d, args); err != nil {
			return err
		}
		return w.tell(c, event.Create{Details: d})
	case "changes":
		// An update replaces the whole record, so it has to begin with the record as it is. The actor is asked for
		// it without a line in the transcript.
		r, ok := c.state.Decide(event.Get{}, w.now).Reply.(*event.Record)
		if !ok {
			return fmt.Errorf("%s has no record", c.name)
		}
		d = *r.Details
		if err := w.set(&d, args); err != nil {
			return err
		}
		return w.tell(c, event.Update{Details: d, Revision: r.Revision})
	default: // is read, is deleted
		if args[0] == "deleted" {
			return w.tell(c, event.Delete{})
		}
		return w.tell(c, event.Get{})
	}
}

// sayType reads what the organizer does with a ticket type. A new one has usual values for all settings that
// the story does not give.
func (w *story) sayType(c *character, verb string, args []string) error {
	t := inventory.Details{
		Name: c.name, Type: "paid", Currency: "USD", Quantity: 100, MaxPerOrder: 10, MaxPerCustomer: 10, Transferable: true,
		SaleStart: w.now.Add(-time.Hour).UnixMilli(), SaleEnd: w.now.Add(48 * time.Hour).UnixMilli(),
	}
	switch verb {
	case "opens":
		if err := w.set(&t, args); err != nil {
			return err
		}
		return w.tell(c, inventory.Create{Details: t})
	case "changes":
		// As in sayEvent, an update replaces the whole record.
		r, ok := c.state.Decide(inventory.Get{}, w.now).Reply.(*inventory.Record)
		if !ok {
			return fmt.Errorf("%s has no record", c.name)
		}
		t = r.Details
		if err := w.set(&t, args); err != nil {
			return err
		}
		return w.tell(c, inventory.Update{Details: t, Revision: r.Revision})
	default: // is read
		return w.tell(c, inventory.Get{})
	}
}

// sayBuyer reads what a buyer does. The buyer's name is also the name of the order.
func (w *story) sayBuyer(name, verb string, args []string) error {
	id := w.order(name)
	switch verb {
	case "places":
		return w.sayPlaces(name, args)
	case "joins", "leaves", "claims":
		return w.sayWaiter(name, verb, args)
	case "extends":
		extend := ledger.ExtendOrder{Order: id}
		if err := w.set(&extend, args); err != nil {
			return err
		}
		return w.tellEvent(extend)
	case "cancels":
		return w.tellEvent(ledger.CancelOrder{Order: id})
	case "are":
		return w.sayGiven(strings.Split(name, ","), args[1:])
	case "asks":
		return w.tellEvent(ledger.GetOrder{Order: id})
	case "asks-back":
		return w.sayAsksBack(name, args)
	case "begins":
		begin := ledger.BeginPayment{Order: id, Provider: args[0], Number: name}
		if err := w.set(&begin, args[1:]); err != nil {
			return err
		}
		return w.tellEvent(begin)
	case "opens-page":
		return w.tellEvent(ledger.OpenPayment{Order: id, Reference: args[0], URL: "https://pay/" + args[0]})
	default:
		return fmt.Errorf("%s does what?", name)
	}
}

// sayGiven reads "2 GA" for each of several buyers, whose orders the organization gives away in one command: either
// all are made or none.
func (w *story) sayGiven(names, args []string) error {
	var all ledger.PlaceAll
	for _, name := range names {
		p, err := w.readPlace(name, args)
		if err != nil {
			return err
		}
		// An order that is given away has no customer, so it counts for nobody's limit.
		p.Issue, p.Customer = &order.Issue{Comp: true}, 0
		all.Orders = append(all.Orders, p)
	}
	return w.tellEvent(all)
}

// sayPlaces reads an order such as "2 GA@A1,A2 + 1 VIP code=fans body=2 by=bob".
func (w *story) sayPlaces(name string, args []string) error {
	p, err := w.readPlace(name, args)
	if err != nil {
		return err
	}
	return w.tellEvent(p)
}

// readPlace reads the lines of an order, divided by plus signs, and its settings. The fingerprint, which stands for
// the body of the request, is 1 unless the story gives another body: a second placing with the same fingerprint is
// a repeat of the first. Settings may stand anywhere among the lines, so they are gathered and set at the end.
func (w *story) readPlace(name string, args []string) (ledger.Place, error) {
	p := ledger.Place{
		Order: w.order(name), Fingerprint: 1, Email: name + "@example.com", Name: name,
		Customer: uint64(w.order(name).Number()),
	}
	var settings []string
	for i := 0; i < len(args); i++ {
		switch {
		case strings.HasPrefix(args[i], "promo="):
			code, err := w.promoOf(strings.TrimPrefix(args[i], "promo="))
			if err != nil {
				return p, err
			}
			p.Promo = code
		case strings.HasPrefix(args[i], "issue="):
			p.Issue, p.Customer = &order.Issue{Reference: strings.TrimPrefix(args[i], "issue=")}, 0
		case strings.Contains(args[i], "="):
			settings = append(settings, args[i])
		case args[i] != "+":
			n, err := strconv.ParseInt(args[i], 10, 64)
			if err != nil || i+1 == len(args) {
				return p, fmt.Errorf("%q is no quantity", args[i])
			}
			// The word after the quantity is the ticket type. Seats follow it after an @, and a date after a #.
			i++
			text, visit, err := w.bookedLine(args[i])
			if err != nil {
				return p, err
			}
			typ, seats, seated := strings.Cut(text, "@")
			c, err := w.actor(typ)
			if err != nil {
				return p, err
			}
			l := order.Line{Type: c.ref.ID, Quantity: n, Visit: visit}
			if seated {
				l.Seats = strings.Split(seats, ",")
			}
			p.Lines = append(p.Lines, l)
		}
	}
	return p, w.set(&p, settings)
}

// sayHears reads a message of the reservation protocol, such as "Reserve ann@1.1 quantity=2". Claims come
// first. In sentences for the event, the keeper that sends the message comes next.
func (w *story) sayHears(c *character, args []string) error {
	var claims []keeper.Claim
	// The claims are cut out, so that the other words are at fixed places.
	for len(args) > 1 && strings.Contains(args[1], "@") {
		claim, err := w.readClaim(args[1])
		if err != nil {
			return err
		}
		claims = append(claims, claim)
		args = append(args[:1:1], args[2:]...)
	}
	// Only the event hears from several keepers, so only its sentences name the sender.
	var from engine.Ref
	if len(args) > 1 && !strings.Contains(args[1], "=") && c.ref.Kind == engine.KindEvent {
		k, err := w.actor(args[1])
		if err != nil {
			return err
		}
		from = k.ref
	}
	switch args[0] {
	case "Reserve":
		m := keeper.Reserve{Claim: claims[0], Line: keeper.Line{Quantity: 1, Customer: uint64(claims[0].Order.Number())}}
		if err := w.set(&m.Line, args[1:]); err != nil {
			return err
		}
		w.seatLine(c, &m.Line)
		return w.tell(c, m)
	case "Commit":
		return w.tell(c, keeper.Commit{Claim: claims[0]})
	case "Release":
		return w.tell(c, keeper.Release{Claim: claims[0]})
	case "Confirmed":
		return w.tell(c, keeper.Confirmed{Claims: claims})
	case "Return":
		m := keeper.Return{Claim: claims[0], Seats: args[1:]}
		return w.tell(c, m)
	case "Resize":
		m := keeper.Resize{Keeper: engine.SeatmapRef(c.ref.Home)}
		if err := w.set(&m, args[1:]); err != nil {
			return err
		}
		return w.tell(c, m)
	case "ResizeSeen":
		var seen keeper.ResizeSeen
		if err := w.set(&seen, args[1:]); err != nil {
			return err
		}
		return w.tell(c, seen)
	case "OfferSeen":
		var seen keeper.OfferSeen
		if err := w.set(&seen, args[1:]); err != nil {
			return err
		}
		return w.tell(c, seen)
	case "Granted":
		return w.tell(c, keeper.Granted{Claim: claims[0], Keeper: from, Price: 2_000, Name: args[1]})
	case "Refused":
		return w.tell(c, keeper.Refused{Claim: claims[0], Keeper: from, Refusal: engine.Refuse(engine.TicketSoldOut, nil)})
	case "Closed":
		return w.tell(c, keeper.Closed{Claim: claims[0], Keeper: from})
	case "Inquire":
		return w.tell(c, keeper.Inquire{Keeper: from, Claims: claims})
	default:
		return fmt.Errorf("nobody says %s", args[0])
	}
}

// order returns the id of a buyer's order. A new name gets the next number, so the names of a story may be used
// before and after the order exists.
func (w *story) order(name string) engine.OrderID {
	if _, known := w.orders[name]; !known {
		w.orders[name] = engine.NumberedID(1, int64(len(w.orders)+1))
	}
	return w.orders[name]
}

// readClaim reads "ann@1.2": the order of ann, serial 2 of epoch 1.
func (w *story) readClaim(text string) (keeper.Claim, error) {
	var epoch int32
	var n uint32
	name, serial, _ := strings.Cut(text, "@")
	if _, err := fmt.Sscanf(serial, "%d.%d", &epoch, &n); err != nil {
		return keeper.Claim{}, fmt.Errorf("%q is no claim: %w", text, err)
	}
	return keeper.Claim{Order: w.order(name), Serial: keeper.NewSerial(epoch, n)}, nil
}
