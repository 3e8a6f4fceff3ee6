package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the oldest major version of Postgres with which we test.
const oldest = 15

// distribution is where Debian's packages put the programs.
const distribution = "/usr/lib/postgresql/*/bin"

// installation is a Postgres on this machine: a directory with the programs initdb and postgres,
// and their major version.
type installation struct {
	bin   string
	major int
}

// findPrograms returns the directory of initdb and postgres. want is the major version that the
// data needs; with 0 any version from oldest on will do. If no installation fits, findPrograms
// installs one, provided that install is set and we are root.
func findPrograms(ctx context.Context, want int, install bool, log *slog.Logger) (string, error) {
	found := listInstallations(ctx)
	if i := slices.IndexFunc(found, func(in installation) bool { return in.fitsVersion(want) }); i >= 0 {
		return found[i].bin, nil
	}
	pkg := "postgresql"
	if want != 0 {
		pkg = fmt.Sprintf("postgresql-%d", want)
	}
	missing := fmt.Errorf("no usable Postgres on this machine (found: %v): install the package %s, or set a database URL", found, pkg)
	if want != 0 {
		missing = fmt.Errorf("the data was made by Postgres %d, which is not on this machine (found: %v): install the package %s; the data is left as it is",
			want, found, pkg)
	}
	if !install || os.Geteuid() != 0 {
		return "", missing
	}
	if err := installPackage(ctx, pkg, log); err != nil {
		return "", errors.Join(missing, err)
	}
	found = listInstallations(ctx)
	if i := slices.IndexFunc(found, func(in installation) bool { return in.fitsVersion(want) }); i >= 0 {
		return found[i].bin, nil
	}
	return "", missing
}

// fitsVersion reports whether an installation can run a cluster of a major version. Only the same version can.
// For a new cluster (want 0), any version from oldest on will do.
func (in installation) fitsVersion(want int) bool {
	return in.major == want || want == 0 && in.major >= oldest
}

// String names the installation in errors.
func (in installation) String() string { return fmt.Sprintf("%d in %s", in.major, in.bin) }

// listInstallations lists the installations on this machine in the order in which they are
// preferred: first the one in PATH, then the distribution's packages, the newest first.
func listInstallations(ctx context.Context) []installation {
	var system []installation
	dirs, _ := filepath.Glob(distribution) // the pattern is sound
	for _, dir := range dirs {
		if in, ok := inspectProgram(ctx, filepath.Join(dir, "postgres")); ok {
			system = append(system, in)
		}
	}
	slices.SortFunc(system, func(a, b installation) int { return cmp.Compare(b.major, a.major) })
	if path, err := exec.LookPath("postgres"); err == nil {
		if in, ok := inspectProgram(ctx, path); ok {
			return append([]installation{in}, system...)
		}
	}
	return system
}

// versionOutput finds the major version in the output of "postgres --version", such as "postgres
// (PostgreSQL) 16.4".
var versionOutput = regexp.MustCompile(`\) (\d+)`)

// inspectProgram asks a postgres program for its version. ok is false if that fails, or if there is
// no initdb in the program's directory.
func inspectProgram(ctx context.Context, postgres string) (installation, bool) {
	path, err := filepath.EvalSymlinks(postgres)
	if err != nil {
		return installation{}, false
	}
	bin := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(bin, "initdb")); err != nil {
		return installation{}, false
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	m := versionOutput.FindSubmatch(out)
	if err != nil || m == nil {
		return installation{}, false
	}
	major, err := strconv.Atoi(string(m[1]))
	return installation{bin: bin, major: major}, err == nil
}

// installPackage installs a Debian package. It writes a policy first that keeps Debian from
// creating and starting a cluster of its own.
func installPackage(ctx context.Context, pkg string, log *slog.Logger) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return err
	}
	const policy = "/etc/postgresql-common/createcluster.d"
	if err := os.MkdirAll(policy, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(policy, "boxoffice.conf"), []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return err
	}
	log.InfoContext(ctx, "installing Postgres", slog.String("package", pkg))
	for _, args := range [][]string{
		{"update", "-q"},
		{"install", "-y", "-q", "--no-install-recommends", pkg},
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}
