package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	d, err := makeDemo(t.Context(), s.URL)
	require.NoError(t, err)
	floor := s.Call("GET", strings.TrimPrefix(d.event, s.URL), nil).Is(200, "")
	require.Equal(t, "Opening Night", floor.Str("title"))
	require.Len(t, floor.Data("ticketTypes"), 2)

	req, err := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(s.URL, "/api/v1")+d.seats, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	page, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, string(page), "<canvas")
	seated := s.Call("GET", "/events/"+strings.Split(d.seats, "/")[2], nil).Is(200, "")
	m := s.Call("GET", "/public/events/"+seated.Str("id")+"/seatmap", nil).Is(200, "")
	require.Len(t, m.Data("seats"), 400)
	require.Equal(t, "50.00", m.Str("sections.0.price"))
	require.Equal(t, "25.00", m.Str("sections.3.price"))

	s.Becomes("cancelled", func() string { return s.Call("GET", "/events/winter-journey-8", nil).Is(200, "").Str("status") })
	s.Becomes("sold_out", func() string { return s.Call("GET", "/events/songs-in-the-cellar-4", nil).Is(200, "").Str("status") })
	for slug, product := range map[string]string{"behind-the-stage-5": "reservation", "the-season-in-words-6": "digital", "how-to-build-a-storm-7": "digital"} {
		e := s.Call("GET", "/events/"+slug, nil).Is(200, "")
		require.Equal(t, []any{product, "on_sale"}, []any{e.Data("productType"), e.Data("status")}, slug)
	}

	again, err := makeDemo(t.Context(), s.URL)
	require.NoError(t, err)
	require.Nil(t, again, "there is one already")
}
