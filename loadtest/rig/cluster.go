package rig

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/persistence/ports"
)

// ClusterConfig says what cluster is started.
type ClusterConfig struct {
	Binary string   // the program of the nodes; empty: the running program
	Former string   // the program of another release, with which every second node begins; empty: all run Binary
	Dir    string   // where Postgres, logs and mail are kept; it may be the one of an earlier cluster
	Nodes  int      // how many nodes are started
	Spares int      // how many more can be started with Member.Up
	Shards int      // how many shards the journal has, each on a Postgres of its own; 0: it is in the nodes' Postgres
	Port   int      // the first port to try on 127.0.0.1, for the balancer; the others take the next ones; 0: any
	Wires  bool     // puts proxies between the nodes, and between them and Postgres, so that a run can cut them
	Env    []string // KEY=value for the nodes, besides the knobs set here
	Log    *slog.Logger
}

// Cluster is several nodes with one Postgres, and one more for each shard of the journal. Each of them is a
// process, and so is the payment simulator. A balancer passes connections on to the nodes that are ready. A node
// that ends is started again, and so is Postgres. Stop ends the nodes, Close the rest.
type Cluster struct {
	URL         string // the address of the balancer
	Paysim      string
	DatabaseURL string
	JournalURLs []string  // the databases of the shards
	Members     []*Member // all nodes; the spares are last

	Config   ClusterConfig
	postgres Process
	shards   []*Process // the processes that run the Postgres of each shard
	wires    []*Proxy   // the proxies between the nodes and each shard, if Config.Wires
	paysim   Process
	balancer *Proxy
	logs     []io.Closer
	cancel   context.CancelFunc
	wg       sync.WaitGroup // waits for the supervisors of the members
}

// StartCluster starts a cluster and waits until every node is ready. The processes live until Stop and Close, and
// not only as long as ctx. If something does not start, what has started is ended again.
func StartCluster(ctx context.Context, cfg ClusterConfig) (*Cluster, error) {
	c := &Cluster{Config: cfg}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	if err := c.start(ctx, life); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Stop(), c.Close())
	}
	return c, nil
}

// start starts everything in the order in which it is needed: the databases, the simulator, the nodes, and the
// balancer. ctx bounds the starting, and life the supervisors of the nodes.
func (c *Cluster) start(ctx, life context.Context) error {
	var err error
	if c.Config.Binary, err = thisProgram(c.Config.Binary); err != nil {
		return err
	}
	chosen, err := c.choosePorts(ctx)
	if err != nil {
		return err
	}
	c.URL, c.Paysim = "http://"+chosen[0], "http://"+chosen[1]
	if c.DatabaseURL, err = c.startPostgres(ctx, &c.postgres, c.Config.Dir, "postgres.log"); err != nil {
		return err
	}
	for i := range c.Config.Shards {
		shard := new(Process)
		c.shards = append(c.shards, shard)
		url, err := c.startPostgres(ctx, shard, c.ShardDir(i), fmt.Sprintf("shard-%d.log", i))
		if err != nil {
			return err
		}
		if c.Config.Wires {
			wire, wired, err := wireDatabase(ctx, url)
			if err != nil {
				return err
			}
			c.wires, url = append(c.wires, wire), wired
		}
		c.JournalURLs = append(c.JournalURLs, url)
	}
	if err := c.startPaysim(ctx, chosen[1]); err != nil {
		return err
	}
	// The nodes need the addresses of the databases and of the simulator in their environment.
	env, err := c.commonEnv()
	if err != nil {
		return err
	}
	// All members are prepared and supervised from the beginning; the spares are simply not wanted yet. Each member
	// has two ports: for its API and for the links of other nodes.
	for i := range c.Config.Nodes + c.Config.Spares {
		m := &Member{
			Name: fmt.Sprintf("node-%d", i+1), URL: "http://" + chosen[2+2*i], Link: chosen[3+2*i], log: c.Config.Log, kick: make(chan struct{}, 1),
		}
		if err := c.prepareMember(ctx, m, env); err != nil {
			return err
		}
		c.Members = append(c.Members, m)
		c.wg.Go(func() { m.supervise(life) })
		c.wg.Go(func() { m.watchReadiness(life) })
	}
	// The nodes give out the balancer's address as their own (BOXOFFICE_BASE_URL), so it listens before the first
	// of them runs.
	if c.balancer, err = startProxy(ctx, chosen[0], c.dialReadyNode); err != nil {
		return err
	}
	for _, m := range c.Members[:c.Config.Nodes] {
		m.Up()
	}
	for _, m := range c.Members[:c.Config.Nodes] {
		if err := m.WaitReady(ctx, firstReady); err != nil {
			return err
		}
	}
	return nil
}

// choosePorts returns the addresses of the balancer, of the simulator, and two of each node. With Config.Port set, they
// are the first ports in a row from there on that nobody listens on, because something else may have some of them.
// Otherwise they are any free ports.
func (c *Cluster) choosePorts(ctx context.Context) ([]string, error) {
	n := 2 + 2*(c.Config.Nodes+c.Config.Spares)
	if c.Config.Port == 0 {
		return ports.Free(ctx, n)
	}
	for first := c.Config.Port; first+n <= 1<<16; {
		inRow, taken := portsFrom(ctx, first, n)
		if taken == 0 {
			return inRow, nil
		}
		first = taken + 1
	}
	return nil, fmt.Errorf("no %d ports in a row are free from %d on", n, c.Config.Port)
}

// createLog opens a log in the cluster's directory, to append to.
func (c *Cluster) createLog(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(c.Config.Dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		c.logs = append(c.logs, f)
	}
	return f, err
}

// ShardDir is where a shard of the journal is kept.
func (c *Cluster) ShardDir(shard int) string {
	return filepath.Join(c.Config.Dir, fmt.Sprintf("shard-%d", shard))
}

// startPostgres starts a database. A process of this program runs it and supervises it, and writes the database's
// URL as its first line when it answers.
func (c *Cluster) startPostgres(ctx context.Context, p *Process, dir, logName string) (url string, err error) {
	log, err := c.createLog(logName)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Postgres's user must get through
		return "", err
	}
	said := make(firstLine, 1)
	p.binary, p.args, p.env, p.log, p.out = c.Config.Binary, []string{"postgres"}, []string{"BOXOFFICE_DATA_DIR=" + dir}, log, said
	ended, err := p.Start(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, firstReady)
	defer cancel()
	select {
	case url = <-said:
		return url, nil
	case <-ended:
		return "", fmt.Errorf("postgres did not start; see %s", log.Name())
	case <-ctx.Done():
		return "", fmt.Errorf("postgres: %w", ctx.Err())
	}
}

// firstLine takes the first line that a process writes.
type firstLine chan string

// Write keeps the first text that is written, and drops the rest. The process writes its line at once, so the first
// text is the whole line.
func (l firstLine) Write(b []byte) (int, error) {
	select {
	case l <- strings.TrimSpace(string(b)):
	default:
	}
	return len(b), nil
}

// startPaysim starts the payment simulator, and waits until it answers. A process of its own, it keeps its money
// when nodes are killed.
func (c *Cluster) startPaysim(ctx context.Context, listen string) error {
	log, err := c.createLog("paysim.log")
	if err != nil {
		return err
	}
	c.paysim = Process{
		binary: c.Config.Binary, args: []string{"paysim"}, log: log,
		env: []string{"BOXOFFICE_PAYSIM_LISTEN=" + listen, "BOXOFFICE_PAYSTACK_KEY=" + secretKey},
	}
	ended, err := c.paysim.Start(ctx)
	if err != nil {
		return err
	}
	return waitForAnswer(ctx, c.Paysim+"/_sim/stats", firstReady, ended)
}

// commonEnv returns the environment that all nodes share. They need the same master key, because they share one
// database. The limits on requests are raised a thousandfold, because the clients of a load test come from few
// addresses.
func (c *Cluster) commonEnv() ([]string, error) {
	var master [32]byte
	_, _ = rand.Read(master[:]) // never fails
	mail := filepath.Join(c.Config.Dir, "mail")
	return append([]string{
		"BOXOFFICE_CLUSTER=postgres",
		"BOXOFFICE_BASE_URL=" + c.URL,
		"BOXOFFICE_MASTER_KEY=" + hex.EncodeToString(master[:]),
		"BOXOFFICE_LIMITS_SCALE=1000",
		"BOXOFFICE_HEAP_ROOM=512", // they are many on one machine
		"BOXOFFICE_MAIL_DIR=" + mail,
		"BOXOFFICE_PAYSTACK_URL=" + c.Paysim,
		"BOXOFFICE_PAYSTACK_KEY=" + secretKey,
		"BOXOFFICE_JOURNAL_URLS=" + strings.Join(c.JournalURLs, " "),
	}, c.Config.Env...), os.MkdirAll(mail, 0o700)
}

// prepareMember sets how a member is run: its program, its environment and its log. With wires, the other nodes are
// told the address of a proxy instead of the node's own, and the node is told a proxy's address for Postgres.
func (c *Cluster) prepareMember(ctx context.Context, m *Member, env []string) error {
	log, err := c.createLog(m.Name + ".log")
	if err != nil {
		return err
	}
	database, link := c.DatabaseURL, m.Link
	if c.Config.Wires {
		if m.Links, err = startProxy(ctx, "127.0.0.1:0", dialAlways("tcp", m.Link)); err != nil {
			return err
		}
		if m.Database, database, err = wireDatabase(ctx, database); err != nil {
			return err
		}
		link = m.Links.address()
	}
	m.program, m.other = c.Config.Binary, cmp.Or(c.Config.Former, c.Config.Binary)
	if len(c.Members)%2 == 1 {
		m.SwapProgram()
	}
	m.Process = Process{args: []string{"serve"}, log: log, env: append(slices.Clip(env),
		"BOXOFFICE_NODE="+m.Name,
		"BOXOFFICE_LISTEN="+strings.TrimPrefix(m.URL, "http://"),
		"BOXOFFICE_LINK_LISTEN="+m.Link,
		"BOXOFFICE_LINK_ADDRESS="+link,
		"BOXOFFICE_DATABASE_URL="+database,
	)}
	return nil
}

// wireDatabase puts a proxy before a database that listens on a socket, and returns the URL by which
// the database is reached through it.
func wireDatabase(ctx context.Context, database string) (*Proxy, string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, "", err
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	wire, err := startProxy(ctx, "127.0.0.1:0", dialAlways("unix", socket))
	if err != nil {
		return nil, "", err
	}
	return wire, fmt.Sprintf("postgres://%s@%s%s?sslmode=disable", u.User.Username(), wire.address(), u.Path), nil
}

// dialReadyNode opens a connection to a node that is ready, for the balancer. It binds the client's own address,
// which is possible because every loopback address belongs to this machine. The nodes thus see their clients, and
// limit each of them. A node that can't be reached counts as not ready until the next look, and another one is
// tried.
func (c *Cluster) dialReadyNode(ctx context.Context, from net.Addr) (net.Conn, error) {
	err := errors.New("no node is ready")
	for range len(c.Members) {
		m := c.Pick()
		if m == nil {
			break
		}
		d := net.Dialer{Timeout: time.Second, ControlContext: client.BindWithoutPort}
		if tcp, ok := from.(*net.TCPAddr); ok {
			d.LocalAddr = &net.TCPAddr{IP: tcp.IP}
		}
		var far net.Conn
		if far, err = d.DialContext(ctx, "tcp", m.Host()); err == nil {
			return far, nil
		}
		m.Ready.Store(false) // until the next look
	}
	return nil, err
}

// Pick returns one of the nodes that are ready, at random, except those named. It returns nil if there is none.
func (c *Cluster) Pick(but ...*Member) *Member {
	var ready []*Member
	for _, m := range c.Members {
		if m.Ready.Load() && !slices.Contains(but, m) {
			ready = append(ready, m)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	return ready[RandomBelow(len(ready))]
}

// KillShard kills the postmaster of a shard and every process below it. It returns when the postmaster that the
// supervisor starts in its place takes connections.
func (c *Cluster) KillShard(ctx context.Context, shard int) error {
	pid, err := c.shardPID(shard)
	if err != nil {
		return err
	}
	if err := KillTree(pid); err != nil {
		return err
	}
	for {
		if next, answers := readPostmaster(c.ShardDir(shard), c.shards[shard].PID()); answers && next != pid {
			return nil
		}
		if err := Pause(ctx, readyPoll); err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
}

// StallShard stops a shard's Postgres without ending it, for a time. Connections stay open and nobody is answered
// until the time is over, or ctx ends. Postgres is always let go on after that, also if not all of its processes
// could be stopped.
func (c *Cluster) StallShard(ctx context.Context, shard int, length time.Duration) error {
	pid, err := c.shardPID(shard)
	if err != nil {
		return err
	}
	// The second round stops what the postmaster had begun to start in the first.
	err = errors.Join(signalTree(pid, syscall.SIGSTOP), signalTree(pid, syscall.SIGSTOP))
	if err == nil {
		Wait(ctx, length)
	}
	return errors.Join(err, signalTree(pid, syscall.SIGCONT))
}

// IsolateShard holds up all that nodes and a shard's Postgres send each other, for a time, as a network
// does that loses every packet. The cluster must have wires.
func (c *Cluster) IsolateShard(ctx context.Context, shard int, length time.Duration) {
	// The one proxy of the shard is the way of all nodes to it.
	wire := c.wires[shard]
	wire.Forth.Shut()
	wire.Back.Shut()
	Wait(ctx, length)
	wire.Forth.Open()
	wire.Back.Open()
}

// shardPID returns the postmaster of a shard.
func (c *Cluster) shardPID(shard int) (int, error) {
	pid := postmaster(c.ShardDir(shard), c.shards[shard].PID())
	if pid == 0 {
		return 0, fmt.Errorf("no postmaster.pid in the directory of shard %d", shard)
	}
	return pid, nil
}

// KillPostgres kills the postmaster and every process below it. The supervisor that runs it
// starts it again.
func (c *Cluster) KillPostgres() error {
	pid := postmaster(c.Config.Dir, c.postgres.PID())
	if pid == 0 {
		return errors.New("no postmaster.pid in the data directory")
	}
	return KillTree(pid)
}

// KillTree kills a process and all below it.
func KillTree(pid int) error { return signalTree(pid, syscall.SIGKILL) }

// signalTree sends a signal to a process and all below it.
func signalTree(pid int, sig syscall.Signal) error {
	for _, p := range append([]int{pid}, Descendants(pid)...) {
		if err := syscall.Kill(p, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%v to %d: %w", sig, p, err)
		}
	}
	return nil
}

// Targets are the cluster's processes, to measure their CPU.
func (c *Cluster) Targets() []Target {
	var all []Target
	for _, m := range c.Members {
		all = append(all, Target{Name: m.Name, PID: m.PID})
	}
	for i, shard := range c.shards {
		all = append(all, Target{Name: fmt.Sprintf("shard-%d", i), PID: shard.PID, Tree: true})
	}
	return append(all, Target{Name: "postgres", PID: c.postgres.PID, Tree: true}, Target{Name: "paysim", PID: c.paysim.PID})
}

// whereabouts are where events are, as `boxoffice status` tells.
type whereabouts struct {
	Owners  map[string]string `json:"owners"`  // the names of the nodes that own the events
	ShardOf map[string]int    `json:"shardOf"` // the shards of the events, if the journal has several
}

// locateEvents asks `boxoffice status` where events are.
func (c *Cluster) locateEvents(ctx context.Context, events []string) (at whereabouts, err error) {
	args := []string{"status", "--json"}
	for _, id := range events {
		args = append(args, "--event="+id)
	}
	var out bytes.Buffer
	if err := c.RunTool(ctx, &out, args...); err != nil {
		return at, err
	}
	if err := json.Unmarshal(out.Bytes(), &at); err != nil {
		return at, fmt.Errorf("boxoffice status: %w", err)
	}
	return at, nil
}

// ShardsOf asks which shard of the journal has which of the events.
func (c *Cluster) ShardsOf(ctx context.Context, events ...string) (map[string]int, error) {
	at, err := c.locateEvents(ctx, events)
	return at.ShardOf, err
}

// Owners asks which node owns which of the events. An event that no node owns at the moment is missing from the
// map.
func (c *Cluster) Owners(ctx context.Context, events ...string) (map[string]*Member, error) {
	at, err := c.locateEvents(ctx, events)
	if err != nil {
		return nil, err
	}
	owners := make(map[string]*Member)
	for _, id := range events {
		if i := slices.IndexFunc(c.Members, func(m *Member) bool { return m.Name == at.Owners[id] }); i >= 0 {
			owners[id] = c.Members[i]
		}
	}
	return owners, nil
}

// RunTool runs one of the program's tools on the cluster's databases, and writes to out what the tool prints. The error
// has what the tool said of its failure.
func (c *Cluster) RunTool(ctx context.Context, out io.Writer, args ...string) error {
	var said bytes.Buffer
	p := Process{binary: c.Config.Binary, env: []string{
		"BOXOFFICE_DATABASE_URL=" + c.DatabaseURL, "BOXOFFICE_JOURNAL_URLS=" + strings.Join(c.JournalURLs, " "),
	}, out: out, log: &said}
	cmd := p.Command(ctx, args...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("boxoffice %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// Stop ends the nodes in an orderly way, all at the same time. The supervisors are told first, so that none starts
// a node again. Databases and simulator go on: an audit may still need them.
func (c *Cluster) Stop() error {
	c.cancel()
	errs := make([]error, len(c.Members))
	var all sync.WaitGroup
	for i, m := range c.Members {
		all.Go(func() { errs[i] = m.stop() })
	}
	all.Wait()
	c.wg.Wait()
	return errors.Join(errs...)
}

// Close ends everything but the nodes, which Stop must have ended before. The databases end in order; the simulator
// has nothing to save.
func (c *Cluster) Close() error {
	if c.balancer != nil {
		c.balancer.stop()
	}
	wires := c.wires
	for _, m := range c.Members {
		wires = append(wires, m.Links, m.Database)
	}
	for _, wire := range wires {
		if wire != nil {
			wire.stop()
		}
	}
	err := errors.Join(c.paysim.End(syscall.SIGKILL), c.postgres.End(syscall.SIGTERM))
	for _, shard := range c.shards {
		err = errors.Join(err, shard.End(syscall.SIGTERM))
	}
	for _, log := range c.logs {
		err = errors.Join(err, log.Close())
	}
	return err
}
