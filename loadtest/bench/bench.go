package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
	"boxoffice/persistence/embedded"
	"boxoffice/persistence/ports"
)

// catchUpTime is how long the read model may take to follow after one case.
const catchUpTime = 2 * time.Minute

// bench is one run: the processes under test and the measurements.
type bench struct {
	cmd     *runCmd
	net     *client.Network
	dir     string
	numbers atomic.Uint64 // one for each request of the run
	result  result

	postgres  *embedded.Server
	node      *rig.Node
	database  string // name of the node's database
	nodeLog   *os.File
	organizer *rush.Organizer
}

// start starts Postgres with the settings of a node's own, except for the number of connections,
// which the row-lock design needs.
func (b *bench) start(ctx context.Context) error {
	var err error
	if b.nodeLog, err = os.Create(filepath.Join(b.dir, "node.log")); err != nil {
		return fmt.Errorf("node log: %w", err)
	}
	b.postgres, err = embedded.Start(ctx, embedded.Config{
		Dir: filepath.Join(b.dir, "postgres"), Log: slog.New(slog.DiscardHandler), Install: true,
		Settings: map[string]string{"max_connections": "400"},
	})
	if err != nil {
		return err
	}
	b.result.Machine = rig.ReadMachine(runtime.NumCPU())
	b.result.Seconds, b.result.Invalid = b.cmd.Measure.Seconds(), []string{}
	return nil
}

// renew starts the node under test again, on a database of its own, so that no case pays for what
// an earlier one has left in memory.
func (b *bench) renew(ctx context.Context, name string) error {
	if b.node != nil {
		err := b.node.Stop()
		b.node = nil
		if err != nil {
			return err
		}
		b.net.CloseIdle()
		// Otherwise the server would vacuum the old database in the middle of the next case.
		if err := b.exec(ctx, b.postgres.URL(), "DROP DATABASE "+b.database); err != nil {
			return err
		}
	}
	database, err := b.newDatabase(ctx, name)
	if err != nil {
		return err
	}
	b.database = name
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	b.node, b.organizer, err = b.startNode(ctx, dir, database)
	return err
}

// startNode starts a node on a database, and registers an organizer there.
func (b *bench) startNode(ctx context.Context, dir, database string, env ...string) (*rig.Node, *rush.Organizer, error) {
	var master [32]byte
	_, _ = rand.Read(master[:]) // never fails
	node, err := rig.StartNode(ctx, rig.NodeConfig{
		Binary: b.cmd.Binary, Dir: dir, Log: b.nodeLog,
		Env: append([]string{
			"BOXOFFICE_DATABASE_URL=" + database,
			"BOXOFFICE_MASTER_KEY=" + hex.EncodeToString(master[:]),
			"BOXOFFICE_LIMITS_SCALE=1000000",
			"BOXOFFICE_HEAP_ROOM=-1", // as docs/operations.md says for a sale
			"BOXOFFICE_LOG_LEVEL=WARN",
		}, env...),
	})
	if err != nil {
		return nil, nil, err
	}
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return node, nil, err
	}
	organizer, err := rush.Register(ctx, svc, b.net.Source(0))
	return node, organizer, err
}

// stop stops what start has started.
func (b *bench) stop(ctx context.Context) error {
	var err error
	if b.node != nil {
		err = b.node.Stop()
	}
	if b.postgres != nil {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		err = errors.Join(err, b.postgres.Stop(ctx))
	}
	if b.nodeLog != nil {
		err = errors.Join(err, b.nodeLog.Close())
	}
	return err
}

// postmaster returns the pid of the Postgres under test.
func (b *bench) postmaster() int {
	if pids := b.postgres.Pids(); len(pids) > 0 {
		return pids[0]
	}
	return 0
}

// cpuOf lists a server, Postgres and this process, in that order, for sampling.
func (b *bench) cpuOf(server func() int) []rig.Target {
	return []rig.Target{
		{Name: "server", PID: server},
		{Name: "postgres", PID: rig.FixedPID(b.postmaster()), Tree: true},
		{Name: "generator", PID: rig.FixedPID(os.Getpid())},
	}
}

// settle waits until Postgres has finished what a load left behind and the kernel has written what it has buffered,
// including a build's output, so that the next load does not pay for it: Linux writes after 30 s what has not been
// synced, and commits wait behind that. It also waits until the node has its heap ready for a rush.
func (b *bench) settle(ctx context.Context) error {
	if b.node != nil {
		if err := b.idle(ctx, b.node.URL, catchUpTime, "heap_room_lacking"); err != nil {
			return err
		}
	}
	if err := b.exec(ctx, b.postgres.URL(), "CHECKPOINT"); err != nil {
		return err
	}
	syscall.Sync()
	wait(ctx, time.Second)
	return context.Cause(ctx)
}

// exec executes one statement in a database.
func (b *bench) exec(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	_, err = conn.Exec(ctx, statement)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// caughtUp waits until the node's read model has followed everything that was sold, which the read
// model puts off under load.
func (b *bench) caughtUp(ctx context.Context) error {
	return b.idle(ctx, b.node.URL, catchUpTime, "readmodel_lag")
}

// idle waits until the given gauges of a node are all 0.
func (b *bench) idle(ctx context.Context, node string, within time.Duration, gauges ...string) error {
	svc, err := client.ParseTarget(node)
	if err != nil {
		return err
	}
	for began := time.Now(); ; wait(ctx, 100*time.Millisecond) {
		var resp fasthttp.Response
		req := client.Request{Method: "GET", Host: svc.Host, Path: "/metrics"}
		if err := b.net.Source(0).Do(ctx, &req, &resp); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		behind := ""
		for _, gauge := range gauges {
			_, value, found := bytes.Cut(resp.Body(), []byte("\nboxoffice_"+gauge+" "))
			if !found {
				return fmt.Errorf("the node's metrics do not name boxoffice_%s", gauge)
			}
			if !bytes.HasPrefix(value, []byte("0\n")) {
				behind = gauge
			}
		}
		if behind == "" {
			return nil
		}
		if time.Since(began) > within {
			return fmt.Errorf("%s is still not 0 after %v", behind, within)
		}
	}
}

// withServer runs f while a process serves the echo and, if there are arguments, the row-lock design.
func (b *bench) withServer(ctx context.Context, args []string, f func(host string, pid func() int) error) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("bench server: %w", err)
	}
	free, err := ports.Free(ctx, 1)
	if err != nil {
		return fmt.Errorf("bench server: %w", err)
	}
	host := free[0]
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, append([]string{"server", "--listen", host}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("bench server: %w", err)
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}()
	if err := rig.WaitReady(ctx, "http://"+host, 20*time.Second); err != nil {
		return err
	}
	return f(host, rig.FixedPID(cmd.Process.Pid))
}

// hotRow makes a ticket type of the row-lock design, and vacuums its tables.
func (b *bench) hotRow(ctx context.Context) (id string, err error) {
	conn, err := pgx.Connect(ctx, b.postgres.URL())
	if err != nil {
		return "", fmt.Errorf("row-lock: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, `INSERT INTO rowlock_types VALUES (gen_random_uuid()::text, $1, $2) RETURNING id`, plenty, cents).Scan(&id)
	if err == nil {
		_, err = conn.Exec(ctx, "VACUUM ANALYZE rowlock_types, rowlock_orders")
	}
	if err != nil {
		return "", fmt.Errorf("row-lock: %w", err)
	}
	return id, nil
}
