package gate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

type (
	// Scan is a code that was shown to a device, and the verdict on which the device acted: its own or the service's.
	Scan struct {
		Number int       `json:"n"`
		Code   string    `json:"code"` // as it was shown
		Out    bool      `json:"out,omitempty"`
		At     time.Time `json:"at"` // by the device's clock plus the service's offset
		Verdict
		Alone bool `json:"alone,omitempty"` // whether the device decided without the service
		// Request is the request id of a scan that the service may have judged although its answer
		// never came.
		Request string `json:"request,omitempty"`
	}
	// Told is the service's verdict on a scan.
	Told struct {
		Number int       `json:"n"`
		When   time.Time `json:"when"` // by the device's own clock
		Verdict
		FirstGate string    `json:"firstGate,omitempty"`
		FirstAt   time.Time `json:"firstAt,omitzero"`
	}
	// kept is a line of the manifest file: an answer of the service, and how far the device's clock
	// was behind the service's.
	kept struct {
		Manifest
		Offset time.Duration `json:"offset"`
	}
	// entry is a line of the log. Exactly one of the two fields is set.
	entry struct {
		Scan *Scan `json:"scan,omitempty"`
		Told *Told `json:"told,omitempty"`
	}
)

// store is what a device keeps in its folder: a log of scans, which only grows, and the manifest with its
// changes, which a full manifest replaces. Both are files of lines. A call that writes a line returns only when
// the line is on the disk.
type store struct {
	dir       string
	manifests *lines
	log       *lines
}

// lines is a file of lines. Its first size bytes are on the disk.
type lines struct {
	*os.File
	size int64
}

const (
	manifestsFile = "manifest.jsonl" // a full manifest and the deltas after it
	logFile       = "scans.jsonl"
)

// openStore opens a folder, or makes it, and passes everything in it to the two functions: first the lines of the log
// (scans and verdicts), and then the full manifest and its changes. A last line that is not complete is dropped
// (openLines); any other line that can't be read is an error.
func openStore(dir string, manifest func(*kept), scanned func(entry)) (_ *store, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	s := &store{dir: dir}
	if s.log, err = openLines(filepath.Join(dir, logFile), func(line []byte) error {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		scanned(e)
		return nil
	}); err != nil {
		return nil, err
	}
	if s.manifests, err = openLines(filepath.Join(dir, manifestsFile), func(line []byte) error {
		m := new(kept)
		if err := json.Unmarshal(line, m); err != nil {
			return err
		}
		manifest(m)
		return nil
	}); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	return s, nil
}

// openLines reads a file of lines and opens it for appending. If the last line is not complete, the
// device lost its power while it wrote the line. That line is dropped.
func openLines(path string, line func([]byte) error) (_ *lines, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("gate: %s: %w", path, err), f.Close())
		}
	}()
	var whole int64
	for in := bufio.NewReader(f); ; {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if err := line(text); err != nil {
			return nil, err
		}
		whole += int64(len(text))
	}
	if err := f.Truncate(whole); err != nil {
		return nil, err
	}
	return &lines{f, whole}, syncFolder(filepath.Dir(path))
}

// append adds entries to the log, and waits until they are on the disk.
func (s *store) append(entries ...entry) error {
	var text []byte
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("gate: %w", err)
		}
		text = append(append(text, line...), '\n')
	}
	return s.log.add(text)
}

// keep adds a change to the manifest, or replaces the manifest by a full one. A full one is written
// to a new file first, so that a loss of power leaves the old one or the new one.
func (s *store) keep(m *kept) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	line = append(line, '\n')
	if !m.Full {
		return s.manifests.add(line)
	}
	path := filepath.Join(s.dir, manifestsFile)
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	full := &lines{File: f}
	if err := full.add(line); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := os.Rename(path+".new", path); err != nil {
		return errors.Join(fmt.Errorf("gate: %w", err), f.Close())
	}
	old := s.manifests
	s.manifests = full
	return errors.Join(old.Close(), syncFolder(s.dir))
}

// add writes more lines and waits until they are on the disk. If that fails, it cuts off what was written of them,
// because the device acts as if they were not there. If the file can't be cut then, the next call cuts it.
func (l *lines) add(text []byte) error {
	err := l.Truncate(l.size)
	if err == nil {
		_, err = l.WriteAt(text, l.size)
	}
	if err == nil {
		err = l.Sync()
	}
	if err != nil {
		return fmt.Errorf("gate: %w", errors.Join(err, l.Truncate(l.size)))
	}
	l.size += int64(len(text))
	return nil
}

// syncFolder makes a new or renamed file durable: its name is part of the folder.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *store) close() error { return errors.Join(s.log.Close(), s.manifests.Close()) }
