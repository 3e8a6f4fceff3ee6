package webhook_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/all"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/velocity"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/committed"
)

// decider drives the real kinds with random commands, whose fields are at the ends of
// what the API lets in, and has the facts that they decide journaled. There are no
// other actors, no losses and no delays: the simulator has those (engine/enginetest).
type decider struct {
	t       *testing.T
	rng     *rand.Rand
	journal func(engine.Ref, ...engine.Fact)
	org     int64

	mu     sync.Mutex // the teller asks for seats
	now    time.Time
	states map[engine.Ref]engine.State

	serial  int64 // counts what must be unique: ids, slugs, references
	shows   []*drivenShow
	kinds   map[string]int // facts decided, by name
	replies map[string]int // by code or type
}

// drivenShow is an event and what was made of it.
type drivenShow struct {
	number, version int64
	types           []int64
	orders          []engine.OrderID
	seats           []string // of the map
	seated          []int64  // types that are sold by seat
	holder          string
}

func newDecider(t *testing.T, rng *rand.Rand, org int64, write func(engine.Ref, ...engine.Fact)) *decider {
	return &decider{
		t: t, rng: rng, journal: write, org: org, now: time.Now().Truncate(time.Hour), serial: decided, states: map[engine.Ref]engine.State{},
		kinds: map[string]int{}, replies: map[string]int{},
	}
}

// Texts, times and amounts at the ends of what a row of the API lets in.
var (
	soundTexts = []string{
		"x", "Ada Lovelace", "\u202e<script>alert(1)</script>", "\r\nBcc: x@example.org", `"'--{{.}}${}%s\u0000`, "ÄÖÜ 東京 🎟️🎟️", "\u200b\ufeff", "\ufffd",
		"\x01\x1b[31m\x7f", strings.Repeat("\U0001f39f", 100), "null", "9999-12-31",
	}
	soundTimes = []int64{0, 1, 1_900_000_000_000, 253_402_300_799_999, 253_402_300_799_000}
	soundMoney = []int64{0, 1, 99, 2_500, 99_999_999, 100_000_000} // minor units
)

func pick[T any](d *decider, from ...T) T { return from[d.rng.IntN(len(from))] }

func (d *decider) text() string { return pick(d, soundTexts...) }

// texts may be none.
func (d *decider) maybe() string {
	if d.rng.IntN(2) == 0 {
		return ""
	}
	return d.text()
}

func (d *decider) next() int64 {
	d.serial++
	return d.serial
}

// moment is a time of the API, or one around now, when things happen.
func (d *decider) moment() int64 {
	if d.rng.IntN(2) == 0 {
		return pick(d, soundTimes...)
	}
	return d.now.UnixMilli() + d.rng.Int64N(96*3_600_000) - 48*3_600_000
}

// ask has an actor decide, and then all who hear of it.
func (d *decider) ask(to engine.Ref, cmd engine.Command) engine.Reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	var first engine.Reply
	queue := []engine.Send{{To: to, Cmd: cmd}}
	for n := 0; len(queue) > 0 && n < 500; n++ {
		s := queue[0]
		queue = queue[1:]
		decision := d.decide(s.To, s.Cmd)
		if n == 0 {
			first = decision.Reply
		}
		for _, answer := range decision.Answers {
			if first == nil {
				first = answer.Reply
			}
		}
		queue = append(append(append(queue, decision.Joint...), decision.Asks...), decision.Sends...)
	}
	name := fmt.Sprintf("%T", first)
	if no, ok := first.(*engine.Refusal); ok {
		name = string(no.Code)
	}
	d.replies[fmt.Sprintf("%T %s", cmd, name)]++
	return first
}

func (d *decider) decide(ref engine.Ref, cmd engine.Command) engine.Decision {
	state, ok := d.states[ref]
	if !ok {
		kind, err := all.Kind(ref.Kind)
		require.NoError(d.t, err)
		state = kind.New(ref)
		d.states[ref] = state
		d.take(ref, state, state.Decide(engine.Wake{Epoch: 1}, d.now))
	}
	decision := state.Decide(cmd, d.now)
	d.take(ref, state, decision)
	return decision
}

// take applies what was decided, and journals what lasts.
func (d *decider) take(ref engine.Ref, state engine.State, decision engine.Decision) {
	var durable []engine.Fact
	for _, f := range decision.Facts {
		state.Apply(f)
		if !f.FactType().Volatile() {
			durable = append(durable, f)
			d.kinds[fmt.Sprintf("%T", f)]++
		}
	}
	if len(durable) > 0 {
		d.journal(ref, durable...)
	}
}

// seatMap is an event's, for the teller.
func (d *decider) seatMap(_ context.Context, number int64) (*committed.SeatMap, error) {
	m, ok := d.ask(engine.SeatmapRef(number), seatmap.View{}).(*seatmap.Map)
	if !ok {
		return nil, fmt.Errorf("no seat map of event %d", number)
	}
	return committed.NewSeats(1).Load(number, func() (*seatmap.Map, error) { return m, nil })
}

// step is one random command, or what a user does in a few.
func (d *decider) step() {
	if len(d.shows) == 0 || d.rng.IntN(40) == 0 {
		d.openShow()
	}
	sh := d.shows[d.rng.IntN(len(d.shows))]
	ref := engine.EventRef(sh.number)
	switch d.rng.IntN(16) {
	case 0:
		if r, ok := d.ask(ref, event.Get{}).(*event.Record); ok {
			d.ask(ref, event.Update{Details: d.details(r.Details), Revision: r.Revision})
		}
	case 1:
		to := event.StatusPublished
		if d.rng.IntN(6) == 0 {
			to = pick(d, event.StatusDraft, event.StatusReview, event.StatusCancelled)
		}
		d.ask(ref, event.Move{To: to, Reason: d.maybe()})
	case 2:
		d.openType(sh)
	case 3:
		d.changeType(sh)
	case 4, 5, 6:
		if d.buy(sh); d.rng.IntN(2) == 0 {
			d.pay(sh)
		}
	case 7, 8:
		d.pay(sh)
	case 9:
		d.refund(sh)
	case 10, 11:
		d.scan(sh)
	case 12:
		if d.rng.IntN(4) == 0 {
			d.arrange(sh)
			break
		}
		d.hold(sh)
	case 13:
		d.hold(sh)
	case 14:
		d.money()
	default:
		d.pass(sh)
	}
}

// pass lets time pass, and wakes who wants it.
func (d *decider) pass(sh *drivenShow) {
	d.mu.Lock()
	d.now = d.now.Add(time.Duration(d.rng.Int64N(int64(20 * time.Minute))))
	d.mu.Unlock()
	if d.rng.IntN(4) == 0 && len(sh.orders) > 0 {
		d.ask(engine.EventRef(sh.number), ledger.CancelOrder{Order: pick(d, sh.orders...)})
	}
	if len(sh.orders) > 0 {
		d.ask(engine.EventRef(sh.number), ledger.ExtendOrder{Order: pick(d, sh.orders...)})
	}
	if d.rng.IntN(30) == 0 {
		d.ask(engine.EventRef(sh.number), event.Delete{Reason: d.maybe()})
	}
	refs := []engine.Ref{engine.EventRef(sh.number), engine.SeatmapRef(sh.number)}
	for _, n := range sh.types {
		refs = append(refs, engine.InventoryRef(sh.number, n))
	}
	for _, ref := range refs {
		d.ask(ref, engine.Wake{})
	}
}

// openShow makes an event that can be sold, as well as its extremes let it.
func (d *decider) openShow() {
	sh := &drivenShow{number: d.next(), holder: "holder"}
	d.shows = append(d.shows, sh)
	ref := engine.EventRef(sh.number)
	d.ask(ref, event.Create{Details: d.details(nil)})
	for range 1 + d.rng.IntN(3) {
		d.openType(sh)
	}
	if d.rng.IntN(2) == 0 {
		d.arrange(sh)
	}
	d.ask(ref, event.Move{To: event.StatusPublished})
}

func (d *decider) details(was *event.Details) event.Details {
	lat, lng := pick(d, -90, 90, 0, math.SmallestNonzeroFloat64, math.Copysign(0, -1)), pick(d, -180.0, 180, 1e-300)
	v := event.Details{
		Org: d.org, Title: d.text(), Category: pick(d, "music", "music", d.text(), "digital-product", "e-books"), Subcategory: d.maybe(),
		ShortDesc: d.maybe(), Description: strings.Repeat(d.text(), pick(d, 1, 400)), Tags: []string{d.text(), d.text()}, Visibility: "public",
		StartAt: d.moment(), EndAt: d.moment(), DoorsAt: d.moment(), Timezone: pick(d, "UTC", "Africa/Lagos", "Pacific/Kiritimati", "Pacific/Marquesas"),
		VenueType: pick(d, "physical", "online", "hybrid"), Capacity: pick[int64](d, event.NoCapacity, 1, 1_000_000, 50),
		VenueName: d.maybe(), VenueAddress: d.maybe(), VenueCity: d.maybe(), VenueCountry: pick(d, "", "NG", "DE"),
		VenueLat: pick(d, nil, &lat), VenueLng: pick(d, nil, &lng), OnlineLink: pick(d, "", "https://example.org/?a=\u00e4&b=<>"), OnlineNote: d.maybe(),
		ReturnPolicy: d.maybe(), Gallery: []string{"/media/x", "https://example.org/a"}, Currency: pick(d, "USD", "USD", "USD", "NGN", "JPY"),
		AbsorbFees: d.rng.IntN(2) == 0, Branding: pick(d, nil, []byte(`{}`), []byte(`{"a":[1e308,-0.0,"\u2028\ud83c\udf9f"]}`)), SEO: pick(d, nil, []byte(`{"a":{"b":null}}`)),
		Entities: pick(d, nil, []event.Entity{{Kind: "artist", Name: d.text(), Bio: d.maybe()}}), OrderWindow: pick[int64](d, 300_000, 3_600_000), IDCheck: d.rng.IntN(2) == 0,
		Highlight: pick(d, "", "https://vimeo.com/1"), CoverImage: pick(d, "", "/media/1"), CoverVideo: pick(d, "", "https://example.org/v"),
		Velocity: velocity.Limits{OrdersPerBuyer: pick[int64](d, 0, 1_000), PresaleTries: pick[int64](d, 0, velocity.Off)}, RotatingOnly: d.rng.IntN(2) == 0, OfflineDoorCodes: d.rng.IntN(2) == 0, Exits: d.rng.IntN(2) == 0, InsideLimit: d.rng.Int64N(3), NoRescheduling: d.rng.IntN(2) == 0, NoExtensions: d.rng.IntN(2) == 0, TransferDays: d.rng.Int64N(31), MovedAt: pick(d, 0, d.moment()), CancelReason: pick(d, "", d.text()),
	}
	if d.rng.IntN(6) > 0 { // one that can be bought of
		v.StartAt, v.EndAt = d.now.UnixMilli()+3_600_000, pick(d, d.now.UnixMilli()+72*3_600_000, soundTimes[3])
	}
	if was != nil {
		v.Org, v.PublicID, v.Slug, v.Currency = was.Org, was.PublicID, was.Slug, was.Currency
		return v
	}
	v.PublicID, v.Slug = engine.NumberedID(d.next(), 7), fmt.Sprint("slug-", d.next())
	return v
}

func (d *decider) typeDetails() inventory.Details {
	hours := pick[int64](d, 0, 1, 87_600)
	return inventory.Details{
		Name: d.text(), Type: pick(d, "paid", "free", "vip"), SaleStart: pick(d, 0, 0, 0, d.now.UnixMilli()-1, d.moment()), SaleEnd: pick(d, soundTimes[3], soundTimes[3], soundTimes[3], d.moment()),
		Price: pick(d, soundMoney...), Currency: "USD", Quantity: pick[int64](d, inventory.Unlimited, 0, 5, 100_000_000, 50),
		MaxPerOrder: pick[int64](d, 3, 100, 100), MaxPerCustomer: pick[int64](d, 1, 1_000), RefundDeadline: pick(d, 0, d.moment()), PresaleCode: pick(d, "", "", "", "", "", "fans"),
		Transferable: true, Refundable: d.rng.IntN(2) == 0, Description: d.maybe(), AccessURL: pick(d, "", "https://example.org/x"), AccessNote: d.maybe(),
		SortOrder: pick[int64](d, -1_000_000, 0, 1_000_000), Hidden: d.rng.IntN(20) == 0, RefundHours: pick(d, nil, &hours),
		WaitlistEnabled: d.rng.IntN(2) == 0, SectionID: pick(d, "", "00000000-0000-4000-8000-000000000000"),
	}
}

// TestAllFieldsAreDrawn holds the fields that are drawn to those of the records: a new one
// that nobody draws would be tried by no run.
func TestAllFieldsAreDrawn(t *testing.T) {
	t.Parallel()
	d := newDecider(t, rand.New(rand.NewPCG(1, 2)), 1, nil)
	decidedByMaps := []string{"Seated", "SeatsOnly"}
	for _, draw := range []func() any{func() any { return d.details(nil) }, func() any { return d.typeDetails() }} {
		drawn := map[string]bool{}
		record := reflect.TypeOf(draw())
		for range 200 {
			v := reflect.ValueOf(draw())
			for i := range v.NumField() {
				name := record.Field(i).Name
				drawn[name] = drawn[name] || !v.Field(i).IsZero()
			}
		}
		for name, ever := range drawn {
			require.NotEqual(t, slices.Contains(decidedByMaps, name), ever, "%s: %s", record, name)
		}
	}
}

func (d *decider) openType(sh *drivenShow) {
	n := d.next()
	if _, ok := d.ask(engine.InventoryRef(sh.number, n), inventory.Create{Details: d.typeDetails()}).(*inventory.Record); ok {
		sh.types = append(sh.types, n)
	}
}

func (d *decider) changeType(sh *drivenShow) {
	if len(sh.types) == 0 {
		return
	}
	ref := engine.InventoryRef(sh.number, pick(d, sh.types...))
	if r, ok := d.ask(ref, inventory.Get{}).(*inventory.Record); ok {
		d.ask(ref, inventory.Update{Details: d.typeDetails(), Revision: r.Revision})
	}
}

func (d *decider) buy(sh *drivenShow) {
	if len(sh.types) == 0 {
		return
	}
	p := ledger.Place{
		Order: engine.NumberedID(sh.number, d.next()), Fingerprint: d.rng.Uint64(), Email: pick(d, "ada@example.org", "ö@xn--bcher-kva.example", strings.Repeat("a", 64)+"@example.org"),
		Name: d.maybe(), Customer: pick[uint64](d, 1, math.MaxUint64, math.MaxInt64+1), PresaleCode: pick(d, "", "fans", d.text()),
		Client: pick[uint64](d, 0, math.MaxUint64), Scale: 1_000, Holder: sh.holder, Principal: pick[uint64](d, 1, math.MaxUint64),
	}
	seen := map[int64]bool{}
	for range 1 + d.rng.IntN(2) {
		l := order.Line{Type: pick(d, sh.types...), Quantity: pick[int64](d, 1, 1, 2, 100), AttendeeName: d.maybe(), AttendeeEmail: pick(d, "", "grace@example.org")}
		if slices.Contains(sh.seated, l.Type) != (d.rng.IntN(20) == 0) && len(sh.seats) > 0 {
			l.Seats, l.Quantity = []string{pick(d, sh.seats...)}, 1
		}
		if !seen[l.Type] {
			seen[l.Type] = true
			p.Lines = append(p.Lines, l)
		}
	}
	if r, ok := d.ask(engine.EventRef(sh.number), p).(*ledger.OrderReply); ok && r.Order != nil {
		sh.orders = append(sh.orders, p.Order)
	}
}

// pay brings an order's payment to any end that a provider may report.
func (d *decider) pay(sh *drivenShow) {
	if len(sh.orders) == 0 {
		return
	}
	ref, id := engine.EventRef(sh.number), sh.orders[max(0, len(sh.orders)-1-d.rng.IntN(4))]
	r, ok := d.ask(ref, ledger.BeginPayment{
		Order: id, Provider: pick(d, "paystack", "nowpayments", "flutterwave"), Number: fmt.Sprintf("BX-%X", id[6:]), WindowMillis: pick[int64](d, 1, 3_600_000, 86_400_000), Scale: 1_000,
	}).(*ledger.OrderReply)
	if !ok || r.Order == nil || len(r.Order.Attempts) == 0 {
		return
	}
	a := pick(d, r.Order.Attempts...)
	if d.rng.IntN(2) == 0 {
		d.ask(ref, ledger.OpenPayment{Order: id, Reference: a.Reference, URL: "https://pay.example.org/" + strings.Repeat("x", pick(d, 0, 2_000))})
	}
	for range 1 + d.rng.IntN(3) {
		d.ask(ref, ledger.ReportPayment{
			Order: id, Reference: a.Reference, Currency: pick(d, r.Order.Currency, r.Order.Currency, r.Order.Currency, "NGN", ""),
			Status:   pick(d, order.AttemptSucceeded, order.AttemptSucceeded, order.AttemptFailed, order.AttemptProcessing, order.AttemptExpired, order.AttemptUnderpaid, order.AttemptCancelled, order.AttemptRefunded),
			Received: pick(d, a.Amount, a.Amount, a.Amount-1, a.Amount+1, 0, math.MaxInt64, math.MaxInt64/2),
		})
	}
}

func (d *decider) refund(sh *drivenShow) {
	for _, id := range sh.orders {
		r, ok := d.ask(engine.EventRef(sh.number), ledger.GetOrder{Order: id}).(*ledger.OrderReply)
		if !ok || r.Order == nil {
			continue
		}
		for i, refund := range r.Order.Refunds {
			d.ask(engine.EventRef(sh.number), ledger.ReportRefund{
				Order: id, Position: i, Reference: refund.Reference, Status: pick(d, order.RefundProcessing, order.RefundProcessed, order.RefundFailed),
				ProviderRef: pick(d, "", strings.Repeat("r", 200)),
			})
		}
	}
}

func (d *decider) scan(sh *drivenShow) {
	d.ask(engine.EventRef(sh.number), admission.Scan{
		Ticket: pick[uint32](d, 0, 1, 1, 2, 2, 3, 4, 5, math.MaxUint32, math.MaxInt32+1), Denied: pick(d, "", "", "", admission.ScanExpired, admission.ScanWrongEvent),
		Gate: d.maybe(), Device: d.maybe(), Method: pick(d, "qr", "manual"), Key: d.rng.Uint64(), Request: engine.Request{ID: engine.NumberedID(sh.number, d.next()), Print: 1},
	})
}

// arrange puts up a seat map and prices its sections.
func (d *decider) arrange(sh *drivenShow) {
	if len(sh.types) == 0 {
		return
	}
	ref := engine.SeatmapRef(sh.number)
	if d.rng.IntN(10) == 0 {
		d.ask(ref, seatmap.Detach{})
		return
	}
	sh.version++
	layout := enginetest.NewLayout(int32(sh.version), "floor:A=ssssws", "floor:B=ss|ssc", "balcony:C=ssss")
	if _, ok := d.ask(ref, seatmap.Attach{Layout: layout, Mode: pick(d, seatmap.Reserved, seatmap.GAMixed), HoldTime: pick[int64](d, 60_000, 3_600_000)}).(*seatmap.Record); ok {
		sh.seats = layout.SeatIDs
	}
	sh.seated = []int64{pick(d, sh.types...)}
	d.ask(ref, seatmap.Price{Sections: []seatmap.SectionPrice{{Section: "floor", Type: sh.seated[0]}, {Section: "balcony", Type: sh.seated[0]}}})
}

func (d *decider) hold(sh *drivenShow) {
	if len(sh.seats) == 0 {
		return
	}
	ref, request := engine.SeatmapRef(sh.number), engine.Request{ID: engine.NumberedID(sh.number, d.next()), Print: 1}
	switch d.rng.IntN(5) {
	case 3:
		d.ask(ref, seatmap.Extend{Holder: sh.holder, Request: request})
	case 0:
		d.ask(ref, seatmap.Release{Holder: sh.holder, Request: request})
	case 1:
		d.ask(ref, seatmap.Block{Block: []string{pick(d, sh.seats...), d.text()}, Unblock: []string{pick(d, sh.seats...)}})
	case 2:
		d.ask(ref, seatmap.BestAvailable{Holder: sh.holder, Principal: 1, Quantity: pick(d, 1, 2, seatmap.MaxSelection), Scale: 1_000, Request: request})
	default:
		d.ask(ref, seatmap.Hold{Holder: sh.holder, Principal: math.MaxUint64, Network: math.MaxUint64, Seats: []string{pick(d, sh.seats...), d.text()}, Scale: 1_000, Request: request})
	}
}

// money moves some in a wallet.
func (d *decider) money() {
	ref := engine.WalletRef(d.org, pick(d, "USD", "NGN"))
	id := engine.NumberedID(d.org, 1+d.rng.Int64N(50))
	amount := pick[int64](d, 1, 100, wallet.MaxAmount, math.MaxInt64, 0, -1)
	switch d.rng.IntN(4) {
	case 0:
		d.ask(ref, wallet.Credit{ID: id, Amount: amount, Pending: d.rng.IntN(2) == 0, Reason: d.text(), Reference: d.maybe(), Note: d.maybe(), By: d.maybe()})
	case 1:
		d.ask(ref, wallet.Debit{ID: id, Amount: amount, Reason: pick(d, wallet.Payout, d.text()), Reference: d.maybe(), Note: d.maybe(), By: d.maybe()})
	case 2:
		d.ask(ref, wallet.Clear{ID: id, By: d.maybe()})
	default:
		d.ask(ref, wallet.Void{ID: id, By: d.maybe()})
	}
}
