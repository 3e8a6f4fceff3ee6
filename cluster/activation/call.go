package activation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/engine"
)

// ErrMoved says that the activation is stopping, or that the actor is not on this node: look the actor up again.
var ErrMoved = errors.New("activation: the activation is stopping")

// ErrUnavailable says that the command's outcome is not known now, for example because the journal
// does not answer or another activation owns the stream. If the command is sent again with the same
// id, it still has only one outcome.
var ErrUnavailable = errors.New("activation: the actor is not available")

// Call is a command whose caller waits. Calls are pooled, but a caller that gives up leaves its
// call to the garbage collector.
type Call struct {
	Cmd   engine.Command
	reply engine.Reply
	err   error
	done  chan struct{}
	state atomic.Uint32 // 0 waiting, 1 finished, 2 abandoned
	load  *atomic.Int64 // a counter that has this call until it is finished: the activation's Load, or one of the sender's for another node

	// These are set for a call from another node, for which nobody waits here.
	to      Responder
	number  int64
	expires int64 // unix milliseconds after which it need not be carried out; 0 stands for never
}

// Responder sends the outcome of a call back to the node that it came from. It must not block.
type Responder interface {
	Answer(number int64, reply engine.Reply, err error)
}

// NewRemoteCall makes a call that another node has numbered. It counts in load until it is
// finished.
func NewRemoteCall(cmd engine.Command, load *atomic.Int64, to Responder, number, expires int64) *Call {
	load.Add(1)
	return &Call{Cmd: cmd, load: load, to: to, number: number, expires: expires}
}

var calls = sync.Pool{New: func() any { return &Call{done: make(chan struct{}, 1)} }}

// NewCall takes a call from the pool. It counts in load until it is finished.
func NewCall(cmd engine.Command, load *atomic.Int64) *Call {
	c, _ := calls.Get().(*Call)
	c.Cmd, c.load = cmd, load
	load.Add(1)
	return c
}

// soon is how long a caller waits before it looks at its context. A context's Done costs a timer
// and as many objects as a goroutine, and almost every reply arrives earlier.
const soon = 200 * time.Millisecond

var patience = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour) //nolint:forbidigo // it is the caller who waits, not the activation
	t.Stop()
	return t
}}

// Wait returns the call's outcome, or ctx's error if ctx ends first, or ErrUnavailable if shut is closed first. shut may
// be nil. It looks at ctx and shut only after the time soon. The caller must not use the call afterwards, because it may
// be used for another command by then.
func (c *Call) Wait(ctx context.Context, shut <-chan struct{}) (engine.Reply, error) {
	t, _ := patience.Get().(*time.Timer)
	t.Reset(soon)
	select {
	case <-c.done:
	case <-t.C:
		var reason error
		select {
		case <-c.done:
		case <-ctx.Done():
			reason = ctx.Err()
		case <-shut:
			reason = ErrUnavailable
		}
		if reason != nil {
			if c.state.CompareAndSwap(0, 2) {
				patience.Put(t)
				return nil, reason
			}
			<-c.done
		}
	}
	t.Stop()
	patience.Put(t)
	reply, err := c.reply, c.err
	c.Cmd, c.reply, c.err, c.load = nil, nil, nil, nil
	c.state.Store(0)
	calls.Put(c)
	return reply, err
}

// Finish hands the outcome to the caller, over the link if the caller is on another node. If the caller no longer waits,
// the outcome is dropped. It is called once.
func (c *Call) Finish(reply engine.Reply, err error) {
	c.load.Add(-1)
	if c.to != nil {
		c.to.Answer(c.number, reply, err)
		return
	}
	c.reply, c.err = reply, err
	if c.state.CompareAndSwap(0, 1) {
		c.done <- struct{}{}
	}
}
