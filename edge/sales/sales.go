// Package sales is the area of buying: orders and their payments, tickets that an
// organization issues, and the seats that shoppers hold.
package sales

import (
	"context"
	"log/slog"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster"
	"boxoffice/edge/letters"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/disputes"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/receipts"
)

// Deps is what the handlers work with.
type Deps struct {
	Node      *cluster.Node
	Read      *readmodel.Model
	Orders    *orders.Desk
	Attendees *attendees.Store
	Settled   func(context.Context) error // waits until the read model has everything that is committed
	Known     *live.Events
	Pages     *live.Pages
	Feed      *live.Feed
	Letters   *letters.Writer
	Gateways  *payments.Gateways
	Notices   *notices.Store
	Receipts  *receipts.Store
	Disputes  *disputes.Store
	Accounts  *accounts.Store
	Secrets   *secrets.Master
	// Admit refuses an order, or a hold of seats (with an empty buyer), that a waiting room has not admitted
	// (rooms.Handlers.Admit). late says that the order's admission has run out, and that the order may repeat an
	// earlier one. If it does not, the caller must call CountLate, which counts the refusal.
	Admit     func(c *route.Call, org, number int64, admission, buyer string) (late bool, err error)
	CountLate func()
	// NoteOrder counts how long the decision about an order took. Waiting rooms adjust their rates by it.
	NoteOrder func(took time.Duration)
	// NudgeRefunds makes the sweep of refunds soon send the money that an order gives back (refunds.Handlers).
	NudgeRefunds func(*order.Order)
	BaseURL      string         // how people reach the service
	Env          string         // live or test
	Guesses      *limit.Guesses // limits guesses of promo codes, extensions of orders, and orders that wait for transfers
	// LimitsScale multiplies every velocity rule.
	LimitsScale float64
	Log         *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct {
	Deps
	begins *xsync.Map[beginning, chan struct{}] // the attempts that are being opened; a channel is closed when the opening has ended
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{Deps: d, begins: xsync.NewMap[beginning, chan struct{}]()}
}
