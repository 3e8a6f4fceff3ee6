package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/follower"
)

// boxoffice runs the program with arguments, on the shop's database.
func boxoffice(s *nodetest.Shop, args ...string) (out string, ok bool) {
	s.T.Helper()
	program, err := os.Executable()
	require.NoError(s.T, err)
	cmd := exec.CommandContext(s.T.Context(), program, args...)
	cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATABASE_URL="+s.Config().DatabaseURL, "BOXOFFICE_ALLOW_UNSAFE_POSTGRES=true")
	b, err := cmd.Output()
	return string(b), err == nil
}

// asides returns what `boxoffice set-aside list` shows.
func asides(s *nodetest.Shop, args ...string) (all []follower.Aside) {
	s.T.Helper()
	out, ok := boxoffice(s, append([]string{"set-aside", "list", "--json"}, args...)...)
	require.True(s.T, ok, out)
	require.NoError(s.T, json.Unmarshal([]byte(out), &all))
	return all
}

// TestSetAsideCommands makes a running node set the facts of an order aside, and shows and retries
// them by the commands, before and after the mistake is mended.
func TestSetAsideCommands(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 50))
	require.Empty(t, asides(s))
	exec := func(sql string) {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`CREATE FUNCTION refuse_eve() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF new.email = 'eve@example.org' THEN RAISE 'no row of Eve'; END IF; RETURN new; END $$`)
	exec(`CREATE TRIGGER refuse_eve BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse_eve()`)
	s.Place("eve@example.org", ids[0], 1)
	s.Place("ada@example.org", ids[0], 1)
	told := func() int { return s.ToldOf("order.completed") }
	require.Eventually(t, func() bool { return told() == 1 && len(asides(s, "--follower=facts")) > 0 }, time.Minute, 50*time.Millisecond)
	model := asides(s, "--follower=readmodel")
	require.NotEmpty(t, model)
	require.Equal(t, "order.created", model[0].Type)
	require.Contains(t, model[0].Error, "no row of Eve")
	table, ok := boxoffice(s, "set-aside", "list")
	require.True(t, ok)
	require.Contains(t, table, "no row of Eve")

	_, ok = boxoffice(s, "set-aside", "retry")
	require.False(t, ok, "nothing was mended")
	require.Equal(t, int32(2), asides(s, "--follower=readmodel")[0].Attempts)

	exec(`DROP TRIGGER refuse_eve ON orders`)
	out, ok := boxoffice(s, "set-aside", "retry")
	require.True(t, ok, out)
	require.Contains(t, out, " 0 still set aside")
	require.Empty(t, asides(s))
	require.Eventually(t, func() bool { return told() == 2 }, time.Minute, 50*time.Millisecond)
}
