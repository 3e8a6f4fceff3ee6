package venues_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine/seatmap"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/venues"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a database with an organization.
type world struct {
	*venues.Store
	t    *testing.T
	pool *pgxpool.Pool
	org  int64
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: persisttest.Migrated(t)}
	w.Store = venues.New(w.pool)
	w.org = w.organization()
	return w
}

func (w *world) organization() (org int64) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(),
		`INSERT INTO organizations (name, slug) VALUES ('x', $1) RETURNING id`, rand.Text()).Scan(&org))
	return org
}

// draft returns a document that says how many seats it has. Its white space and order must be kept.
func draft(name string, seats int) venues.Draft {
	return venues.Draft{Name: name, Seats: seats, Document: fmt.Appendf(nil, `{"seats": %d,  "name":%q}`, seats, name)}
}

func (w *world) create(name string, seats int) *venues.Map {
	w.t.Helper()
	m, err := w.Create(w.t.Context(), uuid.New(), w.org, draft(name, seats))
	require.NoError(w.t, err)
	return m
}

// expand makes a row of seats from a draft's document.
func expand(document []byte) (*seatmap.Layout, []byte, error) {
	var n int
	if _, err := fmt.Sscanf(string(document), `{"seats": %d,`, &n); err != nil {
		return nil, nil, err
	}
	l := &seatmap.Layout{Width: 1000, Height: 10, Focus: [2]int32{7, 8}, Sections: []seatmap.Section{{ID: "s", Name: "Stalls"}}, Rows: []seatmap.Row{{Label: "A"}}}
	for i := range n {
		l.SeatIDs, l.Labels = append(l.SeatIDs, fmt.Sprintf("s-A-%d", i)), append(l.Labels, fmt.Sprint(i))
		l.SeatRow, l.SeatX, l.SeatY = append(l.SeatRow, 0), append(l.SeatX, int32(i)), append(l.SeatY, 5)
		l.SeatKind, l.Gap = append(l.SeatKind, seatmap.Kind(i%3)), append(l.Gap, i%2 == 1)
	}
	return l, fmt.Appendf(nil, `[%d]`, n), nil
}

func (w *world) publish(m *venues.Map) *venues.Version {
	w.t.Helper()
	v, err := w.Publish(w.t.Context(), uuid.New(), m.Org, m.PublicID, expand)
	require.NoError(w.t, err)
	return v
}

func (w *world) get(m *venues.Map) *venues.Map {
	w.t.Helper()
	got, err := w.Get(w.t.Context(), m.PublicID)
	require.NoError(w.t, err)
	return got
}

func TestDraft(t *testing.T) {
	t.Parallel()
	w := open(t)
	command := uuid.New()
	m, err := w.Create(t.Context(), command, w.org, draft("Hall", 3))
	require.NoError(t, err)
	require.Equal(t, "Hall", m.Name)
	require.Equal(t, 3, m.Seats)
	require.Equal(t, w.org, m.Org)
	require.Empty(t, m.Versions)
	require.Equal(t, m, w.get(m))
	text, err := w.Document(t.Context(), m.PublicID, 0)
	require.NoError(t, err)
	require.Equal(t, string(draft("Hall", 3).Document), string(text))

	t.Log("the command again finds it; another organization's does not")
	again, err := w.Create(t.Context(), command, w.org, draft("Hall", 3))
	require.NoError(t, err)
	require.Equal(t, m, again)
	other := w.organization()
	none, err := w.Create(t.Context(), command, other, draft("Hall", 3))
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = w.pool.Exec(t.Context(), `UPDATE venue_maps SET created_at = now() - interval '25 hours'`)
	require.NoError(t, err)
	second, err := w.Create(t.Context(), command, w.org, draft("Hall", 3))
	require.NoError(t, err)
	require.NotEqual(t, m.ID, second.ID, "after a day it is another command")

	t.Log("a draft is replaced by its organization alone")
	saved, err := w.Save(t.Context(), w.org, m.PublicID, draft("Great hall", 4))
	require.NoError(t, err)
	require.Equal(t, "Great hall", saved.Name)
	require.Equal(t, 4, saved.Seats)
	require.True(t, saved.UpdatedAt.After(m.UpdatedAt))
	for _, id := range []uuid.UUID{m.PublicID, uuid.New()} {
		none, err = w.Save(t.Context(), other, id, draft("Mine", 1))
		require.NoError(t, err)
		require.Nil(t, none)
	}
	require.Equal(t, saved, w.get(m))
	none, err = w.Get(t.Context(), uuid.New())
	require.NoError(t, err)
	require.Nil(t, none)
	for _, c := range []struct {
		id      uuid.UUID
		version int32
	}{{m.PublicID, 1}, {uuid.New(), 0}, {uuid.New(), 1}} {
		text, err := w.Document(t.Context(), c.id, c.version)
		require.NoError(t, err)
		require.Nil(t, text)
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := w.create("Hall", 3)
	layout, elements, err := w.Layout(t.Context(), m.PublicID, 0)
	require.NoError(t, err)
	require.Nil(t, layout)
	require.Nil(t, elements)

	command := uuid.New()
	one, err := w.Publish(t.Context(), command, w.org, m.PublicID, expand)
	require.NoError(t, err)
	require.EqualValues(t, 1, one.Number)
	require.Equal(t, 3, one.Seats)
	require.Equal(t, one, w.publish(m), "the draft is published")
	_, err = w.Save(t.Context(), w.org, m.PublicID, draft("Hall", 5))
	require.NoError(t, err)
	again, err := w.Publish(t.Context(), command, w.org, m.PublicID, expand)
	require.NoError(t, err)
	require.Equal(t, one, again, "the command has done its work")
	two := w.publish(m)
	require.EqualValues(t, 2, two.Number)
	require.Equal(t, 5, two.Seats)
	require.Equal(t, []venues.Version{*two, *one}, w.get(m).Versions)

	t.Log("every version stays as it was")
	for version, seats := range map[int32]int{0: 5, 1: 3, 2: 5} {
		want, boxes, err := expand(draft("Hall", seats).Document)
		require.NoError(t, err)
		want.Map, want.Version = m.PublicID, max(version, 1)
		if version == 0 {
			want.Version = 2
		}
		layout, elements, err := w.Layout(t.Context(), m.PublicID, version)
		require.NoError(t, err)
		require.Equal(t, want, layout)
		require.JSONEq(t, string(boxes), string(elements))
		if version > 0 {
			text, err := w.Document(t.Context(), m.PublicID, version)
			require.NoError(t, err)
			require.Equal(t, string(draft("Hall", seats).Document), string(text))
		}
	}
	layout, _, err = w.Layout(t.Context(), m.PublicID, 3)
	require.NoError(t, err)
	require.Nil(t, layout)
	for _, sql := range []string{`UPDATE venue_map_versions SET seats = 1`, `DELETE FROM venue_map_versions WHERE version = 1`, `DELETE FROM venue_maps`} {
		_, err = w.pool.Exec(t.Context(), sql)
		require.Error(t, err, sql)
	}

	t.Log("what is refused, and whom")
	broken := errors.New("no")
	_, err = w.Save(t.Context(), w.org, m.PublicID, draft("Hall", 6))
	require.NoError(t, err)
	_, err = w.Publish(t.Context(), uuid.New(), w.org, m.PublicID, func([]byte) (*seatmap.Layout, []byte, error) { return nil, nil, broken })
	require.ErrorIs(t, err, broken)
	for _, org := range []int64{w.organization(), 0} {
		v, err := w.Publish(t.Context(), uuid.New(), org, m.PublicID, expand)
		require.NoError(t, err)
		require.Nil(t, v)
	}
	require.Len(t, w.get(m).Versions, 2)
}

// TestPublishAtOnce makes sure that simultaneous publishers make one version of one draft.
func TestPublishAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := w.create("Hall", 3)
	var wg sync.WaitGroup
	numbers := make([]int32, 8)
	for i := range numbers {
		wg.Go(func() {
			if v, err := w.Publish(t.Context(), uuid.New(), w.org, m.PublicID, expand); err == nil {
				numbers[i] = v.Number
			}
		})
	}
	wg.Wait()
	require.Equal(t, []int32{1, 1, 1, 1, 1, 1, 1, 1}, numbers)
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	w := open(t)
	for range venues.MaxPerOrg - 1 {
		w.create("Hall", 1)
	}
	t.Log("the last one, by several at once")
	var wg sync.WaitGroup
	var made, refused atomic.Int32
	for range 4 {
		wg.Go(func() {
			switch _, err := w.Create(t.Context(), uuid.New(), w.org, draft("Hall", 1)); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, venues.ErrTooMany):
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []int32{1, 3}, []int32{made.Load(), refused.Load()})

	w.org = w.organization()
	m := w.create("Hall", 1)
	for n := range venues.MaxVersions {
		_, err := w.Save(t.Context(), w.org, m.PublicID, draft("Hall", n+1))
		require.NoError(t, err)
		w.publish(m)
	}
	w.publish(m)
	_, err := w.Save(t.Context(), w.org, m.PublicID, draft("Hall", 1))
	require.NoError(t, err)
	_, err = w.Publish(t.Context(), uuid.New(), w.org, m.PublicID, expand)
	require.ErrorIs(t, err, venues.ErrTooManyVersions)
}

func TestShare(t *testing.T) {
	t.Parallel()
	w := open(t)
	m, err := w.Share(t.Context(), draft("Arena", 3), expand)
	require.NoError(t, err)
	require.Zero(t, m.Org)
	require.Len(t, m.Versions, 1)
	same, err := w.Share(t.Context(), draft("Arena", 3), expand)
	require.NoError(t, err)
	require.Equal(t, m.PublicID, same.PublicID)
	require.Len(t, same.Versions, 1, "nothing has changed")
	next, err := w.Share(t.Context(), draft("Arena", 4), expand)
	require.NoError(t, err)
	require.Equal(t, m.PublicID, next.PublicID)
	require.Len(t, next.Versions, 2)
	mine := w.create("Arena", 3)
	require.NotEqual(t, m.PublicID, mine.PublicID, "an organization names its own as it likes")
	none, err := w.Save(t.Context(), w.org, m.PublicID, draft("Mine", 1))
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestList(t *testing.T) {
	t.Parallel()
	w := open(t)
	shared, err := w.Share(t.Context(), draft("Arena", 3), expand)
	require.NoError(t, err)
	for _, name := range []string{"Hall 50%", "Hall 500", `Back\slash`} {
		w.publish(w.create(name, 2))
	}
	w.create("Draft hall", 2)
	mine := w.org
	w.org = w.organization()
	w.publish(w.create("Another's hall", 2))
	for _, c := range []struct {
		filter venues.Filter
		want   string
	}{
		{venues.Filter{Status: venues.Published}, `Back\slash, Hall 500, Hall 50%, Arena`},
		{venues.Filter{Status: venues.Drafts}, "Draft hall"},
		{venues.Filter{Status: venues.All}, `Draft hall, Back\slash, Hall 500, Hall 50%, Arena`},
		{venues.Filter{Status: venues.All, Search: "hALL"}, "Draft hall, Hall 500, Hall 50%"},
		{venues.Filter{Status: venues.All, Search: "50%"}, "Hall 50%"},
		{venues.Filter{Status: venues.All, Search: `k\s`}, `Back\slash`},
		{venues.Filter{Status: venues.All, Search: "_"}, ""},
	} {
		var names []string
		for c.filter.Limit = 2; ; {
			maps, err := w.List(t.Context(), mine, c.filter)
			require.NoError(t, err)
			if len(maps) == 0 {
				break
			}
			for _, m := range maps {
				require.Equal(t, w.get(m), m)
				names = append(names, m.Name)
				c.filter.Before = m.ID
			}
		}
		require.Equal(t, c.want, strings.Join(names, ", "))
	}
	maps, err := w.List(t.Context(), mine, venues.Filter{Status: venues.Published, Search: "arena", Limit: 9})
	require.NoError(t, err)
	require.Equal(t, []*venues.Map{shared}, maps)
}
