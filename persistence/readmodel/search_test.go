package readmodel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/event"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

func TestSearchFindsWhatIsMeant(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	persisttest.FillCatalog(t, pool, 7, start, 10_000)
	m := readmodel.New(pool)
	search := func(s string, limit int) []string {
		list, err := m.DiscoverEvents(t.Context(), readmodel.Discovery{Filter: readmodel.Filter{Search: s}, Now: start.UnixMilli(), Ranked: true, Limit: limit})
		require.NoError(t, err)
		found := []string{}
		for i := range list {
			found = append(found, list[i].Details.Title)
		}
		return found
	}
	require.Empty(t, search("beethoven", 5), "nobody has made them searchable")
	require.NoError(t, readmodel.FillSearch(t.Context(), pool))
	_, err := pool.Exec(t.Context(), `ANALYZE events`)
	require.NoError(t, err)
	for _, s := range persisttest.Sought {
		found := search(s.Search, 5)
		require.NotEmpty(t, found, s.Search)
		require.Equal(t, s.Title, found[0], s.Search)
		require.Equal(t, s.Title, search(strings.ToUpper(s.Title), 1)[0], "by its title")
	}
	require.Equal(t, "Щелкунчик", search("shchelkunchik", 1)[0], "in other letters")
	require.Equal(t, "Björk Cornucopia", search("cornu", 1)[0], "by a beginning")
	require.Equal(t, "Kubernetes Deep Dive", search("engineers", 1)[0])
	for _, nothing := range []string{"xylophagous", "!!!", "' | :* &", "\x00"} {
		require.Empty(t, search(nothing, 5), nothing)
	}
	require.Len(t, search(strings.Repeat("'jazz' night <-> ", 12), 5), 5)
}

// TestSearchPagesWhileOthersCome pages through what a search finds while more of it is
// published, before and behind: each event is met once.
func TestSearchPagesWhileOthersCome(t *testing.T) {
	t.Parallel()
	const events = 25
	titles := []string{"Jazz", "Jazz and more", "An evening of jazz", "Jaz", "Jazzy brunch"}
	for _, ranked := range []bool{true, false} {
		w := newWorld(t)
		publish := func(number int64) {
			w.event(number, func(d *event.Details) {
				d.Title = titles[number%5]
				d.StartAt -= number % 3 * time.Hour.Milliseconds()
			})
			w.ticketType(number, number)
			w.publish(number)
			w.settled()
		}
		for n := range int64(events) {
			publish(n + 1)
		}
		seen := map[int64]int{}
		var after readmodel.Place
		for next := int64(1000); ; next++ {
			list, err := w.model.DiscoverEvents(t.Context(), readmodel.Discovery{
				Filter: readmodel.Filter{Search: "jazz"}, Now: start.UnixMilli(), Ranked: ranked, After: after, Limit: 3,
			})
			require.NoError(t, err)
			if len(list) == 0 {
				break
			}
			for i := range list {
				seen[list[i].Number]++
			}
			after = readmodel.PlaceOf(&list[len(list)-1])
			publish(next)
		}
		for n := range int64(events) {
			require.Contains(t, seen, n+1, "ranked: %t", ranked)
		}
		for n, times := range seen {
			require.Equal(t, 1, times, "event %d, ranked: %t", n, ranked)
		}
	}
}
