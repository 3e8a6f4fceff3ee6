package persisttest

import (
	"time"

	"boxoffice/persistence/journal"
)

// memRow is a record on its way into the store, with its claim and with the rows that it needs.
type memRow struct {
	journal.Record
	claim journal.Claim
	needs []*memRow // rows without which it must not get in
}

// run commits entries, one batch after another, until the node ends. The sink gets a batch before
// the entries in it are settled.
func (m *Memory) run() {
	for {
		entries := m.take()
		if len(entries) == 0 {
			m.abandon(nil)
			return
		}
		rows, of, refused := m.formRows(entries)
		fenced, alive := m.commit(rows)
		if !alive {
			m.abandon(entries)
			return
		}
		// The sink has the batch before anybody is answered.
		m.handOver(rows, fenced)
		for i, e := range entries {
			err := refused[i]
			if r := of[i]; r != nil && fenced[r] {
				err = journal.ErrFenced
			}
			e.Owner.Settled(err)
		}
	}
}

// abandon settles these entries, and all that wait behind them, with ErrClosed. After a crash it
// tells nobody, as a dead node would.
func (m *Memory) abandon(entries []*journal.Entry) {
	m.mu.Lock()
	crashed := m.crashed
	m.refusal = journal.ErrClosed
	entries = append(entries, m.ready...)
	m.ready = nil
	m.mu.Unlock()
	for _, e := range entries {
		if !crashed {
			e.Owner.Settled(journal.ErrClosed)
		}
	}
}

// take waits for entries and returns some of the first ones that are ready. The seed decides how
// many, and so where a batch ends. It returns none when the node ends.
func (m *Memory) take() []*journal.Entry {
	for {
		m.mu.Lock()
		if n := len(m.ready); n > 0 {
			m.store.mu.Lock()
			n = 1 + m.store.rng.IntN(n)
			m.store.mu.Unlock()
			entries := m.ready[:n:n]
			m.ready = m.ready[n:]
			m.mu.Unlock()
			return entries
		}
		if m.stopped {
			m.refusal = journal.ErrClosed
		}
		left := m.refusal != nil
		m.mu.Unlock()
		if left {
			return nil
		}
		select {
		case <-m.wake:
		case <-m.dead:
			return nil
		}
	}
}

// formRows merges the entries of each claim into a row. It refuses entries that are known to be fenced, those
// that need a claim which is, and those that don't follow the entries before them.
func (m *Memory) formRows(entries []*journal.Entry) (rows []*memRow, of []*memRow, refused []error) {
	of, refused = make([]*memRow, len(entries)), make([]error, len(entries))
	open := make(map[journal.Claim]*memRow)
	for i, e := range entries {
		// A later claim of the same node fences an earlier one before the store does.
		m.epoch[e.Claim.Stream] = max(m.epoch[e.Claim.Stream], e.Claim.Epoch)
		next := m.next[e.Claim]
		unmet := e.Needs != (journal.Claim{}) && (m.epoch[e.Needs.Stream] != e.Needs.Epoch || m.bad[e.Needs] != nil)
		switch {
		case unmet:
			refused[i], m.bad[e.Claim] = journal.ErrFenced, journal.ErrFenced
			continue
		case m.epoch[e.Claim.Stream] > e.Claim.Epoch || m.bad[e.Claim] != nil:
			refused[i] = journal.ErrFenced
			continue
		case len(e.Facts) > 0 && next != 0 && e.First != next:
			refused[i], m.bad[e.Claim] = journal.ErrOrder, journal.ErrOrder
			continue
		}
		r := open[e.Claim]
		of[i] = r
		// An entry without facts is a barrier. It is settled together with the entries before it,
		// if these are in this batch.
		if len(e.Facts) == 0 {
			continue
		}
		if r == nil {
			r = &memRow{claim: e.Claim, Record: journal.Record{
				Ref: e.Ref, Stream: e.Claim.Stream, Epoch: e.Claim.Epoch, First: e.First,
			}}
			open[e.Claim], of[i] = r, r
			rows = append(rows, r)
		}
		r.Facts, r.Bytes = append(r.Facts, e.Facts...), append(r.Bytes, e.Bytes...)
		r.Last = e.First + int64(len(e.Facts)) - 1
		// Only a row of this batch can still fail: what an earlier batch wrote is there.
		if on := open[e.Needs]; on != nil {
			r.needs = append(r.needs, on)
		}
		m.next[e.Claim] = r.Last + 1
	}
	return rows, of, refused
}

// commit sends the rows until it hears their outcome. alive is false if the node dies before that.
func (m *Memory) commit(rows []*memRow) (fenced map[*memRow]bool, alive bool) {
	if len(rows) == 0 {
		return nil, true
	}
	for again := false; ; again = true {
		fate, delay := m.store.draw()
		if fate == heard || fate == unheard {
			m.store.claimNowAndThen(rows)
		}
		if !m.wait(delay) {
			// The attempt had left already when the node died.
			if fate == unheard {
				m.store.insert(rows, again)
			}
			return nil, false
		}
		switch fate {
		case heard:
			fenced, ok := m.store.insert(rows, again)
			// Only a mistake of the lane can write the same facts twice.
			if !ok {
				panic("persisttest: facts already there under our own epoch")
			}
			return fenced, true
		case unheard:
			m.store.insert(rows, again)
		case lost:
		case late:
			_, delay := m.store.draw()
			m.wg.Go(func() {
				<-time.After(delay)
				m.store.insert(rows, again)
			})
		}
	}
}

// wait waits for a time, or until the node dies.
func (m *Memory) wait(d time.Duration) (alive bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-m.dead:
		return false
	}
}

// handOver gives the sink a batch of the rows that got in, if there are any, and notes that the claims of the
// others are spent.
func (m *Memory) handOver(rows []*memRow, fenced map[*memRow]bool) {
	b := &journal.Batch{Writer: m.writer, Seq: m.seq + 1}
	for _, r := range rows {
		if fenced[r] {
			m.bad[r.claim] = journal.ErrFenced
		} else {
			b.Records = append(b.Records, r.Record)
		}
	}
	if len(b.Records) == 0 {
		return
	}
	m.seq++
	if m.sink != nil {
		m.sink(b)
	}
}
