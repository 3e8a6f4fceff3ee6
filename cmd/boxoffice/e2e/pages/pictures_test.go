package pages

import (
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var demo = flag.String("demo", "", "where a node with the demo runs: take the pictures of the README there")

// TestPictures takes the pictures of the README from the demo (make pictures).
func TestPictures(t *testing.T) {
	if *demo == "" {
		t.Skip("needs the demo; `make pictures` starts it")
	}
	shop := &buyer{window: openBrowser(t).open(t, *demo+"/", size{width: 1280, height: 800, scale: 1})}
	shop.until(`document.querySelectorAll(".grid li img").length >= 3 && [...document.images].every((i) => i.complete)`)
	shop.frame("shop")
	shop.load(*demo + "/e/the-tempest-3/seats") // as the demo makes it, first of all
	shop.window.until("map.drawn")
	shop.pickBest()
	shop.frame("map")
}

// frame keeps what a window shows among the pictures of the documentation.
func (b *buyer) frame(name string) {
	b.t.Helper()
	var r struct{ Data string }
	b.send(b.t, b.session, "Page.captureScreenshot", params{"format": "webp", "quality": 80}, &r)
	webp, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(b.t, err)
	dir := filepath.Join("..", "..", "..", "..", "docs", "pictures")
	require.NoError(b.t, os.MkdirAll(dir, 0o755))                                     //nolint:gosec // pictures for everybody
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".webp"), webp, 0o644)) //nolint:gosec // as above
}
