package openloop

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// grace is how long after the end of the window an answer still counts as
// achieved.
const grace = time.Second

// sample is one step that was carried out. Times are since the start of the
// run.
type sample struct {
	op                   Op
	status               int16
	code                 string
	intended, sent, done time.Duration
}

// failed is an answer that no client wants: none at all, or the server's fault.
func (s *sample) failed() bool { return s.status == 0 || s.status >= 500 }

// shard is where some of the workers leave their samples until the collector
// takes them, so that a worker never waits for a histogram.
type shard struct {
	mu      sync.Mutex
	samples []sample
	_       [64]byte // keep neighbours off this cache line
}

// recorder turns samples into statistics, once a second.
type recorder struct {
	shards [8]shard
	window atomic.Int64 // nanoseconds; shorter once the arrivals were stopped

	// The collector's own; read by finish after it has stopped.
	onSecond func(Second)
	warm     time.Duration
	names    []string
	ops      []opRecord
	all      opRecord
	lag      *hdrhistogram.Histogram
	errors   map[ErrorKey]int64
	offered  []int64 // how many steps were due, by second of the intended time
	inWindow int64
	achieved int64
	seconds  []Second
	// The slice that the collector swaps for a shard's full one, so that no new memory is needed each second.
	spare []sample
	// Of the running second only.
	corrected, service, lagNow *hdrhistogram.Histogram
}

// opRecord is what is kept of one operation.
type opRecord struct {
	count, failed      int64
	corrected, service *hdrhistogram.Histogram // microseconds
}

// newOpRecord makes an empty record.
func newOpRecord() opRecord {
	return opRecord{corrected: newHistogram(), service: newHistogram()}
}

// newHistogram counts microseconds up to a minute with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
}

// observeClamped clamps, because a lost observation would be the worst one.
func observeClamped(h *hdrhistogram.Histogram, d time.Duration) {
	us := min(max(d.Microseconds(), 1), h.HighestTrackableValue())
	_ = h.RecordValue(us) // cannot fail within the bounds
}

// newRecorder makes a recorder. window is the time of the schedule, in which the offered and the achieved rate are
// counted.
func newRecorder(cfg Config, window time.Duration) *recorder {
	r := &recorder{
		onSecond: cfg.OnSecond, warm: cfg.Warm, names: cfg.Ops, all: newOpRecord(), lag: newHistogram(),
		errors:    make(map[ErrorKey]int64),
		corrected: newHistogram(), service: newHistogram(), lagNow: newHistogram(),
	}
	r.window.Store(int64(window))
	for range cfg.Ops {
		r.ops = append(r.ops, newOpRecord())
	}
	return r
}

// add is called by workers; id spreads them over the shards.
func (r *recorder) add(id int, s sample) {
	sh := &r.shards[id%len(r.shards)]
	sh.mu.Lock()
	sh.samples = append(sh.samples, s)
	sh.mu.Unlock()
}

// collectSamples merges the samples every second until stop is closed, and once more
// then.
func (r *recorder) collectSamples(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.endSecond()
		case <-stop:
			r.endSecond()
			return
		}
	}
}

// endSecond merges what the workers have recorded since the last second, and tells the caller of the second.
func (r *recorder) endSecond() {
	now := Second{At: len(r.seconds)}
	r.corrected.Reset()
	r.service.Reset()
	r.lagNow.Reset()
	for i := range r.shards {
		sh := &r.shards[i]
		sh.mu.Lock()
		// The swap takes a moment only. The samples are counted without the lock.
		r.spare, sh.samples = sh.samples, r.spare[:0]
		sh.mu.Unlock()
		for j := range r.spare {
			r.count(&r.spare[j], &now)
		}
	}
	now.P50 = millis(r.corrected.ValueAtQuantile(50))
	now.P99 = millis(r.corrected.ValueAtQuantile(99))
	now.Max = millis(r.corrected.Max())
	now.ServiceP99 = millis(r.service.ValueAtQuantile(99))
	now.LagP99 = millis(r.lagNow.ValueAtQuantile(99))
	r.seconds = append(r.seconds, now)
	if r.onSecond != nil {
		r.onSecond(now)
	}
}

// count takes one sample into every statistic.
func (r *recorder) count(s *sample, now *Second) {
	corrected, service, lag := s.done-s.intended, s.done-s.sent, s.sent-s.intended
	for _, op := range []*opRecord{&r.ops[s.op], &r.all} {
		op.count++
		if s.failed() {
			op.failed++
		}
		if s.intended >= r.warm {
			observeClamped(op.corrected, corrected)
			observeClamped(op.service, service)
		}
	}
	observeClamped(r.corrected, corrected)
	observeClamped(r.service, service)
	observeClamped(r.lagNow, lag)
	now.Done++
	if s.failed() {
		now.Failed++
	}
	if s.code != "" {
		r.errors[ErrorKey{r.names[s.op], int(s.status), s.code}]++
	}
	r.countOffered(s.intended)
	// Steps of the drain count for the latencies, and not for the rates.
	if window := time.Duration(r.window.Load()); s.intended <= window {
		if s.intended >= r.warm {
			observeClamped(r.lag, lag)
		}
		r.inWindow++
		if s.status != 0 && s.done <= window+grace {
			r.achieved++
		}
	}
}

// countOffered counts a step in the second in which it should have been sent.
func (r *recorder) countOffered(intended time.Duration) {
	at := int(intended / time.Second)
	for len(r.offered) <= at {
		r.offered = append(r.offered, 0)
	}
	r.offered[at]++
}

// closeBooks closes the books after the collector has stopped. unsent are the
// intended times of steps that were due within the window and never sent.
func (r *recorder) closeBooks(unsent []time.Duration, dropped int64) *Stats {
	window := time.Duration(r.window.Load())
	for _, at := range unsent {
		r.countOffered(at)
	}
	// Load that was due and never sent is load that the service did not take, so it lowers the share that was
	// achieved.
	offered := r.inWindow + int64(len(unsent)) + dropped
	for i := range r.seconds {
		if i < len(r.offered) {
			r.seconds[i].Offered = r.offered[i]
		}
	}
	st := &Stats{
		Window: window, Offered: offered, Achieved: r.achieved, Unsent: int64(len(unsent)), Dropped: dropped,
		All: r.all.stats("all"), Lag: PercentilesOf(r.lag), Seconds: r.seconds, Errors: r.errors,
	}
	for i, op := range r.ops {
		if op.count > 0 {
			st.Ops = append(st.Ops, op.stats(r.names[i]))
		}
	}
	return st
}

func (o *opRecord) stats(name string) OpStats {
	return OpStats{
		Op: name, Count: o.count, Failed: o.failed,
		Corrected: PercentilesOf(o.corrected), Service: PercentilesOf(o.service),
	}
}
