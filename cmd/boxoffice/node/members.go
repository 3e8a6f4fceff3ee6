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

// drainTime bounds how long an orderly stop waits for other nodes to take this node's actors over.
// The remaining actors are stopped; the journal has their facts.
const drainTime = 8 * time.Second

// membership is a node's place in the cluster.
type membership interface {
	Leave()                         // tells the other nodes to take its actors over
	Fresh() error                   // returns an error unless the others know that it lives
	Lost() <-chan error             // gets an error once the others have taken it for dead
	Stop(ctx context.Context) error // ends the membership
}

// clustered reports whether there may be other nodes.
func (c *Config) clustered() bool { return c.Cluster != "" }

// listenForLinks opens the address for other nodes, and fills in this node's entry for the list of
// members.
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
	if n.cfg.Cluster != "static" {
		n.self.ID = members.NewID(n.cfg.Node)
	}
	n.linkTLS, err = n.cfg.LinkTLS()
	return err
}

// join makes the node a member: from now on it gets actors.
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
	if n.cfg.Apart() {
		n.started(n.cluster.Once("burials", n.closeBuried))
	}
	return nil
}

// buryEvery is the pause between two looks for dead members whose writers are still open. Nobody waits for it,
// because a claim fences a dead node.
const buryEvery = 500 * time.Millisecond

// closeBuried closes the writers of dead members, in a journal that is apart, until the context ends.
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

// infoJSON returns what the node reports about itself in the list of nodes, as JSON.
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

// Drain takes the node out of service: it is no longer ready, and it hands its actors over to the
// other nodes, if there are any. It goes on serving requests, which it forwards.
func (n *Node) Drain(ctx context.Context) error {
	n.draining.Store(true)
	if all, _ := n.cluster.Placed(); n.membership == nil || all < 2 {
		return nil
	}
	n.membership.Leave()
	return n.cluster.Drained(ctx)
}

// LinkTLS returns how links are encrypted. Every node that shows a certificate of the authority may
// make a link.
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
