package kafka

import "context"

// Take reads a partition and applies it without being asked by the group.
func Take(ctx context.Context, c *Consumer, number int) { (&partition{c: c, number: number}).run(ctx) }
