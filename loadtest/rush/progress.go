package rush

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"boxoffice/loadtest/openloop"
)

// plainEvery is how many seconds lie between two plain lines of progress.
const plainEvery = 5

// Progress shows a run as it goes: a bar on a terminal, or else a line now and then. One goroutine
// calls ShowSecond once a second.
type Progress struct {
	out   io.Writer
	total int // how many seconds the run lasts
	count *counters

	bars *mpb.Progress // nil: plain lines are printed
	bar  *mpb.Bar
	last atomic.Pointer[string]
	sum  openloop.Second // what has come since the last plain line
}

// NewProgress shows a run that lasts d. The caller must call End.
func NewProgress(out io.Writer, plain bool, d time.Duration, count *counters) *Progress {
	p := &Progress{out: out, total: int(d.Seconds()), count: count}
	empty := ""
	p.last.Store(&empty)
	if plain || !isTerminal(out) {
		return p
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	p.bar = p.bars.AddBar(int64(p.total),
		mpb.PrependDecorators(decor.Elapsed(decor.ET_STYLE_MMSS)),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return *p.last.Load() })))
	return p
}

// isTerminal reports whether out is a character device, such as a terminal.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// ShowSecond shows what one second brought.
func (p *Progress) ShowSecond(s openloop.Second) {
	if p.bar != nil {
		line := p.formatSecond(s, 1)
		p.last.Store(&line)
		// The bar stops one second before its end while buyers finish. A bar that is complete can't be changed any
		// more.
		p.bar.SetCurrent(min(int64(s.At+1), int64(p.total-1)))
		return
	}
	p.sum.Done += s.Done
	p.sum.Failed += s.Failed
	// Percentiles of several seconds can't be added up, so a line shows the worst second.
	p.sum.P50, p.sum.P99 = max(p.sum.P50, s.P50), max(p.sum.P99, s.P99)
	if (s.At+1)%plainEvery == 0 {
		fmt.Fprintf(p.out, "%4d s %s\n", s.At+1, p.formatSecond(p.sum, plainEvery))
		p.sum = openloop.Second{}
	}
}

// formatSecond writes what some seconds brought: the rate of requests in them, and the orders since the beginning
// of the run.
func (p *Progress) formatSecond(s openloop.Second, seconds int64) string {
	return fmt.Sprintf("%6d req/s  p50 %.1f ms  p99 %.1f ms  failed %d  orders %d, paid %d, refused %d",
		s.Done/seconds, s.P50, s.P99, s.Failed,
		p.count.Placed.Load(), p.count.Paid.Load()+p.count.Free.Load(), p.count.Refused.Load())
}

// End takes the bar to its end and waits until it is drawn.
func (p *Progress) End() {
	if p.bars != nil {
		p.bar.SetTotal(int64(p.total), true)
		p.bars.Wait()
	}
}
