package security

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

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
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
	*nodetest.Shop
	log  *logbook
	list []canary
}

// hide notes a canary, and gives its value back.
func (c *canaries) hide(name, value string, places ...string) string {
	c.T.Helper()
	require.GreaterOrEqual(c.T, len(value), 6, name)
	c.list = append(c.list, canary{name: name, value: value, places: places})
	return value
}

// guessable notes one that has little entropy: its hash must not be found either.
func (c *canaries) guessable(name, value string, places ...string) string {
	c.T.Helper()
	c.list = append(c.list, canary{name: name, value: value, places: places, weak: true})
	return value
}

// session notes the tokens of an answer.
func (c *canaries) session(a nodetest.Answer) (access, refresh string) {
	c.T.Helper()
	access, refresh = a.Str("accessToken"), a.Str("refreshToken")
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
	c := &canaries{Shop: &nodetest.Shop{T: t}, log: new(logbook)}
	log := slog.NewJSONHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // six digits of it could be a login code
		}
		return a
	}})
	master := c.hide("master key", hex.EncodeToString([]byte("canary-canary-5e1f-canary-canary")))
	admin := c.guessable("administrator's password", "canary-admin-5e1f")
	c.Shop = nodetest.OpenLogged(t, slog.New(log), func(cfg *node.Config) {
		cfg.MasterKey, cfg.AdminEmail, cfg.AdminPassword = master, rootEmail, admin
	})
	c.Config().Print(slog.New(log))
	c.hide("payment provider's key", node.SimKey)
	c.signIns()
	c.secondFactor()
	c.keysAndSales()
	c.failures()
	require.NoError(t, c.AwaitTold(t.Context()))
	c.Restart() // the snapshots of a node that stops
	c.Own("GET", "/organizer/events", nil).Is(200, "")
	c.compare(c.places())
}

// signIns are those with a password, and with a code.
func (c *canaries) signIns() {
	password := c.guessable("password", "canary-pass-5e1f")
	body := nodetest.Object{"email": canaryOwner, "password": password, "phone": "+49 30 1", "organizationName": "Canary Club"}
	register := func() nodetest.Answer {
		return c.Call("POST", "/auth/register", body, "Idempotency-Key", nodetest.KeyOne)
	}
	c.Token, _ = c.session(register().Is(201, ""))
	register().Is(201, "")
	_, refresh := c.session(c.Call("POST", "/auth/login", nodetest.Object{"email": canaryOwner, "password": password}).Is(200, ""))
	_, next := c.session(c.Refresh(refresh).Is(200, ""))
	c.Call("POST", "/auth/logout", nodetest.Object{"refreshToken": next}).Is(200, "")
	c.Refresh(next).Is(401, "")
	wrong := c.guessable("wrong password", "canary-wrong-5e1f")
	c.Call("POST", "/auth/login", nodetest.Object{"email": canaryOwner, "password": wrong}).Is(401, "")

	c.hide("buyer's address", canaryBuyer, "journal.facts", "attendees.email", "attendees.holder", "customers.email", "orders.email", "orders.record", "users.email", "open_codes.email", "river_job.args", toBuyer, "told")
	c.hide("buyer's name", "Canary Quill", "attendees.name", "customers.name", "open_codes.name", "river_job.args", toBuyer, "journal.facts", "orders.record", "users.first_name", "told")
	code := c.guessable("login code", c.LoginCode(canaryBuyer, "Canary Quill"), toBuyer)
	c.Exchange(canaryBuyer, nodetest.Other(code)).Is(401, "")
	exchange := nodetest.Object{"email": canaryBuyer, "code": code}
	c.session(c.Call("POST", "/auth/token/exchange", exchange, "Idempotency-Key", nodetest.KeyOne).Is(200, ""))

	c.session(c.Call("POST", "/auth/register", nodetest.Object{"email": canaryReset, "password": password}).Is(201, ""))
	began := time.Now()
	c.Call("POST", "/auth/password/forgot", nodetest.Object{"email": canaryReset}).Is(200, "")
	_, token, _ := strings.Cut(c.Mail(c.T, canaryReset, "password_reset", began).Text, "#token=")
	token, _, _ = strings.Cut(token, "\n")
	c.hide("reset token", token, "mail to "+canaryReset)
	set := nodetest.Object{"token": token, "password": c.guessable("new password", "canary-next-5e1f")}
	c.Call("POST", "/auth/password/reset", set, "Idempotency-Key", nodetest.KeyOne).Is(200, "")
}

// secondFactor is an authenticator, its codes, and what is for when it is lost.
func (c *canaries) secondFactor() {
	email := "canary.two.5e1f@example.org"
	password := "canary-pass-5e1f"
	began := time.Now()
	p := c.As(c.Call("POST", "/auth/register", nodetest.Object{"email": email, "password": password}).Is(201, "").Str("accessToken"))
	confirmation := c.hide("confirmation token", c.ConfirmToken(email, began), "mail to "+email)
	c.Confirm(confirmation, password, "Idempotency-Key", nodetest.KeyOne).Is(200, "")
	text := c.hide("authenticator's secret", p.Own("POST", "/auth/2fa/enroll", nil).Is(200, "").Str("secret"))
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	require.NoError(c.T, err)
	c.list[len(c.list)-1].binary = secret
	now := c.guessable("one-time code", nodetest.Authenticator{Secret: secret}.Code(time.Now(), 0))
	bearer := append(p.Bearer(), "Idempotency-Key", nodetest.KeyOne)
	a := c.Call("POST", "/auth/2fa/activate", nodetest.Object{"code": now}, bearer...).Is(200, "")
	for i := range 3 {
		code := c.hide("recovery code", a.Str(fmt.Sprintf("recoveryCodes.%d", i)))
		c.hide("recovery code without hyphens", strings.ReplaceAll(code, "-", ""))
	}
	for i := range 2 { // the second is left open
		a := c.Call("POST", "/auth/login", nodetest.Object{"email": email, "password": password}, "Idempotency-Key", uuid.NewString()).Is(200, "")
		challenge := c.hide("challenge token", a.Str("challengeToken"))
		if i == 0 {
			c.session(c.Answer2FA(challenge, c.list[len(c.list)-2].value).Is(200, ""))
		}
	}
}

// keysAndSales are API keys, what is sold with secrets on it, an order that is
// paid, and its tickets at the gate.
func (c *canaries) keysAndSales() {
	hideKey := func(a nodetest.Answer) string {
		secret := c.hide("API key", a.Str("secret"))
		c.hide("secret half of an API key", secret[16:])
		return secret
	}
	a := c.Call("POST", c.Keys(), nodetest.Object{"name": "Gate", "environment": "test"}, append(c.Bearer(), "Idempotency-Key", nodetest.KeyOne)...).Is(201, "")
	old := hideKey(a)
	gate := hideKey(c.Own("POST", c.Keys()+"/"+a.Str("id")+"/rotate", nil).Is(200, ""))
	c.As(old).Own("GET", "/organizer/events", nil).Is(401, "")

	presale := c.hide("presale code", "canary-presale-5e1f", "journal.facts", "ticket_types.record")
	access := c.hide("access link", "https://example.org/canary-access-5e1f", "journal.facts", "ticket_types.record", toBuyer)
	note := c.hide("access note", "canary-note-5e1f", "journal.facts", "ticket_types.record", toBuyer)
	link := c.hide("online link", "https://example.org/canary-link-5e1f", "journal.facts", "events.record") // the type has a link of its own
	event, types := c.Sell(nodetest.Object{"category": "e-books", "onlineLink": link}, nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"presaleCode": presale, "accessUrl": access, "accessNote": note}))
	order := nodetest.With(nodetest.OrderBody(canaryBuyer, types[0], 1), nodetest.Object{"guestName": "Canary Quill", "presaleCode": c.guessable("wrong presale code", "canary-guess-5e1f")})
	c.Call("POST", "/orders", order).Is(403, "")
	o := c.Call("POST", "/orders", nodetest.With(order, nodetest.Object{"presaleCode": presale}), "Idempotency-Key", nodetest.KeyOne).Is(201, "")
	id, token := o.Str("id"), c.hide("order token", o.Str("accessToken"))
	c.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "nowpayments", "token": token}).Is(503, "")
	c.Settle(c.Checkout(id, token), "success")
	c.Call("POST", "/payments/verify?token="+token, nodetest.Object{"orderId": id}, "Idempotency-Key", nodetest.KeyOne).Is(200, "")
	done := c.Order(id, token)
	qr := c.hide("QR payload", done.Str("tickets.0.qr"))
	c.hide("QR payload's seal", qr[strings.LastIndex(qr, ".")+1:])
	code := c.hide("ticket code", done.Str("tickets.0.code")) // a file has no door, so no letter has it
	short := c.hide("door code", done.Str("tickets.0.shortCode"))
	_, mailed, _ := strings.Cut(nodetest.OrderLink.FindString(c.Confirmation(done).Text), "?token=")
	c.hide("mailed order token", mailed, toBuyer)
	for _, scanned := range []string{qr, code, short, c.hide("forged QR payload", qr[:len(qr)-3]+"222")} {
		c.As(gate).Scan(event, scanned, "canary-gate").Is(200, "")
	}
	c.Closed(id)
}

// failures are requests that go wrong in every layer, with secrets in them.
func (c *canaries) failures() {
	password := c.list[slices.IndexFunc(c.list, func(k canary) bool { return k.name == "password" })].value
	token := c.list[slices.IndexFunc(c.list, func(k canary) bool { return k.name == "order token" })].value
	login := nodetest.Object{"email": canaryOwner, "password": password}
	c.Call("POST", "/auth/register", login).Is(409, "EMAIL_TAKEN")
	c.Raw("POST", "/auth/login", "application/json", nodetest.Encode(c.T, login)+"}")
	c.Raw("POST", "/auth/login", "text/plain", nodetest.Encode(c.T, login))
	c.Raw("POST", "/auth/login", "application/json", nodetest.Encode(c.T, login)+strings.Repeat(" ", 200_000))
	c.Raw("POST", "/auth/login", "application/json", nodetest.Encode(c.T, login), "Idempotency-Key", token)
	c.Raw("GET", "/"+token+"?token="+token, "", "", c.Bearer()...)
	c.Raw("GET", "/orders/"+token+"?token="+token, "", "", c.Bearer()...)
	c.Raw("GET", "/orders", "", "", "Authorization", "Bearer "+c.Token+strings.Repeat("a", 10_000))
	for _, text := range []string{
		"GET /" + token + " HTTP/9.9\r\n\r\n", "GET /" + token + "\r\nAuthorization: Bearer " + c.Token + "\r\n\r\n",
		"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\nCookie: " + token + "\r\n\r\n" + password,
		"\x16\x03\x01" + password + "\r\n\r\n",
	} {
		conn, err := new(net.Dialer).DialContext(c.T.Context(), "tcp", c.Config().Listen)
		require.NoError(c.T, err)
		_, err = conn.Write([]byte(text))
		require.NoError(c.T, err)
		require.NoError(c.T, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
		_, _ = conn.Read(make([]byte, 512)) // the answer, or that it was cut off
		require.NoError(c.T, conn.Close())
	}
	for _, table := range []string{"users", "sessions", "open_codes", "api_keys", "idempotency", "orders"} {
		_, err := c.Pool().Exec(c.T.Context(), `ALTER TABLE `+table+` RENAME TO away`)
		require.NoError(c.T, err)
		c.Raw("POST", "/auth/login", "application/json", nodetest.Encode(c.T, login), "Idempotency-Key", nodetest.KeyTwo)
		c.Raw("POST", "/auth/register", "application/json", nodetest.Encode(c.T, nodetest.With(login, nodetest.Object{"email": "x@example.org"})))
		c.Raw("POST", "/auth/token/exchange", "application/json", nodetest.Encode(c.T, nodetest.Object{"email": canaryBuyer, "code": "000000"}))
		for _, k := range c.list {
			switch k.name {
			case "refresh token":
				c.Raw("POST", "/auth/refresh", "application/json", nodetest.Encode(c.T, nodetest.Object{"refreshToken": k.value}))
			case "API key":
				c.Raw("GET", "/organizer/events", "", "", "Authorization", "Bearer "+k.value)
			}
		}
		_, err = c.Pool().Exec(c.T.Context(), `ALTER TABLE away RENAME TO `+table)
		require.NoError(c.T, err)
	}
}

// places are everything that is looked through, by name.
func (c *canaries) places() map[string][]byte {
	c.T.Helper()
	found := map[string][]byte{"log": c.log.read(), "metrics": []byte(c.Metric())}
	for _, path := range []string{"/openapi.json", "/events", "/nothing"} {
		found["GET "+path] = []byte(c.Raw("GET", path, "", "").Body)
	}
	c.Becomes("true", func() string { return fmt.Sprint(strings.Contains(c.Metric(), "boxoffice_mail_queued 0\n")) })
	mails, err := c.Mailbox().List(1_000)
	require.NoError(c.T, err)
	for _, m := range mails {
		whole, err := c.Mailbox().Read(m.Name)
		require.NoError(c.T, err)
		raw, err := os.ReadFile(filepath.Join(c.Config().MailDir, m.Name))
		require.NoError(c.T, err)
		at := "mail to " + m.To
		found[at] = append(found[at], fmt.Sprint(whole.Subject, "\n", whole.Text, "\n", whole.HTML, "\n", string(raw), "\n")...)
	}
	require.NoError(c.T, c.Settled(c.T.Context()))
	for _, table := range tables(c.Shop) {
		for column, held := range c.columns(table) { // the journal is one table of many partitions
			found[column] = append(found[column], held...)
		}
	}
	found["told"] = c.payloads()
	var data string
	require.NoError(c.T, c.Pool().QueryRow(c.T.Context(), `SHOW data_directory`).Scan(&data))
	found["Postgres's log"], err = os.ReadFile(filepath.Join(filepath.Dir(data), "postgres.log"))
	require.NoError(c.T, err)
	return found
}

// issued is what a ticket is told with when it is issued: the code, which the door
// code begins, and a QR payload of that moment.
var issued = regexp.MustCompile(`"(code|qr)":"[^"]*"`)

// payloads are what the world was told, which the table has sealed.
func (c *canaries) payloads() []byte {
	c.T.Helper()
	ctx, cancel := context.WithTimeout(c.T.Context(), node.StopTime)
	defer cancel()
	require.NoError(c.T, c.AwaitTold(ctx))
	rows, err := c.Pool().Query(ctx, `SELECT position FROM facts`)
	require.NoError(c.T, err)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(c.T, err)
	facts, err := c.PublicFacts().Load(ctx, positions)
	require.NoError(c.T, err)
	var all []byte
	for _, f := range facts {
		all = append(append(all, f.Data...), '\n')
	}
	require.Contains(c.T, string(all), `"denied_`)
	require.Regexp(c.T, issued, string(all))
	return issued.ReplaceAll(all, nil)
}

// columns are what a table's columns of text and bytes hold.
func (c *canaries) columns(table string) map[string][]byte {
	c.T.Helper()
	rows, err := c.Pool().Query(c.T.Context(), `SELECT attname, format_type(atttypid, NULL) = 'bytea' FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
		AND format_type(atttypid, NULL) IN ('text', 'text[]', 'bytea', 'jsonb', 'json', 'character varying')`, table)
	require.NoError(c.T, err)
	types := map[string]bool{}
	var name string
	var binary bool
	_, err = pgx.ForEachRow(rows, []any{&name, &binary}, func() error {
		types[name] = binary
		return nil
	})
	require.NoError(c.T, err)
	found := map[string][]byte{}
	for column, binary := range types {
		value := column + "::text"
		if !binary {
			value = "convert_to(" + value + ", 'UTF8')"
		} else {
			value = column
		}
		rows, err := c.Pool().Query(c.T.Context(), `SELECT `+value+` FROM `+table+` WHERE `+column+` IS NOT NULL`)
		require.NoError(c.T, err)
		all, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		require.NoError(c.T, err)
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

// in reports whether a canary is somewhere. Six digits are looked for as a word.
func (k *canary) in(text []byte) bool {
	for i, form := range k.forms() {
		if i == 0 && nodetest.SixDigits.Match(form) {
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
	c.T.Helper()
	require.NotEmpty(c.T, places["snapshots.state"])
	require.Contains(c.T, string(places["log"]), `"level":"ERROR"`)
	for _, k := range c.list {
		var at []string
		for _, place := range slices.Sorted(maps.Keys(places)) {
			if k.in(places[place]) && (place != "snapshots.state" || !slices.Contains(k.places, "journal.facts")) {
				at = append(at, place)
			}
		}
		slices.Sort(k.places)
		if !slices.Equal(at, k.places) {
			c.T.Errorf("%s %q is at %q, not %q", k.name, k.value, at, k.places)
		}
	}
	c.T.Logf("%d canaries, %d places", len(c.list), len(places))
}
