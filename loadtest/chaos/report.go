package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/history"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rush"
)

// conclude settles doubtful answers, audits, and prints and saves the report. It stops the cluster
// before it checks the journal and reads the logs, because both still change while nodes run.
func (c *chaosRun) conclude(ctx context.Context, r *report.Report, out io.Writer) error {
	c.SettleDoubts(ctx, c.log)
	// Both kinds of doubt must be gone before the audit: orders without an answer, and refusals that an earlier try
	// may have overtaken.
	c.askAgain(ctx)
	var err error
	if r.Audit, err = rush.RunAudit(ctx, c.Rush, c.cluster.Paysim); err != nil {
		return err
	}
	r.Audit.Checks = append(r.Audit.Checks, rush.CheckNoInternalErrors(r), c.checkGates(ctx))
	if err := c.cluster.Stop(); err != nil {
		c.log.WarnContext(ctx, "a node did not stop in order", slog.Any("error", err))
	}
	r.Audit.Checks = append(r.Audit.Checks, c.checkJournal(ctx))
	r.Audit.Checks = append(r.Audit.Checks, c.checkHistories()...)
	r.Audit.Checks = append(r.Audit.Checks, c.checkInjuries(), c.checkMoves(), c.checkSurprises())
	if c.conf.Shards > 0 {
		r.Audit.Checks = append(r.Audit.Checks, checkShards(c.shardOutages)...)
	}
	r.Outages, r.Injuries, r.Shards = c.outages, c.tabulateInjuries(), c.shardOutages
	if len(c.spared) > 0 {
		r.Spared = new(tallyOrders(c.spared...))
	}
	logged, err := c.readLogs()
	if err != nil {
		return err
	}
	r.Orders = append(c.CountOutcomes(), logged...)
	r.Invalid = append(r.Invalid, "the cluster was being injured: latencies are those of a service that comes and goes")
	fmt.Fprint(out, "\n", r.Text(), c.remarks())
	page, err := r.Save(c.conf.Out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nreport: %s; every call: %s\n", page, filepath.Join(c.conf.Out, "history.jsonl"))
	if n := r.Audit.Failed(); n > 0 {
		return fmt.Errorf("%w: %d findings", rush.ErrFindings, n)
	}
	return nil
}

// remarks returns the conditions under which the figures were measured.
func (c *chaosRun) remarks() string {
	return fmt.Sprintf(`Leases: a beat every %v, a node is dead after %v without one that another has seen.
Goals for a machine of its own: after kill -9 p50 under %v, worst under %v; in a planned move no event pauses for %v.
Not injected: jumps of the wall clock. Nodes read it in the vDSO, where no preloaded library comes between, and there is no
namespace for it; setting the machine's own would injure everybody. Tests with a clock of their own stand in.
`, c.conf.Beat, c.conf.Lease, goalP50, goalWorst, goalPlanned)
}

// tabulateInjuries returns the table of recoveries, with a row for each injury.
func (c *chaosRun) tabulateInjuries() []report.Injury {
	times := make(map[string]int)
	for _, o := range c.outages {
		times[o.What]++
	}
	// One injury is a joining and a leaving, and a rolling restart is one move for each node.
	times[left] = times[joined]
	times[rolled] *= c.conf.Nodes
	var all []report.Injury
	for _, what := range slices.Concat(
		[]string{killedShort, killedLong, stalled, crashed, connectionCut, unheard, unanswering, databaseless},
		shardInjuries, []string{joined, left, rolled},
	) {
		took := slices.Concat(c.recovered[what], c.pauses[what])
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		i := report.Injury{
			What: what, Count: times[what], Events: len(took), P50: took[len(took)/2], Worst: took[len(took)-1], Ready: c.ready[what],
		}
		switch what {
		case killedShort, killedLong:
			i.Goal = metOrMissed(i.P50 < goalP50 && i.Worst < goalWorst)
		case joined, left, rolled:
			i.What += ": pauses"
			i.Goal = metOrMissed(i.Worst < goalPlanned)
		}
		all = append(all, i)
	}
	return all
}

// metOrMissed says in a word whether a goal was met. A missed goal is no finding, because it depends on the
// machine.
func metOrMissed(ok bool) string {
	if ok {
		return "met"
	}
	return "missed"
}

// checkInjuries checks that the cluster recovered from every injury, and that all planned injuries
// were done.
func (c *chaosRun) checkInjuries() report.Check {
	check := report.Check{Name: "the cluster recovers from every injury"}
	done := make(map[string]int)
	outages, away := c.conf.Outages, 0
	// Without shards none was planned, whatever the flag says.
	if c.conf.Shards == 0 {
		outages = 0
	}
	for _, o := range c.outages {
		check.Checked++
		done[o.What]++
		if o.Trouble != "" {
			check.Failed++
			check.Findings = append(check.Findings, fmt.Sprintf("%s after %v: %s", o.What, o.At.Round(time.Second), o.Trouble))
		}
	}
	for _, what := range shardInjuries {
		away += done[what]
	}
	for _, want := range []struct {
		what string
		n    int
		have int
	}{
		{"kills of nodes", c.conf.Kills, done[killedShort] + done[killedLong]},
		{"stalls", c.conf.Stalls, done[stalled]},
		{"crashes of Postgres", c.conf.Crashes, done[crashed]},
		{"partitions", c.conf.Partitions, done[unheard] + done[unanswering] + done[databaseless]},
		{"cuts", c.conf.Cuts, done[connectionCut]},
		{"outages of shards", outages, away},
		{"joins", c.conf.Joins, done[joined]},
		{"rolling restarts", c.conf.Rolls, done[rolled]},
	} {
		// A run that is too slow for its injuries would otherwise look better than one that has done them all.
		if want.have < want.n {
			check.Failed++
			check.Findings = append(check.Findings, fmt.Sprintf("only %d of %d %s were done in %v", want.have, want.n, want.what, overrun*c.conf.Duration))
		}
	}
	return check
}

// checkMoves checks that buyers gave up no order during a planned move if they repeated it as they
// were told to.
func (c *chaosRun) checkMoves() report.Check {
	check := report.Check{
		Name: "no order given up in a planned move", Checked: c.moves.told503, Failed: c.moves.gaveUp,
		Note: fmt.Sprintf("%d answers of 503, repeated as told", c.moves.told503),
	}
	if check.Failed > 0 {
		check.Findings = []string{fmt.Sprintf("buyers gave %d requests up", check.Failed)}
	}
	return check
}

// checkSurprises checks that clients got no answer that nobody should ever get.
func (c *chaosRun) checkSurprises() report.Check {
	return report.Check{
		Name: "no answer that makes no sense", Checked: int64(len(c.histories)), Failed: int64(len(c.surprising)), Findings: c.surprising,
	}
}

// checkJournal replays the journal by `boxoffice audit`: the facts of every stream follow one
// another, no fact of an old claim stands behind one of a later claim, and all sums agree.
func (c *chaosRun) checkJournal(ctx context.Context) report.Check {
	check := report.Check{Name: "the journal (boxoffice audit): nothing written under an old claim", Checked: 1}
	var said bytes.Buffer
	if err := c.cluster.RunTool(context.WithoutCancel(ctx), &said, "audit"); err != nil {
		check.Failed = 1
		check.Findings = append(check.Findings, err.Error()+": "+said.String())
		return check
	}
	check.Note, _, _ = strings.Cut(said.String(), "\n")
	return check
}

// checkGates checks that the gates count as many admissions as clients were told.
func (c *chaosRun) checkGates(ctx context.Context) report.Check {
	check := report.Check{Name: "gates let in who was told so, once"}
	a := &rush.Audit{Rush: c.Rush}
	for _, h := range c.measured {
		var stats struct {
			CheckedIn int `json:"checkedIn"`
		}
		path := "/checkin/event/" + url.PathEscape(h.EventID) + "/stats"
		ans := a.Ask(ctx, c.Network.Source(0), client.Call{Method: "GET", Path: path, Bearer: c.Organizer.Bearer}, &stats)
		check.Checked += int64(c.admitted[h])
		if !ans.OK() || stats.CheckedIn != c.admitted[h] {
			check.Failed++
			check.Findings = append(check.Findings, fmt.Sprintf("event %s: %d tickets were let in and the gates count %d (%v)",
				h.EventID, c.admitted[h], stats.CheckedIn, ans.Err()))
		}
	}
	return check
}

// checkHistories judges every history: could a service that does one thing at a time have given
// these answers (linearizability)?
func (c *chaosRun) checkHistories() []report.Check {
	var checks []report.Check
	for _, thing := range []string{"seat", "ticket", "tickets"} {
		check := report.Check{Name: map[string]string{
			"seat": "holds of a seat are linearizable", "ticket": "scans of a ticket are linearizable", "tickets": "orders of a small stock are linearizable",
		}[thing]}
		// Porcupine needs a time that grows fast with the operations at once. A history that it could not judge in
		// time is counted in the note, and is no finding.
		operations, undecided := 0, 0
		var mu sync.Mutex
		c.judgeHistories(thing+" ", func(h *history.History, err error) {
			mu.Lock()
			defer mu.Unlock()
			check.Checked++
			operations += len(h.Operations())
			switch {
			case errors.Is(err, history.ErrUndecided):
				undecided++
			case err != nil:
				check.Failed++
				check.Findings = append(check.Findings, err.Error()+"\n"+formatHistory(h))
			}
		})
		check.Note = fmt.Sprintf("%d operations", operations)
		if undecided > 0 {
			check.Note += fmt.Sprintf("; %d histories undecided by porcupine within %v, right as far as is sure", undecided, c.conf.Judge)
		}
		checks = append(checks, check)
	}
	return checks
}

// judgeHistories judges the histories whose names begin with the prefix, as many at once as there
// are cores.
func (c *chaosRun) judgeHistories(prefix string, verdict func(*history.History, error)) {
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i, h := range c.histories {
		if !strings.HasPrefix(h.Name, prefix) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			verdict(h, h.Check(c.conf.Judge, filepath.Join(c.conf.Out, fmt.Sprintf("wrong-%d.html", i))))
			<-slots
		})
	}
	all.Wait()
}

// formatHistory writes the last hundred operations of a history for people.
func formatHistory(h *history.History) string {
	var b strings.Builder
	ops := h.Operations()
	for _, op := range ops[max(0, len(ops)-100):] {
		until := "never"
		if op.Answer != history.Unknown && op.What != history.GiveBack {
			until = op.Return.Format("15:04:05.000")
		}
		fmt.Fprintf(&b, "    %s to %s, client %d at %s: %s %d: %s\n", op.Call.Format("15:04:05.000"), until, op.Client, op.Node, op.What, op.Quantity, op.Answer)
	}
	return b.String()
}

// readLogs counts some events in the logs of the nodes, such as double activations that were
// fenced.
func (c *chaosRun) readLogs() ([]report.Count, error) {
	counts := []report.Count{
		{Name: "answers of 503", Count: c.told503.Load()},
		{Name: "orders granted when asked for again, after a refusal", Count: c.granted},
	}
	starts := report.Count{Name: "nodes started"}
	for _, m := range c.cluster.Members {
		starts.Count += m.Starts.Load()
	}
	counts = append(counts, starts)
	for _, line := range []struct{ msg, name string }{
		{"actor fenced", "double activations: stale actors that found their stream claimed, all fenced"},
		{"member taken for dead", "lifetimes of nodes taken for dead"},
		{"journal append outcome unknown, sending it again", "commits of unknown outcome, sent again"},
		{"not all actors were handed over", "drains that did not hand everything over in time"},
		{"actor panicked", "actors that panicked"},
		{"follower failed", "followers that failed"},
	} {
		n := int64(0)
		for _, m := range c.cluster.Members {
			text, err := os.ReadFile(filepath.Join(c.cluster.Config.Dir, m.Name+".log"))
			if err != nil {
				return nil, fmt.Errorf("logs: %w", err)
			}
			n += int64(bytes.Count(text, []byte(`"msg":"`+line.msg+`"`)))
		}
		counts = append(counts, report.Count{Name: line.name, Count: n})
	}
	return counts, nil
}
