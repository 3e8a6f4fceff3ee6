package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	kafkago "github.com/segmentio/kafka-go"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/panics"
)

const (
	fetchBytes  = 256 << 10 // largest answer in bytes, compressed; a single larger batch comes all the same
	fetchWait   = 500 * time.Millisecond
	fetchWithin = 10 * time.Second
	applyWithin = 30 * time.Second
	maxApply    = 4_000                  // facts in one transaction
	lookUp      = 100 * time.Millisecond // how often a partition that rests after a transaction asks whether it still has to (Config.Busy)
)

// errMoved says that the saved position is not where this member left it.
var errMoved = errors.New("kafka: position moved by another member")

// partition follows one of the topic's partitions, while the consumer group gives it to this member (a generation).
type partition struct {
	c      *Consumer
	number int
	next   int64 // the offset to read from
	atOnce int   // how many facts the next transaction takes at most
}

// run reads and applies until the generation ends. After any error it starts again from the saved
// position, one fact at a time until that goes well. So everything before a fact that fails is
// applied, and nothing after it.
func (p *partition) run(ctx context.Context) {
	p.atOnce = p.c.cfg.MaxBatch
	wait := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := panics.Catch(p.c.cfg.Log, "kafka consumer "+p.c.cfg.Name, func() error { return p.followTopic(ctx) })
		if ctx.Err() != nil {
			return
		}
		// After a while without an error, an error has a new cause, so the pauses begin short again.
		if time.Since(began) > longPause {
			wait = firstPause
		}
		p.c.noteFailure("follow", err, slog.Int("partition", p.number), slog.Duration("pause", wait))
		// One fact at a time, so that all facts before the bad one get through.
		p.atOnce = 1
		pause(ctx, wait)
		wait = min(2*wait, longPause)
	}
}

// followTopic reads and applies, from the saved position on, until an error or until the generation ends. Between
// reads it makes the attempts that somebody asked for (tellAgain). If the messages at its position are gone, it
// goes on with the first one that there is.
func (p *partition) followTopic(ctx context.Context) error {
	if err := p.readPosition(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := p.tellAgain(ctx); err != nil {
			return err
		}
		facts, err := p.fetchFacts(ctx)
		if errors.Is(err, kafkago.OffsetOutOfRange) {
			err = p.goToFirst(ctx)
		}
		if err != nil {
			return err
		}
		// As long as it goes well, each transaction may take twice as many facts as the one before, up to
		// MaxBatch.
		for len(facts) > 0 {
			n := min(len(facts), p.atOnce)
			if err := p.applyFacts(ctx, facts[:n]); err != nil {
				return err
			}
			facts, p.atOnce = facts[n:], min(2*p.atOnce, p.c.cfg.MaxBatch)
		}
	}
	return ctx.Err()
}

// readPosition reads the partition's saved position. For a partition that has none it saves the position 0.
func (p *partition) readPosition(ctx context.Context) error {
	const start = `INSERT INTO kafka_positions (consumer, topic, part, next) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`
	const saved = `SELECT next FROM kafka_positions WHERE consumer = $1 AND topic = $2 AND part = $3`
	ctx, cancel := context.WithTimeout(ctx, applyWithin)
	defer cancel()
	err := p.c.cfg.Pool.QueryRow(ctx, saved, p.c.cfg.Name, p.c.link.cfg.Topic, p.number).Scan(&p.next)
	if errors.Is(err, pgx.ErrNoRows) {
		p.next = 0
		_, err = p.c.cfg.Pool.Exec(ctx, start, p.c.cfg.Name, p.c.link.cfg.Topic, p.number)
	}
	if err != nil {
		return fmt.Errorf("kafka: read position: %w", err)
	}
	return nil
}

// fetchFacts waits for messages and reads one answer of Kafka's, which may have none. Foreign messages are
// among them, marked as not ours. If a message can't be read, it returns those before it or, if there are none,
// the error.
func (p *partition) fetchFacts(ctx context.Context) ([]incoming, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	answer, err := p.c.link.client.Fetch(ctx, &kafkago.FetchRequest{
		Topic: p.c.link.cfg.Topic, Partition: p.number, Offset: p.next, MinBytes: 1, MaxBytes: fetchBytes, MaxWait: fetchWait,
	})
	if err == nil {
		err = answer.Error
	}
	if err != nil {
		return nil, fmt.Errorf("kafka: read: %w", err)
	}
	p.noteLag(answer.HighWatermark)
	var facts []incoming
	for {
		r, err := answer.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		var f incoming
		if err == nil {
			f, err = parse(r)
		}
		if errors.Is(err, errForeign) { // anybody who may write to the topic must not be able to stop us
			p.c.noteStrange(p.number, err)
			err = nil
		}
		if err != nil && len(facts) > 0 {
			break // first apply what comes before it
		}
		if err != nil {
			return nil, fmt.Errorf("kafka: read: %w", err)
		}
		if f.offset >= p.next { // earlier ones are in the same batch
			facts = append(facts, f)
		}
	}
	if len(facts) == 0 && p.next < answer.HighWatermark {
		return nil, fmt.Errorf("kafka: nothing readable from offset %d on, of %d", p.next, answer.HighWatermark)
	}
	return facts, nil
}

// noteLag notes how many messages of the partition are left.
func (p *partition) noteLag(end int64) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.behind[p.number] = max(0, end-p.next)
}

// begin opens a transaction that does not wait for the disk, because what a crash loses is read
// again.
var begin = pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL synchronous_commit = off"}

// applyFacts waits for this partition's turn, applies the facts and moves the position past them. Then it rests
// if the consumer has to yield.
func (p *partition) applyFacts(ctx context.Context, facts []incoming) error {
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.c.endTurn()
	began := time.Now()
	upto := facts[len(facts)-1].offset + 1
	if err := p.commitFacts(ctx, facts, upto); err != nil {
		return fmt.Errorf("kafka: apply offsets %d to %d: %w", p.next, upto-1, err)
	}
	p.next = upto
	// The rest takes up to Yield times as long as applying took, so that a slow database gets long rests.
	rest := time.Duration(p.c.cfg.Yield) * time.Since(began)
	for until := time.Now().Add(rest); rest > 0 && ctx.Err() == nil && p.c.cfg.Busy(); rest = time.Until(until) {
		pause(ctx, min(rest, lookUp))
	}
	return nil
}

// commitFacts applies facts and saves upto as the position, in one transaction.
func (p *partition) commitFacts(ctx context.Context, facts []incoming, upto int64) error {
	return follower.Transact(ctx, p.begin, applyWithin, func(ctx context.Context, tx pgx.Tx) error {
		if err := p.savePosition(ctx, tx, upto); err != nil {
			return err
		}
		if batches := joinBatches(facts); len(batches) > 0 {
			return p.c.cfg.Apply(ctx, tx, batches)
		}
		return nil
	})
}

// begin opens a transaction of the pool.
func (p *partition) begin(ctx context.Context) (pgx.Tx, error) {
	return p.c.cfg.Pool.BeginTx(ctx, begin)
}

// tellAgain waits for this partition's turn, and lets the consumer's digesters make the attempts that somebody
// asked for.
func (p *partition) tellAgain(ctx context.Context) error {
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.c.endTurn()
	for _, d := range p.c.cfg.Digesters {
		if err := d.Tend(ctx, p.c.cfg.Past, p.begin, applyWithin); err != nil {
			return err
		}
	}
	return nil
}

// takeTurn waits until no other partition has a transaction open.
func (p *partition) takeTurn(ctx context.Context) error {
	select {
	case p.c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endTurn lets another partition have its transaction.
func (c *Consumer) endTurn() { <-c.turn }

// savePosition saves the position, if the saved one is still where this member left it.
func (p *partition) savePosition(ctx context.Context, tx pgx.Tx, to int64) error {
	const save = `UPDATE kafka_positions SET next = $5 WHERE consumer = $1 AND topic = $2 AND part = $3 AND next = $4`
	tag, err := tx.Exec(ctx, save, p.c.cfg.Name, p.c.link.cfg.Topic, p.number, p.next, to)
	if err != nil {
		return fmt.Errorf("kafka: save position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errMoved
	}
	return nil
}

// goToFirst moves the saved position to the first message that there is, and logs an error. Earlier messages were
// deleted before they were read, or the topic is a different one. follower.Once finds out whether facts are missing
// now.
func (p *partition) goToFirst(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, applyWithin)
	defer cancel()
	topic := p.c.link.cfg.Topic
	answer, err := p.c.link.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{topic: {kafkago.FirstOffsetOf(p.number)}},
	})
	if err != nil {
		return fmt.Errorf("kafka: first offset: %w", err)
	}
	for _, o := range answer.Topics[topic] {
		if o.Error != nil {
			return fmt.Errorf("kafka: first offset: %w", o.Error)
		}
		p.c.cfg.Log.Error("kafka has deleted what was not read", slog.Int("partition", p.number),
			slog.Int64("position", p.next), slog.Int64("first", o.FirstOffset))
		if err := pgx.BeginFunc(ctx, p.c.cfg.Pool, func(tx pgx.Tx) error { return p.savePosition(ctx, tx, o.FirstOffset) }); err != nil {
			return err
		}
		p.next = o.FirstOffset
	}
	return nil
}
