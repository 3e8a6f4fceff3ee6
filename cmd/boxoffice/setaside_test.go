package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// boxoffice runs the program with a command line, on the database of the shop.
func (s *shop) boxoffice(args ...string) (out string, ok bool) {
	s.t.Helper()
	program, err := os.Executable()
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATABASE_URL="+s.cfg.DatabaseURL)
	b, err := cmd.Output()
	return string(b), err == nil
}

// asides are what boxoffice set-aside list shows.
func (s *shop) asides(args ...string) (all []follower.Aside) {
	s.t.Helper()
	out, ok := s.boxoffice(append([]string{"set-aside", "list", "--json"}, args...)...)
	require.True(s.t, ok, out)
	require.NoError(s.t, json.Unmarshal([]byte(out), &all))
	return all
}

// TestSetAsideCommands has a running node set the facts of an order aside, shows them and
// has them told again by the commands, before and after the mistake is mended.
func TestSetAsideCommands(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(0, 50))
	require.Empty(t, s.asides())
	exec := func(sql string) {
		t.Helper()
		_, err := s.pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`CREATE FUNCTION refuse_eve() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF new.email = 'eve@example.org' THEN RAISE 'no row of Eve'; END IF; RETURN new; END $$`)
	exec(`CREATE TRIGGER refuse_eve BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_eve()`)
	s.place("eve@example.org", ids[0], 1)
	s.place("ada@example.org", ids[0], 1)
	told := func() int { return s.toldOf("order.completed") }
	require.Eventually(t, func() bool { return told() == 1 && len(s.asides("--follower=facts")) > 0 }, 30*time.Second, 50*time.Millisecond)
	model := s.asides("--follower=readmodel")
	require.NotEmpty(t, model)
	require.Equal(t, "order.created", model[0].Type)
	require.Contains(t, model[0].Error, "no row of Eve")
	table, ok := s.boxoffice("set-aside", "list")
	require.True(t, ok)
	require.Contains(t, table, "no row of Eve")

	_, ok = s.boxoffice("set-aside", "retry")
	require.False(t, ok, "nothing was mended")
	require.Equal(t, int32(2), s.asides("--follower=readmodel")[0].Attempts)

	exec(`DROP TRIGGER refuse_eve ON orders`)
	out, ok := s.boxoffice("set-aside", "retry")
	require.True(t, ok, out)
	require.Contains(t, out, " 0 still set aside")
	require.Empty(t, s.asides())
	require.Eventually(t, func() bool { return told() == 2 }, 30*time.Second, 50*time.Millisecond)
}

// settled is the journal's word on an entry.
type settled chan error

func (s settled) Settled(err error) { s <- err }

// TestYear10000 shows an event that a release before this one has let in, though no
// format of time can tell when it is. It and all others are listed.
func TestYear10000(t *testing.T) {
	t.Parallel()
	s := open(t)
	sound, _ := s.sell(nil, typeBody(0, 50))
	var org int64
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT min(org) FROM events`).Scan(&org))
	const number = 1 << 30
	ref := engine.EventRef(number)
	claim, err := s.journal.Claim(t.Context(), ref)
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
	s.journal.Append(e)
	require.NoError(t, <-done)
	require.Eventually(t, func() bool {
		list := s.call("GET", "/events?limit=50", nil).is(200, "")
		return len(list.data("items").([]any)) == 2
	}, 30*time.Second, 50*time.Millisecond)
	s.call("GET", "/events/year-10000", nil).is(200, "")
	s.call("GET", "/events/"+engine.NumberedID(number, 7).String(), nil).is(200, "")
	s.call("GET", "/events/"+sound, nil).is(200, "")
	s.own("GET", "/organizer/events?orgId="+s.org(), nil).is(200, "")
	require.Empty(t, s.asides())
}
