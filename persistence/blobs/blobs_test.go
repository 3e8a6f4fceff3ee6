package blobs_test

import (
	"bytes"
	"crypto/rand"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/blobs"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d, err := blobs.OpenDisk(folder)
	require.NoError(t, err)
	testStore(t, d, folder)

	t.Log("what a crash has left of a file goes with it")
	require.NoError(t, d.Put(t.Context(), "7/whole", write(t, []byte("a")), "text/plain"))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "7", "whole.part"), []byte("b"), 0o600))
	require.NoError(t, d.Delete(t.Context(), "7/whole"))
	require.Empty(t, files(t, folder))
}

func TestS3(t *testing.T) {
	t.Parallel()
	address, folder := persisttest.S3(t)
	s, err := blobs.OpenS3(address)
	require.NoError(t, err)
	require.NoError(t, s.Check(t.Context()))
	testStore(t, s, folder)
}

// testStore checks what every store must do.
func testStore(t *testing.T, s blobs.Store, folder string) {
	t.Helper()
	large := make([]byte, 70<<20) // more than one part
	_, err := rand.Read(large)
	require.NoError(t, err)
	for key, body := range map[string][]byte{"12/file": []byte("hello world"), "12/web.webp": []byte("w"), "13/file": large} {
		require.NoError(t, s.Put(t.Context(), key, write(t, body), "text/plain"))
		require.True(t, bytes.Equal(body, read(t, s, key, 0, int64(len(body)))), key)
	}
	require.Equal(t, "world", string(read(t, s, "12/file", 6, 5)))
	require.Equal(t, "d", string(read(t, s, "12/file", 10, 1)))
	require.Empty(t, read(t, s, "12/file", 3, 0))
	const border = 64 << 20
	require.Equal(t, large[border-3:border+3], read(t, s, "13/file", border-3, 6))

	t.Log("a reader may stop before the end")
	body, err := s.Open(t.Context(), "13/file", 0, int64(len(large)))
	require.NoError(t, err)
	_, err = body.Read(make([]byte, 10))
	require.NoError(t, err)
	require.NoError(t, body.Close())

	t.Log("the last to be put stands")
	require.NoError(t, s.Put(t.Context(), "12/file", write(t, []byte("other")), "text/plain"))
	require.Equal(t, "other", string(read(t, s, "12/file", 0, 5)))
	require.Error(t, s.Put(t.Context(), "14/file", filepath.Join(t.TempDir(), "none"), "text/plain"))
	_, err = s.Open(t.Context(), "14/file", 0, 5)
	require.ErrorIs(t, err, blobs.ErrNotFound)

	require.NoError(t, s.Delete(t.Context(), "14/file"), "nothing is there")
	for _, key := range []string{"12/file", "12/web.webp", "13/file"} {
		require.NoError(t, s.Delete(t.Context(), key))
		_, err := s.Open(t.Context(), key, 0, 5)
		require.ErrorIs(t, err, blobs.ErrNotFound)
	}
	require.Empty(t, files(t, folder))
}

func write(t *testing.T, body []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "upload")
	require.NoError(t, os.WriteFile(path, body, 0o600))
	return path
}

func read(t *testing.T, s blobs.Store, key string, offset, length int64) []byte {
	t.Helper()
	body, err := s.Open(t.Context(), key, offset, length)
	require.NoError(t, err)
	all, err := io.ReadAll(body)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	return all
}

// files returns the paths of all files and folders below a folder.
func files(t *testing.T, folder string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if path != folder && !strings.Contains(path, persisttest.S3Scratch) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func TestS3Address(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"s3://bucket", "s3://bucket?region=eu-west-1", "s3://key:sesame@bucket?endpoint=http://127.0.0.1:9000", "s3://key:se%2Fsame@bucket?endpoint=https://s3.example.org&region=x",
	} {
		_, err := blobs.OpenS3(address)
		require.NoError(t, err, address)
	}
	for _, address := range []string{
		"", "bucket", "https://bucket", "s3://", "s3://bucket/folder", "s3://bucket?prefix=a", "s3://key:sesame%zz@bucket", "s3://key:ses/ame@bucket",
		"s3://bucket?endpoint=s3.example.org", "s3://bucket?endpoint=ftp://s3.example.org", "s3://bucket?endpoint=http://key:sesame@s3.example.org",
	} {
		_, err := blobs.OpenS3(address)
		require.Error(t, err, address)
		require.NotContains(t, err.Error(), "ses", "the secret")
	}
}
