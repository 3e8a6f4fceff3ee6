package security

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/persistence/codec"
)

// The security suite: every operation of the route table, with every credential
// that must not do, ids of others, and fields that are nobody's to set. What it
// tries is derived from a row's credentials and scopes; a row that is added needs
// a request that is granted (requests_*_test.go), and nothing else.
//
// TestSecurity does it in three steps. All that must be refused is tried at once,
// and the database and the mail are compared before and after: not a row, fact or
// mail may have come of any of it. Then each request is granted to those who may
// make it, which proves that it was refused for the credential alone; what the
// answers contain is compared with the golden files of exposure_test.go.

// row is an operation on trial.
type row struct {
	op       route.Op
	request  request // granted, but for the credential
	attempts []attempt

	refused, granted int // cases
}

func TestSecurity(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	c := w.credentials()
	var rows []*row
	for _, op := range w.Areas().Routes() {
		r := &row{op: op, request: w.request(&op)}
		r.attempts = w.attempts(&op, r.request, c)
		rows = append(rows, r)
	}
	agents := w.agentsRow(c)
	before := w.rest()
	t.Run("refused", func(t *testing.T) {
		for _, r := range rows {
			t.Run(r.op.ID, func(t *testing.T) {
				t.Parallel()
				r.refuse(w.in(t))
			})
		}
		t.Run(agents.op.ID, func(t *testing.T) {
			t.Parallel()
			agents.refuse(w.in(t))
			agents.refuseTools(w.in(t), rows, c)
		})
	})
	if changed := difference(before, w.still()); len(changed) > 0 {
		t.Errorf("what was refused changed %v; %s", changed, w.culprits(rows))
	}
	privileges := w.privileges()
	seen := new(exposure)
	t.Run("granted", func(t *testing.T) {
		for _, r := range rows {
			t.Run(r.op.ID, func(t *testing.T) {
				t.Parallel()
				r.grant(w.in(t), c, seen)
			})
		}
		t.Run(agents.op.ID, func(t *testing.T) {
			t.Parallel()
			agents.grantAgents(w.in(t), seen)
		})
	})
	require.Equal(t, privileges, w.privileges(), "members of requests that are nobody's to set have been set")
	t.Run("exposed", func(t *testing.T) { seen.compare(t, w.Areas().Routes()) })
	report(t, append(rows, agents))
}

// refuse makes the attempts of a row.
func (r *row) refuse(w *world) {
	var wrong []string
	for i := range r.attempts {
		a := &r.attempts[i]
		answer := w.send(&r.op, a)
		if fault := w.judge(a, answer); fault != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %d %s", a.name, fault, answer.Status, answer.Body))
		}
	}
	r.refused += len(r.attempts)
	if n := len(wrong); n > 0 {
		const shown = 10
		w.T.Errorf("%d attempts:\n%s", n, strings.Join(wrong[:min(n, shown)], "\n"))
	}
}

// report lists how many cases each row has had.
func report(t *testing.T, rows []*row) {
	t.Helper()
	var b strings.Builder
	var refused, granted int
	fmt.Fprintf(&b, "\n%-26s %8s %8s\n", "operation", "refused", "granted")
	isPart := strings.Contains(flag.Lookup("test.run").Value.String(), "/") // somebody asks for one row again
	for _, r := range rows {
		fmt.Fprintf(&b, "%-26s %8d %8d\n", r.op.ID, r.refused, r.granted)
		refused += r.refused
		granted += r.granted
		if !isPart {
			require.Positive(t, r.refused, r.op.ID)
			require.Positive(t, r.granted, r.op.ID)
		}
	}
	fmt.Fprintf(&b, "%-26s %8d %8d   %d cases of %d operations\n", "", refused, granted, refused+granted, len(rows))
	t.Log(b.String())
}

// What background work changes by itself, and is not compared: where followers
// have read to, when actors want to be woken, snapshots and claims of actors
// that were looked at, when keys were last used, when the sweep asks a provider
// next, that the ledger puts an order away some time after it has ended, who leads
// River's clients and how far its jobs are, who delivers webhooks, how far the facts are told,
// in which batches a stream's are, what keys have asked for, and how much organizations have written.
var (
	background = []string{"followers", "wakes", "writers", "snapshots", "river_leader", "river_queue", "webhook_leases", "applied", "spans", "tails", "requests", "failed_requests", "organization_bytes"}
	restless   = map[string][]string{
		"streams": {"epoch", "writer"}, "api_keys": {"last_used_at"}, "payments": {"next_check"}, "refunds": {"next_check"},
		"open_codes": {"tries", "blind"}, // a wrong login code is refused, and counted
		"river_job":  {"state", "attempt", "attempted_at", "attempted_by", "finalized_at", "metadata"},
	}
	putAway = reflect.TypeFor[*ledger.OrderClosed]()
)

// tables are the schema's, partitions among them.
func tables(s *nodetest.Shop) []string {
	s.T.Helper()
	rows, err := s.Pool().Query(s.T.Context(), `SELECT relname FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname`)
	require.NoError(s.T, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.T, err)
	return names
}

// state is everything that a refused request must not change: of each table the
// count and the hash of its rows, the facts, and the names of the mails.
func (w *world) state() map[string]string {
	w.T.Helper()
	var parts []string
	for _, table := range tables(w.Shop) {
		if !slices.Contains(background, table) && !strings.HasPrefix(table, "journal") {
			parts = append(parts, fmt.Sprintf(`SELECT '%s', count(*) || ' rows, ' || coalesce(sum(hashtextextended((to_jsonb(t) - '{%s}'::text[])::text, 0)::numeric), 0) FROM %[1]s t`,
				table, strings.Join(restless[table], ",")))
		}
	}
	rows, err := w.Pool().Query(w.T.Context(), strings.Join(parts, " UNION ALL "))
	require.NoError(w.T, err)
	state := w.facts()
	var table, content string
	_, err = pgx.ForEachRow(rows, []any{&table, &content}, func() error {
		state[table] = content
		return nil
	})
	require.NoError(w.T, err)
	mails, err := os.ReadDir(w.Config().MailDir)
	require.NoError(w.T, err)
	state["mail"] = fmt.Sprint(len(mails), " ", mails)
	return state
}

// facts are the types of those that the journal holds, by stream and sequence.
func (w *world) facts() map[string]string {
	w.T.Helper()
	rows, err := w.Pool().Query(w.T.Context(), `SELECT s.name, r.first_seq, r.facts FROM records r JOIN streams s USING (stream_id)`)
	require.NoError(w.T, err)
	all := map[string]string{}
	var name string
	var seq int64
	var b []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &seq, &b}, func() error {
		ref, err := engine.ParseRef(name)
		if err != nil {
			return err
		}
		facts, err := codec.Facts(ref.Kind, b)
		for i, f := range facts {
			if reflect.TypeOf(f) != putAway {
				all[fmt.Sprintf("fact %d of %s", seq+int64(i), name)] = fmt.Sprintf("%T", f)
			}
		}
		return err
	})
	require.NoError(w.T, err)
	return all
}

// still is the state once nothing is under way: no fact that the read model has
// not applied, no mail that is not sent, and nothing has changed for a moment.
func (w *world) still() map[string]string {
	w.T.Helper()
	return w.stillFor(150 * time.Millisecond)
}

// toldWithin is longer than an event takes to tell its wallet what it has earned.
const toldWithin = 6 * time.Second

// stillFor waits until nothing has changed for a moment.
func (w *world) stillFor(moment time.Duration) map[string]string {
	w.T.Helper()
	var last map[string]string
	since := time.Now()
	require.Eventually(w.T, func() bool {
		state := w.state()
		if !maps.Equal(state, last) || w.IsBehind() || !strings.Contains(w.Metric(), "boxoffice_mail_queued 0\n") {
			last, since = state, time.Now()
		}
		return time.Since(since) > moment
	}, 2*time.Minute, 20*time.Millisecond)
	return last
}

// rest is the state once nothing has been under way for toldWithin. River removes jobs some minutes after their end,
// and what is tried after rest may take longer than that: the jobs that have ended stay.
func (w *world) rest() map[string]string {
	w.T.Helper()
	state := w.stillFor(toldWithin)
	_, err := w.Pool().Exec(w.T.Context(), `UPDATE river_job SET finalized_at = now() + interval '1 day' WHERE finalized_at IS NOT NULL`)
	require.NoError(w.T, err)
	return state
}

// difference are the names of what changed.
func difference(before, after map[string]string) []string {
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] != after[name] {
			changed = append(changed, fmt.Sprintf("%s (%s, then %s)", name, before[name], after[name]))
		}
	}
	return changed
}

// culprits makes attempts again, one after the other, and names the first that
// change something. Some may have been found out by now.
func (w *world) culprits(rows []*row) string {
	w.T.Helper()
	const (
		enough = 5
		most   = 20 * time.Second
	)
	found := []string{"tried again:"}
	began, before := time.Now(), w.rest()
	for _, r := range rows {
		for i := range r.attempts {
			w.send(&r.op, &r.attempts[i])
		}
		if len(difference(before, w.still())) == 0 {
			continue
		}
		before = w.still()
		for i := range r.attempts {
			w.send(&r.op, &r.attempts[i])
			if changed := difference(before, w.still()); len(changed) > 0 {
				found = append(found, fmt.Sprintf("%s, %s: %v", r.op.ID, r.attempts[i].name, changed))
				before = w.still()
			}
			if len(found) > enough || time.Since(began) > most {
				return strings.Join(found, "\n")
			}
		}
	}
	return strings.Join(found, "\n")
}

// privileges are what no request of the suite may give anybody. en-NG is what updateMe sets.
func (w *world) privileges() string {
	w.T.Helper()
	var list string
	require.NoError(w.T, w.Pool().QueryRow(w.T.Context(), `SELECT concat_ws(' ',
		(SELECT count(*) FROM users WHERE platform_admin), (SELECT count(*) FROM organizations WHERE verified OR status <> 'active'),
		(SELECT count(*) FROM users WHERE locale NOT IN ('', 'en-NG')))`).Scan(&list))
	return list
}

// granters are who may make a request, by the audience that they are.
func (r *row) granters(w *world, c *credentials) []holder {
	op := &r.op
	var all []holder
	if op.Auth.Has(route.OrderToken) {
		all = append(all, holder{name: audienceOrder})
	} else if op.Auth.Has(route.Public) {
		all = append(all, holder{name: audienceNobody})
	}
	if op.Auth.Has(route.User) && !op.Auth.Has(route.Member) {
		all = append(all, holder{name: audiencePerson})
	}
	if op.Auth == route.Admin {
		all = append(all, holder{name: audienceAdmin, auth: bearer(w.root.Token)})
	}
	for _, h := range c.holders {
		want, _ := h.verdict(op, &r.request)
		sellers := op.Auth.Has(route.Key) || !op.Auth.Has(route.OrderToken) // what buyers have is no business of keys
		fits := h.kinds.Has(route.Member) && op.Auth.Has(route.Member) || h.kinds.Has(route.Key) && sellers && (h.scopes == op.Scope || h.scopes == route.AllScopes)
		if want == "" && h.ours && fits {
			all = append(all, h)
		}
	}
	return all
}

// grant makes a row's request as everybody who may.
func (r *row) grant(w *world, c *credentials, seen *exposure) {
	next := r.request
	if next.perishable {
		next = w.request(&r.op)
	}
	for i, h := range r.granters(w, c) {
		if i > 0 {
			next = w.request(&r.op)
		}
		a := attempt{name: h.name, auth: h.auth, request: next, headers: []string{"Idempotency-Key", uuid.NewString()}}
		if h.name == audiencePerson {
			a.auth = bearer(next.person)
		}
		if h.name != audienceOrder {
			a.request.token = ""
		}
		answer := w.send(&r.op, &a)
		for wait := time.Now().Add(time.Minute); answer.Status == 429 && strings.Contains(answer.Body, "is being made") && time.Now().Before(wait); {
			answer = w.send(&r.op, &a) // an organization's images are made one after the other
		}
		if next.absent != "" && answer.Status == 404 && strings.Contains(answer.Body, next.absent) {
			r.granted++
			continue
		}
		if answer.Status != r.op.Status {
			w.T.Errorf("%s is refused: %d %s", h.name, answer.Status, answer.Body)
			continue
		}
		r.granted++
		if r.op.Handler.Types() == nil {
			seen.note(w.T, &r.op, h.name, answer.Body)
		}
		r.repeat(w, c, &a)
		r.public(w, c, &a)
		if i == 0 {
			r.overwrite(w, a)
		}
	}
}

// repeat sends a write that has been granted again, with its Idempotency-Key, as
// those who may not make it: they must not be given the answer that is kept.
func (r *row) repeat(w *world, c *credentials, granted *attempt) {
	if !r.op.Writes() || r.op.Auth == route.Public {
		return
	}
	again := func(name, auth string, want ...string) {
		a := *granted
		a.name, a.auth, a.want, a.request.token = "repeat of "+granted.name+" by "+name, auth, append(want, "409 IDEMPOTENCY_KEY_REUSED"), ""
		answer := w.send(&r.op, &a)
		if wrong := w.judge(&a, answer); wrong != "" {
			w.T.Errorf("%s: %s: %d %s", a.name, wrong, answer.Status, answer.Body)
		}
		r.refused++
	}
	again("garbage", bearer("x"), "401 UNAUTHORIZED")
	again("the other environment", c.otherEnv["key of the other environment"], "403 WRONG_ENV")
	if !r.op.Auth.Has(route.Public) || r.op.Auth.Has(route.OrderToken) {
		again("nobody", "", "401 UNAUTHORIZED")
	}
	for _, h := range c.holders {
		if want, _ := h.verdict(&r.op, &granted.request); want != "" && !h.ours {
			again(h.name, h.auth, want)
		}
	}
}

// public compares what is shown to those who have no right to more with what is
// shown to nobody in particular.
func (r *row) public(w *world, c *credentials, granted *attempt) {
	if !granted.request.open || granted.name != audienceNobody {
		return
	}
	shown := w.send(&r.op, granted)
	for _, h := range c.holders {
		if h.ours && r.op.Scope&^h.scopes == 0 {
			continue
		}
		a := *granted
		a.auth = h.auth
		if answer := w.send(&r.op, &a); answer.Status != shown.Status || answer.Body != shown.Body {
			w.T.Errorf("%s is not shown what everybody is: %d %s", h.name, answer.Status, answer.Body)
		}
		r.granted++
	}
}

// overwrite makes a granted request once more, with members that belong to
// answers: none of them may come back.
func (r *row) overwrite(w *world, granted attempt) {
	if granted.request.body == nil || r.op.Handler.Raw != "" { // a body that is signed takes no more members
		return
	}
	plain, full := granted, granted
	plain.request, full.request = w.request(&r.op), w.request(&r.op)
	plain.headers, full.headers = nil, nil
	for _, a := range []*attempt{&plain, &full} {
		if granted.name == audiencePerson {
			a.auth = bearer(a.request.person)
		}
		if granted.name != audienceOrder {
			a.request.token = ""
		}
	}
	extra := w.hostile(r.op.Handler.In)
	full.request.body = stuffed(full.request.body, extra)
	first, second := w.send(&r.op, &plain), w.send(&r.op, &full)
	r.granted += 2
	if first.Status != r.op.Status || second.Status != r.op.Status {
		w.T.Errorf("more members: %d %s, not %d %s", second.Status, second.Body, first.Status, first.Body)
		return
	}
	before, after := values(w.T, first.Body), values(w.T, second.Body)
	for path, v := range after {
		name := path[strings.LastIndex(path, ".")+1:]
		value := nodetest.Encode(w.T, v)
		if want, ok := extra[name]; ok && nodetest.Encode(w.T, want) == value && nodetest.Encode(w.T, before[path]) != value {
			w.T.Errorf("%s is set by the request's %s: %s", path, name, value)
		}
	}
}
