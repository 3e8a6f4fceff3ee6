package disk_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/disk"
	"boxoffice/persistence/persisttest"
)

// TestWatch fills a small disk and makes room on it again.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := persisttest.SmallDisk(t, 16)
	var log bytes.Buffer
	limits := disk.Limits{Warn: 8, Reserve: 4}
	w, err := disk.Start(t.Context(), disk.Config{Limits: limits, Dir: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	becomes := func(level disk.Level) {
		t.Helper()
		require.Eventually(t, func() bool { return limits.LevelOf(w.Room()) == level }, time.Minute, 10*time.Millisecond)
		require.Equal(t, level == disk.Full, w.Full())
	}
	becomes(disk.Plenty)
	require.Equal(t, uint64(16<<20), w.Room().Size)
	persisttest.Occupy(t, filepath.Join(dir, "some"), 10)
	becomes(disk.Low)
	persisttest.Occupy(t, filepath.Join(dir, "rest"), 100)
	becomes(disk.Full)
	require.Zero(t, w.Room().Free)
	require.NoError(t, os.Remove(filepath.Join(dir, "rest")))
	becomes(disk.Low)
	require.NoError(t, os.Remove(filepath.Join(dir, "some")))
	becomes(disk.Plenty)
	require.NoError(t, w.Stop(t.Context()))
	var levels []string
	for line := range strings.Lines(log.String()) {
		levels = append(levels, strings.Fields(line)[1])
	}
	require.Equal(t, []string{"level=WARN", "level=ERROR", "level=WARN", "level=INFO"}, levels, "each change is told once: %s", log.String())
}

func TestLookNowhere(t *testing.T) {
	t.Parallel()
	_, err := disk.Look(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
