package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	s := open(t)
	d, err := makeDemo(t.Context(), s.url)
	require.NoError(t, err)
	floor := s.call("GET", strings.TrimPrefix(d.event, s.url), nil).is(200, "")
	require.Equal(t, "Opening Night", floor.str("title"))
	require.Len(t, floor.data("ticketTypes"), 2)

	req, err := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(s.url, "/api/v1")+d.seats, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	page, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, string(page), "<canvas")
	seated := s.call("GET", "/events/"+strings.Split(d.seats, "/")[2], nil).is(200, "")
	m := s.call("GET", "/public/events/"+seated.str("id")+"/seatmap", nil).is(200, "")
	require.Len(t, m.data("seats"), 400)
	require.Equal(t, "50.00", m.str("sections.0.price"))
	require.Equal(t, "25.00", m.str("sections.3.price"))

	again, err := makeDemo(t.Context(), s.url)
	require.NoError(t, err)
	require.Nil(t, again, "there is one already")
}
