package edge

import (
	"context"
	"errors"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// Operations holds the handlers with which an administrator of the platform operates a node.
type Operations struct {
	Node  *cluster.Node
	Drain func(context.Context) error // hands this node's actors over to others
}

// handOverTime is how long a request waits at most for the hand-over of a node's actors.
const handOverTime = 30 * time.Second

// Routes are the operator's rows.
func (h *Operations) Routes() []route.Op {
	return route.Table(route.Group{
		Prefix: "/api/v1/admin",
		Tag:    "Operations",
		Auth:   route.Admin,
		Tier:   route.TierAdmin,
		Rows: []route.Op{
			{
				Method:      "POST",
				Path:        "/drain",
				ID:          "drainNode",
				Summary:     "Hand this node's actors over to the other nodes",
				Description: "The platform's administrator takes the node that answers out of service before it is stopped: /readyz is 503 from then on, other nodes take its actors over, and what still comes is passed on. It waits 30 seconds at most, and may be asked again.",
				Idempotency: route.ByActor,
				Timeout:     handOverTime,
				Handler:     route.Handle(h.drainNode),
			},
		},
	})
}

// drainNode takes this node out of service: /readyz answers 503 from then on, other nodes get its actors, and the node
// forwards requests that still come. If the hand-over takes longer than the request may, it answers "draining".
func (h *Operations) drainNode(c *route.Call, _ *route.None) (*api.Drained, error) {
	err := h.Drain(c.Context)
	members, _ := h.Node.Placed()
	if errors.Is(err, context.DeadlineExceeded) {
		return &api.Drained{Status: "draining", Actors: h.Node.Actors(), Members: members}, nil
	}
	return &api.Drained{Status: "drained", Actors: h.Node.Actors(), Members: members}, err
}
