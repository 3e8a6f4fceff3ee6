package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path"
	"slices"
)

//go:embed all:dist
var dist embed.FS

//go:embed icon
var icons embed.FS

// iconFiles are the icons that browsers and phones look for at fixed addresses, even if no page
// names them, and the icons that the gate's manifest names.
var iconFiles = []string{"favicon.ico", "apple-touch-icon.png", "gate-192.png", "gate-512.png"}

// entries holds the files of the pages that app/ builds, by the pages' addresses. The pages of an event and
// of an organization are missing, because EventPage and OrganizerPage serve them: the server writes
// into these pages.
var entries = map[string]string{
	"/":                      "home.html",
	"/e/{slug}/checkout":     "checkout.html",
	"/o/{id}":                "order.html",
	"/e/{slug}/queue":        "queue.html",
	"/draw/{event}":          "draw.html",
	"/help":                  "help.html",
	"/learn/{id}":            "learn.html",
	"/certificates/{number}": "certificate.html",
	"/me":                    "me.html",
	"/me/{view:*}":           "me.html",
	"/tickets/claim":         "claim.html",
	"/waitlist":              "waitlist.html",
	"/gate":                  "gate.html",
	"/organizer":             "organizer.html",
	"/organizer/{view:*}":    "organizer.html",
	"/portal":                "portal.html",
	"/portal/{view:*}":       "portal.html",
}

// These are the two built pages into which the server writes. They have the two marks that ReadBuilt looks
// for.
const (
	eventEntry     = "event.html"
	organizerEntry = "by.html"
)

// Built is a built page, cut at the two places where the server writes: in the head and in the
// body.
type Built struct{ before, middle, end []byte }

// ReadBuilt reads a page of the build by its name. A page without the marks <!--head--> and
// <!--body--> is an error: the server could write nothing into it.
func ReadBuilt(entry string) (*Built, error) {
	page, err := dist.ReadFile("dist/entries/" + entry)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	before, rest, head := bytes.Cut(page, []byte("<!--head-->"))
	middle, end, body := bytes.Cut(rest, []byte("<!--body-->"))
	if !head || !body {
		return nil, fmt.Errorf("web: %s has no room for what it shows", entry)
	}
	return &Built{before, middle, end}, nil
}

// Write writes the page to w. In the place of the two marks it writes the output of the templates "head" and
// "body" of parts, whose data is shown. If a template or w fails, a part of the page is written already.
func (b *Built) Write(w io.Writer, parts *template.Template, shown any) error {
	for _, part := range []struct {
		before []byte
		name   string
	}{{b.before, "head"}, {b.middle, "body"}} {
		if _, err := w.Write(part.before); err != nil {
			return fmt.Errorf("web: page of an %s: %w", parts.Name(), err)
		}
		if err := parts.ExecuteTemplate(w, part.name, shown); err != nil {
			return fmt.Errorf("web: page of an %s: %w", parts.Name(), err)
		}
	}
	if _, err := w.Write(b.end); err != nil {
		return fmt.Errorf("web: page of an %s: %w", parts.Name(), err)
	}
	return nil
}

// App returns the built pages with their assets, the icons, the script embed.js, the service workers and the gate's
// manifest. An asset's name changes with its content, so clients may keep an asset for ever. A page keeps its
// address, so clients must ask each time whether it has changed.
func App() ([]File, error) {
	var files []File
	for _, at := range slices.Sorted(maps.Keys(entries)) { // sorted, because the router refuses an address that comes after a wildcard which covers it
		body, err := dist.ReadFile("dist/entries/" + entries[at])
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		policy := Policy
		// Only the gate's page names a manifest, so only its policy allows one.
		if at == gatePage {
			policy = GatePolicy
		}
		files = append(files, File{Path: at, Type: types[".html"], Policy: policy, Cache: cacheAsk, Body: body})
	}
	assets, err := dist.ReadDir("dist/assets")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for _, a := range assets {
		body, err := dist.ReadFile("dist/assets/" + a.Name())
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		f := File{Path: "/web/assets/" + a.Name(), Type: types[path.Ext(a.Name())], Cache: cacheForever, Body: body}
		// An unknown extension is an error, because a browser refuses scripts and style sheets that
		// come without their type.
		if f.Type == "" {
			return nil, fmt.Errorf("web: %s: unknown type", f.Path)
		}
		files = append(files, f)
	}
	icon, err := pages.ReadFile("page/icon.svg")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	files = append(files, File{Path: "/favicon.svg", Type: types[".svg"], Cache: cacheDay, Body: icon})
	for _, name := range iconFiles {
		if icon, err = icons.ReadFile("icon/" + name); err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		files = append(files, File{Path: "/" + name, Type: types[path.Ext(name)], Cache: cacheDay, Body: icon})
	}
	kept, err := listWorkers(files)
	return append(append(files, widgetFile), kept...), err
}
