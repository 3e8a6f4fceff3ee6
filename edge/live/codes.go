package live

import (
	"context"
	"fmt"

	"boxoffice/persistence/promos"
)

// FindCode returns the number of the promo code with a name at an event, or 0 if there is none. The
// node caches the number for a second, so that many orders with the same code do not all ask
// Postgres.
func (p *Pages) FindCode(ctx context.Context, n promos.Name) (int64, error) {
	return CachePage(ctx, p, fmt.Sprintf("code/%d/%d/%s", n.Org, n.Event, n.Code), func() (int64, error) {
		return p.Promos.Find(ctx, n)
	})
}
