// Package rig runs what a load test is made of, as processes on this machine: a node
// with its payment simulator, a cluster of nodes with their Postgres and a balancer,
// proxies that disturb connections, and samplers that read from /proc what all of it
// costs.
//
// Scenarios and `boxoffice cluster` call it. The caller that starts something stops it: Stop
// of a Node, Stop and Close of a Cluster, Stop of a Proxy and of a Sampler return
// when every goroutine and process that they have has ended. The processes are runs
// of this very program, or of the binary that a configuration names. Costs are read
// on Linux only; elsewhere they are 0.
package rig

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

const stopTime = 20 * time.Second // after so long a process that was told to end is killed

// Process is this program, or another build of it, as a process that the harness starts, signals and starts again.
// Start is for one goroutine at a time; the other methods may be called by any.
type Process struct {
	binary string
	args   []string
	env    []string  // KEY=value, besides what this process has
	log    io.Writer // gets what the process prints; nil: that is dropped
	out    io.Writer // gets its standard output alone; nil: log gets it

	mu   sync.Mutex
	cmd  *exec.Cmd     // nil while it is not running
	done chan struct{} // closed when cmd has ended
	how  error         // how it ended
}

// thisProgram returns the running program, unless another one is named.
func thisProgram(binary string) (string, error) {
	if binary != "" {
		return binary, nil
	}
	return os.Executable()
}

// Command makes a call of the program with the process's environment. The call has to be ended by a signal: the end
// of ctx does not end it, because a node must be able to stop in order after an interrupt.
func (p *Process) Command(ctx context.Context, args ...string) *exec.Cmd {
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

// Start starts it. The channel is closed when it has ended.
func (p *Process) Start(ctx context.Context) (ended <-chan struct{}, err error) {
	cmd, done := p.Command(ctx, p.args...), make(chan struct{})
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.args[0], err)
	}
	p.mu.Lock()
	p.cmd, p.done, p.how = cmd, done, nil
	p.mu.Unlock()
	// This goroutine ends with the process. Callers that need the end wait on done.
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.cmd, p.how = nil, err
		p.mu.Unlock()
		close(done)
	}()
	return done, nil
}

// Signal sends a signal, if it runs.
func (p *Process) Signal(sig syscall.Signal) error {
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

// End sends a signal and waits until the process has ended. A process that does not end within stopTime is killed,
// which is an error. End does nothing if the process does not run.
func (p *Process) End(sig syscall.Signal) error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	if err := p.Signal(sig); err != nil {
		return err
	}
	select {
	case <-done:
	case <-time.After(stopTime):
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-done
		return fmt.Errorf("%s: had to be killed %v after %v", p.args[0], stopTime, sig)
	}
	return nil
}

// PID is 0 while it is not running.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// howItEnded is how its last run has ended.
func (p *Process) howItEnded() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.how
}
