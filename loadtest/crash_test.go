package loadtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest"
	"boxoffice/loadtest/report"
)

// forgets makes the fake node lose its orders when it is killed.
const forgets = "LOADTEST_FAKE_NODE_FORGETS"

func crash(t *testing.T) (*report.Report, string, error) {
	t.Helper()
	rush := config(t, "http://unused", "--rate=100", "--tickets=100000", "--patience=5s").RushConfig
	var out bytes.Buffer
	r, err := loadtest.Crash(t.Context(), loadtest.CrashConfig{
		RushConfig: rush, NodeKills: 3, PostgresKills: 2, Within: 5 * time.Second, Calm: 300 * time.Millisecond,
	}, &out, slog.New(slog.DiscardHandler))
	return r, out.String(), err
}

func TestCrashesOfADurableNode(t *testing.T) {
	r, out, err := crash(t)
	require.NoError(t, err, out)
	require.Len(t, r.Outages, 5)
	kinds := map[string]int{}
	for _, o := range r.Outages {
		kinds[o.What]++
		require.Positive(t, o.WritesAgain)
		require.Less(t, o.WritesAgain, 20*time.Second) // make crash says how long on a machine of its own
		require.Equal(t, o.What == "node", o.Ready > 0)
	}
	require.Equal(t, map[string]int{"node": 3, "postgres": 2}, kinds)
	require.Greater(t, check(t, r, "acknowledged orders are there").Checked, int64(50))
	require.NotEmpty(t, r.Invalid)
	require.Contains(t, out, "writes after")
}

func TestCrashesOfAForgetfulNodeAreFound(t *testing.T) {
	t.Setenv(forgets, "1")
	r, _, err := crash(t)
	require.ErrorIs(t, err, loadtest.ErrFindings)
	require.Positive(t, check(t, r, "acknowledged orders are there").Failed)
}

func TestStartNodeSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	_, err := loadtest.StartNode(t.Context(), loadtest.NodeConfig{Binary: "/nonexistent", Dir: t.TempDir()})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// runFakeNode is the fake service as a process: what changed it stands in a
// journal that outlives it, and it has a child that stands for Postgres,
// without which it answers 503.
func runFakeNode(what string) {
	if what == "paysim" {
		runFakePaysim()
	}
	dir := os.Getenv("BOXOFFICE_DATA_DIR")
	s := newService(bugs{})
	s.url = "http://" + os.Getenv("BOXOFFICE_LISTEN")
	path := filepath.Join(dir, "journal")
	s.replay(path)
	journal, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	s.journal = journal

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	go s.keepPostgres(ctx, filepath.Join(dir, "postmaster.pid"))
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", os.Getenv("BOXOFFICE_LISTEN"))
	must(err)
	go func() { must(fasthttp.Serve(ln, s.serve)) }()
	<-ctx.Done()
	killOld(filepath.Join(dir, "postmaster.pid"))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// keepPostgres starts the child again whenever it dies.
func (s *service) keepPostgres(ctx context.Context, pidFile string) {
	killOld(pidFile)
	for {
		cmd := exec.CommandContext(ctx, "sleep", "600")
		if cmd.Start() != nil {
			return // stopping
		}
		must(os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600))
		s.down.Store(false)
		_ = cmd.Wait()
		s.down.Store(true)
		<-time.After(100 * time.Millisecond)
	}
}

// killOld ends the child of a node that was killed.
func killOld(pidFile string) {
	if b, err := os.ReadFile(pidFile); err == nil {
		pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		must(err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// noted is one line of the fake service's journal.
type noted struct {
	Path, From, Key string
	Body            []byte
}

func (s *service) note(ctx *fasthttp.RequestCtx) {
	if os.Getenv(forgets) != "" && bytes.Contains(ctx.Path(), []byte("/orders")) {
		return
	}
	line, err := json.Marshal(noted{
		Path: string(ctx.RequestURI()), From: ctx.RemoteIP().String(),
		Key: string(ctx.Request.Header.Peek("Idempotency-Key")), Body: ctx.PostBody(),
	})
	must(err)
	_, err = s.journal.Write(append(line, '\n'))
	must(err)
}

func (s *service) replay(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return // the first start
	}
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		var n noted
		if json.Unmarshal(line, &n) != nil {
			continue // cut off by the kill, so never answered
		}
		var req fasthttp.Request
		req.Header.SetMethod("POST")
		req.SetRequestURI(n.Path)
		req.Header.Set("Idempotency-Key", n.Key)
		req.SetBody(n.Body)
		if bytes.HasPrefix(n.Body, []byte("outcome=")) {
			req.Header.SetContentType("application/x-www-form-urlencoded")
		}
		var ctx fasthttp.RequestCtx
		ctx.Init(&req, &net.TCPAddr{IP: net.ParseIP(n.From)}, nil)
		s.serve(&ctx)
	}
}

// runFakePaysim passes the service's own list of payments on.
func runFakePaysim() {
	http.HandleFunc("/_sim/stats", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/_sim/transactions", func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), "GET", "http://"+os.Getenv("BOXOFFICE_LISTEN")+r.URL.String(), nil)
		must(err)
		resp, err := http.DefaultClient.Do(req)
		must(err)
		defer func() { _ = resp.Body.Close() }()
		_, err = io.Copy(w, resp.Body)
		must(err)
	})
	must(http.ListenAndServe(os.Getenv("BOXOFFICE_PAYSIM_LISTEN"), nil))
}
