package web_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest/hostile"
	"boxoffice/edge/web"
)

// paper is what the page of an order consists of.
var paper = hostile.Markup{
	Elements:   "html head meta title link body header nav main h1 h2 p table tbody tr td br a section img",
	Attributes: "lang charset name content http-equiv rel href class src alt",
	Values: map[string]string{
		"href": `^(https?://|/$|/me$|/web/|/orders/|/o/|#ZgotmplZ$|[^:/?#]*([/?#]|$))`, "src": `^data:image/png;base64,[0-9A-Za-z+/=]+$`,
		"rel": `^(icon|stylesheet|noreferrer noopener)$`, "http-equiv": "^refresh$", "class": "^(soft|ticket|mark)$", "name": "^(viewport|color-scheme|robots)$",
		"content": "^(25|noindex|light dark|width=device-width, initial-scale=1)$",
	},
}

// poison sets every text of a struct and of what its slices have.
func poison(v reflect.Value, text string) {
	switch v.Kind() { //nolint:exhaustive // nothing else has texts
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			poison(field, text)
		}
	}
}

// TestHostileOrderPage sets each text of an order, one at a time and all of them, to
// each hostile one: the page stays the page of a harmless order, element by element.
func TestHostileOrderPage(t *testing.T) {
	t.Parallel()
	list, err := web.Files(true)
	require.NoError(t, err)
	page, err := web.NewOrderPage(list)
	require.NoError(t, err)
	show := func(text string, set func(o *web.Order) reflect.Value) string {
		o := &web.Order{Lines: make([]web.OrderLine, 2), Tickets: make([]web.OrderTicket, 1)}
		poison(reflect.ValueOf(o).Elem(), "x")
		poison(set(o), text)
		for i := range o.Tickets {
			o.Tickets[i].Payload = "v1.A" // our own, and a QR code holds only so much
		}
		var b strings.Builder
		require.NoError(t, page.Write(&b, o))
		return b.String()
	}
	places := map[string]func(o *web.Order) reflect.Value{"all": func(o *web.Order) reflect.Value { return reflect.ValueOf(o).Elem() }}
	for name, part := range map[string]func(o *web.Order) reflect.Value{
		"order":  func(o *web.Order) reflect.Value { return reflect.ValueOf(o).Elem() },
		"line":   func(o *web.Order) reflect.Value { return reflect.ValueOf(&o.Lines[1]).Elem() },
		"ticket": func(o *web.Order) reflect.Value { return reflect.ValueOf(&o.Tickets[0]).Elem() },
	} {
		of := part(&web.Order{Lines: make([]web.OrderLine, 2), Tickets: make([]web.OrderTicket, 1)}).Type()
		for i := range of.NumField() {
			if of.Field(i).Type.Kind() == reflect.String {
				places[name+" "+of.Field(i).Name] = func(o *web.Order) reflect.Value { return part(o).Field(i) }
			}
		}
	}
	harmless, cases := hostile.Shape(t, show("x", places["all"])), 0
	for name, set := range places {
		for _, text := range slices.Concat(hostile.Texts, hostile.Scripts) {
			got := show(text, set)
			paper.Hold(t, got, name+" "+text)
			require.Equal(t, harmless, hostile.Shape(t, got), "%s %q", name, text)
			cases++
		}
	}
	t.Logf("hostile texts: %d cases in %d places of the page of an order", cases, len(places))
}

// TestStaticPages holds the pages of small forms to plain markup: no text of a user is
// in them, and their scripts write text only, which TestFilesFitTogether sees.
func TestStaticPages(t *testing.T) {
	t.Parallel()
	form := hostile.Markup{
		Elements:   "html head meta title link script body header nav a main h1 p form label input button noscript",
		Attributes: "lang charset name content rel href type src id for autocomplete minlength maxlength required role class data-path data-done data-refused data-forget",
		Values:     map[string]string{"href": "^/web/[0-9a-f]+/[a-z]+[.]css$|^/(me|favicon[.]svg)?$", "src": "^/web/[0-9a-f]+/[a-z]+[.]js$"},
	}
	for _, path := range mailedPaths {
		form.Hold(t, string(files(t)[path].Body), path)
		form.Hold(t, string(files(t)[path].German), path)
	}
}
