package history_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/history"
)

const (
	hold, release, scan, take, giveBack = history.Hold, history.Release, history.Scan, history.Take, history.GiveBack
	granted, refused, unknown           = history.Granted, history.Refused, history.Unknown
)

var noon = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

// op makes an operation that lasts from one second to another.
func op(client int, what history.Act, answer history.Answer, from, to float64) history.Operation {
	at := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	return history.Operation{Client: client, Node: "node-1", What: what, Answer: answer, Call: at(from), Return: at(to)}
}

// some makes an operation on a number of tickets.
func some(client int, what history.Act, quantity int, answer history.Answer, from, to float64) history.Operation {
	o := op(client, what, answer, from, to)
	o.Quantity = quantity
	if what == giveBack {
		o.Return = history.Never
	}
	return o
}

func TestJudges(t *testing.T) {
	t.Parallel()
	seat := func() *history.History { return history.Seat("seat") }
	ticket := func() *history.History { return history.Ticket("ticket") }
	stock := func() *history.History { return history.Stock("stock", 5) }
	for name, c := range map[string]struct {
		of   func() *history.History
		good bool
		ops  []history.Operation
	}{
		"held in turn": {seat, true, []history.Operation{
			op(1, hold, granted, 0, 1), op(2, hold, refused, 2, 3), op(1, release, granted, 4, 5), op(2, hold, granted, 6, 7), op(2, release, granted, 8, 9),
		}},
		"held by two": {seat, false, []history.Operation{op(1, hold, granted, 0, 1), op(2, hold, granted, 2, 3)}},
		"held by two at once": {seat, false, []history.Operation{
			op(1, hold, granted, 0, 10), op(2, hold, granted, 0, 10), op(1, release, granted, 11, 12), op(2, release, granted, 11, 12),
		}},
		"a hold that was lost": {seat, false, []history.Operation{op(1, hold, granted, 0, 1), op(1, release, refused, 5, 6)}},
		"a hold that was lost to another": {seat, false, []history.Operation{
			op(1, hold, granted, 0, 1), op(2, hold, granted, 5, 6), op(1, release, refused, 9, 10),
		}},
		"released twice":             {seat, false, []history.Operation{op(1, hold, granted, 0, 1), op(1, release, granted, 2, 3), op(1, release, granted, 4, 5)}},
		"refused though free":        {seat, false, []history.Operation{op(1, hold, refused, 5, 6)}},
		"refused a moment after":     {seat, true, []history.Operation{op(1, hold, granted, 0, 1), op(1, release, granted, 2, 3), op(2, hold, refused, 3.5, 3.6)}},
		"refused too long after":     {seat, false, []history.Operation{op(1, hold, granted, 0, 1), op(1, release, granted, 2, 3), op(2, hold, refused, 4.5, 4.6)}},
		"an unknown hold explains":   {seat, true, []history.Operation{op(1, hold, unknown, 0, 0), op(2, hold, refused, 5, 6)}},
		"an unknown hold came late":  {seat, true, []history.Operation{op(1, hold, unknown, 0, 0), op(2, hold, granted, 5, 6), op(2, release, granted, 7, 8), op(3, hold, refused, 20, 21)}},
		"an unknown release as well": {seat, true, []history.Operation{op(1, hold, granted, 0, 1), op(1, release, unknown, 2, 2), op(2, hold, granted, 5, 6)}},
		"no unknown release of another's": {seat, false, []history.Operation{
			op(1, hold, granted, 0, 1), op(2, release, unknown, 2, 2), op(3, hold, granted, 5, 6),
		}},

		"admitted once":        {ticket, true, []history.Operation{op(1, scan, granted, 0, 2), op(2, scan, refused, 1, 3), op(1, scan, refused, 8, 9)}},
		"admitted twice":       {ticket, false, []history.Operation{op(1, scan, granted, 0, 2), op(2, scan, granted, 1, 3)}},
		"refused before":       {ticket, false, []history.Operation{op(1, scan, refused, 0, 1), op(2, scan, granted, 5, 6)}},
		"admitted nobody":      {ticket, false, []history.Operation{op(1, scan, refused, 0, 1)}},
		"admitted the unknown": {ticket, true, []history.Operation{op(1, scan, unknown, 0, 0), op(2, scan, refused, 5, 6)}},

		"sold out": {stock, true, []history.Operation{
			some(1, take, 3, granted, 0, 1), some(2, take, 2, granted, 0, 1), some(3, take, 1, refused, 2, 3),
		}},
		"oversold":                  {stock, false, []history.Operation{some(1, take, 3, granted, 0, 1), some(2, take, 3, granted, 0, 1)}},
		"sold again":                {stock, true, []history.Operation{some(1, take, 3, granted, 0, 1), some(1, giveBack, 3, granted, 2, 3), some(2, take, 5, granted, 4, 5)}},
		"sold before it came back":  {stock, false, []history.Operation{some(1, take, 3, granted, 0, 1), some(2, take, 5, granted, 2, 3), some(1, giveBack, 3, granted, 4, 5)}},
		"taken and never answered":  {stock, true, []history.Operation{some(1, take, 3, unknown, 0, 0), some(2, take, 5, granted, 2, 3)}},
		"oversold among unanswered": {stock, false, []history.Operation{some(1, take, 3, unknown, 0, 0), some(2, take, 3, granted, 2, 3), some(3, take, 3, granted, 2, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := c.of()
			for _, o := range c.ops {
				h.Note(o)
			}
			picture := filepath.Join(t.TempDir(), "picture.html")
			err := h.Check(time.Minute, picture)
			if c.good {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, history.ErrNot)
			require.ErrorContains(t, err, h.Name)
		})
	}
}

func TestAPictureOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := history.Seat("seat 7")
	h.Note(op(1, hold, refused, 5, 6))
	picture := filepath.Join(t.TempDir(), "picture.html")
	require.ErrorIs(t, h.Check(time.Minute, picture), history.ErrNot)
	text, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Contains(t, string(text), "hold by 1 at node-1: refused")
}

// TestLongHistories makes sure that the answers of a correct seat under a storm of clients are
// judged in time, even if some answers are lost, and that a single wrong answer is found.
func TestLongHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		ops := simulate(rng, 6, 400, 0.02)
		h := history.Seat(fmt.Sprint("seed ", seed))
		for _, o := range ops {
			h.Note(o)
		}
		require.Equal(t, 6, h.Contenders())
		require.NoError(t, h.Check(time.Minute, ""))

		lie := slices.IndexFunc(ops, func(o history.Operation) bool { return o.What == hold && o.Answer == granted })
		liar := ops[lie]
		liar.Client = 7 // from then on this client has the seat too
		h.Note(liar)
		require.ErrorIs(t, h.Check(time.Minute, ""), history.ErrNot)
	}
}

// simulate returns the answers that clients get from a correct seat. The clients act in random
// order, and each operation takes effect at a moment between its call and its return.
func simulate(rng *rand.Rand, clients, steps int, lost float64) (ops []history.Operation) {
	holder, now := 0, 0.0
	for range steps {
		client := 1 + rng.IntN(clients)
		now += rng.Float64() / 20
		o := op(client, hold, refused, now, now+rng.Float64()/100)
		switch {
		case rng.IntN(2) == 0:
			o.What = release
			if holder == client {
				holder, o.Answer = 0, granted
			}
		case holder == 0 || holder == client:
			holder, o.Answer = client, granted
		}
		if rng.Float64() < lost {
			o.Answer = unknown
		}
		now += 0.01
		ops = append(ops, o)
	}
	return ops
}
