// Package readmodel has the tables that lists, searches and look-ups of ended orders read. They are built from
// the journal's facts.
//
// It owns the tables events, search_words, ticket_types, orders, tickets, payments and refunds
// (migrate/002_readmodel.sql and later files), wallets and wallet_entries (006_wallets.sql), promo_codes and
// ticket_holders (031_learners.sql). One follower writes them, through Writer; edge reads them through Model,
// by which the sweep also notes when it looks at payments and refunds again.
// They lag behind the sale, which never waits for them: a caller that must see its own write waits for the
// follower to pass it. Everything can be built again from the facts (Clear, then start the follower).
//
// An order's row has its record in CBOR and the columns that lists filter by. order.Fold, which the actor
// uses too, makes the record from facts. No fact should fail here: text that Postgres refuses is cleaned, and
// slugs are not unique. A fact that fails all the same is set aside (NewDigester). When somebody asks for
// another attempt, all rows of its stream are deleted and made again, so that nothing older overwrites what
// later facts have left.
package readmodel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/order"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// Follower is the name of the follower that writes the read model.
const Follower = "readmodel"

// NewDigester makes the part of this follower that applies batches, and that sets aside facts that fail.
func NewDigester(log *slog.Logger) *follower.Digester {
	return follower.NewDigester(Follower, log, NewWriter().Apply, Forget)
}

// ErrNotFound says that the read model has no such thing, or not yet.
var ErrNotFound = errors.New("readmodel: not found")

// Model reads the read model, and keeps the sweep's notes in it (CheckPayment, ClaimRefund, CheckRefund,
// RetryRefund).
type Model struct{ pool *pgxpool.Pool }

// New makes a Model that reads through a pool.
func New(pool *pgxpool.Pool) *Model { return &Model{pool: pool} }

// Clear empties the read model and forgets its follower's position, so that the
// follower's next start builds everything again. No follower may be running, and the journal
// must have all days.
func Clear(ctx context.Context, pool *pgxpool.Pool, from *journal.Reader) error {
	dropped, err := from.IsBeheaded(ctx, 0)
	if err != nil {
		return fmt.Errorf("readmodel: clear: %w", err)
	}
	// What was dropped could not be built again.
	if dropped {
		return errors.New("readmodel: clear: days of the journal have been dropped")
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		const tables = `TRUNCATE events, search_words, ticket_types, orders, tickets, ticket_holders, payments, refunds, wallets, wallet_entries, promo_codes`
		if _, err := tx.Exec(ctx, tables); err != nil {
			return err
		}
		// Streams that were set aside are forgotten too: they are applied again with all others.
		if _, err := tx.Exec(ctx, `DELETE FROM set_aside WHERE follower = $1`, Follower); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM followers WHERE name = $1`, Follower)
		return err
	})
	if err != nil {
		return fmt.Errorf("readmodel: clear: %w", err)
	}
	return nil
}

// orderStatuses numbers the statuses in orders.status. Append only.
var orderStatuses = []string{
	order.StatusPending, order.StatusProcessing, order.StatusCompleted, order.StatusFailed,
	order.StatusCancelled, order.StatusExpired, order.StatusRefunded, order.StatusPartiallyRefunded,
}

// SoldStatuses returns the numbers, in orders.status, of the statuses of orders that have tickets. One of them,
// refunded, also occurs with orders that were paid too late and have no tickets.
func SoldStatuses() []int16 {
	return []int16{statusNumber(order.StatusCompleted), statusNumber(order.StatusPartiallyRefunded), statusNumber(order.StatusRefunded)}
}

// ticketStatuses numbers the statuses in tickets.status. Append only.
var ticketStatuses = []string{"issued", "checked_in", "cancelled", "refunded"}

// TicketStatus returns the status that a number in the tickets' rows stands for.
func TicketStatus(number int16) string { return ticketStatuses[number] }

// TicketStatusNumbers returns the numbers that stand for statuses in the tickets' rows.
func TicketStatusNumbers(statuses ...string) []int16 {
	numbers := make([]int16, len(statuses))
	for i, s := range statuses {
		numbers[i] = int16(slices.Index(ticketStatuses, s))
	}
	return numbers
}

const (
	ticketIssued    = 0
	ticketCheckedIn = 1
	ticketRefunded  = 3
)

// moment returns unix milliseconds as a parameter of a query. 0 is NULL.
func moment(millis int64) *time.Time {
	if millis == 0 {
		return nil
	}
	t := time.UnixMilli(millis)
	return &t
}

// millis does the opposite of moment.
func millis(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMilli()
}

// text returns s in a form that a text column accepts: Postgres refuses invalid UTF-8 and the byte 0.
func text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// maxKey is how many bytes of a text an indexed column gets. An index row has a limit of about 2,700 bytes.
const maxKey = 500

// key returns s in a form that an indexed text column accepts. It cuts long texts, so a lookup must use it too.
func key(s string) string {
	if len(s) > maxKey {
		s = s[:maxKey]
	}
	return text(s)
}

// noRowsToNotFound turns the error of a query without a row into ErrNotFound.
func noRowsToNotFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
