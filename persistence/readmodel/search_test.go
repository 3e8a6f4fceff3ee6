package readmodel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
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

// TestFiltersFold filters lists by texts that differ from the events' in case, accents and script.
func TestFiltersFold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.event(1, func(d *event.Details) {
		d.Title, d.ShortDesc = "Réveillon à l'Opéra", "Балет Петра Чайковского"
		d.VenueCity, d.VenueName = "São Paulo", "Мариинский театр"
	})
	w.ticketType(1, 1)
	w.publish(1)
	w.event(2, func(d *event.Details) { d.Title, d.VenueCity, d.VenueName = "花火大会", "Łódź", "Straße 1" })
	w.ticketType(2, 2)
	w.publish(2)
	w.settled()
	found := func(f readmodel.Filter) (numbers []int64) {
		list, err := w.model.DiscoverEvents(t.Context(), readmodel.Discovery{Filter: f, Now: start.UnixMilli(), Limit: 5})
		require.NoError(t, err)
		for i := range list {
			numbers = append(numbers, list[i].Number)
		}
		return numbers
	}
	for text, number := range map[string]int64{"são paulo": 1, "SAO": 1, "ão P": 1, "lodz": 2, "ŁÓDŹ": 2, "odz": 2} {
		require.Equal(t, []int64{number}, found(readmodel.Filter{City: text}), text)
	}
	for text, number := range map[string]int64{"мариинский ТЕАТР": 1, "mariin": 1, "strasse": 2, "STRASSE 1": 2} {
		require.Equal(t, []int64{number}, found(readmodel.Filter{Venue: text}), text)
	}
	for text, number := range map[string]int64{"reveillon a l'opera": 1, "БАЛЕТ петра": 1, "花火": 2} {
		require.Equal(t, []int64{number}, found(readmodel.Filter{Query: text}), text)
	}
	for _, nothing := range []string{"!!!", "%", "_", "opera балет", "\x00"} {
		require.Empty(t, found(readmodel.Filter{Query: nothing}), nothing)
		require.Empty(t, found(readmodel.Filter{City: nothing}), nothing)
	}
	require.Len(t, found(readmodel.Filter{}), 2)
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

// TestSearchKnowsFoundWords makes sure that a search is compared with the words of events that everybody finds, and
// with no others: anybody may write as many words as they like into drafts, or one after another into an event.
func TestSearchKnowsFoundWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := func() (words []string) {
		t.Helper()
		w.settled()
		require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT array_agg(word ORDER BY word) FROM search_words`).Scan(&words))
		return words
	}
	title := func(text string) func(*event.Details) { return func(d *event.Details) { d.Title = text } }
	w.event(1, title("Jazz draft"))
	w.event(2, title("Jazz unlisted"), func(d *event.Details) { d.Visibility = "unlisted" })
	w.ticketType(2, 2)
	w.publish(2)
	require.Empty(t, known())
	for _, n := range []int64{3, 4} {
		w.event(n, title("Jazz night jazz"))
		w.ticketType(n, n)
		w.publish(n)
	}
	require.Equal(t, []string{"jazz", "night"}, known())
	reword := func(number int64, text string) {
		w.settled()
		e, err := w.model.EventByNumber(t.Context(), number)
		require.NoError(t, err)
		e.Details.Title = text
		w.take(engine.EventRef(number), &event.Updated{Details: e.Details, At: w.now.UnixMilli()})
	}
	reword(3, "Jazz noon")
	require.Equal(t, []string{"jazz", "night", "noon"}, known())
	reword(3, "Rock")
	require.Equal(t, []string{"jazz", "night", "rock"}, known())
	reword(4, "Rock")
	require.Equal(t, []string{"rock"}, known(), "words leave with their last event")
	for _, n := range []int64{3, 4} {
		w.take(engine.EventRef(n), &event.Moved{From: event.StatusPublished, To: event.StatusDraft, At: w.now.UnixMilli()})
	}
	require.Empty(t, known())
}
