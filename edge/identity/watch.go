package identity

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/persistence/panics"
)

// What a proof rests on may change on any node: somebody revokes a key, ends a session or takes a role away. The
// tables note every change, and each node reads these notes every watchEvery. It makes a proof again if the
// proof is older than a change of what it rests on. So a change takes effect on every node within a second. A
// node that could not read the notes for watchTrust does not trust proofs older than watchTrust.
const (
	watchEvery = 400 * time.Millisecond
	watchTrust = time.Second
	watchBack  = 10 * time.Second // how far back a node reads notes, because a note may become visible late
	watchCall  = 2 * time.Second
	touchEvery = 10 * time.Second // how often the last use of keys is written
	pruneEvery = time.Hour
)

// changes holds the subjects (what proofs rest on, such as "session/…" or "key/…") that changed lately, with
// the time at which this node saw each change. Any goroutine may use the map without mu, which guards only
// checked.
type changes struct {
	at      *xsync.Map[string, time.Time]
	mu      sync.Mutex
	checked time.Time // every change that was committed before this has been seen
}

// stillHolds reports whether a proof may still be trusted: nothing that it rests on has changed since, and this
// node has read the notes, or made the proof, lately.
func (h *Handlers) stillHolds(p *proof, now time.Time) bool {
	for _, subject := range p.rests {
		// A change at the same moment as the proof ends it, because their order is unknown.
		if at, changed := h.changes.at.Load(subject); changed && !at.Before(p.at) {
			return false
		}
	}
	h.changes.mu.Lock()
	checked := h.changes.checked
	h.changes.mu.Unlock()
	// A young proof is trusted even if the notes cannot be read, because it was just made from the tables.
	return now.Sub(checked) < watchTrust || now.Sub(p.at) < watchTrust
}

// forgetProofs makes this node drop at once its proofs that rest on a subject. The handler of a change calls it
// so that its own client sees the change in the very next request.
func (h *Handlers) forgetProofs(subject string) { h.changes.at.Store(subject, time.Now()) }

// uses are the last uses of API keys that have not been written yet. Writing each use at once would
// cost a database write at every request.
type uses struct {
	mu   sync.Mutex
	last map[int64]time.Time
}

// note remembers that a key was used. One note a second is enough, because people read these times.
func (u *uses) note(key int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at.Sub(u.last[key]) >= time.Second {
		if u.last == nil {
			u.last = make(map[int64]time.Time)
		}
		u.last[key] = at
	}
}

// take returns the uses that have not been written yet, and forgets them.
func (u *uses) take() map[int64]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.last
	u.last = nil
	return taken
}

// giveBack stores uses again that could not be written, so that the next touch writes them. Uses that were noted
// since are later, so they are kept instead.
func (u *uses) giveBack(last map[int64]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last != nil {
		maps.Copy(last, u.last)
	}
	u.last = last
}

// Watch follows the changes of credentials, writes the last uses of API keys to the table, and deletes rows
// that have ended. It has one goroutine, which ends with Stop.
type Watch struct {
	*Handlers
	seen   map[int64]time.Time // notes that were seen, until they are too old to be read again
	cancel context.CancelFunc
	done   chan struct{}
}

// StartWatch starts the watch. When it returns, the first look at the changes has succeeded or
// failed. Until a look has succeeded, no proof is trusted for longer than watchTrust.
func StartWatch(h *Handlers) *Watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watch{Handlers: h, seen: make(map[int64]time.Time), cancel: cancel, done: make(chan struct{})}
	w.readChanges(ctx)
	go w.run(ctx)
	return w
}

// Stop ends the watch and then writes the uses of keys that were noted last. Uses that are noted
// after Stop are not written.
func (w *Watch) Stop(ctx context.Context) error {
	w.cancel()
	<-w.done
	w.touch(ctx)
	return nil
}

// run does each task when it is due, one at a time, so w.seen needs no lock. If a task panics, run logs it and
// goes on.
func (w *Watch) run(ctx context.Context) {
	defer close(w.done)
	every := func(d time.Duration) *time.Ticker { return time.NewTicker(d) }
	look, touch, prune := every(watchEvery), every(touchEvery), every(pruneEvery)
	defer look.Stop()
	defer touch.Stop()
	defer prune.Stop()
	item := func(do func(context.Context)) {
		panics.Do(w.Log, "watch of credentials", func() { do(ctx) })
	}
	for {
		select {
		case <-look.C:
			item(w.readChanges)
		case <-touch.C:
			item(w.touch)
		case <-prune.C:
			item(w.prune)
		case <-ctx.Done():
			return
		}
	}
}

// readChanges reads the changes of the last seconds (watchBack) and drops the proofs that rest on their
// subjects. It also reads the signing keys again if these have changed. If all of this succeeds, it notes that
// every change before this look has been seen (changes.checked). If something fails, it logs that and leaves the
// note as it was, so that proofs are soon not trusted any more (watchTrust).
func (w *Watch) readChanges(ctx context.Context) {
	// A change that is committed after this moment may not be among the notes, so only changes before it count
	// as seen.
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, watchCall)
	defer cancel()
	notes, err := w.Accounts.Changes(ctx, watchBack)
	if err != nil {
		w.logFailure(ctx, "read changes of credentials", err)
		return
	}
	for _, n := range notes {
		// The span reaches back further than the last look, so most notes come several times.
		if _, known := w.seen[n.ID]; known {
			continue
		}
		if n.Subject == "signing" {
			// The keys are read before the note counts as seen. If they cannot be read, the next look tries again.
			if err := w.reloadSigning(ctx); err != nil {
				w.logFailure(ctx, "read signing keys", err)
				return
			}
		}
		w.seen[n.ID] = began
		w.forgetProofs(n.Subject)
	}
	// Only now do the changes before began count as seen, because the proofs of every subject that was
	// found have been dropped.
	w.changes.mu.Lock()
	w.changes.checked = began
	w.changes.mu.Unlock()
	// A note older than watchBack is not read any more. Its entry is kept longer than that, because clocks may
	// differ.
	maps.DeleteFunc(w.seen, func(_ int64, at time.Time) bool { return began.Sub(at) > 2*watchBack })
	for subject, at := range w.changes.at.All() {
		if began.Sub(at) > proofLife+watchBack { // no proof is that old
			w.changes.at.Delete(subject)
		}
	}
}

// touch writes the last uses of API keys. If that fails, it keeps them for the next time.
func (w *Watch) touch(ctx context.Context) {
	last := w.used.take()
	if len(last) == 0 {
		return
	}
	if err := w.APIKeys.Touch(ctx, last); err != nil {
		w.used.giveBack(last)
		w.logFailure(ctx, "write the last use of API keys", err)
	}
}

// prune deletes rows that nobody can use any more: those of accounts.Store.Prune, counts of mails, and answers
// kept for repeats. All nodes do it; a deletion that another node has done already finds nothing.
func (w *Watch) prune(ctx context.Context) {
	if err := w.Accounts.Prune(ctx); err != nil {
		w.logFailure(ctx, "delete sessions and codes that have ended", err)
	}
	if err := w.Mail.Prune(ctx); err != nil {
		w.logFailure(ctx, "forget counts of mails", err)
	}
	if err := w.Replies.Prune(ctx); err != nil {
		w.logFailure(ctx, "delete old answers", err)
	}
}

// logFailure logs the failure of a task that will run again anyway. A context that was cancelled
// means that the node stops, which is no failure.
func (w *Watch) logFailure(ctx context.Context, what string, err error) {
	if !errors.Is(err, context.Canceled) { // it is cancelled when the node stops
		w.Log.LogAttrs(ctx, slog.LevelWarn, "the watch of credentials failed", slog.String("to", what), slog.Any("error", err))
	}
}
