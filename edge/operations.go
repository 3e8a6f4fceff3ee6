package edge

import (
	"context"
	"errors"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// drainNode takes this node out of service: /readyz answers 503 from then on, other
// nodes get its actors, and requests that still come are passed on.
func (d *Desk) drainNode(c *route.Call, _ *route.None) (*api.Drained, error) {
	err := d.Drain(c.Context)
	members, _ := d.Node.Placed()
	if errors.Is(err, context.DeadlineExceeded) {
		return &api.Drained{Status: "draining", Actors: d.Node.Actors(), Members: members}, nil
	}
	return &api.Drained{Status: "drained", Actors: d.Node.Actors(), Members: members}, err
}
