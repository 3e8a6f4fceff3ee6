package live

import (
	"context"
	"fmt"

	"boxoffice/persistence/promos"
)

// FindCode is the number of the promo code that a name means for an event, or 0. The node keeps it
// for a second, so that a rush with one code asks Postgres once.
func (p *Pages) FindCode(ctx context.Context, n promos.Name) (int64, error) {
	return CachePage(ctx, p, fmt.Sprintf("code/%d/%d/%s", n.Org, n.Event, n.Code), func() (int64, error) {
		return p.Promos.Find(ctx, n)
	})
}
