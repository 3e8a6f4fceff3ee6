package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Single is where a contest of rates is held: one node that lives through it, set up as for a sale, and
// an organizer.
type Single struct {
	Node      *rig.Node
	Organizer *rush.Organizer
	API       client.API
	Net       *client.Network
}

// OpenSingle starts a node whose log stays in dir, and registers an organizer. Closing ends with the
// audit of the node's journal.
func OpenSingle(ctx context.Context, dir string, network client.Config, out io.Writer, log *slog.Logger, env ...string) (_ *Single, stop func() error, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("contest: %w", err)
	}
	s := &Single{}
	env = append([]string{"BOXOFFICE_HEAP_ROOM=-1"}, env...) // as docs/operations.md says for a sale
	var end func() error
	if s.Node, end, err = rig.StartNodeForRun(ctx, dir, out, log, env...); err != nil {
		return nil, nil, err
	}
	stop = func() error {
		if s.Net != nil {
			s.Net.Close()
		}
		return end()
	}
	// Each step needs the ones before it. After the first error the rest is left out, and the node is stopped.
	if s.API, err = client.ParseTarget(s.Node.URL); err == nil {
		s.Net, err = client.NewNetwork(network)
	}
	if err == nil {
		s.Organizer, err = rush.Register(ctx, s.API, s.Net.Source(0))
	}
	if err == nil {
		err = s.Organizer.UseKey(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return s, stop, nil
}

// OpenConnections has every client address open a number of connections, so that none is opened during a
// measurement.
func (s *Single) OpenConnections(ctx context.Context, perSource int) error {
	hello := client.Request{Method: "GET", Host: s.API.Host, Path: "/healthz"}
	for i := range s.Net.Sources() {
		if err := s.Net.Source(i).Open(ctx, &hello, perSource); err != nil {
			return fmt.Errorf("contest: %w", err)
		}
	}
	return nil
}

// auditPatience is how long a read of an audit is repeated.
const auditPatience = 10 * time.Second

// CheckPlaced reads an order for one ticket that was accepted and not paid, and returns what is wrong about
// it, or nothing.
func (s *Single) CheckPlaced(ctx context.Context, from int, o *rush.Order) string {
	var now rush.Order
	path := "/orders/" + url.PathEscape(o.ID) + "?token=" + url.QueryEscape(o.AccessToken)
	a := s.API.Insist(ctx, s.Net.Source(from), client.Call{Method: "GET", Path: path}, auditPatience, &now)
	switch {
	case !a.OK():
		return a.Err().Error()
	case now.ID != o.ID || now.Status != rush.Pending:
		return fmt.Sprintf("it is shown as order %q, %s", now.ID, now.Status)
	case len(o.Items) != 1 || len(now.Items) != 1 || now.Items[0].Quantity != 1 || now.Items[0].TicketTypeID != o.Items[0].TicketTypeID:
		return fmt.Sprintf("its items are %v, and were %v", now.Items, o.Items)
	}
	return ""
}

// ReadTaken reads how many tickets each type of a sale has lost to orders, by the type's id, until they are
// as many as wanted together: what is shown may be a moment old. After a while it returns what is shown.
func (s *Single) ReadTaken(ctx context.Context, sale *rush.Sale, wanted int) (map[string]int, error) {
	for deadline := time.Now().Add(auditPatience); ; rig.Wait(ctx, 100*time.Millisecond) {
		var types struct{ Items []rush.TicketType }
		if err := s.Organizer.Send(ctx, "GET", "/events/"+url.PathEscape(sale.EventID)+"/tickets", nil, &types); err != nil {
			return nil, err
		}
		// A type without a limit has no stock. A contest needs one for every type, which is checked below.
		taken, sum := map[string]int{}, 0
		for _, t := range types.Items {
			if t.Available != nil {
				taken[t.ID] = t.QuantityTotal - *t.Available
				sum += taken[t.ID]
			}
		}
		if len(taken) != len(sale.Types) {
			return nil, fmt.Errorf("contest: the sale has %d types of %d with a stock", len(taken), len(sale.Types))
		}
		if sum == wanted || time.Now().After(deadline) || ctx.Err() != nil {
			return taken, nil
		}
	}
}
