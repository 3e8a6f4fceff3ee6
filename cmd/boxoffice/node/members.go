package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"boxoffice/persistence/members"
	"boxoffice/persistence/members/etcd"
	"boxoffice/persistence/members/static"
	"boxoffice/persistence/panics"
)

// drainTime bounds how long an orderly stop waits for other nodes to take over this node's actors.
// The actors that remain are then stopped. Their facts are in the journal, so another node loads
// them when they are needed.
const drainTime = 8 * time.Second

// membership is a node's place in the cluster. Each way in which nodes can find each other has its
// own implementation.
type membership interface {
	// Leave marks this node as leaving on the list of members, so that its actors go to the other nodes. It does not
	// wait for that. With a static list, only this node knows.
	Leave()
	// Fresh returns an error unless the other nodes know that this one lives.
	Fresh() error
	// Lost gets an error once the other nodes have taken this one for dead. The node must then
	// stop.
	Lost() <-chan error
	// Stop ends the membership for good, when the node ends: it takes the node off the list, if the list can change.
	Stop(ctx context.Context) error
}

// clustered reports whether there may be other nodes beside this one.
func (c *Config) clustered() bool { return c.Cluster != "" }

// listenForLinks opens the address on which other nodes connect, and fills in this node's entry for the list of members.
// It comes before the node joins, because the entry names the address. A node that is alone gets no such address. A
// node of a cluster with a private Postgres is refused, because the nodes share one database.
func (n *Node) listenForLinks(ctx context.Context) error {
	n.self = members.Member{ID: n.cfg.Node, Name: n.cfg.Node}
	if !n.cfg.clustered() {
		return nil
	}
	if n.cfg.Private() {
		return errors.New("BOXOFFICE_CLUSTER needs BOXOFFICE_DATABASE_URL: the nodes share one database")
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.cfg.LinkListen)
	if err != nil {
		return fmt.Errorf("BOXOFFICE_LINK_LISTEN: %w", err)
	}
	n.links = ln
	n.started(func(context.Context) error {
		_ = ln.Close() // the cluster has closed it already, if it was started
		return nil
	})
	n.self.Link, n.self.HTTP = n.cfg.LinkAddress, n.cfg.Listen
	if n.self.Link == "" {
		n.self.Link = ln.Addr().String()
	}
	// In a static list a node is known by its name alone. Otherwise each life of a node has an id
	// of its own, so that nobody takes a restarted node for the one that died.
	if n.cfg.Cluster != "static" {
		n.self.ID = members.NewID(n.cfg.Node)
	}
	n.linkTLS, err = n.cfg.LinkTLS()
	return err
}

// join makes the node a member of the cluster. From then on actors are placed on it, so everything
// that actors need must be there before.
func (n *Node) join(ctx context.Context) error {
	var err error
	switch n.cfg.Cluster {
	case "":
		return nil
	case "postgres":
		n.membership, err = members.Join(ctx, members.Config{
			Conn: n.pool.Config().ConnConfig, Apart: n.cfg.Apart(), Self: n.self, Log: n.log, Changed: n.cluster.TakeMembers, Info: n.infoJSON,
			Beat: n.cfg.Beat, Lease: n.cfg.Lease,
		})
	case "etcd":
		n.membership, err = etcd.Join(ctx, etcd.Config{
			Endpoints: n.cfg.EtcdEndpoints, Prefix: n.cfg.EtcdPrefix, TLS: n.linkTLS, Lease: n.cfg.Lease,
			DB: n.pool, Apart: n.cfg.Apart(), Self: n.self, Log: n.log, Changed: n.cluster.TakeMembers, Info: n.infoJSON,
		})
	case "static":
		n.membership, err = static.Join(n.cfg.Members, n.self, n.cluster.TakeMembers)
	}
	if err != nil {
		return err
	}
	n.started(n.membership.Stop)
	// If the journal is in the nodes' own database, members close dead writers as they bury a node. If the
	// journal has databases of its own, this task closes them.
	if n.cfg.Apart() {
		n.started(n.cluster.Once("burials", n.closeBuried))
	}
	return nil
}

// buryEvery is the pause between two looks for dead members whose writers are still open. No sale
// waits for that, because the claim of a new owner fences a dead node anyway.
const buryEvery = 500 * time.Millisecond

// closeBuried closes the writers of dead members in a journal that has its own databases. It runs
// until the context ends.
func (n *Node) closeBuried(ctx context.Context) {
	tick := time.NewTicker(buryEvery)
	defer tick.Stop()
	for {
		err := panics.Catch(n.log, "burials", func() error { return members.CloseBuried(ctx, n.pool, n.journalPools) })
		if err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "writers of the dead are still open", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// infoJSON returns what the node reports about itself in the list of members. `boxoffice status`
// shows it.
func (n *Node) infoJSON() []byte {
	b, err := json.Marshal(map[string]any{
		"version": Version, "actors": n.cluster.Actors(), "backlog": n.journal.Backlog(), "waiting": n.journal.Waiting().Milliseconds(),
	})
	if err != nil {
		n.log.Error("no word of this node", slog.Any("error", err))
		return []byte("{}")
	}
	return b
}

// Drain takes the node out of service. The node is no longer ready, and hands its actors over to
// the other nodes, if there are any. It goes on serving requests, which it forwards to the new
// owners.
func (n *Node) Drain(ctx context.Context) error {
	n.draining.Store(true)
	if all, _ := n.cluster.Placed(); n.membership == nil || all < 2 {
		return nil
	}
	n.membership.Leave()
	return n.cluster.Drained(ctx)
}

// LinkTLS returns the configuration of encrypted links, or nil if links are not encrypted. Every
// node that shows a certificate of the authority may make a link.
func (c *Config) LinkTLS() (*tls.Config, error) {
	if c.LinkCert == "" && c.LinkKey == "" && c.LinkCA == "" {
		return nil, nil //nolint:nilnil // links are not encrypted
	}
	cert, err := tls.LoadX509KeyPair(c.LinkCert, c.LinkKey)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_LINK_CERT, BOXOFFICE_LINK_KEY: %w", err)
	}
	pem, err := os.ReadFile(c.LinkCA)
	if err != nil {
		return nil, fmt.Errorf("BOXOFFICE_LINK_CA: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(pem) {
		return nil, errors.New("BOXOFFICE_LINK_CA: no certificate in it")
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		RootCAs: authority, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
