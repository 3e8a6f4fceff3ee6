package etcd_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/members/etcd"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) {
	if os.Getenv(holderEndpoint) != "" {
		if err := hold(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	persisttest.Main(m)
}

const within = 30 * time.Second // what a busy machine may take for anything

// server is an etcd of the test's own.
type server struct {
	t   *testing.T
	dir string
	url string
	cmd *exec.Cmd
}

func newServer(t *testing.T) *server {
	t.Helper()
	persisttest.Program(t, "apt-get install etcd-server", "etcd")
	s := &server{t: t, dir: t.TempDir()}
	s.url = "http://" + persisttest.Address(t)
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start returns when the server answers.
func (s *server) start() {
	peer := "http://" + persisttest.Address(s.t)
	s.cmd = exec.Command("etcd", "--name=one", "--data-dir="+filepath.Join(s.dir, "data"), "--logger=zap", "--log-level=error",
		"--listen-client-urls="+s.url, "--advertise-client-urls="+s.url, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=one="+peer)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(s.t, s.cmd.Start())
	c := s.client()
	require.Eventually(s.t, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := c.Get(ctx, "there?")
		return err == nil
	}, within, 20*time.Millisecond, "etcd does not answer")
	require.NoError(s.t, c.Close())
}

func (s *server) client() *clientv3.Client {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.url}, Logger: zap.NewNop(), DialTimeout: time.Second})
	require.NoError(s.t, err)
	return c
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // perhaps done before
	_ = s.cmd.Wait()
}

// node is a member under test.
type node struct {
	*etcd.Lease
	t     *testing.T
	id    string
	lists chan []members.Member
}

func (s *server) config(pool *pgxpool.Pool, name string) etcd.Config {
	return etcd.Config{
		Endpoints: []string{s.url}, Prefix: "test", DB: pool, Log: slog.New(slog.DiscardHandler), Lease: 5 * time.Second,
		Self: members.Member{ID: members.NewID(name), Name: name, Link: name + ":1", HTTP: name + ":2"},
		Info: func() []byte { return []byte(`{"version": "test"}`) },
	}
}

func (s *server) join(pool *pgxpool.Pool, name string, lease time.Duration) *node {
	s.t.Helper()
	n := &node{t: s.t, lists: make(chan []members.Member, 1000)}
	cfg := s.config(pool, name)
	cfg.Lease, cfg.Changed = lease, func(list []members.Member) { n.lists <- list }
	n.id = cfg.Self.ID
	var err error
	n.Lease, err = etcd.Join(s.t.Context(), cfg)
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		if n.Lease != nil {
			n.stop()
		}
	})
	return n
}

func (n *node) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	require.NoError(n.t, n.Stop(ctx))
	n.Lease = nil
}

// sees waits until the node is told of exactly these members.
func (n *node) sees(want ...string) []members.Member {
	n.t.Helper()
	slices.Sort(want)
	return n.told(func(list []members.Member) bool {
		return slices.EqualFunc(list, want, func(m members.Member, id string) bool { return m.ID == id })
	})
}

func (n *node) told(enough func([]members.Member) bool) []members.Member {
	n.t.Helper()
	var last []members.Member
	for late := time.After(within); ; {
		select {
		case last = <-n.lists:
			if enough(last) {
				return last
			}
		case <-late:
			require.FailNow(n.t, "not told so", "last: %v", last)
		}
	}
}

func (n *node) isLost() {
	n.t.Helper()
	select {
	case err := <-n.Lost():
		require.ErrorIs(n.t, err, members.ErrLost)
	case <-time.After(within):
		require.FailNow(n.t, "not lost")
	}
}

// lives waits until the node has heard from etcd, and fails the test if the node was told that it
// is dead.
func (n *node) lives() {
	n.t.Helper()
	require.Eventually(n.t, func() bool { return n.Fresh() == nil }, within, time.Millisecond)
	select {
	case err := <-n.Lost():
		require.NoError(n.t, err)
	default:
	}
}

const long = 10 * time.Second // a lease that no stall of the machine outlasts

func TestMembersSeeEachOther(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	a := s.join(pool, "a", long)
	list := a.sees(a.id)
	require.Equal(t, members.Member{ID: a.id, Name: "a", Link: "a:1", HTTP: "a:2"}, list[0])
	b := s.join(pool, "b", long)
	b.sees(a.id, b.id)
	a.sees(a.id, b.id)
	var version string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT info->>'version' FROM nodes WHERE id = $1`, b.id).Scan(&version))
	require.Equal(t, "test", version)

	b.Leave()
	list = a.told(func(list []members.Member) bool { return list[1].Leaving })
	require.False(t, list[0].Leaving)
	bid := b.id
	b.stop()
	a.sees(a.id)
	a.lives()
	var rows int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM nodes WHERE id = $1`, bid).Scan(&rows))
	require.Zero(t, rows)
}

// TestTheSameNameJoinsAgain lets a node join under its name while its earlier lifetime is on the
// list: the earlier lifetime ends, and its id does not come back.
func TestTheSameNameJoinsAgain(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	watcher, old := s.join(pool, "watcher", long), s.join(pool, "a", long)
	watcher.sees(watcher.id, old.id)
	again := s.join(pool, "a", long)
	again.sees(watcher.id, again.id)
	watcher.sees(watcher.id, again.id)
	old.Leave() // its writing the key must not bring it back
	old.isLost()
	again.lives()
	require.Empty(t, again.lists)
}

// TestALostLeaseIsTheEnd makes sure that a node whose lease is lost, for whatever reason, hears of
// it and stays dead.
func TestALostLeaseIsTheEnd(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	a, b := s.join(pool, "a", long), s.join(pool, "b", long)
	a.sees(a.id, b.id)
	c := s.client()
	defer func() { require.NoError(t, c.Close()) }()
	key, err := c.Get(t.Context(), "test/nodes/"+b.id)
	require.NoError(t, err)
	require.Len(t, key.Kvs, 1)
	_, err = c.Revoke(t.Context(), clientv3.LeaseID(key.Kvs[0].Lease))
	require.NoError(t, err)
	b.isLost()
	a.sees(a.id)
	a.lives()
	require.Empty(t, a.lists)
}

const (
	holderEndpoint = "BOXOFFICE_TEST_ETCD"
	holderDatabase = "BOXOFFICE_TEST_DATABASE"
)

// hold is another process: a member with a journal, until it is killed.
func hold() error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(holderDatabase))
	if err != nil {
		return err
	}
	s := &server{url: os.Getenv(holderEndpoint)}
	cfg := s.config(pool, "holder")
	cfg.Lease, cfg.Changed = time.Second, func([]members.Member) {}
	j, err := journal.Open(ctx, journal.Config{Pool: pool, Node: cfg.Self.ID, Log: cfg.Log, AllowUnsafe: true, Lanes: 1})
	if err != nil {
		return err
	}
	lease, err := etcd.Join(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Println(cfg.Self.ID)
	select {
	case err = <-lease.Lost():
	case err = <-j.Failed():
	}
	return errors.Join(err, errors.New("the holder ended by itself"))
}

// holder starts a process that holds a lease.
func (s *server) holder(pool *pgxpool.Pool) (id string, process *os.Process) {
	s.t.Helper()
	program, err := os.Executable()
	require.NoError(s.t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), holderEndpoint+"="+s.url, holderDatabase+"="+pool.Config().ConnString())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // perhaps done before
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(s.t, err)
	return strings.TrimSpace(line), cmd.Process
}

// TestAKilledNodeIsBuried makes sure that a killed process is noticed after its lease: its row is
// gone, and its journal's writer is closed once, by one of the nodes that saw it.
func TestAKilledNodeIsBuried(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	a, b := s.join(pool, "a", long), s.join(pool, "b", long)
	id, process := s.holder(pool)
	a.sees(a.id, b.id, id)
	b.sees(a.id, b.id, id)
	require.NoError(t, process.Kill())
	a.sees(a.id, b.id)
	b.sees(a.id, b.id)
	require.Eventually(t, func() bool {
		var open int
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT (SELECT count(*) FROM writers WHERE node = $1 AND closed_at IS NULL) + (SELECT count(*) FROM nodes WHERE id = $1)`, id).Scan(&open))
		return open == 0
	}, within, 10*time.Millisecond)
	a.lives()
	b.lives()
}

// TestAStalledNodeEnds makes sure that a process which was stopped for longer than its lease is
// fenced when it goes on, and ends.
func TestAStalledNodeEnds(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	a := s.join(pool, "a", long)
	id, process := s.holder(pool)
	a.sees(a.id, id)
	require.NoError(t, process.Signal(syscall.SIGSTOP))
	a.sees(a.id)
	require.NoError(t, process.Signal(syscall.SIGCONT))
	state, err := process.Wait()
	require.NoError(t, err)
	require.Equal(t, 1, state.ExitCode(), "it ends by itself")
	a.lives()
}

// TestAnOutageBuriesNobody makes sure that nobody is buried while etcd is away, and that a node
// which tries to join gets an error.
func TestAnOutageBuriesNobody(t *testing.T) {
	t.Parallel()
	s, pool := newServer(t), persisttest.Migrated(t)
	const lease = 4 * time.Second
	a, b := s.join(pool, "a", lease), s.join(pool, "b", lease)
	a.sees(a.id, b.id)
	b.sees(a.id, b.id)
	s.kill()
	cfg := s.config(pool, "late")
	cfg.Lease = 0
	_, err := etcd.Join(t.Context(), cfg)
	require.ErrorContains(t, err, "members: etcd")
	require.Eventually(t, func() bool { return a.Fresh() != nil && b.Fresh() != nil }, within, time.Millisecond)
	s.start()
	a.lives()
	b.lives()
	late := s.join(pool, "late", lease)
	late.sees(a.id, b.id, late.id)
	a.sees(a.id, b.id, late.id)
	a.lives()
	b.lives()
}
