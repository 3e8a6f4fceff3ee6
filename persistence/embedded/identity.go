package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// identity is the user as which Postgres runs. Postgres refuses to run as root. A node that is root
// therefore runs it as an unprivileged user. If that user can't reach the data, because it lies
// below a private home, Postgres runs in a user namespace in which root appears as another user.
type identity struct {
	uid, gid  uint32 // owner of the server's files, as the file system sees it
	drop      bool   // whether processes change to uid and gid
	alias     uint32 // with uid 0: the user that root appears as
	aliasName string
	blocked   string // a directory above the data that the alias may not enter; empty if the namespace has another reason
}

// String says as which user Postgres runs, for logs and errors.
func (id identity) String() string {
	if id.blocked != "" {
		return fmt.Sprintf("root in a user namespace (%s may not enter %s)", id.aliasName, id.blocked)
	}
	if id.aliasName != "" {
		return "root in a user namespace"
	}
	return "uid " + strconv.Itoa(int(id.uid))
}

// applyTo makes a command run under the identity, in the root directory. It takes libpq's settings
// (PG...) out of the environment, because what is set there for clients must not change what the
// server does.
func (id identity) applyTo(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PG") })
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	switch {
	case id.drop:
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.uid, Gid: id.gid}
	case id.aliasName != "":
		// The namespace has one user, which is root outside and the alias inside.
		one := []syscall.SysProcIDMap{{ContainerID: int(id.alias), HostID: 0, Size: 1}}
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = one, one
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.alias, Gid: id.alias, NoSetGroups: true}
	}
}

// chooseIdentity chooses the owner of an existing cluster, because only the owner can read it. For a new cluster
// it chooses ourselves if we are not root, and otherwise an unprivileged user of this machine, or root in a user
// namespace if that user can't reach the directory.
func chooseIdentity(f files) (identity, error) {
	me := identity{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	owner, exists, err := ownerOf(f.cluster)
	if err != nil {
		return identity{}, err
	}
	// A user that is not root can't become anybody else.
	if me.uid != 0 {
		if exists && owner.uid != me.uid {
			return identity{}, fmt.Errorf("%s belongs to %s: start as that user or as root", f.cluster, owner)
		}
		return me, nil
	}
	name, plain, err := findUnprivileged()
	if err != nil {
		return identity{}, err
	}
	me.alias, me.aliasName = plain.uid, name
	// Root owns the cluster if an earlier start used a user namespace for it.
	if exists && owner.uid == 0 {
		return me, nil
	}
	if exists {
		plain = owner
	}
	// Postgres must be able to enter every directory above its data.
	blocked := findUnreachable(f.dir, plain)
	if blocked != "" && exists {
		return identity{}, fmt.Errorf("%s belongs to %s, who may not enter %s: allow that (chmod o+x) or move the data", f.cluster, plain, blocked)
	}
	if blocked != "" {
		me.blocked = blocked
		return me, nil
	}
	plain.drop = true
	return plain, nil
}

// findUnprivileged finds a user of this machine that is not root. It must be in /etc/passwd,
// because initdb looks its name up there.
func findUnprivileged() (string, identity, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return "", identity{}, err
		}
		return name, identity{uid: uint32(uid), gid: uint32(gid)}, nil
	}
	return "", identity{}, errors.New("started by root, and there is no user postgres or nobody to run Postgres as")
}

// ownerOf returns the owner of a file, if the file exists.
func ownerOf(path string) (id identity, exists bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, false, nil
	}
	if err != nil {
		return identity{}, false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false, fmt.Errorf("%s: no owner", path)
	}
	return identity{uid: st.Uid, gid: st.Gid}, true, nil
}

// findUnreachable returns the first directory from dir upwards that id may not enter, or "" if id
// may enter all of them. A directory that can't be looked at counts as one that id may not enter. Only the permissions
// of owner, group and others count, and of id's groups only gid.
func findUnreachable(dir string, id identity) string {
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return dir
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return dir
		}
		// Only one of the three permissions counts: the owner's for the owner, the group's for
		// the group, and the last one for all others.
		enter := fs.FileMode(0o001)
		switch {
		case st.Uid == id.uid:
			enter = 0o100
		case st.Gid == id.gid:
			enter = 0o010
		}
		if info.Mode().Perm()&enter == 0 {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
