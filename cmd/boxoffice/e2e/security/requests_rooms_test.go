package security

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine/draw"
)

// roomLink is the mailed link by which one joins.
var roomLink = regexp.MustCompile(`/queue#mailed&join=([\w-]+)`)

// roomRequests are those of waiting rooms.
func (w *world) roomRequests() map[string]func() request {
	set := func(event string, more nodetest.Object) {
		w.Own("PUT", "/organizer/events/"+event+"/queue", nodetest.With(nodetest.Object{"enabled": true, "admitPerMinute": 6000}, more)).Is(200, "")
	}
	open := func(more nodetest.Object) (event string) {
		event, _ = w.OnSale(nodetest.TypeBody(5, -1))
		set(event, more)
		return event
	}
	join := func(event string) nodetest.Answer {
		return w.Call("POST", "/public/events/"+event+"/queue", nodetest.Object{"party": 1}).Is(201, "")
	}
	// closed has a list of one entry, which is closed.
	closed := func() (event string, leaf draw.Hash) {
		event, _ = w.OnSale(nodetest.TypeBody(5, -1)) // on a busy machine this alone takes seconds
		set(event, nodetest.Object{"mode": "arrival", "registersFrom": nodetest.Stamp(0), "opensAt": nodetest.Stamp(5 * time.Second)})
		receipt, err := draw.ParseReceipt(join(event).Str("receipt"))
		require.NoError(w.T, err)
		w.Becomes("200", func() string {
			return fmt.Sprint(w.Call("GET", "/public/events/"+event+"/queue/draw", nil).Status)
		})
		return event, receipt.Leaf
	}
	of := func(event string) request { return naming("id", event) }
	seen := func(r request) request {
		r.open, r.market = true, true
		return r
	}
	return map[string]func() request{
		"getQueue": func() request {
			event := open(nil)
			r := seen(of(event))
			r.query = "ticket=" + join(event).Str("token")
			w.Becomes("1", func() string { return w.Call("GET", "/public/events/"+event+"/queue", nil).Is(200, "").Str("served") })
			return r
		},
		"joinQueue": func() request {
			r := of(open(nodetest.Object{"partyMax": 2})).with(nodetest.Object{"party": 2})
			r.market = true
			return r
		},
		"confirmQueue": func() request {
			if *w.mailRoom == "" { // an organization has few rooms, and each request takes an address of its own
				*w.mailRoom = open(nodetest.Object{"proof": "address"})
			}
			event, who, began := *w.mailRoom, w.email(), time.Now()
			w.Call("POST", "/public/events/"+event+"/queue", nodetest.Object{"email": who}).Is(201, "")
			link := roomLink.FindStringSubmatch(w.Mail(w.T, who, "queue_confirm", began).Text)
			r := of(event).with(nodetest.Object{"token": link[1]})
			r.market = true
			return r
		},
		"watchQueue": func() request { return seen(of(open(nil))) },
		"getDraw": func() request {
			event, _ := closed()
			return seen(of(event))
		},
		"proveQueueEntry": func() request {
			event, leaf := closed()
			r := seen(of(event))
			r.query = "leaf=" + leaf.String()
			return r
		},
		"bringBeacon": func() request {
			event, _ := closed()
			round := w.Call("GET", "/public/events/"+event+"/queue", nil).Is(200, "").Data("rules.beaconRound").(float64)
			beacon := w.Secrets().TestBeacon()
			r := of(event).with(nodetest.Object{"round": round, "signature": hex.EncodeToString(beacon.Sign(uint64(round)))})
			r.market = true
			return r
		},
		"setQueue": func() request {
			return of(w.eventID).with(nodetest.Object{
				"enabled": true, "opensAt": nodetest.Stamp(2 * time.Hour), "registersFrom": nodetest.Stamp(time.Hour), "mode": "draw", "partyMax": 2,
				"proof": "address", "admitPerMinute": 60, "holdMinutes": 5, "voidAfterMinutes": 60,
			})
		},
		"pauseQueue":  func() request { return of(open(nil)) },
		"resumeQueue": func() request { return of(open(nil)) },
		"drainQueue":  func() request { return of(open(nil)) },
	}
}
