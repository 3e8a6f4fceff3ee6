// Package hasher makes keys of passwords (argon2id) in processes of their own
// of low priority.
//
// A hash takes a core for tens of milliseconds and 19 MiB of memory. Within the
// node it would stand in a sale's way however few ran at once: what waits behind
// it on its core waits for all of it. The operating system gives a process of low
// priority a little, and what the others leave (measured on two cores, one hash
// at a time: orders' p99 from 3 to 31 ms with it within the node, to 15 ms so,
// which is what any other process that never rests costs there). So while a sale
// goes on it rests: then a storm of logins takes a third of a core (200 at once:
// p99 from 3.8 to 7 ms, without the rests to 10).
//
// A program that uses a Hasher is its own worker: called with the
// argument Command, it calls Serve and does nothing else. The node makes one Hasher with New; its
// processes start when they are needed, and end with Stop or when the node is
// gone.
package hasher

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"boxoffice/engine"
)

// The parameters of argon2id (RFC 9106): 19 MiB, two passes, one lane, as OWASP's Password
// Storage Cheat Sheet recommends.
const (
	memory = 19 << 10 // KiB
	passes = 2
	lanes  = 1

	// KeySize is the length of a key in bytes.
	KeySize = 32
)

// waiting is how many may wait for their turn; the next is refused.
const waiting = 8

// restTimes is how many times as long as it took a key is followed by a rest, while
// the node is busy.
const restTimes = 2

// Command is the argument that makes a process of the program a worker.
const Command = "hash"

// Hasher has a worker process for every other core. Its methods may be called by
// any goroutine.
type Hasher struct {
	program string
	busy    func() bool
	taken   chan struct{} // running or waiting
	idle    chan *worker  // nil: one that has not started

	mu      sync.Mutex
	stopped bool
	running map[*worker]struct{}
}

// New makes a hasher whose workers are processes of the program. They rest between
// two keys when busy says that something more important goes on.
func New(program string, busy func() bool) *Hasher {
	n := max(1, runtime.GOMAXPROCS(0)/2)
	h := &Hasher{
		program: program, busy: busy, taken: make(chan struct{}, n+waiting), idle: make(chan *worker, n), running: map[*worker]struct{}{},
	}
	for range n {
		h.idle <- nil
	}
	return h
}

// Full is the refusal that Key would answer now, or nil: for a caller who would
// otherwise read a database first.
func (h *Hasher) Full() error {
	if len(h.taken) == cap(h.taken) {
		return engine.Refuse(engine.Overloaded, nil)
	}
	return nil
}

// Key makes the key of a password when it is its turn, or refuses at once with
// OVERLOADED when too many wait.
func (h *Hasher) Key(ctx context.Context, password string, salt []byte) ([]byte, error) {
	select {
	case h.taken <- struct{}{}:
		defer func() { <-h.taken }()
	default:
		return nil, engine.Refuse(engine.Overloaded, nil)
	}
	var w *worker
	select {
	case w = <-h.idle:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if w == nil {
		var err error
		if w, err = h.start(); err != nil {
			h.idle <- nil
			return nil, err
		}
	}
	if h.busy() {
		if err := w.awaitRest(ctx); err != nil {
			h.idle <- w
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, w.kill) // it would hash on for nobody
	key, err := w.ask(password, salt)
	if !stop() || err != nil {
		h.end(w)
		w = nil
		err = errors.Join(err, ctx.Err())
	}
	h.idle <- w
	return key, err
}

func (h *Hasher) start() (*worker, error) {
	w, err := startWorker(h.program)
	if err != nil {
		return nil, fmt.Errorf("hasher: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		w.end()
		return nil, engine.Refuse(engine.Unavailable, nil)
	}
	h.running[w] = struct{}{}
	return w, nil
}

func (h *Hasher) end(w *worker) {
	h.mu.Lock()
	delete(h.running, w)
	h.mu.Unlock()
	w.end()
}

// Stop ends the worker processes. Keys that are being made are not.
func (h *Hasher) Stop(context.Context) error {
	h.mu.Lock()
	h.stopped = true
	running := h.running
	h.running = map[*worker]struct{}{}
	h.mu.Unlock()
	for w := range running {
		w.end()
	}
	return nil
}

// worker is one process.
type worker struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	once sync.Once

	rested time.Time // when it will have
}

func startWorker(program string) (*worker, error) {
	cmd := exec.Command(program, Command) //nolint:gosec,noctx // ourselves; it serves many contexts, and end ends it
	setOwnSession(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &worker{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// awaitRest waits until the worker has rested from its last key.
func (w *worker) awaitRest(ctx context.Context) error {
	timer := time.NewTimer(time.Until(w.rested))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask makes one key in the process.
func (w *worker) ask(password string, salt []byte) ([]byte, error) {
	began := time.Now()
	defer func() { w.rested = time.Now().Add(restTimes * time.Since(began)) }()
	if _, err := w.in.Write(request(password, salt)); err != nil {
		return nil, fmt.Errorf("hasher: ask: %w", err)
	}
	key := make([]byte, KeySize)
	if _, err := io.ReadFull(w.out, key); err != nil {
		return nil, fmt.Errorf("hasher: answer: %w", err)
	}
	return key, nil
}

func (w *worker) kill() { _ = w.cmd.Process.Kill() } // it may have ended

// end ends the process and waits for it.
func (w *worker) end() {
	w.once.Do(func() {
		_ = w.in.Close()
		w.kill()
		_ = w.cmd.Wait() // killed, as it should be
	})
}

// request is what a worker reads: two lengths, the salt, the password.
func request(password string, salt []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(salt)))  //nolint:gosec // 16
	b = binary.BigEndian.AppendUint32(b, uint32(len(password))) //nolint:gosec // up to 128
	return append(append(b, salt...), password...)
}

// Serve is what a worker process does: it gives itself a low priority and
// makes the keys that it is asked for until there are no more questions.
func Serve(in io.Reader, out io.Writer) error {
	lowerPriority()
	return ServeAtUsualPriority(in, out)
}

// ServeAtUsualPriority is Serve for tests of whole nodes. They keep a machine busy for minutes, in
// which a worker of low priority would get too little to make a key before its caller gives up.
func ServeAtUsualPriority(in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	if err := serve(in, out); !errors.Is(err, io.EOF) {
		return fmt.Errorf("hasher: %w", err)
	}
	return nil
}

// maxRequest bounds a salt and a password, in bytes.
const maxRequest = 4 << 10

// serve answers requests until there are no more.
func serve(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	var sizes [8]byte
	for {
		if _, err := io.ReadFull(r, sizes[:]); err != nil {
			return err
		}
		salt, password := binary.BigEndian.Uint32(sizes[:4]), binary.BigEndian.Uint32(sizes[4:])
		if salt > maxRequest || password > maxRequest {
			return errors.New("a request is too large")
		}
		body := make([]byte, salt+password)
		if _, err := io.ReadFull(r, body); err != nil {
			return err
		}
		if _, err := out.Write(argon2.IDKey(body[salt:], body[:salt], passes, memory, lanes, KeySize)); err != nil {
			return err
		}
	}
}
