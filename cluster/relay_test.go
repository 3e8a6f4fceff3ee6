package cluster_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/members"
)

// cable is what lies between one node and another: a network that can lose all that goes in one
// direction. Then neither end is told of anything.
type cable struct {
	ln   net.Listener
	to   string
	wg   sync.WaitGroup
	mu   sync.Mutex
	cut  chan struct{} // closed when the cable is whole again; nil: it is whole
	all  []net.Conn
	over bool
}

// newCable puts a cable before an address.
func newCable(t *testing.T, to string) *cable {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &cable{ln: ln, to: to}
	w.wg.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			if !w.noteConns(near, far) {
				return
			}
			w.wg.Go(func() { w.pass(far, near, true) })
			w.wg.Go(func() { w.pass(near, far, false) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		w.noteConns()
		w.mend()
		w.wg.Wait()
	})
	return w
}

// noteConns notes connections that are to be closed at the end; without any, it closes them all.
func (w *cable) noteConns(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, conns...)
	w.over = w.over || conns == nil
	if w.over {
		for _, c := range w.all {
			_ = c.Close()
		}
	}
	return !w.over
}

func (w *cable) pass(to, from net.Conn, forth bool) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		cut := w.cut
		w.mu.Unlock()
		if forth && cut != nil {
			<-cut
			return // what was lost stays lost, so the connection is of no use
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (w *cable) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = make(chan struct{})
}

func (w *cable) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut != nil {
		close(w.cut)
		w.cut = nil
	}
}

// TestTwoWhoCannotReachEachOther cuts what one node sends another in either of their connections, while a third
// reaches both. Every event is sold at every node again, facts arrive where they are shown, and when
// the network is whole the links are straight again, without a command that fails for it.
func TestTwoWhoCannotReachEachOther(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	for name, change := range map[string]func(string, *cluster.Config){
		"in the clear": nil,
		"over TLS":     func(_ string, cfg *cluster.Config) { cfg.TLS = ours.config() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sellByAThird(t, change)
		})
	}
}

func sellByAThird(t *testing.T, change func(string, *cluster.Config)) {
	p := newPartyWith(t, change, "a", "b", "c")
	cables := map[string]*cable{"a": newCable(t, p.nodes["a"].member.Link), "b": newCable(t, p.nodes["b"].member.Link)}
	for _, name := range p.names() { // a reaches b by a cable, and b reaches a by one
		var list []members.Member
		for _, other := range p.names() {
			m := p.nodes[other].member
			if w := cables[other]; w != nil && cables[name] != nil && name != other {
				m.Link = w.ln.Addr().String()
			}
			list = append(list, m)
		}
		p.nodes[name].TakeMembers(nil) // forgets the links that newParty made
		p.nodes[name].TakeMembers(list)
	}
	sell := func(i int) {
		for number := int64(1); number <= partyEvents; number++ {
			require.Equal(t, order.StatusCompleted, p.from("a", engine.EventRef(number), placeIn(number, i)).(*ledger.OrderReply).Status)
			require.Equal(t, order.StatusCompleted, p.from("b", engine.EventRef(number), placeIn(number, i+1)).(*ledger.OrderReply).Status)
		}
	}
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("c", number, 1_000_000)
	}
	sell(1)
	require.Zero(t, p.nodes["a"].Census().Relayed+p.nodes["b"].Census().Relayed)

	for _, w := range cables {
		w.lose()
	}
	began := time.Now()
	sell(3)
	t.Logf("every event was sold at both again after %v", time.Since(began))
	a := p.nodes["a"]
	require.Eventually(t, func() bool { return a.Census().Relayed == 1 && p.nodes["b"].Census().Relayed == 1 }, time.Minute, time.Millisecond)
	for number := int64(1); number <= partyEvents; number++ {
		require.NoError(t, a.Follow(t.Context(), number))
	}
	sell(5)
	seen := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		sold := map[int64]bool{}
		for _, r := range a.observed {
			if r.Ref == engine.InventoryRef(r.Ref.Home, typeNo) {
				sold[r.Ref.Home] = true
			}
		}
		return len(sold) == partyEvents
	}
	require.Eventually(t, seen, time.Minute, time.Millisecond, "facts come by the third node")

	for _, w := range cables {
		w.mend()
	}
	var number atomic.Int64
	var askers sync.WaitGroup
	number.Store(100)
	for range 32 { // never is a link without a call
		askers.Go(func() {
			for a.Census().Relayed+p.nodes["b"].Census().Relayed > 0 {
				i := number.Add(1)
				for j, from := range []string{"a", "b"} {
					event := i%partyEvents + 1
					_, err := p.nodes[from].Ask(t.Context(), engine.EventRef(event), placeIn(event, int(2*i)+j))
					assert.NoError(t, err)
				}
			}
		})
	}
	askers.Wait()
	sell(int(2*number.Load()) + 9)
	require.Zero(t, a.Census().Relayed+p.nodes["b"].Census().Relayed)
}
