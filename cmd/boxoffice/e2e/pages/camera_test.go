package pages

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"boxoffice/cmd/boxoffice/nodetest"
)

// drawnCamera is a camera that sees a picture, aslant and in dim light, in a browser that
// reads no QR codes itself.
const drawnCamera = `
	delete window.BarcodeDetector;
	navigator.mediaDevices.getUserMedia = async () => {
		const canvas = document.createElement("canvas"), paper = canvas.getContext("2d"), picture = new Image();
		[canvas.width, canvas.height] = [640, 480];
		picture.src = %q;
		await picture.decode();
		setInterval(() => {
			paper.fillStyle = "#8a8478";
			paper.fillRect(0, 0, 640, 480);
			paper.setTransform(1, 0.12, -0.12, 1, 320, 240);
			paper.drawImage(picture, -120, -120, 240, 240);
			paper.resetTransform();
			paper.fillStyle = "rgb(40 30 20 / 0.3)";
			paper.fillRect(0, 0, 640, 480);
		}, 100);
		return canvas.captureStream();
	};`

// heardAudio keeps what plays sounds, and whether it has.
const heardAudio = `
	window.players = [];
	AudioContext = class extends AudioContext {
		constructor() {
			super();
			players.push(this);
			this.onstatechange = () => { this.played ||= this.state === "running"; };
		}
	};`

// TestCamera admits by a camera where the browser reads no QR codes (make pages). It is heard, and what plays the sounds
// sleeps between them.
func TestCamera(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t).Register("steward@example.org")
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
	id, token := s.Place("ada@example.org", ids[0], 1)
	page := strings.TrimSuffix(s.URL, "/api/v1") + "/gate"
	b := &buyer{window: openBrowser(t).open(t, page, size{width: 390, height: 844, scale: 2, touch: true}), shop: s, name: "camera", axe: readAxe(t)}
	code, err := qr.Encode(s.Order(id, token).Str("tickets.0.qr"), qr.M)
	require.NoError(t, err)
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG())
	b.do("Page.addScriptToEvaluateOnNewDocument", params{"source": fmt.Sprintf(drawnCamera, picture) + heardAudio})
	b.load(page)
	b.fill("#email", "steward@example.org")
	b.fill("#password", "correct horse")
	b.insist("button.wide", "#event")
	b.choose("button.wide")
	b.there("#door")
	b.choose("main > button.wide")
	held := func() {} // before the camera, which sees it again by itself
	b.awaitVerdict(".verdict.good", held)
	b.keepIn("pages", "camera-admitted")
	b.until(`!document.querySelector(".verdict")`) // it goes by itself, and the same code counts again
	b.step("sees", "video:not([hidden])")
	b.awaitVerdict(".verdict.bad", held)
	b.until(`players.length === 1 && players[0].played && players[0].state === "suspended"`)
	b.faultless()
}
