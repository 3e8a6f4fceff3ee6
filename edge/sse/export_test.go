package sse

import "context"

// Enter counts a viewer in whose stream never begins, as when its connection
// breaks before.
func Enter(ctx context.Context, h *Hub, t Topic) error {
	_, err := h.enterTopic(ctx, &Request{Topic: t})
	return err
}
