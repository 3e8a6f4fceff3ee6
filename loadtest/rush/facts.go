package rush

import (
	"context"
	"net/url"
	"strings"
	"time"

	"boxoffice/loadtest/rig"
)

// CountFacts counts facts of some types in the organization's feed, by type and by ticket. It stops
// when it has read as many as wanted, or when the time is over.
func (o *Organizer) CountFacts(ctx context.Context, types []string, want int, within time.Duration) (map[string]map[string]int, error) {
	counts, read := make(map[string]map[string]int), 0
	for _, t := range types {
		counts[t] = make(map[string]int)
	}
	query := url.Values{"orgId": {o.Organization}, "types": {strings.Join(types, ",")}, "limit": {"100"}}
	for deadline := time.Now().Add(within); ; {
		var page struct {
			Items []struct {
				Type string
				Data struct{ Ticket struct{ ID string } }
			}
			NextCursor *string
			Cursor     string
		}
		if err := o.Send(ctx, "GET", "/organizer/facts?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for i := range page.Items {
			counts[page.Items[i].Type][page.Items[i].Data.Ticket.ID]++
			read++
		}
		// The cursor stands behind the last fact that was read. At the end of the feed it is asked for again, until
		// the feed has grown.
		query.Set("after", page.Cursor)
		if page.NextCursor != nil {
			continue
		}
		if read >= want || time.Now().After(deadline) || ctx.Err() != nil {
			return counts, context.Cause(ctx)
		}
		rig.Wait(ctx, 200*time.Millisecond)
	}
}
