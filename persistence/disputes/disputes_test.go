package disputes

import (
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func openStore(t *testing.T) (*Store, *pgxpool.Pool) {
	t.Helper()
	pool := persisttest.Migrated(t)
	mails, err := mailqueue.New(mailqueue.Config{Pool: pool, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return New(pool, mails), pool
}

func dispute(id, status string) *Dispute {
	return &Dispute{
		Provider: "stripe", ID: id, Org: 7, Order: engine.OrderID(uuid.New()), Attempt: "A-1", Amount: 2625, Currency: "USD", Reason: "fraudulent", Status: status,
		OpenedAt: time.UnixMilli(1_800_000_000_000).UTC(), DueBy: time.UnixMilli(1_800_600_000_000).UTC(),
	}
}

func letterTo(id, email string) mailqueue.Mail {
	return mailqueue.Mail{Template: mailqueue.PaymentDisputed, Subject: id + "/" + email, To: email}
}

// countLetters is how many letters are queued.
func countLetters(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'mail'`).Scan(&n))
	return n
}

// TestNeverOpenAgain notes a dispute in every order of what a provider may tell of it: once it has come to an end, it
// stays there, with the moment of its first end.
func TestNeverOpenAgain(t *testing.T) {
	t.Parallel()
	s, pool := openStore(t)
	for i, c := range []struct {
		told []string
		want string
	}{
		{[]string{"open", "open"}, "open"},
		{[]string{"open", "won", "open", "won"}, "won"},
		{[]string{"lost", "open", "open"}, "lost"},
		{[]string{"won", "open"}, "won"},
		{[]string{"open", "lost", "won", "open"}, "won"},
	} {
		id := "du_" + strconv.Itoa(i)
		var ended time.Time
		for _, status := range c.told {
			require.NoError(t, s.Note(t.Context(), dispute(id, status), letterTo(id, "ada@example.org")))
			list, err := s.List(t.Context(), 7, 0, 1)
			require.NoError(t, err)
			require.Equal(t, id, list[0].ID)
			require.Equal(t, list[0].Status == "open", list[0].ClosedAt.IsZero())
			if !ended.IsZero() {
				require.Equal(t, ended, list[0].ClosedAt)
			}
			ended = list[0].ClosedAt
		}
		list, err := s.List(t.Context(), 7, 0, 10)
		require.NoError(t, err)
		require.Len(t, list, i+1, "a dispute has one row")
		require.Equal(t, c.want, list[0].Status, c.told)
		require.EqualValues(t, 2625, list[0].Amount)
		require.Equal(t, dispute("", "").OpenedAt, list[0].OpenedAt.UTC())
	}
	require.Equal(t, 3, countLetters(t, pool), "one for each that was open when it was first heard of")
	none, err := s.List(t.Context(), 8, 0, 10)
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestOneLetter notes a dispute by many at once: its owners get a letter each.
func TestOneLetter(t *testing.T) {
	t.Parallel()
	s, pool := openStore(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d := dispute("du_1", "open")
			if err := s.Note(t.Context(), d, letterTo(d.ID, "ada@example.org"), letterTo(d.ID, "bob@example.org")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 2, countLetters(t, pool))

	t.Log("a letter that can't be queued leaves no row, so that the notice's job tries again")
	_, err := pool.Exec(t.Context(), `ALTER TABLE river_job RENAME TO elsewhere`)
	require.NoError(t, err)
	require.Error(t, s.Note(t.Context(), dispute("du_2", "open"), letterTo("du_2", "ada@example.org")))
	list, err := s.List(t.Context(), 7, 0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// TestPages reads disputes page by page, the last that was heard of first.
func TestPages(t *testing.T) {
	t.Parallel()
	s, _ := openStore(t)
	for i := range 5 {
		require.NoError(t, s.Note(t.Context(), dispute("du_"+strconv.Itoa(i), "lost")))
	}
	var ids []string
	for before := int64(0); ; {
		page, err := s.List(t.Context(), 7, before, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for i := range page {
			ids = append(ids, page[i].ID)
		}
		before = page[len(page)-1].Seq
	}
	require.Equal(t, []string{"du_4", "du_3", "du_2", "du_1", "du_0"}, ids)
}
