// Package contest is what contests need: nodes of the run's own, which may be killed, a mail server
// that survives them, an organizer, and clients that insist on an answer. A contest's own package
// has the rest: the contenders, what they contend for, and the audit of the answers.
package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/postbox"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config has the flags that all contests share.
type Config struct {
	Patience time.Duration `default:"30s" help:"How long somebody repeats a request that was not answered, and waits for a mail."`
	Agree    time.Duration `default:"60s" help:"How long, in the audit, what is told later may take to agree with the answers."`
	Seed     uint64        `default:"1" help:"Of everything random."`
	Out      string        `default:"loadtest-report" type:"path" help:"Directory of the result and the nodes' logs."`
}

// Place is where a contest is held.
type Place struct {
	Config
	Nodes     *rig.Cluster
	Organizer *rush.Organizer
	Mail      *postbox.Box
	API       client.API
	Net       *client.Network

	dir string
	out io.Writer
}

// sources is the number of client addresses.
const sources = 256

// Hold starts the given number of nodes, plays a contest with them, audits their journal, and prints what the
// contest's own audit found. It returns an error if one of the audits finds something. pattern
// selects what the mail server keeps of mails.
func Hold(
	ctx context.Context, cfg Config, name string, nodes int, pattern *regexp.Regexp, out io.Writer, log *slog.Logger,
	play func(*Place) (*Result, error),
) (_ *Result, err error) {
	place, err := openPlace(ctx, cfg, nodes, pattern, out, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.closeAudited(ctx)) }()
	r, err := play(place)
	if err != nil {
		return nil, err
	}
	return r, r.Print(out, cfg.Out, name)
}

// openPlace starts the given number of nodes and registers an organizer.
func openPlace(ctx context.Context, cfg Config, nodes int, pattern *regexp.Regexp, out io.Writer, log *slog.Logger, env ...string) (*Place, error) {
	p := &Place{Config: cfg, out: out}
	if err := p.startNodes(ctx, nodes, pattern, log, env); err != nil {
		return nil, errors.Join(fmt.Errorf("contest: %w", err), p.close())
	}
	return p, nil
}

// startNodes starts what a contest needs: the mail server before the nodes, which need its address, and then the
// clients and the organizer. After an error the caller closes all that was started, by close.
func (p *Place) startNodes(ctx context.Context, nodes int, pattern *regexp.Regexp, log *slog.Logger, env []string) (err error) {
	if err := os.MkdirAll(p.Out, 0o755); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "boxoffice-contest-"); err != nil {
		return err
	}
	if p.Mail, err = postbox.Open(ctx, pattern); err != nil {
		return err
	}
	env = append(p.Mail.Env(), append([]string{"BOXOFFICE_LOG_LEVEL=WARN", "BOXOFFICE_MAX_CONNS_PER_ADDRESS=400"}, env...)...)
	log.InfoContext(ctx, "starting nodes", slog.Int("nodes", nodes), slog.String("data", p.dir))
	if p.Nodes, err = rig.StartCluster(ctx, rig.ClusterConfig{Dir: p.dir, Nodes: nodes, Log: log, Env: env}); err != nil {
		return err
	}
	if p.API, err = client.ParseTarget(p.Nodes.URL); err != nil {
		return err
	}
	// The clients choose a node for each call instead of going through the balancer, because a contest is about
	// answers of several nodes.
	p.API.Pick = p.pickNode
	if p.Net, err = client.NewNetwork(client.Config{Sources: sources, Timeout: 20 * time.Second}); err != nil {
		return err
	}
	if p.Organizer, err = rush.Register(ctx, p.API, p.Net.Source(0)); err != nil {
		return err
	}
	// A new organization may write to few people.
	if err := p.Nodes.RunTool(ctx, p.out, "verify", p.Organizer.Organization); err != nil {
		return err
	}
	return p.Organizer.UseKey(ctx)
}

// pickNode returns the host of a node that is ready, or the host of the balancer, which then answers
// that none is.
func (p *Place) pickNode() string {
	if m := p.Nodes.Pick(); m != nil {
		return m.Host()
	}
	return p.API.Host
}

// closeAudited stops the nodes and audits their journal.
func (p *Place) closeAudited(ctx context.Context) error {
	err := p.Nodes.Stop()
	if err == nil {
		err = p.Nodes.RunTool(context.WithoutCancel(ctx), p.out, "audit")
	}
	return errors.Join(err, p.close())
}

// close closes everything that was opened.
func (p *Place) close() (err error) {
	if p.Net != nil {
		p.Net.Close()
	}
	if p.Nodes != nil {
		err = errors.Join(p.Nodes.Stop(), p.Nodes.Close(), p.keepLogs())
	}
	if p.Mail != nil {
		err = errors.Join(err, p.Mail.Close())
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// keepLogs copies the processes' logs to the folder of the result.
func (p *Place) keepLogs() error {
	logs, err := filepath.Glob(filepath.Join(p.dir, "*.log"))
	for _, path := range logs {
		text, rerr := os.ReadFile(path)
		err = errors.Join(err, rerr, os.WriteFile(filepath.Join(p.Out, filepath.Base(path)), text, 0o600))
	}
	return err
}

// Insist repeats a call until it is settled, under one key.
func (p *Place) Insist(ctx context.Context, from int, c client.Call, out any) client.Answer {
	if c.Key == "" {
		c.Key = uuid.NewString()
	}
	return p.API.Insist(ctx, p.Net.Source(from), c, p.Patience, out)
}

// ForAll does something for each number below n, at several tables at a time. A table stops when
// something fails there.
func ForAll(tables, n int, do func(table, i int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, tables)
	for table := range errs {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[table] == nil; i = int(next.Add(1)) - 1 {
				errs[table] = do(table, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// backTime is how long a killed node may take to be ready again.
const backTime = 60 * time.Second

// Kill kills every node with -9 and waits until they are back.
func (p *Place) Kill(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, len(p.Nodes.Members))
	for i, m := range p.Nodes.Members {
		all.Go(func() { errs[i] = restartNode(ctx, m) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// KillAlong kills every node the given number of times, at moments that are spread over the progress from 0 to
// whole, and returns how often it did. It returns an error if ctx ends first.
func (p *Place) KillAlong(ctx context.Context, kills, whole int, progress func() int) (done int, err error) {
	for ; done < kills; done++ {
		for at := whole * (done + 1) / (kills + 1); progress() < at; {
			if rig.Pause(ctx, rush.FirstPause/10) != nil {
				return done, fmt.Errorf("contest: %d kills of %d: it was over", done, kills)
			}
		}
		if err := p.Kill(context.WithoutCancel(ctx)); err != nil {
			return done, err
		}
	}
	return done, nil
}

// restartNode kills a node, and returns when its next process is ready. The supervisor starts that process.
func restartNode(ctx context.Context, m *rig.Member) error {
	// The number of starts tells the next process from the killed one.
	starts := m.Starts.Load()
	if err := m.Process.End(syscall.SIGKILL); err != nil {
		return err
	}
	for deadline := time.Now().Add(backTime); m.Starts.Load() == starts; {
		if rig.Wait(ctx, rig.HealthEvery); ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("contest: %s did not come back", m.Name)
		}
	}
	m.Ready.Store(false) // the readiness that was seen belongs to the killed process
	return m.WaitReady(ctx, backTime)
}

// Issue issues tickets of a type to a buyer, as the organizer.
func (p *Place) Issue(ctx context.Context, event, ticketType, buyer string, n int) (*Issued, error) {
	var made Issued
	err := p.Organizer.Post(ctx, "/events/"+url.PathEscape(event)+"/issue", map[string]any{
		"items": []rush.Item{{TicketTypeID: ticketType, Quantity: n}},
		"buyer": map[string]string{"email": buyer, "name": "Load Buyer"}, "sendEmail": false,
	}, &made)
	if err == nil && len(made.Tickets) != n {
		err = fmt.Errorf("contest: an order of %d tickets has %d", n, len(made.Tickets))
	}
	return &made, err
}

// Issued has those parts of an issued order that contests read.
type Issued struct {
	Order   struct{ ID, AccessToken string }
	Tickets []struct{ ID, Code, ShortCode, QR string }
}

// Result is what a contest found.
type Result struct {
	Counts []report.Count
	Notes  string // further remarks, in lines
	Checks []report.Check
}

// Print writes what was counted and found to the terminal and to a file with the contest's name. It
// returns an error if the audit has findings.
func (r *Result) Print(out io.Writer, dir, name string) error {
	file, err := os.Create(filepath.Join(dir, name+".txt"))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = file.Close() }() // the terminal has it too
	out = io.MultiWriter(out, file)
	for _, c := range r.Counts {
		fmt.Fprintf(out, "%8d %s\n", c.Count, c.Name)
	}
	fmt.Fprint(out, r.Notes)
	return rush.PrintChecks(out, r.Checks)
}
