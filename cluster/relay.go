package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"boxoffice/cluster/wire"
	"boxoffice/persistence/members"
)

// Two members may reach Postgres and the others but not each other, because a network can fail between
// any two. Both stay members, so the events of each must be reached from the other: the link then goes
// by a third member, which passes bytes on and understands none of them. Everything that a link
// carries works as before, and the two ends still tell each other who they are. When the straight way
// is open again, the link goes back to it.

const (
	// straightTime is how long a member is dialled in the first round before a third one is asked to relay.
	// Later rounds dial longer, up to dialTime.
	straightTime = 500 * time.Millisecond
	// straightEvery is the pause between looks whether the straight way is open again.
	straightEvery = 2 * time.Second
	// drainTime is how long a link that is not needed any more may wait for its calls' answers.
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

// findWay makes a link to the member: straight or, if that takes too long or fails, by a third member. Each
// round tries another third member.
func (p *peer) findWay(ctx context.Context, round int) (way, error) {
	others := p.n.findRelays(p.member.ID)
	patience := dialTime
	if len(others) > 0 {
		patience = min(straightTime<<min(round, 2), dialTime)
	}
	// The straight way is always tried first. The time for it grows with the rounds, as a slow network may need
	// longer.
	l, in, err := p.dialWithin(ctx, patience, nil)
	if err == nil || len(others) == 0 || ctx.Err() != nil {
		return way{link: l, in: in}, err
	}
	spread := fnv.New32a()                                  // so that not all nodes begin with the same relay
	_, _ = spread.Write([]byte(p.n.cfg.Self + p.member.ID)) // never fails
	by := others[(int(spread.Sum32()>>1)+round)%len(others)]
	l, in, relayErr := p.dialWithin(ctx, dialTime, &by)
	if relayErr != nil {
		return way{}, errors.Join(err, fmt.Errorf("by %s: %w", by.ID, relayErr))
	}
	p.n.cfg.Log.WarnContext(ctx, "link goes by another member",
		slog.String("member", p.member.ID), slog.String("by", by.ID), slog.Any("error", err))
	return way{link: l, in: in, by: by.ID}, nil
}

// dialWithin dials the member, by another one if relay is not nil, and gives up after a time.
func (p *peer) dialWithin(ctx context.Context, patience time.Duration, relay *members.Member) (*link, *bufio.Reader, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.n.dialMember(ctx, p.member, relay)
}

// findRelays returns the members that a link to the named one can go by: we have straight links to them, and
// they know how to relay.
func (n *Node) findRelays(to string) []members.Member {
	var all []members.Member
	for id, p := range n.peers.All() {
		p.mu.Lock()
		if id != to && p.link != nil && p.by == "" && p.link.revision >= wire.RevisionRelay {
			all = append(all, p.member)
		}
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b members.Member) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// findStraight looks again and again, while a link goes by a third member, whether the straight way is
// open again. It returns once somebody has taken that way, or ctx ends.
func (p *peer) findStraight(ctx context.Context, found chan<- way) {
	for {
		select {
		case <-time.After(straightEvery):
		case <-ctx.Done():
			return
		}
		l, in, err := p.dialWithin(ctx, dialTime, nil)
		if err != nil {
			continue
		}
		select {
		case found <- way{link: l, in: in}:
		case <-ctx.Done():
			l.breakLink(ctx.Err())
		}
		return
	}
}

// drainLink breaks a link that new calls do not take any more. It does so one pingEvery after it finds that no frame
// waits and all calls are answered, because the last frames may still be on their way, or else after drainTime.
func (p *peer) drainLink(ctx context.Context, l *link) {
	look := time.NewTicker(pingEvery)
	defer look.Stop()
	for until := time.Now().Add(drainTime); time.Now().Before(until); {
		empty := !p.hasCalls(l) && len(l.out) == 0
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		if empty {
			break
		}
	}
	l.breakLink(errStraight)
}

// hasCalls reports whether calls that were sent on a link wait for their answers.
func (p *peer) hasCalls(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sent := range p.pending {
		if sent.link == l {
			return true
		}
	}
	return false
}

// relayConnection passes a connection from another node on to a member until either of them ends it or ctx
// ends. It refuses a member that is not on this node's list, so that nobody can make this node connect to other
// addresses.
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
	var back sync.WaitGroup
	back.Go(func() {
		passBytes(conn, far, far)
		_ = conn.Close()
	})
	passBytes(far, conn, in)
	_ = far.Close()
	back.Wait()
	return nil
}

// passBytes writes to one connection what comes in from another, until either ends or nothing has moved for
// 2*silenceMax. The two ends of the link ping each other, and give a silent link up before that.
func passBytes(to, from net.Conn, in io.Reader) {
	buf := make([]byte, linkBuffer)
	for {
		if from.SetReadDeadline(time.Now().Add(2*silenceMax)) != nil {
			return
		}
		n, err := in.Read(buf)
		if n > 0 {
			if to.SetWriteDeadline(time.Now().Add(2*silenceMax)) != nil {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
