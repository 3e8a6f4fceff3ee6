package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// runInOwnNetwork runs the test once more, in a process whose network is a namespace of its own, and
// returns whether this process is that one. A new interface in the machine's own namespace makes
// every browser on it give up its requests (ERR_NETWORK_CHANGED), also those of other tests. The
// test is skipped where a namespace is not allowed.
func runInOwnNetwork(t *testing.T) bool {
	t.Helper()
	const inside = "BOXOFFICE_TEST_OWN_NETWORK"
	if os.Getenv(inside) != "" {
		return true
	}
	path, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("no network namespaces here: %v %s", err, out)
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	t.Logf("%s", out)
	return false
}

// spaces are network namespaces on one bridge, which this process reaches too.
type spaces struct {
	t      *testing.T
	prefix string // of their names
	net    string // the first three numbers of their addresses
}

// newSpaces makes n namespaces, numbered from 1 on, and skips the test where that is not allowed.
func newSpaces(t *testing.T, n int) *spaces {
	s := &spaces{t, fmt.Sprintf("bx%d", os.Getpid()), "10.64.0"}
	if out, err := exec.CommandContext(t.Context(), "ip", "link", "add", s.prefix, "type", "bridge").CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here: %v %s", err, out)
	}
	s.run("link", "set", "lo", "up")
	s.run("address", "add", s.net+".254/24", "dev", s.prefix)
	s.run("link", "set", s.prefix, "up")
	for i := 1; i <= n; i++ {
		space := s.name(i)
		s.run("netns", "add", space)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", space).Run() })
		s.run("link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", space)
		s.run("link", "set", space, "master", s.prefix, "up")
		s.run("-n", space, "address", "add", s.address(i)+"/24", "dev", "eth0")
		s.run("-n", space, "link", "set", "eth0", "up")
		s.run("-n", space, "link", "set", "lo", "up")
	}
	return s
}

func (s *spaces) name(i int) string { return fmt.Sprintf("%s-%d", s.prefix, i) }

func (s *spaces) address(i int) string { return fmt.Sprintf("%s.%d", s.net, i) }

// run runs ip, of iproute2.
func (s *spaces) run(args ...string) {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "ip", args...).CombinedOutput()
	require.NoError(s.t, err, "ip %v: %s", args, out)
}

// startNode runs a node of a cluster in a namespace until the test ends.
func (s *spaces) startNode(i int, dsn string) *nodetest.Shop {
	program, err := os.Executable()
	require.NoError(s.t, err)
	at := s.address(i)
	cmd := exec.CommandContext(s.t.Context(), "ip", "netns", "exec", s.name(i), program)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATABASE_URL="+dsn, "BOXOFFICE_ALLOW_UNSAFE_POSTGRES=true",
		"BOXOFFICE_CLUSTER=postgres", "BOXOFFICE_NODE="+s.name(i), "BOXOFFICE_LISTEN="+at+":80", "BOXOFFICE_LINK_LISTEN="+at+":81", "BOXOFFICE_METRICS_LISTEN="+at+":82",
		"BOXOFFICE_LEASE=10s", // a busy machine must not make a node count as dead
		"BOXOFFICE_MAIL_DIR="+s.t.TempDir(), "BOXOFFICE_MASTER_KEY="+strings.Repeat("ab", 32), "BOXOFFICE_LIMITS_SCALE=1000", "BOXOFFICE_PAYSIM_LISTEN="+at+":83")
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("node %d: %s", i, &log)
		}
	})
	require.Eventually(s.t, func() bool { return s.get(at+":80/readyz") != "" }, time.Minute, 50*time.Millisecond)
	return &nodetest.Shop{T: s.t, URL: "http://" + at + "/api/v1"}
}

// get returns what an address answers with 200, or "".
func (s *spaces) get(address string) string {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+address, nil)
	require.NoError(s.t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// relayed is how many links of a node go by a third one.
func (s *spaces) relayed(i int) string {
	for line := range strings.Lines(s.get(s.address(i) + ":82/metrics")) {
		if n, ok := strings.CutPrefix(line, "boxoffice_links_relayed "); ok {
			return strings.TrimSpace(n)
		}
	}
	return ""
}

// TestOneSidedCut loses all packets from one node of three to another, and only these. Every event is
// sold at both of them again, and when the packets arrive again the nodes talk straight.
func TestOneSidedCut(t *testing.T) {
	t.Parallel()
	if !runInOwnNetwork(t) {
		return
	}
	s := newSpaces(t, 3)
	dsn := persisttest.DB(t)
	a := s.startNode(1, dsn)
	b := s.startNode(2, dsn)
	s.startNode(3, dsn)
	require.Eventually(t, func() bool {
		return strings.Contains(s.get(s.address(1)+":82/metrics"), "boxoffice_links_up 2") && strings.Contains(s.get(s.address(2)+":82/metrics"), "boxoffice_links_up 2")
	}, time.Minute, 50*time.Millisecond)
	var types []string
	for range 8 {
		_, ids := a.OnSale(nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"maxPerCustomer": 1000}))
		types = append(types, ids[0])
	}
	rounds := 0
	sellEverywhere := func() {
		rounds++
		for i, node := range []*nodetest.Shop{a, b} {
			for j, ticketType := range types {
				key := fmt.Sprintf("00000000-0000-4000-8000-%04d%04d%04d", rounds, i, j)
				body := nodetest.OrderBody(fmt.Sprintf("p%d-%d@example.org", rounds, i), ticketType, 1)
				require.Eventually(t, func() bool {
					answer := node.Call("POST", "/orders", body, "Idempotency-Key", key)
					assert.Contains(t, []int{http.StatusCreated, http.StatusServiceUnavailable}, answer.Status, "%v", answer.Body)
					return answer.Status == http.StatusCreated
				}, time.Minute, 20*time.Millisecond)
			}
		}
	}
	sellEverywhere()

	s.run("-n", s.name(1), "route", "add", "blackhole", s.address(2)+"/32")
	cut := time.Now()
	sellEverywhere()
	t.Logf("every event was sold at both again after %v", time.Since(cut))
	require.Eventually(t, func() bool { return s.relayed(1) == "1" && s.relayed(2) == "1" }, time.Minute, 50*time.Millisecond)
	sellEverywhere()

	s.run("-n", s.name(1), "route", "delete", "blackhole", s.address(2)+"/32")
	require.Eventually(t, func() bool { return s.relayed(1) == "0" && s.relayed(2) == "0" }, time.Minute, 50*time.Millisecond)
	sellEverywhere()
}
