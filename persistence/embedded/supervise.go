package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	pollEvery     = 20 * time.Millisecond  // pause between two looks at whether Postgres answers, or has ended
	restartDelay  = 100 * time.Millisecond // pause after the first failed start; it doubles with each further one
	restartPause  = time.Second            // longest pause between two starts
	orphanGrace   = 10 * time.Second       // how long a killed node's postmaster may take to end by itself
	immediateStop = 8 * time.Second        // how long a SIGQUIT may take; Postgres itself kills its children after 5 s
	maxLog        = 16 << 20               // largest log in bytes that is appended to; checked at each start
)

// supervise owns the postmaster from its first start to its end. It sends the result of the first
// start to started. After that it starts the postmaster again whenever it dies, until ctx ends.
func (s *Server) supervise(ctx context.Context, prepare func() error, started chan<- error) {
	// The kernel signals the postmaster when the thread that forked it ends (Pdeathsig). Go may
	// end a thread at any time, so this goroutine keeps its thread to itself until it ends.
	runtime.LockOSThread()
	defer close(s.done)
	defer s.release()

	err := prepare()
	var pm *postmaster
	if err == nil {
		pm, err = s.launch(ctx)
	}
	started <- err
	if err != nil {
		return
	}
	for {
		err := s.awaitEnd(pm)
		if ctx.Err() != nil {
			return
		}
		s.log.ErrorContext(ctx, "postgres died and is started again", slog.Any("error", err))
		if pm = s.relaunch(ctx); pm == nil {
			return
		}
	}
}

// relaunch tries to start Postgres until it runs or ctx ends; in the latter case it returns nil. A
// full disk may keep Postgres down for hours, so only the 1st, 2nd, 4th, 8th attempt and so on are
// logged.
func (s *Server) relaunch(ctx context.Context) *postmaster {
	began, pause := time.Now(), restartDelay
	for attempt := 1; ; attempt++ {
		pm, err := s.launch(ctx)
		if err == nil {
			s.log.InfoContext(ctx, "postgres is back", slog.Duration("after", time.Since(began)))
			return pm
		}
		if ctx.Err() != nil {
			return nil
		}
		// The attempts 1, 2, 4, 8 and so on are logged: a power of two has no bit in common with its predecessor.
		if attempt&(attempt-1) == 0 {
			s.log.ErrorContext(ctx, "postgres did not start", slog.Int("attempt", attempt), slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, restartPause)
	}
}

// postmaster is one run of Postgres's first process.
type postmaster struct {
	cmd    *exec.Cmd
	exited chan error // gets the result of Wait once, when the process has ended
}

// launch starts a postmaster and returns when it answers. Before that it ends the processes of an earlier postmaster and
// removes what that has left. When ctx ends, the postmaster is asked to shut down.
func (s *Server) launch(ctx context.Context) (*postmaster, error) {
	// All processes of the last postmaster must have ended, or two servers would write to the same
	// files.
	if err := s.clearOrphans(ctx); err != nil {
		return nil, err
	}
	if err := s.clearLeftovers(); err != nil {
		return nil, err
	}
	log, err := openLog(s.files.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "postgres"), s.postmasterArgs()...)
	s.user.applyTo(cmd)
	cmd.Stdout, cmd.Stderr = log, log
	// SIGINT is a fast shutdown: sessions end and a checkpoint is written. A process group of its
	// own protects Postgres from a terminal's Ctrl-C, because the node stops Postgres only after
	// everything else.
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run postgres: %w", err)
	}
	pm := &postmaster{cmd: cmd, exited: make(chan error, 1)}
	go func() { pm.exited <- cmd.Wait() }()
	if err := s.awaitReady(ctx, pm); err != nil {
		return nil, err
	}
	return pm, nil
}

// awaitReady returns nil when Postgres answers, and an error when it has exited or ctx has ended.
func (s *Server) awaitReady(ctx context.Context, pm *postmaster) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		if ping(ctx, s.url) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			_ = s.awaitEnd(pm) // the end of ctx has told it to stop
			return context.Cause(ctx)
		case err := <-pm.exited:
			if err == nil {
				err = errors.New("exit status 0")
			}
			return fmt.Errorf("postgres did not start: %w; the end of %s:\n%s", err, s.files.log, tail(s.files.log))
		case <-poll.C:
		}
	}
}

// awaitEnd waits for the postmaster to end. When Stop is in a hurry, it makes the postmaster end,
// at first gently and then by force.
func (s *Server) awaitEnd(pm *postmaster) error {
	select {
	case err := <-pm.exited:
		return err
	case <-s.hurry:
	}
	// SIGQUIT is an immediate shutdown: Postgres ends without a checkpoint, and recovers at the next start.
	_ = pm.cmd.Process.Signal(syscall.SIGQUIT) // fails only if it is gone
	select {
	case err := <-pm.exited:
		return err
	case <-time.After(immediateStop):
	}
	signalAll(s.Pids(), syscall.SIGKILL)
	return <-pm.exited
}

// release gives back what the server held besides its cluster: the socket directory and the lock.
// The lock comes last, because the next owner may begin at that moment.
func (s *Server) release() {
	s.cancel()
	if filepath.Dir(s.files.socket) != s.files.dir {
		_ = os.Remove(s.files.socket) // a directory in /tmp, empty by now
	}
	_ = s.lock.Truncate(0) // removes the URL, to which others would attach
	_ = s.lock.Close()
}

// ping connects once and returns nil if Postgres answers within two seconds.
func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

// openLog opens the log of Postgres for appending. A log of more than maxLog bytes is first renamed
// to the same name with .old, in place of an older one.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// tail returns the last lines of a file for an error message, up to about 1,500 bytes.
func tail(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	const most = 1500
	if len(b) > most {
		b = b[len(b)-most:]
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return b
}
