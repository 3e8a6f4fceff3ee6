package persisttest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that the test runs: the first of names that is on this
// machine. If there is none, the test does without, as Missing says; install is the command that
// brings it.
func Program(t testing.TB, install string, names ...string) (path string) {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "no "+names[0]+" on this machine: "+install)
	return ""
}

// Missing skips a test that wants something which this machine lacks, and says how to get it. In CI
// the test fails: .ci/run installs what every test wants, so that nothing lands untested.
func Missing(t testing.TB, how string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(how)
	}
	t.Skip(how)
}
