// Package report says what a load run found: a table for people (Text), a page
// that stands alone (HTML) and JSON for machines. It is pure data and
// formatting; loadtest fills it in.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rig"
)

// Report is one run. Latencies are milliseconds.
type Report struct {
	Title   string      `json:"title"`
	Started time.Time   `json:"started"`
	Target  string      `json:"target"`  // the address of the service that was loaded
	Version string      `json:"version"` // the git revision of the harness
	Machine rig.Machine `json:"machine"`
	Config  any         `json:"config"`

	// Invalid lists why the latencies must not be believed.
	Invalid []string `json:"invalid"`

	WindowSeconds float64 `json:"windowSeconds"` // for how long arrivals were made
	OfferedRate   float64 `json:"offeredRate"`   // requests a second that were due
	AchievedRate  float64 `json:"achievedRate"`  // answered requests a second
	Offered       int64   `json:"offered"`       // requests that were due
	Achieved      int64   `json:"achieved"`      // how many of those were answered until a second after the window
	Unsent        int64   `json:"unsent"`        // how many of those were never sent
	Dropped       int64   `json:"dropped"`       // arrivals that were refused because too many actors were alive
	// One entry for each operation that was sent at all.
	Operations []openloop.OpStats   `json:"operations"`
	All        openloop.OpStats     `json:"all"`     // all operations together
	SendLag    openloop.Percentiles `json:"sendLag"` // how much later than due requests were sent
	Errors     []ErrorRow           `json:"errors"`
	// The course of the run, second by second. It includes the drain after the window.
	Seconds []openloop.Second `json:"seconds"`

	Orders []Count `json:"orders"` // the outcome of the buyers and their orders

	// What the processes used over the whole run, and in each second. Both list the processes in the same order.
	CPU       []CPURow     `json:"cpu"`
	CPUSeries []rig.Second `json:"cpuSeries"`
	Steal     float64      `json:"steal"`  // the share of the machine's time that its host gave to others
	Others    float64      `json:"others"` // how many cores other processes kept busy, on average

	Outages    []Outage      `json:"outages,omitempty"`
	Injuries   []Injury      `json:"injuries,omitempty"` // the outages by sort, if there are several
	Shards     []ShardOutage `json:"shards,omitempty"`
	Spared     *Half         `json:"spared,omitempty"`     // other shards' events around all outages of a shard alone
	Deliveries *Deliveries   `json:"deliveries,omitempty"` // nil: the run had no webhooks
	Audit      Audit         `json:"audit"`
}

// Count is a named number.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// ErrorRow counts one sort of answer that was not the wanted one.
type ErrorRow struct {
	Op     string `json:"op"`
	Status int    `json:"status"` // 0: there was no answer
	Code   string `json:"code"`
	Count  int64  `json:"count"`
}

// CPURow is what one process, or tree of processes, used.
type CPURow struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Cores   float64 `json:"cores"` // how many cores it kept busy, on average
	// The cost of one order and one request, in microseconds of CPU time. They can be compared between runs of
	// different rates.
	MicrosPerOrder   float64 `json:"microsPerOrder"`
	MicrosPerRequest float64 `json:"microsPerRequest"`
}

// Injury is one sort of outage: how often it was, and how long the events that it
// hit took no writes.
type Injury struct {
	What   string        `json:"what"`
	Count  int           `json:"count"`
	Events int           `json:"events"` // how many events it hit, over all times
	P50    time.Duration `json:"p50"`
	Worst  time.Duration `json:"worst"`
	Ready  time.Duration `json:"ready"` // the longest time until all nodes were ready again
	// Whether the times above are as good as they have to be, in words; empty if this sort of outage has no goal.
	Goal string `json:"goal,omitempty"`
}

// Outage is one thing that was killed and how long nobody could buy.
type Outage struct {
	What        string        `json:"what"`
	At          time.Duration `json:"at"`          // when it began, since the start of the run
	Ready       time.Duration `json:"ready"`       // how long a node took from its start to /readyz
	WritesAgain time.Duration `json:"writesAgain"` // how long it took from the kill to the first order acknowledged after it, at the latest of several events
	// What went wrong, such as a return that took too long; empty if nothing did.
	Trouble string `json:"trouble,omitempty"`
}

// ShardOutage is one time that a shard of the journal was taken away, and how orders fared at its events and at all
// others.
type ShardOutage struct {
	What   string        `json:"what"`
	Shard  int           `json:"shard"`
	Node   string        `json:"node,omitempty"` // a node that was killed beside it
	Timed  int           `json:"timed"`          // how many events of the shard were timed; events of a killed node are left out
	Away   time.Duration `json:"away"`           // how long it took until its database answered again
	First  time.Duration `json:"first"`          // how long it took from then to the first order of one of its events
	Back   time.Duration `json:"back"`           // how long it took from then until each of its events had an order
	Lost   Half          `json:"lost"`           // the events of the shard
	Others Half          `json:"others"`         // the events of all other shards
}

// Half is how orders fared at the events of a shard that was taken away, or at all others.
type Half struct {
	Orders   int64            `json:"orders"`   // orders that were placed from the outage's beginning until all of the shard's events were back
	Errors   int64            `json:"errors"`   // how many of these orders failed
	Failures map[string]int64 `json:"failures"` // the errors by status and code
	Before   time.Duration    `json:"before"`   // p99 of all answers before the outage
	During   time.Duration    `json:"during"`   // p99 of all answers, refusals too, to Orders
}

// Deliveries is the outcome of the webhooks.
type Deliveries struct {
	// How many different events of the webhooks arrived, each counted once however often it was delivered.
	Events int64                `json:"events"`
	Again  int64                `json:"again"`  // deliveries that repeated an event
	Delay  openloop.Percentiles `json:"delay"`  // the time from the fact to its first arrival
	Behind time.Duration        `json:"behind"` // how long after the end of the rush the last one came
}

// Audit is the verdict on what was acknowledged.
type Audit struct {
	Checks []Check `json:"checks"`
}

// Check is one property and how it fared.
type Check struct {
	Name     string   `json:"name"`
	Checked  int64    `json:"checked"` // how many things were looked at
	Failed   int64    `json:"failed"`
	Findings []string `json:"findings,omitempty"` // the first findings, in words
	// What a reader should know about the check that is no finding.
	Note string `json:"note,omitempty"`
}

// findingsShown is how many findings of a check are told. One bug often breaks thousands of orders in the same way.
// The rest are counted only.
const findingsShown = 20

// Found notes a finding.
func (c *Check) Found(format string, args ...any) {
	c.Failed++
	if len(c.Findings) < findingsShown {
		c.Findings = append(c.Findings, fmt.Sprintf(format, args...))
	}
}

// Failed is the number of findings over all checks.
func (a *Audit) Failed() int64 {
	var n int64
	for _, c := range a.Checks {
		n += c.Failed
	}
	return n
}

// Measure takes over what the engine measured.
func (r *Report) Measure(st *openloop.Stats, cfg openloop.Config) {
	r.Invalid = st.Invalid(cfg)
	r.WindowSeconds = st.Window.Seconds()
	r.Offered, r.Achieved, r.Unsent, r.Dropped = st.Offered, st.Achieved, st.Unsent, st.Dropped
	if r.WindowSeconds > 0 {
		r.OfferedRate = float64(st.Offered) / r.WindowSeconds
		r.AchievedRate = float64(st.Achieved) / r.WindowSeconds
	}
	r.Operations, r.All, r.SendLag, r.Seconds = st.Ops, st.All, st.Lag, st.Seconds
	for k, n := range st.Errors {
		r.Errors = append(r.Errors, ErrorRow{k.Op, k.Status, k.Code, n})
	}
	// The errors come out of a map. The most frequent one goes first, and the other keys make the order the same in
	// every run.
	slices.SortFunc(r.Errors, func(a, b ErrorRow) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Status, b.Status), cmp.Compare(a.Code, b.Code))
	})
}

// MeasureCPU takes over what the processes used while orders orders were
// acknowledged.
func (r *Report) MeasureCPU(u rig.Usage, orders int64) {
	r.CPUSeries, r.Steal, r.Others = u.Seconds, u.Steal, u.Others
	// A run that was ended at once has no requests and no orders. Its costs are then divided by one instead of 0.
	requests := float64(max(r.All.Count, 1))
	for i, name := range u.Names {
		used := u.Total[i]
		row := CPURow{
			Name: name, Seconds: used.Seconds(),
			MicrosPerRequest: used.Seconds() * 1e6 / requests,
			MicrosPerOrder:   used.Seconds() * 1e6 / float64(max(orders, 1)),
		}
		// The sampler takes one reading a second, so the number of readings is the time in seconds, nearly.
		if n := len(u.Seconds); n > 0 {
			row.Cores = used.Seconds() / float64(n)
		}
		r.CPU = append(r.CPU, row)
	}
}

// Save writes report.json, report.html and report.txt into dir and returns the
// page's path.
func (r *Report) Save(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	page, err := r.HTML()
	if err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{
		"report.json": data, "report.html": page, "report.txt": []byte(r.Text()),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return "", fmt.Errorf("report: %w", err)
		}
	}
	return filepath.Join(dir, "report.html"), nil
}
