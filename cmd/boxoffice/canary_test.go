package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// canary is something recognisable that is found in some places, and in no other.
type canary struct {
	name   string
	value  string
	binary []byte   // the same in another form, if it has one
	weak   bool     // a hash of it could be turned back
	places []string // where it must be found
}

// canaries are those of one walk, and the node that it was on.
type canaries struct {
	*shop
	log  *logbook
	list []canary
}

// hide notes a canary, and gives its value back.
func (c *canaries) hide(name, value string, places ...string) string {
	c.t.Helper()
	require.GreaterOrEqual(c.t, len(value), 6, name)
	c.list = append(c.list, canary{name: name, value: value, places: places})
	return value
}

// guessable notes one that has little entropy: its hash must not be found either.
func (c *canaries) guessable(name, value string, places ...string) string {
	c.t.Helper()
	c.list = append(c.list, canary{name: name, value: value, places: places, weak: true})
	return value
}

// session notes the tokens of an answer.
func (c *canaries) session(a answer) (access, refresh string) {
	c.t.Helper()
	access, refresh = a.str("accessToken"), a.str("refreshToken")
	c.hide("access token", access)
	c.hide("access token's signature", access[strings.LastIndex(access, ".")+1:])
	c.hide("refresh token", refresh)
	return access, refresh
}

// logbook is a log that is read while it is written.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) read() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

const (
	canaryBuyer = "canary.buyer.5e1f@example.org"
	canaryOwner = "canary.owner.5e1f@example.org"
	canaryReset = "canary.reset.5e1f@example.org"
	toBuyer     = "mail to " + canaryBuyer
)

// TestCanaries takes a walk with secrets that can be recognised, and then looks
// for them in everything that the node has written, or shows to everybody. Each
// is where it must be and nowhere else.
func TestCanaries(t *testing.T) {
	t.Parallel()
	c := &canaries{shop: &shop{t: t}, log: new(logbook)}
	log := slog.NewJSONHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // six digits of it could be a login code
		}
		return a
	}})
	master := c.hide("master key", hex.EncodeToString([]byte("canary-canary-5e1f-canary-canary")))
	admin := c.guessable("administrator's password", "canary-admin-5e1f")
	c.shop = openLogged(t, slog.New(log), func(cfg *config) {
		cfg.MasterKey, cfg.AdminEmail, cfg.AdminPassword = master, rootEmail, admin
	})
	c.cfg.print(c.node.log)
	c.hide("payment provider's key", simKey)
	c.signIns()
	c.secondFactor()
	c.keysAndSales()
	c.failures()
	require.NoError(t, c.passed(t.Context(), c.telling))
	c.restart() // the snapshots of a node that stops
	c.own("GET", "/organizer/events", nil).is(200, "")
	c.compare(c.places())
}

// signIns are those with a password, and with a code.
func (c *canaries) signIns() {
	password := c.guessable("password", "canary-pass-5e1f")
	body := object{"email": canaryOwner, "password": password, "phone": "+49 30 1", "organizationName": "Canary Club"}
	register := func() answer { return c.call("POST", "/auth/register", body, "Idempotency-Key", keyOne) }
	c.token, _ = c.session(register().is(201, ""))
	register().is(201, "")
	_, refresh := c.session(c.call("POST", "/auth/login", object{"email": canaryOwner, "password": password}).is(200, ""))
	_, next := c.session(c.refresh(refresh).is(200, ""))
	c.call("POST", "/auth/logout", object{"refreshToken": next}).is(200, "")
	c.refresh(next).is(401, "")
	wrong := c.guessable("wrong password", "canary-wrong-5e1f")
	c.call("POST", "/auth/login", object{"email": canaryOwner, "password": wrong}).is(401, "")

	c.hide("buyer's address", canaryBuyer, "journal.facts", "orders.email", "orders.record", "users.email", "login_codes.email", "river_job.args", toBuyer, "told")
	c.hide("buyer's name", "Canary Quill", "login_codes.name", "river_job.args", toBuyer, "journal.facts", "orders.record", "users.first_name", "told")
	code := c.guessable("login code", c.loginCode(canaryBuyer, "Canary Quill"), toBuyer)
	c.exchange(canaryBuyer, other(code)).is(401, "")
	exchange := object{"email": canaryBuyer, "code": code}
	c.session(c.call("POST", "/auth/token/exchange", exchange, "Idempotency-Key", keyOne).is(200, ""))

	c.session(c.call("POST", "/auth/register", object{"email": canaryReset, "password": password}).is(201, ""))
	began := time.Now()
	c.call("POST", "/auth/password/forgot", object{"email": canaryReset}).is(200, "")
	_, token, _ := strings.Cut(c.mail(c.t, canaryReset, "password_reset", began).Text, "#token=")
	token, _, _ = strings.Cut(token, "\n")
	c.hide("reset token", token, "mail to "+canaryReset)
	set := object{"token": token, "password": c.guessable("new password", "canary-next-5e1f")}
	c.call("POST", "/auth/password/reset", set, "Idempotency-Key", keyOne).is(200, "")
}

// secondFactor is an authenticator, its codes, and what is for when it is lost.
func (c *canaries) secondFactor() {
	email := "canary.two.5e1f@example.org"
	password := "canary-pass-5e1f"
	began := time.Now()
	p := c.as(c.call("POST", "/auth/register", object{"email": email, "password": password}).is(201, "").str("accessToken"))
	confirmation := c.hide("confirmation token", c.confirmToken(email, began), "mail to "+email)
	c.confirm(confirmation, password, "Idempotency-Key", keyOne).is(200, "")
	text := c.hide("authenticator's secret", p.own("POST", "/auth/2fa/enroll", nil).is(200, "").str("secret"))
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	require.NoError(c.t, err)
	c.list[len(c.list)-1].binary = secret
	now := c.guessable("one-time code", authenticator{secret: secret}.code(time.Now(), 0))
	bearer := append(p.bearer(), "Idempotency-Key", keyOne)
	a := c.call("POST", "/auth/2fa/activate", object{"code": now}, bearer...).is(200, "")
	for i := range 3 {
		code := c.hide("recovery code", a.str(fmt.Sprintf("recoveryCodes.%d", i)))
		c.hide("recovery code without hyphens", strings.ReplaceAll(code, "-", ""))
	}
	for i := range 2 { // the second is left open
		a := c.call("POST", "/auth/login", object{"email": email, "password": password}, "Idempotency-Key", uuid.NewString()).is(200, "")
		challenge := c.hide("challenge token", a.str("challengeToken"))
		if i == 0 {
			c.session(c.answer2FA(challenge, c.list[len(c.list)-2].value).is(200, ""))
		}
	}
}

// keysAndSales are API keys, what is sold with secrets on it, an order that is
// paid, and its tickets at the gate.
func (c *canaries) keysAndSales() {
	hideKey := func(a answer) string {
		secret := c.hide("API key", a.str("secret"))
		c.hide("secret half of an API key", secret[16:])
		return secret
	}
	a := c.call("POST", c.keys(), object{"name": "Gate", "environment": "test"}, append(c.bearer(), "Idempotency-Key", keyOne)...).is(201, "")
	old := hideKey(a)
	gate := hideKey(c.own("POST", c.keys()+"/"+a.str("id")+"/rotate", nil).is(200, ""))
	c.as(old).own("GET", "/organizer/events", nil).is(401, "")

	presale := c.hide("presale code", "canary-presale-5e1f", "journal.facts", "ticket_types.record")
	access := c.hide("access link", "https://example.org/canary-access-5e1f", "journal.facts", "ticket_types.record", toBuyer)
	note := c.hide("access note", "canary-note-5e1f", "journal.facts", "ticket_types.record", toBuyer)
	link := c.hide("online link", "https://example.org/canary-link-5e1f", "journal.facts", "events.record") // the type has a link of its own
	event, types := c.sell(object{"category": "e-books", "onlineLink": link}, with(typeBody(25, 100), object{"presaleCode": presale, "accessUrl": access, "accessNote": note}))
	order := with(orderBody(canaryBuyer, types[0], 1), object{"guestName": "Canary Quill", "presaleCode": c.guessable("wrong presale code", "canary-guess-5e1f")})
	c.call("POST", "/orders", order).is(403, "")
	o := c.call("POST", "/orders", with(order, object{"presaleCode": presale}), "Idempotency-Key", keyOne).is(201, "")
	id, token := o.str("id"), c.hide("order token", o.str("accessToken"))
	c.call("POST", "/orders/"+id+"/pay", object{"provider": "nowpayments", "token": token}).is(503, "")
	c.settle(c.checkout(id, token), "success")
	c.call("POST", "/payments/verify?token="+token, object{"orderId": id}, "Idempotency-Key", keyOne).is(200, "")
	done := c.order(id, token)
	qr := c.hide("QR payload", done.str("tickets.0.qr"))
	c.hide("QR payload's seal", qr[strings.LastIndex(qr, ".")+1:])
	code := c.hide("ticket code", done.str("tickets.0.code"), toBuyer)
	short := c.hide("door code", done.str("tickets.0.shortCode"), toBuyer)
	_, mailed, _ := strings.Cut(orderLink.FindString(c.confirmation(done).Text), "?token=")
	c.hide("mailed order token", mailed, toBuyer)
	for _, scanned := range []string{qr, code, short, c.hide("forged QR payload", qr[:len(qr)-3]+"222")} {
		c.as(gate).scan(event, scanned, "canary-gate").is(200, "")
	}
	c.closed(id)
}

// failures are requests that go wrong in every layer, with secrets in them.
func (c *canaries) failures() {
	password := c.list[slices.IndexFunc(c.list, func(k canary) bool { return k.name == "password" })].value
	token := c.list[slices.IndexFunc(c.list, func(k canary) bool { return k.name == "order token" })].value
	login := object{"email": canaryOwner, "password": password}
	c.call("POST", "/auth/register", login).is(409, "EMAIL_TAKEN")
	c.raw("POST", "/auth/login", "application/json", encode(c.t, login)+"}")
	c.raw("POST", "/auth/login", "text/plain", encode(c.t, login))
	c.raw("POST", "/auth/login", "application/json", encode(c.t, login)+strings.Repeat(" ", 200_000))
	c.raw("POST", "/auth/login", "application/json", encode(c.t, login), "Idempotency-Key", token)
	c.raw("GET", "/"+token+"?token="+token, "", "", c.bearer()...)
	c.raw("GET", "/orders/"+token+"?token="+token, "", "", c.bearer()...)
	c.raw("GET", "/orders", "", "", "Authorization", "Bearer "+c.token+strings.Repeat("a", 10_000))
	for _, text := range []string{
		"GET /" + token + " HTTP/9.9\r\n\r\n", "GET /" + token + "\r\nAuthorization: Bearer " + c.token + "\r\n\r\n",
		"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\nCookie: " + token + "\r\n\r\n" + password,
		"\x16\x03\x01" + password + "\r\n\r\n",
	} {
		conn, err := new(net.Dialer).DialContext(c.t.Context(), "tcp", c.cfg.Listen)
		require.NoError(c.t, err)
		_, err = conn.Write([]byte(text))
		require.NoError(c.t, err)
		require.NoError(c.t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
		_, _ = conn.Read(make([]byte, 512)) // the answer, or that it was cut off
		require.NoError(c.t, conn.Close())
	}
	for _, table := range []string{"users", "sessions", "login_codes", "api_keys", "idempotency", "orders"} {
		_, err := c.pool.Exec(c.t.Context(), `ALTER TABLE `+table+` RENAME TO away`)
		require.NoError(c.t, err)
		c.raw("POST", "/auth/login", "application/json", encode(c.t, login), "Idempotency-Key", keyTwo)
		c.raw("POST", "/auth/register", "application/json", encode(c.t, with(login, object{"email": "x@example.org"})))
		c.raw("POST", "/auth/token/exchange", "application/json", encode(c.t, object{"email": canaryBuyer, "code": "000000"}))
		for _, k := range c.list {
			switch k.name {
			case "refresh token":
				c.raw("POST", "/auth/refresh", "application/json", encode(c.t, object{"refreshToken": k.value}))
			case "API key":
				c.raw("GET", "/organizer/events", "", "", "Authorization", "Bearer "+k.value)
			}
		}
		_, err = c.pool.Exec(c.t.Context(), `ALTER TABLE away RENAME TO `+table)
		require.NoError(c.t, err)
	}
}

// places are everything that is looked through, by name.
func (c *canaries) places() map[string][]byte {
	c.t.Helper()
	found := map[string][]byte{"log": c.log.read(), "metrics": []byte(c.metric())}
	for _, path := range []string{"/openapi.json", "/events", "/nothing"} {
		found["GET "+path] = []byte(c.raw("GET", path, "", "").body)
	}
	c.becomes("true", func() string { return fmt.Sprint(strings.Contains(c.metric(), "boxoffice_mail_queued 0\n")) })
	mails, err := c.mailbox.List(1_000)
	require.NoError(c.t, err)
	for _, m := range mails {
		whole, err := c.mailbox.Read(m.Name)
		require.NoError(c.t, err)
		raw, err := os.ReadFile(filepath.Join(c.cfg.MailDir, m.Name))
		require.NoError(c.t, err)
		at := "mail to " + m.To
		found[at] = append(found[at], fmt.Sprint(whole.Subject, "\n", whole.Text, "\n", whole.HTML, "\n", string(raw), "\n")...)
	}
	require.NoError(c.t, c.settled(c.t.Context()))
	for _, table := range c.tables() {
		for column, held := range c.columns(table) { // the journal is one table of many partitions
			found[column] = append(found[column], held...)
		}
	}
	found["told"] = c.payloads()
	var data string
	require.NoError(c.t, c.pool.QueryRow(c.t.Context(), `SHOW data_directory`).Scan(&data))
	found["Postgres's log"], err = os.ReadFile(filepath.Join(filepath.Dir(data), "postgres.log"))
	require.NoError(c.t, err)
	return found
}

// issued is what a ticket is told with when it is issued: the code, which the door
// code begins, and a QR payload of that moment.
var issued = regexp.MustCompile(`"(code|qr)":"[^"]*"`)

// payloads are what the world was told, which the table has sealed.
func (c *canaries) payloads() []byte {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), stopTime)
	defer cancel()
	require.NoError(c.t, c.passed(ctx, c.telling))
	rows, err := c.pool.Query(ctx, `SELECT position FROM facts`)
	require.NoError(c.t, err)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(c.t, err)
	facts, err := c.publicFacts.Load(ctx, positions)
	require.NoError(c.t, err)
	var all []byte
	for _, f := range facts {
		all = append(append(all, f.Data...), '\n')
	}
	require.Contains(c.t, string(all), `"denied_`)
	require.Regexp(c.t, issued, string(all))
	return issued.ReplaceAll(all, nil)
}

// columns are what a table's columns of text and bytes hold.
func (c *canaries) columns(table string) map[string][]byte {
	c.t.Helper()
	rows, err := c.pool.Query(c.t.Context(), `SELECT attname, format_type(atttypid, NULL) = 'bytea' FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
		AND format_type(atttypid, NULL) IN ('text', 'text[]', 'bytea', 'jsonb', 'json', 'character varying')`, table)
	require.NoError(c.t, err)
	types := map[string]bool{}
	var name string
	var binary bool
	_, err = pgx.ForEachRow(rows, []any{&name, &binary}, func() error {
		types[name] = binary
		return nil
	})
	require.NoError(c.t, err)
	found := map[string][]byte{}
	for column, binary := range types {
		value := column + "::text"
		if !binary {
			value = "convert_to(" + value + ", 'UTF8')"
		} else {
			value = column
		}
		rows, err := c.pool.Query(c.t.Context(), `SELECT `+value+` FROM `+table+` WHERE `+column+` IS NOT NULL`)
		require.NoError(c.t, err)
		all, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		require.NoError(c.t, err)
		of, _, _ := strings.Cut(table, "_2") // journal_20261121
		found[of+"."+column] = bytes.Join(all, []byte("\n"))
	}
	return found
}

// forms are how a canary may have been written.
func (k *canary) forms() [][]byte {
	var all [][]byte
	add := func(b []byte) {
		all = append(all, b, []byte(hex.EncodeToString(b)), []byte(strings.TrimRight(base64.StdEncoding.EncodeToString(b), "=")), []byte(base64.RawURLEncoding.EncodeToString(b)))
	}
	add([]byte(k.value))
	all = append(all, []byte(url.QueryEscape(k.value)))
	if k.binary != nil {
		add(k.binary)
	}
	if k.weak {
		sum := sha256.Sum256([]byte(k.value))
		add(sum[:])
	}
	return all
}

// in says whether a canary is somewhere. Six digits are looked for as a word.
func (k *canary) in(text []byte) bool {
	for i, form := range k.forms() {
		if i == 0 && sixDigits.Match(form) {
			if regexp.MustCompile(`\b` + k.value + `\b`).Match(text) {
				return true
			}
			continue
		}
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}

// compare compares where the canaries are with where they must be. A snapshot
// may have what the facts have.
func (c *canaries) compare(places map[string][]byte) {
	c.t.Helper()
	require.NotEmpty(c.t, places["snapshots.state"])
	require.Contains(c.t, string(places["log"]), `"level":"ERROR"`)
	for _, k := range c.list {
		var at []string
		for _, place := range slices.Sorted(maps.Keys(places)) {
			if k.in(places[place]) && (place != "snapshots.state" || !slices.Contains(k.places, "journal.facts")) {
				at = append(at, place)
			}
		}
		slices.Sort(k.places)
		if !slices.Equal(at, k.places) {
			c.t.Errorf("%s %q is at %q, not %q", k.name, k.value, at, k.places)
		}
	}
	c.t.Logf("%d canaries, %d places", len(c.list), len(places))
}
