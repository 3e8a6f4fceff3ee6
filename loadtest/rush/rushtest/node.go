package rushtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// Forgets is a variable of the environment. It makes the fake node lose its orders when it is
// killed, so that a test can see whether the audit finds the loss.
const Forgets = "LOADTEST_FAKE_NODE_FORGETS"

// RunIfStartedAsNode is the first call of every TestMain whose tests start nodes. The harness
// starts a node, its payment simulator and its tools by running its own program again, and here
// that program is the test. Without this call such a process would run all tests, and those would
// start nodes again. If the process was started as a node, this function does not return.
func RunIfStartedAsNode() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		return // as go test starts it
	}
	switch os.Args[1] {
	case "serve", "paysim":
		runNode(os.Args[1])
	case "audit": // the fake has no journal
	default:
		panic("the fake node knows no command " + os.Args[1])
	}
	os.Exit(0)
}

// runNode runs the fake service as a process. A journal keeps each request that changes the
// service, and outlives the process. A child process stands for Postgres: while it is dead, the
// service answers 503.
func runNode(what string) {
	if what == "paysim" {
		runPaysim()
	}
	dir := os.Getenv("BOXOFFICE_DATA_DIR")
	s := newService(Bugs{})
	s.URL = "http://" + os.Getenv("BOXOFFICE_LISTEN")
	path := filepath.Join(dir, "journal")
	// The journal is replayed before it is opened for writing, so the replay notes nothing a second
	// time.
	s.replayRequest(path)
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

// keepPostgres starts the child again whenever the child dies. A test kills the child to see how a
// load test lives without Postgres.
func (s *Service) keepPostgres(ctx context.Context, pidFile string) {
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

// killOld ends the child of a node that was killed, which could not end the child itself.
func killOld(pidFile string) {
	if b, err := os.ReadFile(pidFile); err == nil {
		pid, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		must(err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// noted is one line of the fake service's journal: a request with all that decides its effect.
type noted struct {
	Path, From, Key string
	Body            []byte
}

// noteRequest writes a request to the journal before the service carries it out. A node that starts
// again carries it out once more.
func (s *Service) noteRequest(ctx *fasthttp.RequestCtx) {
	if os.Getenv(Forgets) != "" && bytes.Contains(ctx.Path(), []byte("/orders")) {
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

// replayRequest carries out all requests of the journal in their order, which leads to the same
// state as before.
func (s *Service) replayRequest(path string) {
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

// runPaysim stands for the payment simulator. It passes on the list of payments that the service
// itself keeps, so both processes have one truth.
func runPaysim() {
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
