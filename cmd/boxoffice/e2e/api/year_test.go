package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// settled is the journal's word on an entry.
type settled chan error

func (s settled) Settled(err error) { s <- err }

// TestYear10000 shows an event that a release before this one has let in, though no
// format of time can tell when it is. It and all others are listed.
func TestYear10000(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	sound, _ := s.Sell(nil, nodetest.TypeBody(0, 50))
	var org int64
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT min(org) FROM events`).Scan(&org))
	const number = 1 << 30
	ref := engine.EventRef(number)
	claim, err := s.Journal().Claim(t.Context(), ref)
	require.NoError(t, err)
	done := make(settled, 1)
	e := &journal.Entry{Ref: ref, Claim: claim, First: 1, Owner: done, Facts: []engine.Fact{
		&event.Created{At: 1, Details: &event.Details{
			Org: org, PublicID: engine.NumberedID(number, 7), Slug: "year-10000", Title: "Year 10000", Category: "music", Visibility: "public",
			StartAt: 253_402_300_860_000, EndAt: 253_402_300_920_000, DoorsAt: -62_167_219_200_001, Timezone: "UTC", VenueType: "physical",
			Capacity: event.NoCapacity, Currency: "USD", OrderWindow: 900_000,
		}},
		&event.Moved{From: event.StatusDraft, To: event.StatusPublished, At: 2},
	}}
	for _, f := range e.Facts {
		e.Bytes, err = codec.AppendFact(e.Bytes, f)
		require.NoError(t, err)
	}
	s.Journal().Append(e)
	require.NoError(t, <-done)
	require.Eventually(t, func() bool {
		list := s.Call("GET", "/events?limit=50", nil).Is(200, "")
		return len(list.Data("items").([]any)) == 2
	}, 30*time.Second, 50*time.Millisecond)
	s.Call("GET", "/events/year-10000", nil).Is(200, "")
	s.Call("GET", "/events/"+engine.NumberedID(number, 7).String(), nil).Is(200, "")
	s.Call("GET", "/events/"+sound, nil).Is(200, "")
	s.Own("GET", "/organizer/events?orgId="+s.Org(), nil).Is(200, "")
	asides, err := follower.CountAsides(t.Context(), s.Pool())
	require.NoError(t, err)
	require.Empty(t, asides)
}
