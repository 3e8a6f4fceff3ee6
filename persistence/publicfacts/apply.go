package publicfacts

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
)

// Apply publishes the public facts about the batches, within the transaction that moves the caller's position.
// It waits until the read model has passed the batches, or ctx ends.
func (s *Store) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	if err := readmodel.AwaitPassed(ctx, tx, batches); err != nil {
		return err
	}
	sources, err := s.listSources(batches)
	if err != nil || len(sources) == 0 {
		return err
	}
	if err := s.addRecords(ctx, tx, sources); err != nil {
		return err
	}
	facts, err := s.makeFacts(ctx, sources)
	if err != nil || len(facts) == 0 {
		return err
	}
	return s.add(ctx, tx, facts)
}

// add stores facts and calls the sinks.
func (s *Store) add(ctx context.Context, tx pgx.Tx, facts []Fact) error {
	if err := s.insert(ctx, tx, facts); err != nil {
		return err
	}
	for _, sink := range s.sinks {
		if err := sink(ctx, tx, facts); err != nil {
			return err
		}
	}
	return nil
}

// listSources returns those facts of the batches about which something may be published.
func (s *Store) listSources(batches []journal.Batch) ([]Enriched, error) {
	var all []Enriched
	for i := range batches {
		for j := range batches[i].Records {
			var err error
			if all, err = s.appendSources(all, &batches[i].Records[j]); err != nil {
				return nil, fmt.Errorf("told: batch %d of writer %d: %w", batches[i].Seq, batches[i].Writer, err)
			}
		}
	}
	return all, nil
}

// appendSources appends those facts of one record that the catalogue covers, without the records that they are about.
func (s *Store) appendSources(all []Enriched, r *journal.Record) ([]Enriched, error) {
	covered := func(t engine.FactType) bool { return s.catalogue.Covers(r.Ref.Kind, t) }
	for f, err := range follower.Select(r, covered) {
		if err != nil {
			return nil, err
		}
		all = append(all, Enriched{Ref: r.Ref, Stream: r.Stream, Seq: f.Seq, Fact: f.Fact})
	}
	return all, nil
}

// addRecords adds to the facts the records that they are about, as the read model has them in this transaction. An event
// that was removed is read from the journal. A record that is missing is an error, except the ticket of a denied scan.
func (s *Store) addRecords(ctx context.Context, tx pgx.Tx, sources []Enriched) error {
	l := readmodel.NewLookup()
	for i := range sources {
		wantRecord(l, &sources[i])
	}
	if err := l.Read(ctx, tx); err != nil {
		return err
	}
	for number, e := range l.Events {
		if e != nil {
			continue
		}
		removed, err := s.removedEvent(ctx, number)
		if err != nil {
			return err
		}
		l.Events[number] = removed
	}
	for i := range sources {
		if err := takeRecords(l, &sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// orderOf returns the order that a fact is about. ok is false if there is none, or if the fact
// contains it.
func orderOf(f engine.Fact) (id engine.OrderID, ok bool) {
	if _, created := f.(*order.Created); created {
		return id, false
	}
	of, ok := f.(order.Fact)
	if ok {
		id = of.OrderID()
	}
	return id, ok
}

// ticketOf returns the serial of the ticket that a scan was about, or 0 if there is none. A denied
// scan may name a ticket that does not exist.
func ticketOf(f engine.Fact) uint32 {
	switch f := f.(type) {
	case *admission.CheckedIn:
		return f.Ticket
	case *admission.CheckInDenied:
		return f.Ticket
	}
	return 0
}

// wantRecord adds what a fact is about to a look-up.
func wantRecord(l *readmodel.Lookup, s *Enriched) {
	l.Events[s.Ref.Home] = nil
	if s.Ref.Kind == engine.KindInventory {
		l.Types[s.Ref.ID] = nil
	}
	if id, ok := orderOf(s.Fact); ok {
		l.Orders[id] = nil
	}
	if serial := ticketOf(s.Fact); serial != 0 {
		l.Tickets[readmodel.TicketKey{Event: s.Ref.ID, Serial: serial}] = nil
	}
}

// takeRecords gives a fact the records that were looked up. The fact is folded into its order, and an
// order.Created brings its own order. A record that is missing is an error, except the ticket of a denied scan.
func takeRecords(l *readmodel.Lookup, s *Enriched) error {
	missing := func(what any) error {
		return fmt.Errorf("told: the read model lacks %v, of which fact %d of %s tells", what, s.Seq, s.Ref.Name())
	}
	if s.Event = l.Events[s.Ref.Home]; s.Event == nil {
		return missing("the event")
	}
	if id, ok := orderOf(s.Fact); ok {
		o := l.Orders[id]
		if o == nil {
			return missing(id)
		}
		s.Order = order.Fold(o, s.Fact)
	} else if f, ok := s.Fact.(*order.Created); ok {
		s.Order = f.Order
	}
	s.Ticket = l.Tickets[readmodel.TicketKey{Event: s.Ref.ID, Serial: ticketOf(s.Fact)}]
	if _, ok := s.Fact.(*admission.CheckedIn); ok && s.Ticket == nil {
		return missing("the ticket")
	}
	if s.Ref.Kind == engine.KindInventory {
		if s.Type = l.Types[s.Ref.ID]; s.Type == nil {
			return missing(inventory.TypeID(s.Ref))
		}
	}
	return nil
}

// removedEvent returns an event that the read model no longer has, as it was when it was removed.
// It was a draft that sold nothing, so its stream is short.
func (s *Store) removedEvent(ctx context.Context, number int64) (*event.Record, error) {
	name := engine.EventRef(number).Name()
	records, err := s.journal.Facts(ctx, []string{name}, math.MaxInt64)
	if err != nil { // no fact is to blame
		return nil, fmt.Errorf("%w: told: read event %d: %w", follower.ErrAgain, number, err)
	}
	e := &event.Record{Number: number}
	for _, b := range records[name] {
		facts, err := codec.Facts(engine.KindEvent, b)
		if err != nil {
			return nil, fmt.Errorf("told: read event %d: %w", number, err)
		}
		for _, f := range facts {
			switch f := f.(type) {
			case *event.Created:
				e.Details, e.Status, e.CreatedAt, e.UpdatedAt = f.Details, event.StatusDraft, f.At, f.At
			case *event.Updated:
				e.Details, e.UpdatedAt = f.Details, f.At
			case *event.Moved:
				e.Status, e.UpdatedAt = f.To, f.At
			}
		}
	}
	if e.Details == nil {
		return nil, fmt.Errorf("told: event %d was never created", number)
	}
	return e, nil
}

// makeFacts makes the public facts, in the order of the journal's facts.
func (s *Store) makeFacts(ctx context.Context, sources []Enriched) ([]Fact, error) {
	facts := make([]Fact, 0, len(sources))
	for i := range sources {
		src := &sources[i]
		tellings, err := s.catalogue.Build(ctx, src)
		if err != nil {
			return nil, fmt.Errorf("told: fact %d of %s: %w", src.Seq, src.Ref.Name(), err)
		}
		nth := make(map[string]int, 2)
		for _, t := range tellings {
			facts = append(facts, Fact{
				ID: ID(src.Stream, src.Seq, t.Type, nth[t.Type]), Org: src.Event.Details.Org, Type: t.Type,
				Stream: src.Stream, Aggregate: src.Ref.Name(), Seq: src.Seq, At: t.At, Data: t.Data,
			})
			nth[t.Type]++
		}
	}
	return facts, nil
}

// insert writes the facts, and gives them their positions. Unlike other writes of followers, these
// wait for the disk. If a server lost facts that somebody has read, it would give their places in
// the feed to other facts.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, facts []Fact) error {
	if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = on`); err != nil {
		return fmt.Errorf("told: %w", err)
	}
	rows, _ := tx.Query(ctx, `SELECT nextval('facts_position_seq') FROM generate_series(1, $1)`, len(facts)) // CollectRows returns its error
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("told: %w", err)
	}
	columns := []string{"position", "org", "stream", "seq", "at", "id", "type", "aggregate", "data"}
	// The rows are made before they are copied, because CopyFrom asks for them on a goroutine of
	// its own, where a panic would end the process.
	copied := make([][]any, len(facts))
	for i := range facts {
		f := &facts[i]
		f.Position = positions[i]
		copied[i] = []any{f.Position, f.Org, f.Stream, f.Seq, f.At, f.ID, f.Type, f.Aggregate, s.vault.Seal(label, []byte(f.ID), f.Data)}
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"facts"}, columns, pgx.CopyFromRows(copied))
	if err != nil {
		return fmt.Errorf("told: insert: %w", err)
	}
	return nil
}
