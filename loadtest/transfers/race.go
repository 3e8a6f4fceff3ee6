package transfers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// What is done to a ticket.
type what int

const (
	offer what = iota
	claim
	revoke
	scan
	acts // how many there are
)

func (w what) String() string { return [...]string{"offer", "claim", "revocation", "scan"}[w] }

// Who may hold a ticket.
const (
	buyerHolds = iota
	firstFriend
	secondFriend
	holders // how many there are
)

// person is somebody who may hold the ticket, with the codes that admit then.
type person struct {
	email string
	codes codes
}

// codes are what a holder shows: the full code, which people type, the door code and the QR.
type codes [3]string

// typed is the index of the code that people type.
const typed = 0

// Act is one thing that was done to a ticket and what came of it.
type Act struct {
	what   what
	person int    // the person to whom it is offered, the claimant, the person whose code is shown
	code   string // the answer's code: an error's, or a scan's status
	done   bool
	last   bool // it is after the race, when nobody else acts
}

// Race is everything about one ticket.
type Race struct {
	Ticket       string
	event        string
	order, token string
	people       [holders]person

	mu   sync.Mutex
	acts []Act

	holder                string // the holder, as the service says afterwards
	admissions, transfers int    // how many there were, as the feed of facts says
}

// countActs counts the acts that were granted, or those that were not.
func (r *Race) countActs(w what, done bool) (n int) {
	for _, a := range r.acts {
		if a.what == w && a.done == done {
			n++
		}
	}
	return n
}

// noteAct notes an act when its answer is known. The acts of one race end in any order.
func (r *Race) noteAct(a Act) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acts = append(r.acts, a)
}

// maxActs is how many client addresses one race uses. Acts that run at once come from different addresses.
const maxActs = 6

// runRace offers a ticket to a friend, and then does everything to it at once: the friend claims it, the buyer
// takes the offer back, offers it to somebody else, and shows two codes. If the second offer came about, the claims
// of both friends race once more. At last all codes that there ever were are shown one after the other, when
// nothing changes any more.
func (t *tournament) runRace(ctx context.Context, r *Race, from int, rng *rand.Rand) error {
	if !t.offerTicket(ctx, r, from, firstFriend) {
		return fmt.Errorf("transfers: %s can't be offered: %+v", r.Ticket, r.acts)
	}
	first, err := t.readClaim(ctx, r, firstFriend)
	if err != nil {
		return err
	}
	// second is written by one of the acts and read after all of them have ended.
	second := false
	code := 1 + rng.IntN(2) // drawn before the acts begin, because they run beside what atOnce draws
	t.atOnce(ctx, rng,
		func() { t.claimTicket(ctx, r, from, firstFriend, first) },
		func() { t.revokeOffer(ctx, r, from+1) },
		func() { second = t.offerTicket(ctx, r, from+2, secondFriend) },
		func() { t.showCode(ctx, r, from+3, buyerHolds, code, false) },
		func() { t.showCode(ctx, r, from+4, buyerHolds, typed, false) },
	)
	if second {
		token, err := t.readClaim(ctx, r, secondFriend)
		if err != nil {
			return err
		}
		t.atOnce(ctx, rng,
			func() { t.claimTicket(ctx, r, from, firstFriend, first) },
			func() { t.claimTicket(ctx, r, from+1, secondFriend, token) },
			func() { t.claimTicket(ctx, r, from+2, secondFriend, token) },
			func() { t.showCode(ctx, r, from+3, buyerHolds, 1, false) },
		)
	}
	// A friend who never had the ticket has no codes.
	for _, who := range []int{buyerHolds, firstFriend, secondFriend} {
		for code := range r.people[who].codes {
			if r.people[who].codes[code] != "" {
				t.showCode(ctx, r, from, who, code, true)
			}
		}
	}
	return nil
}

// atOnce runs acts that begin at times of their own within the spread. One of them, by lot,
// begins first: otherwise those with the shortest way would win all races.
func (t *tournament) atOnce(ctx context.Context, rng *rand.Rand, all ...func()) {
	var running sync.WaitGroup
	first := rng.IntN(len(all))
	for i, act := range all {
		pause := time.Duration(rng.Int64N(int64(t.cfg.Spread)))
		if i == first {
			pause = 0
		}
		running.Go(func() {
			rig.Wait(ctx, pause)
			act()
		})
	}
	running.Wait()
}

// readClaim waits for the mail of an offer and returns the token in its link, which is all that a claim needs.
func (t *tournament) readClaim(ctx context.Context, r *Race, to int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, t.Patience)
	defer cancel()
	m, err := t.Mail.Wait(ctx, r.people[to].email, "transfer_offered")
	if err == nil && m.Found == "" {
		err = fmt.Errorf("transfers: the mail to %s has no link", m.To)
	}
	return m.Found, err
}

// offerTicket offers the ticket to somebody, as its buyer, and reports whether that was granted.
func (t *tournament) offerTicket(ctx context.Context, r *Race, from, to int) bool {
	a := t.Insist(ctx, from, client.Call{Method: "POST", Path: "/tickets/" + url.PathEscape(r.Ticket) + "/transfer", Body: rush.Encode(map[string]string{
		"toEmail": r.people[to].email, "toName": "Load Friend", "token": r.token,
	})}, nil)
	r.noteAct(Act{what: offer, person: to, code: a.Code, done: a.OK()})
	return a.OK()
}

// revokeOffer takes the open offer back, as the buyer.
func (t *tournament) revokeOffer(ctx context.Context, r *Race, from int) {
	a := t.Insist(ctx, from, client.Call{Method: "DELETE", Path: "/tickets/" + url.PathEscape(r.Ticket) + "/transfer?token=" + url.QueryEscape(r.token)}, nil)
	r.noteAct(Act{what: revoke, code: a.Code, done: a.OK()})
}

// claimTicket claims the ticket for somebody, and keeps the codes that are answered.
func (t *tournament) claimTicket(ctx context.Context, r *Race, from, who int, token string) {
	var got struct{ Code, ShortCode, QR string }
	a := t.Insist(ctx, from, client.Call{Method: "POST", Path: "/tickets/transfers/" + url.PathEscape(token) + "/claim"}, &got)
	if a.OK() {
		r.mu.Lock()
		r.people[who].codes = codes{got.Code, got.ShortCode, got.QR}
		r.mu.Unlock()
	}
	r.noteAct(Act{what: claim, person: who, code: a.Code, done: a.OK()})
}

// showCode shows somebody's code at a gate. The device is always a new one, because a device that scans the same
// code twice is given the same answer again. The full code is typed in and the others are scanned, which are two
// operations of the API.
func (t *tournament) showCode(ctx context.Context, r *Race, from, who, code int, last bool) {
	gate, device := fmt.Sprintf("Gate %d", from%maxActs), uuid.NewString()
	c := client.Call{Method: "POST", Path: "/checkin/scan", Bearer: t.Organizer.Bearer, Body: rush.Encode(map[string]string{
		"eventId": r.event, "qrData": r.people[who].codes[code], "gateName": gate, "deviceId": device,
	})}
	if code == typed {
		c.Path = "/checkin/event/" + url.PathEscape(r.event) + "/manual"
		c.Body = rush.Encode(map[string]string{"ticketCode": r.people[who].codes[code], "gateName": gate, "deviceId": device})
	}
	var got struct{ Status string }
	a := t.Insist(ctx, from, c, &got)
	// A scan that was carried out is answered 200 also if the ticket does not admit. Its status says what came of
	// it.
	if a.OK() {
		a.Code = got.Status
	}
	r.noteAct(Act{what: scan, person: who, code: a.Code, done: a.Code == "success", last: last})
}
