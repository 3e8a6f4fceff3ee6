package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"boxoffice/persistence/members"
)

// Two members may reach Postgres and the others but not each other, because a network can fail between
// any two. Both stay members, so the events of each must be reached from the other: the link then goes
// by a third member, which passes bytes on and understands none of them. Everything that a link
// carries works as before, and the two ends still tell each other who they are. When the straight way
// is open again, the link goes back to it.

const (
	// straightTime is how long a member is dialled before a third one is asked to relay.
	straightTime = 500 * time.Millisecond
	// straightEvery is the pause between looks whether the straight way is open again.
	straightEvery = 2 * time.Second
	// drainTime is how long a link by a third member may wait for its calls' answers once it is not
	// needed any more.
	drainTime = 5 * time.Second
)

// errStraight is the reason why a link by a third member ended when the straight way was open again.
var errStraight = errors.New("cluster: the member is reached straight again")

// way is a link to a member, not yet served.
type way struct {
	link *link
	in   *bufio.Reader
	by   string // id of the member that relays; "": nobody does
}

// findWay makes a link to the member: straight or, if it takes too long or fails, by a third member.
// Each round tries one of those.
func (p *peer) findWay(ctx context.Context, round int) (way, error) {
	if w := p.straight; w.link != nil {
		p.straight = way{}
		return w, nil
	}
	others := p.n.findRelays(p.member.ID)
	patience := dialTime
	if len(others) > 0 {
		patience = min(straightTime<<min(round, 2), dialTime)
	}
	straight, cancel := context.WithTimeout(ctx, patience)
	l, in, err := p.n.dialMember(straight, p.member, nil)
	cancel()
	if err == nil || len(others) == 0 || ctx.Err() != nil {
		return way{link: l, in: in}, err
	}
	by := others[round%len(others)]
	l, in, relayErr := p.n.dialMember(ctx, p.member, &by)
	if relayErr != nil {
		return way{}, errors.Join(err, fmt.Errorf("by %s: %w", by.ID, relayErr))
	}
	p.n.cfg.Log.WarnContext(ctx, "link goes by another member",
		slog.String("member", p.member.ID), slog.String("by", by.ID), slog.Any("error", err))
	return way{link: l, in: in, by: by.ID}, nil
}

// findRelays returns the members that a link to the named one can go by: we have links to them, and
// they know how to relay.
func (n *Node) findRelays(to string) []members.Member {
	var all []members.Member
	for id, p := range n.peers.All() {
		p.mu.Lock()
		if id != to && p.link != nil && p.by == "" && p.link.revision >= revisionRelay {
			all = append(all, p.member)
		}
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b members.Member) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// leaveRelay looks again and again whether the member can be reached straight, while a link goes by a
// third one. Once it can, it waits for the answers of the calls that are under way and breaks the link,
// so that the peer goes on with the new one.
func (p *peer) leaveRelay(ctx context.Context, l *link) {
	for {
		select {
		case <-time.After(straightEvery):
		case <-l.done:
			return
		}
		straight, in, err := p.n.dialMember(ctx, p.member, nil)
		if err != nil {
			continue
		}
		p.straight = way{link: straight, in: in}
		for until := time.Now().Add(drainTime); p.load.Load() > 0 && time.Now().Before(until); {
			select {
			case <-time.After(lookAgain):
			case <-l.done:
				return
			}
		}
		l.breakLink(errStraight)
		return
	}
}

// relayConnection passes a connection from another node on to a member until either of them ends it
// or ctx ends. A member that this node does not have on its list is refused: it opens no other addresses.
func (n *Node) relayConnection(ctx context.Context, conn net.Conn, in io.Reader, to string) error {
	defer func() { _ = conn.Close() }()
	p, known := n.peers.Load(to)
	if !known {
		return fmt.Errorf("cluster: asked to relay to %s, which is no member", to)
	}
	far, err := n.openConnection(ctx, p.member.Link)
	if err != nil {
		return err
	}
	defer func() { _ = far.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = far.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Time{}); err != nil { // both ends ping each other, and end what is silent
		return err
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, far) // how it ends is the two ends' business
		_ = conn.Close()
	})
	_, err = io.Copy(far, in)
	_ = far.Close()
	back.Wait()
	return err
}
