package web

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
)

//go:embed all:dist
var dist embed.FS

//go:embed icon
var icons embed.FS

// iconFiles are the icons that browsers and phones look for at fixed addresses, whatever a page says.
var iconFiles = []string{"favicon.ico", "apple-touch-icon.png"}

// entries are where the pages are that app/ builds. That of an event is not among them:
// the server writes the event into it (EventPage).
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

// eventEntry is the built page of an event, with room for what the server says of it.
const eventEntry = "event.html"

// App are the built pages and their assets. An asset's name changes with its content,
// so clients keep it for ever.
func App() ([]File, error) {
	var files []File
	for _, at := range slices.Sorted(maps.Keys(entries)) { // the router takes no address after a wildcard that covers it
		body, err := dist.ReadFile("dist/entries/" + entries[at])
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
		files = append(files, File{Path: at, Type: types[".html"], Policy: Policy, Cache: cacheAsk, Body: body})
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
	return files, nil
}
