package persisttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// SmallDisk mounts a file system in memory with a given number of megabytes, for as long as the test lasts. Without
// the right to mount it skips the test.
func SmallDisk(t testing.TB, megabytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // for the user whom root drops to
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", megabytes)); err != nil {
		t.Skipf("no small disk: only root may mount one, and not everywhere: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// Resize gives a small disk another size.
func Resize(t testing.TB, dir string, megabytes int) {
	t.Helper()
	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dm", megabytes)))
}

// Occupy makes a file that takes up megabytes of a disk until it is removed, or everything that is
// left if that is less.
func Occupy(t testing.TB, path string, megabytes int64) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	for n := megabytes << 20; n > 0; n -= 1 << 12 { // page by page, up to the last one
		if err = unix.Fallocate(int(f.Fd()), 0, (megabytes<<20)-n, 1<<12); err != nil {
			require.ErrorIs(t, err, unix.ENOSPC)
			break
		}
	}
	require.NoError(t, f.Close())
}
