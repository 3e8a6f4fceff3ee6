package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"boxoffice/loadtest/openloop"
)

// Text is the report as tables for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s, %s\n", r.Title, r.Target, r.Started.Format(time.RFC3339))
	fmt.Fprintf(&b, "%s, %d cores, %s, Linux %s; generator %s\n\n",
		r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Kernel, r.Version)
	fmt.Fprintf(&b, "Requests: offered %d (%.0f/s), achieved %d (%.0f/s) in %.0f s; unsent %d, dropped %d\n",
		r.Offered, r.OfferedRate, r.Achieved, r.AchievedRate, r.WindowSeconds, r.Unsent, r.Dropped)
	for _, why := range r.Invalid {
		fmt.Fprintf(&b, "INVALID: %s\n", why)
	}
	b.WriteByte('\n')
	// The sections stand in the same order as on the page. One that has only a heading is left out.
	for _, section := range []func() [][]string{
		r.latencyRows, r.errorRows, r.orderRows, r.cpuRows, r.outageRows, r.injuryRows, r.shardRows, r.deliveryRows, r.auditRows,
	} {
		if rows := section(); len(rows) > 1 {
			writeTable(&b, rows)
			b.WriteByte('\n')
		}
	}
	for _, c := range r.Audit.Checks {
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "FOUND %s: %s\n", c.Name, f)
		}
		if more := c.Failed - int64(len(c.Findings)); more > 0 {
			fmt.Fprintf(&b, "FOUND %s: %d more\n", c.Name, more)
		}
	}
	return b.String()
}

// writeTable writes the first column to the left and the others to the right;
// the first row is the heading.
func writeTable(b *strings.Builder, rows [][]string) {
	// Runes are counted rather than bytes, so that names with umlauts do not shift their columns.
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(b, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(b, "  %*s", widths[i+1], cell)
		}
		b.WriteByte('\n')
	}
}

// latencyRows has two rows for each operation: corrected counts from when a request was due, and service from when
// it was sent.
func (r *Report) latencyRows() [][]string {
	rows := [][]string{{"operation, ms", "count", "failed", "", "p50", "p90", "p95", "p99", "p99.9", "max"}}
	for _, op := range append(slices.Clip(r.Operations), r.All) {
		if op.Count == 0 {
			continue
		}
		rows = append(rows,
			append([]string{op.Op, fmt.Sprint(op.Count), fmt.Sprint(op.Failed), "corrected"}, percentileCells(op.Corrected)...),
			append([]string{"", "", "", "service"}, percentileCells(op.Service)...))
	}
	if len(rows) > 1 {
		// The send lag is the generator's own lateness. It stands beside the latencies because they can't be
		// trusted when it is large.
		rows = append(rows, append([]string{"send lag", "", "", ""}, percentileCells(r.SendLag)...))
	}
	return rows
}

// percentileCells writes percentiles in milliseconds.
func percentileCells(p openloop.Percentiles) []string {
	var out []string
	for _, v := range []float64{p.P50, p.P90, p.P95, p.P99, p.P999, p.Max} {
		out = append(out, fmt.Sprintf("%.2f", v))
	}
	return out
}

// errorRows has a row for each sort of answer that nobody wanted, the most frequent first.
func (r *Report) errorRows() [][]string {
	rows := [][]string{{"answers other than wanted", "status", "code", "count"}}
	for _, e := range r.Errors {
		rows = append(rows, []string{e.Op, fmt.Sprint(e.Status), e.Code, fmt.Sprint(e.Count)})
	}
	return rows
}

// orderRows has what the scenario counted about buyers and orders, in the scenario's own order.
func (r *Report) orderRows() [][]string {
	rows := [][]string{{"buyers and orders", "count"}}
	for _, c := range r.Orders {
		rows = append(rows, []string{c.Name, fmt.Sprint(c.Count)})
	}
	return rows
}

// cpuRows has what each process used, and beside it what the machine gave to others: a run whose cores were taken
// away says little about the service.
func (r *Report) cpuRows() [][]string {
	rows := [][]string{{"CPU", "seconds", "cores", "us/order", "us/request"}}
	for _, c := range r.CPU {
		rows = append(rows, []string{
			c.Name, fmt.Sprintf("%.1f", c.Seconds), fmt.Sprintf("%.2f", c.Cores),
			fmt.Sprintf("%.0f", c.MicrosPerOrder), fmt.Sprintf("%.0f", c.MicrosPerRequest),
		})
	}
	if len(rows) > 1 {
		rows = append(rows, []string{"other processes", "", fmt.Sprintf("%.2f", r.Others), "", ""},
			[]string{"steal", "", fmt.Sprintf("%.1f %%", r.Steal*100), "", ""})
	}
	return rows
}

// outageRows are the outages one by one. A run with many outages has the table by sort (injuryRows) instead, and
// then this one stays empty.
func (r *Report) outageRows() [][]string {
	rows := [][]string{{"killed", "at", "ready after", "writes after", "trouble"}}
	for _, o := range r.Outages {
		if len(r.Injuries) > 0 {
			break
		}
		ready := "-"
		if o.Ready > 0 {
			ready = o.Ready.Round(time.Millisecond).String()
		}
		rows = append(rows, []string{
			o.What, o.At.Round(time.Millisecond).String(), ready,
			o.WritesAgain.Round(time.Millisecond).String(), o.Trouble,
		})
	}
	return rows
}

// deliveryRows has one row for all webhooks. It returns nil if the run had none.
func (r *Report) deliveryRows() [][]string {
	d := r.Deliveries
	if d == nil {
		return nil
	}
	return [][]string{
		{"webhooks, ms from fact to receipt", "events", "again", "p50", "p90", "p95", "p99", "p99.9", "max", "last after the rush"},
		slices.Concat([]string{"first arrivals", fmt.Sprint(d.Events), fmt.Sprint(d.Again)}, percentileCells(d.Delay), []string{d.Behind.Round(time.Millisecond).String()}),
	}
}

// injuryRows has a row for each sort of outage, with the median and the worst of the times without writes.
func (r *Report) injuryRows() [][]string {
	rows := [][]string{{"injury", "times", "events hit", "writes after, p50", "worst", "all ready after", "goal"}}
	for _, i := range r.Injuries {
		cells := []string{i.What, fmt.Sprint(i.Count), fmt.Sprint(i.Events)}
		for _, d := range []time.Duration{i.P50, i.Worst, i.Ready} {
			cells = append(cells, d.Round(time.Millisecond).String())
		}
		rows = append(rows, append(cells, i.Goal))
	}
	return rows
}

// shardRows has two rows for each outage of a shard: its events, and all others. A last row takes the others' orders of
// all outages of a shard alone together, because the p99 of one outage rests on a few hundred orders.
func (r *Report) shardRows() [][]string {
	rows := [][]string{{"outage of a shard", "away", "first sale after", "all events after", "events", "orders", "errors", "p99 before, ms", "during"}}
	for _, o := range r.Shards {
		what := []string{fmt.Sprintf("%s: shard %d", o.What, o.Shard), o.Away.Round(time.Millisecond).String(), "-", "-"}
		// A killed node makes its own events return late for another reason. Without other events there is no time
		// to show.
		if o.Timed > 0 {
			what[2], what[3] = o.First.Round(time.Millisecond).String(), o.Back.Round(time.Millisecond).String()
		}
		rows = append(rows, append(what, o.Lost.cells("of the shard")...), append(make([]string, len(what)), o.Others.cells("all others")...))
	}
	if r.Spared != nil {
		rows = append(rows, append([]string{"all outages of a shard alone", "", "", ""}, r.Spared.cells("all others")...))
	}
	return rows
}

// cells writes one half of an outage; its times are in milliseconds.
func (h Half) cells(name string) []string {
	millis := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
	return []string{name, fmt.Sprint(h.Orders), fmt.Sprint(h.Errors), millis(h.Before), millis(h.During)}
}

// auditRows has a row for each check, also for those that found nothing: a reader sees how many things were looked
// at.
func (r *Report) auditRows() [][]string {
	rows := [][]string{{"audit", "checked", "found", "note"}}
	for _, c := range r.Audit.Checks {
		rows = append(rows, []string{c.Name, fmt.Sprint(c.Checked), fmt.Sprint(c.Failed), c.Note})
	}
	return rows
}
