package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// attachWithin is how long a Start waits for the Postgres of another process that has the lock.
const attachWithin = 15 * time.Second

// acquireLock takes the lock of a directory. If another Server has it, acquireLock returns no lock,
// but the URL that the other one has published, as soon as Postgres answers there. The lock file
// contains the owner's URL, and is empty as long as there is none. The kernel releases the lock
// when its owner dies, so a killed node never blocks the next one.
func acquireLock(ctx context.Context, path string) (*os.File, string, error) {
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, attachWithin)
	defer cancel()
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// The last owner may have been killed and left its URL, which would lead others to a
			// server that is gone.
			return lock, "", lock.Truncate(0)
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, "", errors.Join(fmt.Errorf("lock %s: %w", path, err), lock.Close())
		}
		// Another process has the lock. It may not have written its URL yet, or its Postgres may
		// still be starting, so we try again for some time.
		url, err := os.ReadFile(path)
		if err == nil && len(url) > 0 {
			err = ping(ctx, strings.TrimSpace(string(url)))
		} else if err == nil {
			err = errors.New("it has not been started")
		}
		if err == nil {
			return nil, strings.TrimSpace(string(url)), lock.Close()
		}
		select {
		case <-ctx.Done():
			return nil, "", errors.Join(
				fmt.Errorf("%s is held by another process, whose Postgres does not answer: %w", path, err), lock.Close())
		case <-time.After(pollEvery):
		}
	}
}

// publishURL writes the URL into the lock file, where other processes find it.
func (s *Server) publishURL() error {
	_, err := s.lock.WriteAt([]byte(s.url+"\n"), 0)
	return err
}
