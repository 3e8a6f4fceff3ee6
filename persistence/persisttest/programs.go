package persisttest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that the test runs: the first of names that this machine
// has. If it has none of them, the test is skipped or fails (Missing). install is the command that
// installs the program.
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

// Missing skips a test that needs something which this machine lacks, and says how to get it. In CI
// the test fails instead: .ci/run installs everything that tests need, so that nothing gets in
// untested.
func Missing(t testing.TB, how string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(how)
	}
	t.Skip(how)
}
