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

//go:embed gate
var gateFiles embed.FS

const (
	gatePage     = "/gate"
	gateManifest = "/gate.webmanifest"
	gateWorker   = "/gate-worker.js"
	gateEntry    = "entries/gate.html"
)

// GatePolicy is the Policy of the gate's page, which names a manifest of this server, so that a phone
// can install it.
const GatePolicy = Policy + "; manifest-src 'self'"

// workerPolicy is the policy of the gate's worker: it asks this server for files, and nothing else.
const workerPolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"

// gateApp returns what makes the gate's page an app that opens without a network: its manifest, and
// the worker that keeps the files of the page.
func gateApp() ([]File, error) {
	manifest, err := gateFiles.ReadFile("gate/gate.webmanifest")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	worker, err := gateFiles.ReadFile("gate/worker.js")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	page, err := dist.ReadFile("dist/" + gateEntry)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	kept, err := listBuilt(gateEntry)
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(append(kept, gateManifest, "/favicon.svg", "/apple-touch-icon.png"))
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	// The names of assets change with their content, so the version needs the page and the list alone.
	sum := sha256.Sum256(slices.Concat(page, manifest, list))
	worker = bytes.Replace(worker, []byte(version), []byte(hex.EncodeToString(sum[:8])), 1)
	worker = bytes.Replace(worker, []byte("{files}"), list, 1)
	return []File{
		{Path: gateManifest, Type: types[".webmanifest"], Cache: cacheDay, Body: manifest},
		{Path: gateWorker, Type: types[".js"], Policy: workerPolicy, Cache: cacheAsk, Body: worker},
	}, nil
}

// listBuilt returns the addresses of all assets that a built page may load, those that it loads later
// too.
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
