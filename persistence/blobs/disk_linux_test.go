package blobs_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"boxoffice/persistence/blobs"
)

// TestDiskSyncsFolders watches the folder of the store while a file is put into a new folder in it. The store must open
// its folder to sync it, or the name of the new folder might not survive a crash.
func TestDiskSyncsFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d, err := blobs.OpenDisk(folder)
	require.NoError(t, err)
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	events := os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { require.NoError(t, events.Close()) })
	_, err = unix.InotifyAddWatch(fd, folder, unix.IN_OPEN)
	require.NoError(t, err)

	require.NoError(t, d.Put(t.Context(), "7/file", write(t, []byte("a")), "text/plain"))
	seen := make([]byte, 64<<10)
	n, err := events.Read(seen) // what happened is there already
	require.NoError(t, err)
	opened := false
	for seen = seen[:n]; len(seen) > 0; {
		name := binary.NativeEndian.Uint32(seen[12:])
		opened = opened || name == 0 // an event without a name is about the folder itself
		seen = seen[unix.SizeofInotifyEvent+name:]
	}
	require.True(t, opened)
}
