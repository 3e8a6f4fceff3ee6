package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const stopTime = 20 * time.Second // after that a process is killed

// process is this program, or another build of it, run as one that the harness
// starts, signals and starts again. Only start is for one goroutine.
type process struct {
	binary string
	args   []string
	env    []string  // KEY=value, besides what this process has
	log    io.Writer // stdout and stderr; nil: dropped
	out    io.Writer // stdout; nil: log

	mu   sync.Mutex
	cmd  *exec.Cmd     // nil when not running
	done chan struct{} // closed when cmd has ended
	how  error         // how it ended
}

// self is the running program, unless another is named.
func self(binary string) (string, error) {
	if binary != "" {
		return binary, nil
	}
	return os.Executable()
}

// command is the program with the process's environment. Only signals end it.
func (p *process) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.binary, args...)
	cmd.Env = append(cmd.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if p.out != nil {
		cmd.Stdout = p.out
	}
	// Not in our process group: an interrupt is ours to pass on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start starts it. The channel is closed when it has ended.
func (p *process) start(ctx context.Context) (ended <-chan struct{}, err error) {
	cmd, done := p.command(ctx, p.args...), make(chan struct{})
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.args[0], err)
	}
	p.mu.Lock()
	p.cmd, p.done, p.how = cmd, done, nil
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.cmd, p.how = nil, err
		p.mu.Unlock()
		close(done)
	}()
	return done, nil
}

// signal sends a signal, if it runs.
func (p *process) signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil
	}
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", p.args[0], err)
	}
	return nil
}

// end sends a signal and waits for the end, which it brings about if that takes
// too long.
func (p *process) end(sig syscall.Signal) error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := p.signal(sig); err != nil {
		return err
	}
	select {
	case <-done:
	case <-time.After(stopTime):
		if err := p.signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-done
		return fmt.Errorf("%s: had to be killed %v after %v", p.args[0], stopTime, sig)
	}
	return nil
}

// pid is 0 while it is not running.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// ending is how its last run has ended.
func (p *process) ending() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.how
}
