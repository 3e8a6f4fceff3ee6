// Package etcd keeps the list of a cluster's nodes in etcd, for operators who run one anyway. It
// notices a dead node a little later than the lease in Postgres does (package members), but also
// while Postgres is busy.
//
// A node is a key, which etcd deletes with the node's lease. Each node keeps its lease alive, and reads the list
// when it hears of a change and with every beat. A node whose key is gone has been taken for dead and must end:
// Lost gets an error. Such a node can't become a member again, because a lifetime of a node has one id, one
// lease and one key. An outage of etcd makes no node count as dead, because leases do not run out while etcd is
// away.
//
// The members are also rows of the table of nodes, as with the lease in Postgres, so that people can read them
// and each dead node's writers are closed once, by the first node that notices. A row is added after its key,
// and buried when its key is gone.
//
// Join starts one goroutine, besides the goroutines of etcd's client. Stop ends them, and deletes key and row.
package etcd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"boxoffice/persistence/members"
)

// minTTL is the shortest lease that etcd gives: one and a half times its election timeout.
const minTTL = 2 * time.Second

const (
	beats       = 3                      // beats in a lease
	dialTime    = time.Second            // longest time to connect
	redialFirst = 100 * time.Millisecond // pause before the next attempt to connect
	redialLast  = 500 * time.Millisecond // longest pause; well within the second that etcd adds to leases when it comes back
)

// Config says how a node stays a member.
type Config struct {
	Endpoints []string
	Prefix    string      // begins the cluster's keys
	TLS       *tls.Config // for https endpoints
	Lease     time.Duration
	DB        *pgxpool.Pool
	Apart     bool // whether the journal is in another database: see members.Bury
	Self      members.Member
	Log       *slog.Logger
	// Changed is called with every new list, sorted by ID and including this node. It must not
	// block.
	Changed func([]members.Member)
	// Info returns what the node reports about itself with each beat, as JSON.
	Info func() []byte
}

// Lease is a node's membership.
type Lease struct {
	cfg    Config
	prefix string
	ttl    time.Duration
	client *clientv3.Client
	id     clientv3.LeaseID

	cancel context.CancelFunc
	done   chan struct{}
	leave  chan struct{} // asks to note that the node is leaving
	lost   chan error
	seen   atomic.Int64 // when the key was last seen, unix nanoseconds

	told []members.Member
	rows []members.Member // the table's rows, read before the list of keys
	left bool             // whether leaving is noted
	self members.Member
}

// Join makes the node a member, instead of earlier lifetimes of the same name, and keeps it one.
// When it returns, the node is on the list. The lease is rounded up to whole seconds, at least 2.
func Join(ctx context.Context, cfg Config) (*Lease, error) {
	l := &Lease{
		cfg: cfg, self: cfg.Self, prefix: strings.TrimSuffix(cfg.Prefix, "/") + "/nodes/",
		ttl:  max(minTTL, (cfg.Lease + time.Second - 1).Truncate(time.Second)),
		done: make(chan struct{}), leave: make(chan struct{}, 1), lost: make(chan error, 1),
	}
	var err error
	if l.client, err = connect(cfg); err != nil {
		return nil, fmt.Errorf("members: etcd: %w", err)
	}
	joining, cancel := context.WithTimeout(ctx, 2*l.ttl)
	defer cancel()
	if err := l.addSelf(joining); err != nil {
		return nil, errors.Join(err, l.end(context.WithoutCancel(ctx)))
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	go l.run(life)
	return l, nil
}

func connect(cfg Config) (*clientv3.Client, error) {
	again := backoff.Config{BaseDelay: redialFirst, Multiplier: 1.6, Jitter: .2, MaxDelay: redialLast}
	return clientv3.New(clientv3.Config{
		Endpoints: cfg.Endpoints, TLS: cfg.TLS, Logger: zap.NewNop(),
		DialTimeout: dialTime, DialKeepAliveTime: dialTime, DialKeepAliveTimeout: dialTime,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: dialTime})},
	})
}

// Lost gets members.ErrLost, once, when the node's key is gone.
func (l *Lease) Lost() <-chan error { return l.lost }

// Fresh returns an error if the node's key has not been seen for the time of a lease.
func (l *Lease) Fresh() error {
	if ago := time.Since(time.Unix(0, l.seen.Load())); ago > l.ttl {
		return fmt.Errorf("members: no word from etcd for %s", ago.Round(time.Second))
	}
	return nil
}

// Leave marks this node as leaving on the list, so that its actors go to the other nodes. It does not wait for
// that.
func (l *Lease) Leave() {
	select {
	case l.leave <- struct{}{}:
	default:
	}
}

// Stop ends the membership for good: it stops the goroutine, and deletes the node's row and key.
func (l *Lease) Stop(ctx context.Context) error {
	l.cancel()
	<-l.done
	return errors.Join(members.Remove(ctx, l.cfg.DB, l.self.ID), l.end(ctx))
}

// end gives the lease back, and with it the key, and closes the client.
func (l *Lease) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.ttl)
	defer cancel()
	if l.id != 0 {
		_, _ = l.client.Revoke(ctx, l.id) // if this fails, the lease runs out
	}
	return l.client.Close()
}

func (l *Lease) key(id string) string { return l.prefix + id }

// addSelf takes a lease, and writes the node's key and deletes the keys of its earlier lifetimes in one transaction.
// Then it adds the node to the table of members in Postgres, and reports the list for the first time.
func (l *Lease) addSelf(ctx context.Context) error {
	lease, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return fmt.Errorf("members: etcd: %w", err)
	}
	l.id = lease.ID
	list, err := l.list(ctx)
	if err != nil {
		return err
	}
	value, err := json.Marshal(l.self)
	if err != nil {
		return fmt.Errorf("members: etcd: %w", err)
	}
	ops := []clientv3.Op{clientv3.OpPut(l.key(l.self.ID), string(value), clientv3.WithLease(l.id))}
	for _, m := range list {
		if m.Name == l.self.Name {
			ops = append(ops, clientv3.OpDelete(l.key(m.ID)))
		}
	}
	if _, err := l.client.Txn(ctx).Then(ops...).Commit(); err != nil {
		return fmt.Errorf("members: etcd: %w", err)
	}
	if err := members.Add(ctx, l.cfg.DB, l.self, l.cfg.Apart, l.cfg.Log); err != nil {
		return err
	}
	return l.reportAndBury(ctx)
}

// run keeps the lease alive, and reads the list whenever it may have changed, and at each beat. It goes on after errors,
// and ends with ctx, or when the node's key is gone from the list; then lost gets the error.
func (l *Lease) run(ctx context.Context) {
	defer close(l.done)
	beat := time.NewTicker(l.ttl / beats)
	defer beat.Stop()
	var renewed <-chan *clientv3.LeaseKeepAliveResponse
	var news clientv3.WatchChan
	for ctx.Err() == nil {
		if renewed == nil {
			renewed, _ = l.client.KeepAlive(ctx, l.id) // fails only if the client is closed, which happens later
		}
		if news == nil {
			news = l.client.Watch(ctx, l.prefix, clientv3.WithPrefix())
		}
		select {
		case _, ok := <-renewed:
			if ok {
				continue
			}
			renewed = nil // the lease is gone, or etcd is away
		case _, ok := <-news:
			if !ok {
				news = nil
			}
		case <-beat.C:
		case <-l.leave:
			l.self.Leaving = true
		case <-ctx.Done():
			return
		}
		err := l.reportAndBury(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, members.ErrLost):
			l.lost <- err
			return
		case err != nil:
			l.cfg.Log.WarnContext(ctx, "no beat", slog.Any("error", err))
			l.pause(ctx)
		}
	}
}

// pause keeps a broken watch from being requested in a tight loop.
func (l *Lease) pause(ctx context.Context) {
	select {
	case <-time.After(redialFirst):
	case <-ctx.Done():
	}
}

// reportAndBury reports changes of etcd's list (Changed), and buries the dead: members in Postgres that etcd no longer
// lists. It returns ErrLost if etcd does not list this node. It also raises the node's beat in Postgres, and notes there
// and in etcd that the node is leaving.
func (l *Lease) reportAndBury(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.ttl)
	defer cancel()
	if l.self.Leaving && !l.left {
		if err := l.noteLeaving(ctx); err != nil {
			return err
		}
	}
	now := time.Now()
	list, err := l.list(ctx)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(list))
	for _, m := range list {
		there[m.ID] = true
	}
	if !there[l.self.ID] {
		return members.ErrLost
	}
	l.seen.Store(now.UnixNano())
	if !slices.Equal(list, l.told) {
		l.told = list
		l.cfg.Changed(list)
	}
	for _, m := range l.rows {
		if !there[m.ID] {
			if _, err := members.Bury(ctx, l.cfg.DB, map[string]int64{m.ID: members.AnyBeat}, l.cfg.Apart, l.cfg.Log); err != nil {
				return err
			}
		}
	}
	rows, _, err := members.Beat(ctx, l.cfg.DB, l.self.ID, l.self.Leaving, l.cfg.Info())
	if err == nil {
		l.rows = rows
	}
	return err
}

// list reads the members from their keys, which come sorted.
func (l *Lease) list(ctx context.Context) ([]members.Member, error) {
	res, err := l.client.Get(ctx, l.prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("members: etcd: %w", err)
	}
	list := make([]members.Member, len(res.Kvs))
	for i, kv := range res.Kvs {
		if err := json.Unmarshal(kv.Value, &list[i]); err != nil {
			return nil, fmt.Errorf("members: etcd: %s: %w", kv.Key, err)
		}
	}
	return list, nil
}

// noteLeaving writes the node's key with the note that it leaves. If the key is gone, it returns ErrLost.
func (l *Lease) noteLeaving(ctx context.Context) error {
	value, err := json.Marshal(l.self)
	if err != nil {
		return fmt.Errorf("members: etcd: %w", err)
	}
	key := l.key(l.self.ID)
	res, err := l.client.Txn(ctx).
		If(clientv3.Compare(clientv3.LeaseValue(key), "=", l.id)).
		Then(clientv3.OpPut(key, string(value), clientv3.WithLease(l.id))).Commit()
	if err != nil {
		return fmt.Errorf("members: etcd: %w", err)
	}
	if !res.Succeeded {
		return members.ErrLost
	}
	l.left = true
	return nil
}
