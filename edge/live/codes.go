package live

import (
	"context"
	"fmt"

	"boxoffice/persistence/promos"
)

// FindCode returns the number of the promo code with a name for an event, or 0 if there is none. The node keeps the
// result for a second, so that many buyers with the same code cause only one query.
func (p *Pages) FindCode(ctx context.Context, n promos.Name) (int64, error) {
	return CachePage(ctx, p, fmt.Sprintf("code/%d/%d/%s", n.Org, n.Event, n.Code), func() (int64, error) {
		return p.Promos.Find(ctx, n)
	})
}
