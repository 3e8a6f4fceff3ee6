// Package hasher makes keys from passwords (argon2id) in separate processes of low priority.
//
// A hash takes a core for tens of milliseconds and 19 MiB of memory. Within the node, even a single hash would
// delay a sale, because everything else on its core waits until the hash is done. A process of low priority
// gets little more than the time that others leave. Measured on two cores with one hash at a time, the p99 of
// orders rose from 3 ms to 31 ms with hashes within the node, and to 15 ms with hashes in a process: any
// process that never rests costs that much there. So a worker also rests between hashes while a sale goes on; a
// storm of logins then takes a third of a core. With 200 logins at once, the p99 rose from 3.8 ms to 7 ms with
// the rests, and to 10 ms without them.
//
// A program that uses a Hasher is also the worker: if it is called with the argument Command, it
// calls Serve and does nothing else. The node makes one Hasher with New. Its processes start when
// they are needed, and end with Stop or when the node has ended.
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

// waiting is how many calls of Key may wait for a worker. Further calls are refused.
const waiting = 8

// restTimes says how long a worker rests after a key while the node is busy: restTimes times as long as the key took.
const restTimes = 2

// Command is the argument that makes a process of the program a worker.
const Command = "hash"

// Hasher has one worker process for every two cores, and at least one. Its methods may be called by
// any goroutine.
type Hasher struct {
	program string
	busy    func() bool
	taken   chan struct{} // has a value for each call of Key that runs or waits
	idle    chan *worker  // the workers that no call uses; nil stands for a worker that is not started yet

	mu      sync.Mutex
	stopped bool
	running map[*worker]struct{}
}

// New makes a hasher whose workers are processes of the program at that path. The workers rest
// between two keys while busy returns true, because something more important goes on.
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

// Full returns the refusal with which Key would answer now, or nil. It lets a caller refuse before
// the caller reads the database.
func (h *Hasher) Full() error {
	if len(h.taken) == cap(h.taken) {
		return engine.Refuse(engine.Overloaded, nil)
	}
	return nil
}

// Key makes the key of a password and a salt. It waits for a free worker, and refuses at once with
// OVERLOADED if too many calls wait already. If ctx ends, it returns the context's error and kills
// a worker that is making the key.
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
	stop := context.AfterFunc(ctx, w.kill) // otherwise the worker would go on although nobody waits for the key
	key, err := w.ask(password, salt)
	if !stop() || err != nil {
		h.end(w)
		w = nil
		err = errors.Join(err, ctx.Err())
	}
	h.idle <- w
	return key, err
}

// start starts a worker process and notes that it runs, so that Stop can kill it. After Stop it ends the
// process at once and refuses with UNAVAILABLE.
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

// end kills a worker process and forgets it.
func (h *Hasher) end(w *worker) {
	h.mu.Lock()
	delete(h.running, w)
	h.mu.Unlock()
	w.end()
}

// Stop kills the worker processes. Calls of Key that wait for one of them, and all later calls, return an error.
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

// worker is one worker process. Only the call of Key that has taken it from idle uses it, but Stop may end it at
// any time.
type worker struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	once sync.Once

	rested time.Time // the time when its rest from the last key will be over
}

// startWorker starts a worker: the program with the argument Command, which then answers one request after
// another. It does not wait until the process is ready.
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

// awaitRest waits until the worker's rest from its last key is over.
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

// ask makes one key: it sends a request to the process and reads the key. It blocks until the
// process answers or ends, and notes until when the worker has to rest.
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

func (w *worker) kill() { _ = w.cmd.Process.Kill() } // if that fails, the process has ended already

// end ends the process and waits for it.
func (w *worker) end() {
	w.once.Do(func() {
		_ = w.in.Close()
		w.kill()
		_ = w.cmd.Wait() // the error says that the process was killed, which we know
	})
}

// request returns the bytes of a request to a worker: the lengths of the salt and of the password,
// the salt, the password.
func request(password string, salt []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(salt)))  //nolint:gosec // 16
	b = binary.BigEndian.AppendUint32(b, uint32(len(password))) //nolint:gosec // up to 128
	return append(append(b, salt...), password...)
}

// Serve is what a worker process does. It gives itself a low priority, and makes a key for each
// request that it reads until the input ends.
func Serve(in io.Reader, out io.Writer) error {
	lowerPriority()
	return serve(in, out, memory)
}

// ServeCheapKeys is Serve for tests of whole nodes. Such tests make thousands of accounts and keep a
// machine busy for minutes, so the keys take 64 KiB instead of 19 MiB, which is a hundredth of the
// time, and are made at the usual priority, so that no caller gives up before the key is made.
func ServeCheapKeys(in io.Reader, out io.Writer) error { return serve(in, out, 64) }

// maxRequest is the most bytes of a salt, and of a password.
const maxRequest = 4 << 10

// serve makes a key with that much memory (in KiB) for each request, until the input ends.
func serve(in io.Reader, out io.Writer, memory uint32) error {
	runtime.GOMAXPROCS(1)
	if err := answerRequests(in, out, memory); !errors.Is(err, io.EOF) {
		return fmt.Errorf("hasher: %w", err)
	}
	return nil
}

// answerRequests answers requests until reading or writing fails, or a request is too large. It returns io.EOF at
// the end of the input.
func answerRequests(in io.Reader, out io.Writer, memory uint32) error {
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
