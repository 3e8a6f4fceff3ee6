package persisttest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// s3Variable names the versitygw that tests run; .ci/run builds one.
const s3Variable = "BOXOFFICE_TEST_S3"

// S3Scratch is the folder beside the objects for those that are still being written.
const S3Scratch = ".sgwtmp"

// S3 starts an S3 server for the test, with one empty bucket. It returns the address of the bucket,
// for BOXOFFICE_MEDIA_URL, and the folder in which the server keeps each object as a file under its
// key.
func S3(t testing.TB) (address, folder string) {
	t.Helper()
	program := os.Getenv(s3Variable)
	if program == "" {
		Missing(t, "no S3 server: make bin/versitygw, and set "+s3Variable+" to its path")
	}
	root := t.TempDir()
	folder = filepath.Join(root, "data", "files")
	require.NoError(t, os.MkdirAll(folder, 0o700)) // a folder of the root is a bucket
	require.NoError(t, os.MkdirAll(filepath.Join(root, "about"), 0o700))
	host := Address(t)
	server := exec.Command(program, "--port", host, "--quiet", "posix", "--sidecar", filepath.Join(root, "about"), filepath.Join(root, "data")) //nolint:noctx // t.Context ends before the node that uses it has stopped
	server.Env = []string{"ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=sesame/+"}
	// The server must not outlive the tests, even if they are killed.
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()         // it was killed
	})
	require.Eventually(t, func() bool {
		res, err := http.Get("http://" + host) //nolint:noctx // it ends with the server
		return err == nil && res.Body.Close() == nil
	}, startWithin, 20*time.Millisecond, "%s does not answer", program)
	return fmt.Sprintf("s3://test:sesame%%2F%%2B@files?endpoint=http://%s&region=us-east-1", host), folder
}
