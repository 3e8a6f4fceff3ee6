package rooms

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

var (
	invitation = regexp.MustCompile(`/queue#mailed&join=([\w-]+)&party=\d+`)
	placeMail  = regexp.MustCompile(`/queue#mailed&(receipt=[\w-]+&ticket=[\w-]+)`)
)

// askToJoin joins by an address, and returns the token of the mail that asks for it.
func (s *roomShop) askToJoin(event, email string, party int, headers ...string) string {
	s.T.Helper()
	began := time.Now()
	asked := s.Call("POST", publicQueue(event), nodetest.Object{"email": email, "party": party}, headers...).Is(201, "")
	require.Equal(s.T, true, asked.Data("pending"))
	for _, field := range []string{"receipt", "token", "place", "queue"} {
		require.Nil(s.T, asked.Data(field), field)
	}
	return invitation.FindStringSubmatch(s.Mail(s.T, strings.ToLower(email), "queue_confirm", began).Text)[1]
}

func (s *roomShop) confirm(event, token string) nodetest.Answer {
	s.T.Helper()
	return s.Call("POST", publicQueue(event)+"/confirm", nodetest.Object{"token": token})
}

// TestRoomByMailedLink joins a room that asks for an address, without a session: an entry counts from the use of
// the mailed link, an address has one, and the link shows it on every device.
func TestRoomByMailedLink(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, types := s.OnSale(nodetest.TypeBody(10, 100))
	other, _ := s.OnSale(nodetest.TypeBody(10, 100))
	set := nodetest.Object{"enabled": true, "mode": "arrival", "proof": "address", "partyMax": 3, "admitPerMinute": 6000}
	for _, room := range []string{event, other} {
		s.Own("PUT", organizerQueue(room), set).Is(200, "")
	}
	count := func() any { return s.Call("GET", publicQueue(event), nil).Is(200, "").Data("count") }
	s.Call("POST", publicQueue(event), nodetest.Object{}).Is(401, "UNAUTHORIZED")
	wrong := s.Call("POST", publicQueue(event), nodetest.Object{"email": "nobody"}).Is(400, "VALIDATION_ERROR")
	require.Contains(t, fmt.Sprint(wrong.Get("error.details.issues")), "email")

	first := s.askToJoin(event, "Ann@example.org", 2, "Accept-Language", "de")
	require.Contains(t, s.Mail(t, "ann@example.org", "queue_confirm", time.Time{}).Text, "in den Warteraum")
	require.Zero(t, count(), "no entry before the link is used")
	s.Call("POST", publicQueue(event), nodetest.Object{"email": "ann@example.org"}).Is(201, "") // asked lately
	_, err := s.Pool().Exec(t.Context(), `UPDATE mail_caps SET free_at = now()`)
	require.NoError(t, err)
	second := s.askToJoin(event, "ann@example.org", 2)
	_, err = s.Pool().Exec(t.Context(), `UPDATE mail_caps SET free_at = now()`)
	require.NoError(t, err)
	larger := s.askToJoin(event, "ann@example.org", 3)
	asked := 0
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE args->>'mail' = 'queue_confirm'`).Scan(&asked))
	require.Equal(t, 3, asked, "one within five minutes was not mailed")

	joined := s.confirm(event, first).Is(201, "")
	require.Equal(t, false, joined.Data("pending"))
	require.Equal(t, float64(2), joined.Data("queue.party"))
	for _, token := range []string{first, second, larger} {
		require.Equal(t, joined.Str("token"), s.confirm(event, token).Is(201, "").Str("token"), "two joins of an address are one entry")
	}
	s.confirm(other, first).Is(404, "NOT_FOUND")
	s.confirm(event, first[:len(first)-4]+"AAAA").Is(404, "NOT_FOUND")
	require.Eventually(t, func() bool { return count() == float64(1) }, time.Minute, 50*time.Millisecond) // it is kept for a moment
	ann := s.Buyer("ann@example.org").Token
	s.Call("POST", publicQueue(event), nodetest.Object{}, "Authorization", "Bearer "+ann).Is(409, "CONFLICT")

	admission := s.until(event, joined.Str("token"), "admission.token").Str("you.admission.token")
	buy := func(email string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(email, types[0], 1), "X-Queue-Admission", admission)
	}
	require.Equal(t, "shared", buy("bob@example.org").Is(403, "QUEUE_REQUIRED").Get("error.details.reason"))
	buy("ann@example.org").Is(201, "")

	late := s.askToJoin(other, "ann@example.org", 1)
	s.wait(8 * 24 * time.Hour)
	s.confirm(other, late).Is(404, "NOT_FOUND")
	s.Token = s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken")
	s.Own("POST", organizerQueue(event)+"/drain", nil).Is(200, "")
	require.Equal(t, "over", s.Call("POST", publicQueue(event), nodetest.Object{"email": "eve@example.org"}).Is(409, "QUEUE_CLOSED").Get("error.details.reason"))
}

// TestReaderSaysTheParty asks for the mail of another's address: how many the entry stands for is the reader's to say,
// and the entry is the same afterwards whatever a link says.
func TestReaderSaysTheParty(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(10, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "mode": "arrival", "proof": "address", "partyMax": 3}).Is(200, "")
	s.Own("POST", organizerQueue(event)+"/pause", nil).Is(200, "")
	token := s.askToJoin(event, "ann@example.org", 1) // by a stranger
	confirm := func(party int) nodetest.Answer {
		return s.Call("POST", publicQueue(event)+"/confirm", nodetest.Object{"token": token, "party": party})
	}
	for _, party := range []int{0, 4, 11} {
		require.Equal(t, "party", confirm(party).Is(400, "VALIDATION_ERROR").Get("error.details.issues.0.path"), party)
	}
	joined := confirm(3).Is(201, "")
	require.Equal(t, float64(3), joined.Data("queue.party"))
	s.Own("POST", organizerQueue(event)+"/drain", nil).Is(200, "")
	for _, again := range []nodetest.Answer{s.confirm(event, token), confirm(1), confirm(3)} {
		require.Equal(t, joined.Str("token"), again.Is(201, "").Str("token"))
		require.Equal(t, float64(3), again.Data("queue.party"))
	}
}

// TestRoomMailsThePlace mails the link that brings a place to another device, which is sealed while it waits to be
// sent.
func TestRoomMailsThePlace(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(10, 100))
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "mode": "arrival"}).Is(200, "")
	began := time.Now()
	joined := s.Call("POST", publicQueue(event), nodetest.Object{"email": "ann@example.org"}).Is(201, "")
	require.Equal(t, false, joined.Data("pending"))
	carried, err := url.ParseQuery(placeMail.FindStringSubmatch(s.Mail(t, "ann@example.org", "queue_place", began).Text)[1])
	require.NoError(t, err)
	require.Equal(t, url.Values{"ticket": {joined.Str("token")}, "receipt": {joined.Str("receipt")}}, carried)
	require.NotNil(t, s.as(event, carried.Get("ticket")).Data("you"))
	var job string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT args::text FROM river_job WHERE args->>'mail' = 'queue_place'`).Scan(&job))
	require.NotContains(t, job, joined.Str("token"))
	s.Call("POST", publicQueue(event), nodetest.Object{"email": "ann"}).Is(400, "VALIDATION_ERROR")
}
