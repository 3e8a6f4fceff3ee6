package cluster

import "boxoffice/engine"

// Census is the condition of a node at a moment.
type Census struct {
	Members int // members on the node's list
	Links   int // links to other members that work
	Relayed int // of these, links that a third member relays
	Actors  int
	// Commands counts the commands that actors have been handed and have not finished: tells until they are decided,
	// and calls until they are answered. Deepest is the largest number of one actor.
	Commands, Deepest int64
	Adrift            int64 // tells that wait until their actors have a node
	Followed          int   // events of other nodes whose facts are sent here, or were asked for

	Activated int64 // activations that were made, since the start
	Strangers int64 // connections to this node whose handshake or hello failed, since the start
}

// Census returns the node's condition now. It looks at every actor; with 100,000 actors that takes some
// milliseconds.
func (n *Node) Census() Census {
	c := Census{
		Members: len(n.placement.Load().Members), Adrift: n.adrift.Load(), Followed: n.feeds.sources.Size(),
		Activated: n.activated.Load(), Strangers: n.strangers.Load(),
	}
	n.slots.Range(func(_ engine.Ref, s *slot) bool {
		load := s.act.Load.Load()
		c.Actors++
		c.Commands += load
		c.Deepest = max(c.Deepest, load)
		return true
	})
	for _, p := range n.peers.All() {
		// The lock of each peer is held only to read its link: a census must not hold up calls.
		p.mu.Lock()
		if p.link != nil {
			c.Links++
			if p.by != "" {
				c.Relayed++
			}
		}
		p.mu.Unlock()
	}
	return c
}
