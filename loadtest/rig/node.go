package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"boxoffice/persistence/ports"
)

const (
	firstReady = 60 * time.Second // how long a node with a new data directory may take to be ready
	readyPoll  = 10 * time.Millisecond
)

// NodeConfig says how a node of our own is started.
type NodeConfig struct {
	Binary string    // the program; empty: the running program
	Dir    string    // the data directory
	Env    []string  // KEY=value, besides what this process has and the knobs set here
	Log    io.Writer // gets what the node prints; nil: that is dropped
}

// Node is a service that the harness runs, with its payment simulator in a
// process of its own, so that money outlives the node. Stop ends both. Start
// and Kill are for one goroutine; the pids may be asked for from any.
type Node struct {
	URL    string // http://127.0.0.1:port
	Paysim string

	dir     string
	Process Process
	paysim  Process
}

// CallsBack in a node's environment makes its simulator play all three providers, which tell
// the node of payments by themselves, as live ones do.
const CallsBack = "BOXOFFICE_LOADTEST_CALLS_BACK=1"

// secretKey is what nodes and the payment simulators of the harness share.
const secretKey = "sk_test_loadtest"

// StartNode starts a node on free ports and waits until it is ready.
func StartNode(ctx context.Context, cfg NodeConfig) (*Node, error) {
	binary, err := thisProgram(cfg.Binary)
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	free, err := ports.Free(ctx, 2)
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	n := &Node{URL: "http://" + free[0], Paysim: "http://" + free[1], dir: cfg.Dir}
	env := append([]string{
		"BOXOFFICE_LISTEN=" + free[0],
		"BOXOFFICE_DATA_DIR=" + cfg.Dir,
		"BOXOFFICE_LIMITS_SCALE=1000",
		"BOXOFFICE_PAYSIM_LISTEN=" + free[1],
		"BOXOFFICE_PAYSTACK_URL=" + n.Paysim,
		"BOXOFFICE_PAYSTACK_KEY=" + secretKey,
	}, cfg.Env...)
	// Without CallsBack the simulator only plays Paystack, and the node asks it about payments.
	simulator := []string{"paysim"}
	if slices.Contains(cfg.Env, CallsBack) {
		env = append(env,
			"BOXOFFICE_NOWPAYMENTS_URL="+n.Paysim+"/v1", "BOXOFFICE_NOWPAYMENTS_KEY="+secretKey, "BOXOFFICE_NOWPAYMENTS_IPN_SECRET="+secretKey,
			"BOXOFFICE_FLUTTERWAVE_URL="+n.Paysim+"/v3", "BOXOFFICE_FLUTTERWAVE_KEY="+secretKey, "BOXOFFICE_FLUTTERWAVE_SECRET_HASH="+secretKey,
			"BOXOFFICE_STRIPE_URL="+n.Paysim+"/v1", "BOXOFFICE_STRIPE_KEY="+secretKey, "BOXOFFICE_STRIPE_WEBHOOK_SECRET="+secretKey,
			"BOXOFFICE_MOLLIE_URL="+n.Paysim+"/v2", "BOXOFFICE_MOLLIE_KEY="+secretKey, "BOXOFFICE_BEACON_URL=test")
		hook := n.URL + "/api/v1/payments/webhook/"
		simulator = append(simulator, "--webhook-url="+hook+"paystack", "--flutterwave-url="+hook+"flutterwave", "--stripe-url="+hook+"stripe", "--webhook-retry=5s")
	}
	n.Process = Process{binary: binary, args: []string{"serve"}, env: env, log: cfg.Log}
	n.paysim = Process{binary: binary, args: simulator, env: env, log: cfg.Log}
	// The simulator comes first, so that a node that is ready can take payments.
	ended, err := n.paysim.Start(ctx)
	if err == nil {
		err = waitForAnswer(ctx, n.Paysim+"/_sim/stats", firstReady, ended)
	}
	if err == nil {
		err = n.Start(ctx, firstReady)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node: %w", err), n.Stop())
	}
	return n, nil
}

// Start starts the node on its old ports and data and waits until /readyz says
// so, for at most within.
func (n *Node) Start(ctx context.Context, within time.Duration) error {
	ended, err := n.Process.Start(ctx)
	if err == nil {
		err = waitForAnswer(ctx, n.URL+"/readyz", within, ended)
	}
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	return nil
}

// Kill ends the node with SIGKILL and waits until it is gone.
func (n *Node) Kill() error { return n.Process.End(syscall.SIGKILL) }

// Stop ends the node and then its payment simulator, which has nothing to save.
func (n *Node) Stop() error {
	return errors.Join(n.Process.End(syscall.SIGTERM), n.paysim.End(syscall.SIGKILL))
}

// Audit audits the journal of the stopped node: every stream is replayed, and
// the streams of an event added up against one another.
func (n *Node) Audit(ctx context.Context, out io.Writer) error { return n.Process.audit(ctx, out) }

// audit runs the program's audit with the process's environment.
func (p *Process) audit(ctx context.Context, out io.Writer) error {
	cmd := p.Command(ctx, "audit")
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("journal audit: %w", err)
	}
	return nil
}

// PID is the node's process, 0 while it is not running.
func (n *Node) PID() int { return n.Process.PID() }

// Targets are the node's processes, to measure their CPU.
func (n *Node) Targets() []Target {
	return []Target{
		{Name: "server", PID: n.PID},
		{Name: "postgres", PID: n.PostgresPID, Tree: true},
		{Name: "paysim", PID: n.paysim.PID},
	}
}

// PostgresPID is the postmaster of the node's own Postgres, 0 while there is
// none.
func (n *Node) PostgresPID() int { return postmaster(n.dir, n.PID()) }

// postmaster is the server of a data directory, 0 while there is none.
func postmaster(dir string, parent int) int {
	pid, _ := readPostmaster(dir, parent)
	return pid
}

// readPostmaster returns the server of a data directory, or 0 while there is none, and whether it takes
// connections. The file postmaster.pid may be some folders below, by the version of Postgres. While Postgres
// starts, the file names the process that starts it: that one is not the server.
func readPostmaster(dir string, parent int) (pid int, answers bool) {
	for _, pattern := range []string{"postmaster.pid", "*/postmaster.pid", "*/*/postmaster.pid"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return 0, false
		}
		for _, file := range files {
			if pid, err := ReadPIDFile(file); err == nil && pid != parent {
				return pid, isReady(file)
			}
		}
	}
	return 0, false
}

// isReady reports whether the last line of a postmaster.pid says that Postgres takes connections.
// pg_ctl waits for the same line.
func isReady(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && bytes.HasSuffix(bytes.TrimSpace(text), []byte("\nready"))
}

// WaitReady waits until the service at an address answers that it is ready.
func WaitReady(ctx context.Context, base string, within time.Duration) error {
	return waitForAnswer(ctx, base+"/readyz", within, nil)
}

// waitForAnswer asks a URL again and again until it answers 200. ended, which may be nil, is closed when the
// process has ended, and waiting has become pointless. The error has the last answer, which says more than that the
// time is over.
func waitForAnswer(ctx context.Context, url string, within time.Duration, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	httpClient := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for last := errors.New("never asked"); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := httpClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			last = fmt.Errorf("it answers %d", resp.StatusCode)
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready within %v: %w", url, within, last)
		case <-ended:
			return fmt.Errorf("%s: the process has ended", url)
		case <-ticker.C:
		}
	}
}

// portsFrom returns the loopback addresses of n ports in a row, or else the first port in that row that somebody
// listens on.
func portsFrom(ctx context.Context, first, n int) (addrs []string, taken int) {
	for port := first; port < first+n; port++ {
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, port
		}
		_ = ln.Close()
		addrs = append(addrs, addr)
	}
	return addrs, 0
}

// StartNodeForRun starts a node for one run. Its data is in a temporary directory, and its log stays in dir. The
// function that it returns stops the node, audits the node's journal, and deletes the data. env has more of the
// node's environment, as KEY=value.
func StartNodeForRun(ctx context.Context, dir string, out io.Writer, log *slog.Logger, env ...string) (*Node, func() error, error) {
	data, err := os.MkdirTemp("", "boxoffice-loadtest-")
	if err != nil {
		return nil, nil, fmt.Errorf("node: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "node.log"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("node: %w", err), os.RemoveAll(data))
	}
	log.InfoContext(ctx, "starting a node", slog.String("data", data), slog.String("log", file.Name()))
	node, err := StartNode(ctx, NodeConfig{Dir: data, Log: file, Env: env})
	if err != nil {
		return nil, nil, errors.Join(err, file.Close(), os.RemoveAll(data))
	}
	return node, func() error {
		return errors.Join(node.Stop(), node.Audit(context.WithoutCancel(ctx), out), file.Close(), os.RemoveAll(data))
	}, nil
}

// ReadPIDFile returns the number in the first line of a file such as
// postmaster.pid.
func ReadPIDFile(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	pid, err := strconv.Atoi(string(bytes.TrimSpace(line)))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return pid, nil
}
