package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

//go:embed kept
var keptFiles embed.FS

const (
	gatePage     = "/gate"
	gateManifest = "/gate.webmanifest"
)

// GatePolicy is the Policy of the gate's page. That page names a manifest of this server, so that a
// phone can install it, and the policy must allow the manifest.
const GatePolicy = Policy + "; manifest-src 'self'"

// workerPolicy is the Content-Security-Policy of the service workers. It allows only requests to this server.
const workerPolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"

// keptPage is a page that opens without a network, because a service worker keeps its files in the
// browser.
type keptPage struct {
	family string // the beginning of the names of the worker and of its caches
	// page is an address that answers with the page without anybody's data in it. The worker keeps this answer.
	page      string
	addresses string   // the addresses at which the page opens, as a regular expression of JavaScript
	entry     string   // the name of the built page
	files     []string // the addresses of files that the page needs and the build does not list
}

// keptIcons are the addresses of the icons that every worker keeps.
var keptIcons = []string{"/favicon.svg", "/apple-touch-icon.png"}

// keptPages are the gate, the page of an order and the wallet. Each page registers its worker
// itself, and chooses the scope.
var keptPages = []keptPage{
	{"gate", gatePage, `^\/gate$`, "gate.html", []string{gateManifest}},
	{"order", "/o/-", `^\/o\/[^/]+$`, "order.html", nil},
	// The scope /me covers /media too. The expression keeps the worker from answering for images.
	{"me", "/me", `^\/me(\/|$)`, "me.html", nil},
}

// listWorkers returns the files with which pages open without a network: the service workers of all
// keptPages, and the gate's manifest. served are the files that App serves besides.
func listWorkers(served []File) ([]File, error) {
	manifest, err := keptFiles.ReadFile("kept" + gateManifest)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	files := []File{{Path: gateManifest, Type: types[".webmanifest"], Cache: cacheDay, Body: manifest}}
	fixed := manifest
	for _, f := range served {
		if slices.Contains(keptIcons, f.Path) {
			fixed = slices.Concat(fixed, f.Body)
		}
	}
	for i := range keptPages {
		body, err := keptPages[i].writeWorker(fixed)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: "/" + keptPages[i].family + "-worker.js", Type: types[".js"], Policy: workerPolicy, Cache: cacheAsk, Body: body})
	}
	return files, nil
}

// writeWorker returns the source of the page's worker. The source has a version that changes with the page and all
// files that the worker keeps. A browser compares the source byte by byte, and gets all files again if it has changed.
// fixed has the contents of the files whose addresses do not change with their contents.
func (k *keptPage) writeWorker(fixed []byte) ([]byte, error) {
	source, err := keptFiles.ReadFile("kept/worker.js")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	page, err := dist.ReadFile("dist/entries/" + k.entry)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	built, err := listBuilt("entries/" + k.entry)
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(slices.Concat(built, k.files, keptIcons))
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	// The name of an asset changes with its content, so a hash of the list of names changes with the assets.
	sum := sha256.Sum256(slices.Concat(page, fixed, list))
	for _, part := range [][2]string{
		{"{family}", k.family}, {version, hex.EncodeToString(sum[:8])}, {"{page}", k.page}, {"{addresses}", k.addresses}, {"{files}", string(list)},
	} {
		source = bytes.Replace(source, []byte(part[0]), []byte(part[1]), 1)
	}
	return source, nil
}

// listBuilt returns the addresses of all scripts and style sheets that a built page may load, at once or later.
// Without a network, the page can load only what the worker has kept. listBuilt follows the imports in the
// build's manifest, each only once, because imports may form circles.
func listBuilt(entry string) ([]string, error) {
	text, err := dist.ReadFile("dist/manifest.json")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	var all map[string]struct {
		File                         string
		Imports, DynamicImports, CSS []string
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("web: manifest of the build: %w", err)
	}
	var paths []string
	seen, ahead := map[string]bool{}, []string{entry}
	for len(ahead) > 0 {
		name := ahead[0]
		ahead = ahead[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		part, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("web: the manifest of the build lacks %s", name)
		}
		ahead = append(ahead, slices.Concat(part.Imports, part.DynamicImports)...)
		for _, file := range append(part.CSS, part.File) {
			paths = append(paths, "/web/"+file)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
