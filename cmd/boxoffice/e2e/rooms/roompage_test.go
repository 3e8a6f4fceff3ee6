package rooms

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/web"
	"boxoffice/engine/draw"
)

// roomReader reads the page of a waiting room that needs no script.
type roomReader struct {
	*nodetest.Shop
	path string
}

func (s *roomShop) plain(event string) *roomReader {
	s.T.Helper()
	return &roomReader{s.AtRoot(), "/e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug") + "/queue/plain"}
}

func (r *roomReader) see(query string, headers ...string) nodetest.Reply {
	r.T.Helper()
	return r.Raw("GET", r.path+query, "", "", headers...)
}

// join sends the form of the page, and returns the page to which that leads.
func (r *roomReader) join(form url.Values, headers ...string) nodetest.Reply {
	r.T.Helper()
	return r.Raw("POST", r.path, "application/x-www-form-urlencoded", form.Encode(), headers...)
}

var (
	formKey    = regexp.MustCompile(`name="key" value="([^"]+)"`)
	placeLink  = regexp.MustCompile(`/queue#receipt=([^&]+)&amp;ticket=([^"]+)"`)
	roomReload = regexp.MustCompile(`http-equiv="refresh" content="\d+"`)
)

// TestRoomPageWithoutScripts waits without scripts: joins by the form, once however often it is sent, reads the
// place from the page's address, and is told the truth about ordering.
func TestRoomPageWithoutScripts(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(25, 100), nodetest.TypeBody(60, 100))
	p := s.plain(event)
	require.Contains(t, p.see("").Is(t, 200).Body, "Nobody waits here")
	require.Contains(t, p.see("", "Accept-Language", "de-AT, en;q=0.5").Body, "Hier wartet niemand")
	require.Equal(t, 404, p.Raw("GET", "/e/no-such-event/queue/plain", "", "").Status)
	require.Contains(t, p.join(url.Values{"party": {"1"}}).Is(t, 409).Body, "has just closed")

	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "admitPerMinute": 6000, "partyMax": 3}).Is(200, "")
	s.Own("POST", organizerQueue(event)+"/pause", nil).Is(200, "")
	var page nodetest.Reply
	require.Eventually(t, func() bool { // what everybody is answered is kept for a moment
		page = p.see("")
		return formKey.MatchString(page.Body)
	}, time.Minute, 50*time.Millisecond)
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex", "Content-Security-Policy": web.FormPolicy,
	} {
		require.Equal(t, want, page.Header.Get(name))
	}
	require.NotRegexp(t, roomReload, page.Body, "a form does not go away while it is filled in")
	require.Regexp(t, `\$2\d\.\d\d to \$6\d\.\d\d`, page.Body, "what is on sale")

	form := url.Values{"party": {"2"}, "key": {formKey.FindStringSubmatch(page.Body)[1]}}
	in := p.join(form).Is(t, 200)
	require.Contains(t, in.Body, "You are in line")
	require.Contains(t, in.Body, "Everybody keeps their place")
	require.Regexp(t, roomReload, in.Body)
	link := placeLink.FindStringSubmatch(in.Body)
	require.Equal(t, link[2], placeLink.FindStringSubmatch(p.join(form).Is(t, 200).Body)[2], "sent twice, it is one entry")
	receipt, err := draw.ParseReceipt(link[1])
	require.NoError(t, err)
	require.Contains(t, in.Body, link[1], "the receipt is there to keep")
	you := s.as(event, link[2])
	require.Equal(t, receipt.Leaf.String(), you.Str("you.leaf"))
	require.Equal(t, float64(2), you.Data("you.party"))
	german := p.see("?ticket="+link[2], "Accept-Language", "de")
	require.Contains(t, german.Body, `lang="de"`)
	require.Contains(t, german.Body, `<dt class="soft">Dein Platz</dt><dd>1</dd>`)

	require.Contains(t, p.join(url.Values{"party": {"4"}}).Is(t, 400).Body, "That did not work")
	require.Contains(t, p.join(url.Values{"party": {"2"}, "key": {"short"}}).Is(t, 400).Body, "That did not work")
	for _, ticket := range []string{"nonsense", url.QueryEscape(`"><script>alert(1)</script>`), link[1]} {
		wrong := p.see("?ticket="+ticket+"&receipt="+ticket).Is(t, 200)
		require.Contains(t, wrong.Body, "of no place in this room")
		require.NotContains(t, wrong.Body, "<script>")
	}
	require.Equal(t, 413, p.join(url.Values{"party": {"1"}, "long": {string(make([]byte, 2000))}}).Status)

	s.Own("POST", organizerQueue(event)+"/resume", nil).Is(200, "")
	require.Eventually(t, func() bool {
		page = p.see("?ticket=" + link[2] + "&receipt=" + link[1])
		return placeLink.MatchString(page.Body) && regexp.MustCompile("It is your turn").MatchString(page.Body)
	}, time.Minute, 50*time.Millisecond)
	require.Contains(t, page.Body, "Ordering needs JavaScript")
	s.wait(11 * time.Minute)
	page = p.see("?ticket="+link[2]).Is(t, 200)
	require.Contains(t, page.Body, "Your time to order is over")
	require.Regexp(t, formKey, page.Body, "one may join again")
}

// TestRoomPageAsksWhoComes says that a room with one entry an account needs scripts.
func TestRoomPageAsksWhoComes(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "proof": "account"}).Is(200, "")
	p := s.plain(event)
	require.Eventually(t, func() bool {
		return regexp.MustCompile("To sign in needs JavaScript").MatchString(p.see("").Body)
	}, time.Minute, 50*time.Millisecond)
	require.NotRegexp(t, formKey, p.see("").Body)
	require.Equal(t, 401, p.join(url.Values{"party": {"1"}}).Status)
}

// TestRoomPageMailsTheLink joins without scripts a room that asks for an address: by the mailed link, whose page
// has a button and enters nobody by itself.
func TestRoomPageMailsTheLink(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "proof": "address", "partyMax": 2}).Is(200, "")
	s.Own("POST", organizerQueue(event)+"/pause", nil).Is(200, "")
	p, began := s.plain(event), time.Now()
	require.Eventually(t, func() bool {
		return regexp.MustCompile(`type="email" name="email"[^>]* required`).MatchString(p.see("").Body)
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, 401, p.join(url.Values{"party": {"1"}}).Status)
	require.Equal(t, 400, p.join(url.Values{"party": {"1"}, "email": {"nobody"}}).Status)
	require.Contains(t, p.join(url.Values{"party": {"2"}, "email": {"ann@example.org"}}).Is(t, 200).Body, "Look into your mail")
	token := invitation.FindStringSubmatch(s.Mail(t, "ann@example.org", "queue_confirm", began).Text)[1]
	page := p.see("?join="+token).Is(t, 200)
	require.Contains(t, page.Body, `name="join" value="`+token+`"`)
	require.NotContains(t, page.Body, `type="email"`)
	require.Zero(t, s.Call("GET", publicQueue(event), nil).Is(200, "").Data("count"), "a link that is opened enters nobody")
	in := p.join(url.Values{"join": {token}, "key": {formKey.FindStringSubmatch(page.Body)[1]}}).Is(t, 200)
	require.Contains(t, in.Body, "You are in line")
	require.Contains(t, p.join(url.Values{"join": {"nonsense"}}).Is(t, 404).Body, "This link has run out")
}

// TestMailedPlaceIsOnlyShown opens the mailed link to a place whose turn has come, as programs do that look for
// harm: the time to order begins once somebody presses the button.
func TestMailedPlaceIsOnlyShown(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "mode": "arrival", "admitPerMinute": 6000}).Is(200, "")
	began := time.Now()
	s.Call("POST", publicQueue(event), nodetest.Object{"email": "ann@example.org"}).Is(201, "")
	_, query, mailed := strings.Cut(plainLink.FindString(s.Mail(t, "ann@example.org", "queue_place", began).Text), "?")
	require.True(t, mailed)
	s.Becomes("1", func() string { return s.Call("GET", publicQueue(event), nil).Is(200, "").Str("served") })
	p := s.plain(event)
	for range 2 {
		page := p.see("?"+query).Is(t, 200)
		require.Contains(t, page.Body, "See your place")
		require.NotContains(t, page.Body, "It is your turn")
	}
	s.wait(11 * time.Minute) // as long as an admission is valid
	asked, err := url.ParseQuery(query)
	require.NoError(t, err)
	place := url.Values{"ticket": asked["ticket"], "receipt": asked["receipt"]}
	require.Contains(t, p.see("?"+place.Encode()).Is(t, 200).Body, "It is your turn")
}

// plainLink is the link in a mail to the page of a room that needs no scripts.
var plainLink = regexp.MustCompile(`\S+/queue/plain\?\S+`)

// TestRoomPageIsLimited joins by the form as often as by the API, and no more.
func TestRoomPageIsLimited(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t, func(c *node.Config) { c.LimitsScale = 1 })
	event, _ := s.OnSale(nodetest.TypeBody(25, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "mode": "arrival"}).Is(200, "")
	p, tries := s.plain(event), 0
	require.Eventually(t, func() bool {
		tries++
		return p.join(url.Values{"party": {"1"}}).Status == 429
	}, time.Minute, time.Millisecond)
	require.Less(t, tries, 100)
}
