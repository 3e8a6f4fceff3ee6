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

// identity is the user as which Postgres runs. Postgres refuses to run as root, so root either
// drops to an unprivileged user or, if that user cannot reach the data (below a private home),
// gives Postgres a user namespace in which root has another name.
type identity struct {
	uid, gid  uint32 // owner of the server's files, as the file system sees it
	drop      bool   // whether processes change to uid and gid
	alias     uint32 // with uid 0: the user that root appears as
	aliasName string
	blocked   string // directory that the alias itself may not enter, if that is the reason
}

// String says as whom Postgres runs, for logs and errors.
func (id identity) String() string {
	if id.blocked != "" {
		return fmt.Sprintf("root in a user namespace (%s may not enter %s)", id.aliasName, id.blocked)
	}
	if id.aliasName != "" {
		return "root in a user namespace"
	}
	return "uid " + strconv.Itoa(int(id.uid))
}

// applyTo makes a command run under the identity, in the root directory. Settings for libpq in our own environment
// (PG...) must not change what Postgres does.
func (id identity) applyTo(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PG") })
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	switch {
	case id.drop:
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.uid, Gid: id.gid}
	case id.aliasName != "":
		// The namespace knows one user. Inside it has the other name; outside it is root.
		one := []syscall.SysProcIDMap{{ContainerID: int(id.alias), HostID: 0, Size: 1}}
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = one, one
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.alias, Gid: id.alias, NoSetGroups: true}
	}
}

// chooseIdentity takes the owner of an existing cluster, and otherwise an unprivileged user of this
// machine.
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

// findUnprivileged finds a user that is not root; initdb needs it to be in /etc/passwd.
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

// findUnreachable returns the first directory from dir upwards that id may not
// enter, or "".
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
		// Which of the three permissions counts depends on who asks: the owner, the group, or anybody else.
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
