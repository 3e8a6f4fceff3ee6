package mail

import (
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// show asks the page for a mail, or for the list.
func show(c *Capture, name string) *fasthttp.RequestCtx {
	ctx := &fasthttp.RequestCtx{}
	if name != "" {
		ctx.SetUserValue("name", name)
	}
	c.Page(ctx)
	return ctx
}

func TestPage(t *testing.T) {
	t.Parallel()
	c, _ := capture(t)
	empty := show(c, "")
	require.Equal(t, 200, empty.Response.StatusCode())
	require.Contains(t, string(empty.Response.Body()), "None yet")

	m := LoginCode(envelope("ada@example.org", ""), "123456")
	m.Subject = `<script>alert(1)</script>`
	m.Text = `</pre><script>alert(2)</script>`
	m.HTML = `<p title="x">"quoted" & <script>alert(3)</script></p>`
	require.NoError(t, c.Send(t.Context(), m))
	name := sole(t, c).Name
	for _, ctx := range []*fasthttp.RequestCtx{show(c, ""), show(c, name)} {
		body := string(ctx.Response.Body())
		require.Equal(t, 200, ctx.Response.StatusCode())
		require.Equal(t, "text/html; charset=utf-8", string(ctx.Response.Header.ContentType()))
		require.Contains(t, string(ctx.Response.Header.Peek("Content-Security-Policy")), "default-src 'none'")
		require.NotContains(t, body, "<script")
		require.Contains(t, body, "ada@example.org")
	}
	require.Contains(t, string(show(c, "").Response.Body()), `href="/dev/mail/`+name+`"`)
	body := string(show(c, name).Response.Body())
	require.Contains(t, body, `<iframe sandbox=""`)
	require.Contains(t, html.UnescapeString(body), `srcdoc="`+m.HTML+`"`)

	for _, other := range []string{"../../etc/passwd", "20260101T000000.000000000Z-x.eml"} {
		require.Equal(t, 404, show(c, other).Response.StatusCode())
	}
}

// TestPageOfTickets: the pictures are in the mail, and the calendar file under it.
func TestPageOfTickets(t *testing.T) {
	t.Parallel()
	c, _ := capture(t)
	m, err := OrderConfirmation(envelope("ada@example.org", "Ada"), order(2), concert(t))
	require.NoError(t, err)
	require.NoError(t, c.Send(t.Context(), m))
	body := html.UnescapeString(string(show(c, sole(t, c).Name).Response.Body()))
	require.Equal(t, 2, strings.Count(body, `<img src="data:image/png;base64,iVBOR`))
	require.NotContains(t, body, "cid:")
	require.Contains(t, body, "BEGIN:VEVENT")
}
