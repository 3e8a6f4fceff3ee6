// Package panics keeps a mistake in one item of a background job from ending the process: it
// catches the panic, logs it with its stack and counts it, and the job goes on with its next item.
// Requests have their own code for that (edge/server/middleware.go), and so have actors, which end
// and are loaded again (cluster/host). Code that must not go on after a panic, such as a lane of
// the journal, does not use it.
//
// It owns the counts, which live as long as the process. Any goroutine may call its functions.
package panics

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"sync"
	"time"
)

// Error is a panic that was caught.
type Error struct {
	Job   string
	Value any // what the job panicked with
}

// Error says which job panicked, and with which value.
func (e *Error) Error() string { return fmt.Sprintf("%s panicked: %v", e.Job, e.Value) }

var (
	mu     sync.Mutex
	counts = map[string]int64{}
)

// Counts returns how often each job has panicked since the process began. A job that never panicked
// is missing.
func Counts() map[string]int64 {
	mu.Lock()
	defer mu.Unlock()
	return maps.Clone(counts)
}

// Catch runs one item of a job. It returns the item's error, or an *Error if the item panicked.
func Catch(log *slog.Logger, job string, item func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Note(log, job, v, debug.Stack())
		}
	}()
	return item()
}

// Do runs one item of a job that returns no error. It reports whether the item ended without a
// panic.
func Do(log *slog.Logger, job string, item func()) bool {
	return Catch(log, job, func() error {
		item()
		return nil
	}) == nil
}

// again is the pause before a job that panicked goes on, so that a job that panics at once every
// time does not use up a core.
const again = time.Second

// Keep runs a job that has a loop of its own, and starts it again after a panic, until it returns
// or ctx ends.
func Keep(ctx context.Context, log *slog.Logger, job string, loop func()) {
	for !Do(log, job, loop) {
		timer := time.NewTimer(again)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// Note counts and logs a panic that other code has caught, such as a library that runs our code.
func Note(log *slog.Logger, job string, value any, stack []byte) error {
	mu.Lock()
	counts[job]++
	mu.Unlock()
	log.Error("background job panicked", slog.String("job", job), slog.Any("panic", value), slog.String("stack", string(stack)))
	return &Error{Job: job, Value: value}
}
