package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// partSuffix ends the name of a file that is not complete yet.
const partSuffix = ".part"

// Disk stores files in a directory.
type Disk struct{ root *os.Root }

// OpenDisk opens the directory, and makes it if it is missing.
func OpenDisk(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("media directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("media directory: %w", err)
	}
	return &Disk{root}, nil
}

// Put copies the file into the directory. After a success, the file, its name and the folders that lead to it
// are on the disk.
func (d *Disk) Put(_ context.Context, key, path, _ string) error {
	if err := d.root.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	defer func() { _ = in.Close() }() // it is only read
	part := key + partSuffix
	out, err := d.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	_, err = io.Copy(out, in) // the kernel copies, and shares blocks if it can
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = d.root.Rename(part, key)
	}
	if err != nil {
		_ = d.root.Remove(part) // it is not complete
		return fmt.Errorf("store %s: %w", key, err)
	}
	// Each folder on the way to the file may be new, and then its name has to be on the disk too.
	for folder := filepath.Dir(key); ; folder = filepath.Dir(folder) {
		if err := d.syncFolder(folder); err != nil || folder == "." {
			return err
		}
	}
}

// syncFolder makes sure that the names in a folder are on the disk.
func (d *Disk) syncFolder(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return fmt.Errorf("sync %s: %w", name, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Open reads a range of the file under the key.
func (d *Disk) Open(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	f, err := d.root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", key, err)
	}
	return &section{io.NewSectionReader(f, offset, length), f}, nil
}

// section is a range of a file.
type section struct {
	io.Reader
	io.Closer
}

// Delete removes the file under the key, a part that a crash has left, and the folder if it is
// empty then. A file that does not exist is no error.
func (d *Disk) Delete(_ context.Context, key string) error {
	for _, name := range []string{key, key + partSuffix} {
		if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete %s: %w", key, err)
		}
	}
	if folder := filepath.Dir(key); folder != "." {
		_ = d.root.Remove(folder) // fails if the folder is not empty
	}
	return nil
}
