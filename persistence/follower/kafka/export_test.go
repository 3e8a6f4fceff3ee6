package kafka

import (
	"context"
	"net"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"
)

// Take reads a partition and applies it without being asked by the group.
func Take(ctx context.Context, c *Consumer, number int) { (&partition{c: c, number: number}).run(ctx) }

// PanicOver has a relay panic, where it sends, over any message with the id.
func PanicOver(r *Relay, id string) {
	r.link.client.Transport = panicky{r.link.client.Transport, id}
}

type panicky struct {
	kafkago.RoundTripper
	over string
}

// RoundTrip sends a request, unless it has the message.
func (p panicky) RoundTrip(ctx context.Context, to net.Addr, request kafkago.Request) (kafkago.Response, error) {
	if r, ok := request.(*produce.Request); ok {
		for _, m := range r.Topics[0].Partitions[0].RecordSet.Records.(*outgoing).messages {
			for _, h := range m.Headers {
				if h.Key == headerID && string(h.Value) == p.over {
					panic("no such header")
				}
			}
		}
	}
	return p.RoundTripper.RoundTrip(ctx, to, request)
}
