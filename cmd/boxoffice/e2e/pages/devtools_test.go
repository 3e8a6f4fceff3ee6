package pages

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

// browserTime bounds a command to the browser, and what a page is waited for.
const browserTime = 90 * time.Second

// browser is a headless Chromium, driven by the DevTools
// protocol (https://chromedevtools.github.io/devtools-protocol) through a pipe.
type browser struct {
	pipe *os.File

	mu      sync.Mutex
	last    int
	replies map[int]chan message // nil: the browser has ended
	windows map[string]*window   // by session
}

// message is what the browser says: a reply to a command, or an event.
type message struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Session string          `json:"sessionId"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// shared is the browser of all tests that run at a time. Their windows share nothing, and a browser
// of each test's own would cost more than most pages do.
var shared struct {
	mu    sync.Mutex
	b     *browser
	users int // tests that have it open
	close func(testing.TB)
}

// openBrowser returns the shared browser until the test ends, or skips the test where there is no
// Chromium. The first test starts the browser, and the last one that has it open ends it.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users == 0 {
		shared.b, shared.close = startBrowser(t)
	}
	shared.users++
	t.Cleanup(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if shared.users--; shared.users == 0 {
			shared.close(t)
		}
	})
	return shared.b
}

// startBrowser starts Chromium. The function that it returns ends it.
func startBrowser(t testing.TB) (*browser, func(testing.TB)) {
	t.Helper()
	path := persisttest.Program(t, "make page-test installs it", "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
	profile, err := os.MkdirTemp("", "browser") //nolint:usetesting // it outlives the test that starts the browser
	require.NoError(t, err)
	ours, theirs := pipe(t), pipe(t)
	// A key counts although the page's first frame is still under way, and no window waits behind another.
	cmd := exec.Command(path, "--allow-pre-commit-input", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--disable-background-networking", "--lang=en-GB", "--remote-debugging-pipe", "--user-data-dir="+profile)
	cmd.ExtraFiles = []*os.File{theirs.read, ours.write} // 3: commands, 4: what it says
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.read.Close())
	require.NoError(t, ours.write.Close())
	b := &browser{pipe: theirs.write, replies: map[int]chan message{}, windows: map[string]*window{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.listen(ours.read)
	}()
	return b, func(t testing.TB) {
		b.send(t, "", "Browser.close", nil, nil)
		_ = cmd.Wait() // its status says nothing more
		<-done
		_, _ = theirs.write.Close(), ours.read.Close()
		require.NoError(t, os.RemoveAll(profile))
	}
}

type ends struct{ read, write *os.File }

func pipe(t testing.TB) ends {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	return ends{r, w}
}

// listen takes what the browser says until it ends.
func (b *browser) listen(from *os.File) {
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue // a later field we don't ask for
		}
		b.mu.Lock()
		if m.ID != 0 {
			b.replies[m.ID] <- m
			delete(b.replies, m.ID)
		} else if w := b.windows[m.Session]; w != nil {
			w.happened(&m)
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, reply := range b.replies {
		close(reply)
	}
	b.replies = nil
}

type params = map[string]any

// send sends a command and reads what it answers into result.
func (b *browser) send(t testing.TB, session, method string, p params, result any) {
	t.Helper()
	if refused := b.try(t, session, method, p, result); refused != "" {
		require.Fail(t, refused, "%s %v", method, p)
	}
}

// try sends a command that the browser may refuse, and says why if it does.
func (b *browser) try(t testing.TB, session, method string, p params, result any) (refused string) {
	t.Helper()
	reply := make(chan message, 1)
	b.mu.Lock()
	require.NotNil(t, b.replies, "the browser has ended")
	b.last++
	b.replies[b.last] = reply
	text, err := json.Marshal(params{"id": b.last, "method": method, "params": p, "sessionId": session})
	if session == "" {
		text, err = json.Marshal(params{"id": b.last, "method": method, "params": p})
	}
	b.mu.Unlock()
	require.NoError(t, err)
	_, err = b.pipe.Write(append(text, 0))
	require.NoError(t, err)
	select {
	case m, ok := <-reply:
		require.True(t, ok || method == "Browser.close", "%s: the browser has ended", method)
		if m.Error != nil {
			return m.Error.Message
		}
		if result != nil {
			require.NoError(t, json.Unmarshal(m.Result, result))
		}
	case <-time.After(browserTime):
		require.Fail(t, "no answer", "%s %v", method, p)
	}
	return ""
}

// window is a window of its own: it shares no memory with others. What is wrong
// with its page gathers in it.
type window struct {
	*browser
	t       testing.TB
	session string
	context string // that it shares with its other tabs
	origin  string
	as      size
	wrong   []string // under the browser's lock
}

// size is how large a window is, in CSS pixels.
type size struct {
	width, height int
	scale         float64 // device pixels of one
	dark, touch   bool
	language      string // what it asks servers for; "": English
}

var laptop = size{width: 1280, height: 800, scale: 1}

// open opens a page in a new window, which is closed when the test ends.
func (b *browser) open(t testing.TB, url string, as size) *window {
	t.Helper()
	var made struct{ BrowserContextID, TargetID, SessionID string }
	b.send(t, "", "Target.createBrowserContext", nil, &made)
	b.send(t, "", "Target.createTarget", params{"url": "about:blank", "browserContextId": made.BrowserContextID}, &made)
	b.send(t, "", "Target.attachToTarget", params{"targetId": made.TargetID, "flatten": true}, &made)
	t.Cleanup(func() {
		b.send(t, "", "Target.disposeBrowserContext", params{"browserContextId": made.BrowserContextID}, nil)
	})
	at := strings.SplitAfterN(url, "/", 4)
	w := &window{browser: b, t: t, session: made.SessionID, context: made.BrowserContextID, origin: strings.Join(at[:3], ""), as: as}
	w.prepare()
	w.load(url)
	return w
}

// openTab opens another tab in the window.
func (w *window) openTab() *window {
	w.t.Helper()
	var made struct{ TargetID, SessionID string }
	w.send(w.t, "", "Target.createTarget", params{"url": "about:blank", "browserContextId": w.context}, &made)
	w.send(w.t, "", "Target.attachToTarget", params{"targetId": made.TargetID, "flatten": true}, &made)
	tab := &window{browser: w.browser, t: w.t, session: made.SessionID, context: w.context, origin: w.origin, as: w.as}
	tab.prepare()
	return tab
}

// prepare notes what is wrong with the window's pages from now on, and gives it its size and looks.
func (w *window) prepare() {
	w.t.Helper()
	w.mu.Lock()
	w.windows[w.session] = w
	w.mu.Unlock()
	w.t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.windows, w.session)
	})
	as := w.as
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		w.do(domain+".enable", nil)
	}
	w.resize(as.width)
	if as.language != "" {
		w.do("Network.setExtraHTTPHeaders", params{"headers": params{"Accept-Language": as.language}})
	}
	scheme := "light"
	if as.dark {
		scheme = "dark"
	}
	w.do("Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
	w.do("Emulation.setFocusEmulationEnabled", params{"enabled": true})
	if as.touch {
		w.do("Emulation.setTouchEmulationEnabled", params{"enabled": true})
	}
}

// resize gives the window another width, in CSS pixels.
func (w *window) resize(width int) {
	w.t.Helper()
	w.do("Emulation.setDeviceMetricsOverride", params{"width": width, "height": w.as.height, "deviceScaleFactor": w.as.scale, "mobile": w.as.touch})
}

// load opens a page and waits until its script has started it, or said what is
// the matter.
func (w *window) load(url string) {
	w.t.Helper()
	w.do("Page.navigate", params{"url": url})
	w.until(`document.readyState === "complete"`)
	w.until(`true`) // which waits for the script, and for that of the page that it leads to
}

// happened notes what should not happen: errors, breaches of the policy, and
// requests to elsewhere. The browser's lock is held.
func (w *window) happened(m *message) {
	var p struct {
		Type             string
		Args             []struct{ Value, Description any }
		ExceptionDetails struct{ Exception struct{ Description string } }
		Entry            struct{ Level, Source, Text, URL string }
		Request          struct{ URL string }
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return // an event of another form
	}
	switch {
	case m.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning"):
		w.wrong = append(w.wrong, fmt.Sprint(p.Args))
	case m.Method == "Runtime.exceptionThrown":
		w.wrong = append(w.wrong, p.ExceptionDetails.Exception.Description)
	case m.Method == "Log.entryAdded" && (p.Entry.Level == "error" || p.Entry.Level == "warning"):
		w.wrong = append(w.wrong, p.Entry.Text+" "+p.Entry.URL)
	case m.Method == "Network.requestWillBeSent" && !strings.HasPrefix(p.Request.URL, w.origin) && !strings.HasPrefix(p.Request.URL, "data:"):
		w.wrong = append(w.wrong, "request to "+p.Request.URL)
	}
}

// faultless checks that nothing was wrong with the page so far.
func (w *window) faultless() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Empty(w.t, w.wrong)
}

// forget drops what was wrong, when that was meant to happen.
func (w *window) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = nil
}

func (w *window) do(method string, p params) {
	w.t.Helper()
	w.send(w.t, w.session, method, p, nil)
}

// inPage is where expressions of a page are evaluated: sale and map are those of
// its script. It waits until the page is loaded, because an import before the page
// has run its script would run that script too early.
const inPage = `(async () => {
	if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
	const script = document.querySelector("script[type=module]");
	const {sale, map} = script ? await import(script.src) : {};
	%s
})()`

// run evaluates an expression of the page, and waits if it is a promise.
func (w *window) run(expression string) any {
	w.t.Helper()
	return w.evaluate(fmt.Sprintf(inPage, "return "+expression))
}

func (w *window) evaluate(expression string) any {
	w.t.Helper()
	value, refused := w.tryEvaluate(expression)
	if refused != "" {
		require.Fail(w.t, refused, expression)
	}
	return value
}

// tryEvaluate evaluates an expression, and says why if the page goes elsewhere meanwhile.
func (w *window) tryEvaluate(expression string) (value any, refused string) {
	w.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	refused = w.try(w.t, w.session, "Runtime.evaluate", params{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &r)
	if e := r.ExceptionDetails; e != nil {
		require.Fail(w.t, e.Text+" "+e.Exception.Description, expression)
	}
	return r.Result.Value, refused
}

// until waits for an expression of the page to be true, and says how long that
// took.
func (w *window) until(expression string) time.Duration {
	w.t.Helper()
	began := time.Now()
	look := fmt.Sprintf(inPage, `
		const end = performance.now() + `+strconv.FormatInt((browserTime/2).Milliseconds(), 10)+`;
		while (!(`+expression+`)) {
			if (performance.now() > end) return false;
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		return true`)
	value, refused := w.tryEvaluate(look)
	for refused != "" && time.Since(began) < browserTime { // the page went on to another, which is asked in its turn
		value, refused = w.tryEvaluate(look)
	}
	require.Empty(w.t, refused, expression)
	if value != true {
		require.Fail(w.t, "never: "+expression, w.evaluate(`document.body.innerText`))
	}
	return time.Since(began)
}

// goBack leaves a page as the browser's button does. The page may be gone before it could answer.
func (w *window) goBack() {
	w.t.Helper()
	w.tryEvaluate("history.back()")
}

// click clicks with the mouse.
func (w *window) click(x, y float64) {
	w.t.Helper()
	w.mouse("mouseMoved", x, y, "none")
	w.mouse("mousePressed", x, y, "left")
	w.mouse("mouseReleased", x, y, "left")
}

func (w *window) mouse(event string, x, y float64, button string) {
	w.t.Helper()
	p := params{"type": event, "x": x, "y": y, "button": button}
	if button == "left" {
		p["clickCount"], p["buttons"] = 1, 1
	}
	w.do("Input.dispatchMouseEvent", p)
}

// tap taps with a finger.
func (w *window) tap(x, y float64) {
	w.t.Helper()
	w.do("Input.dispatchTouchEvent", params{"type": "touchStart", "touchPoints": []params{{"x": x, "y": y}}})
	w.do("Input.dispatchTouchEvent", params{"type": "touchEnd", "touchPoints": []params{}})
}

// press presses keys by name.
func (w *window) press(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		p := params{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": map[string]int{"Tab": 9, "Enter": 13, "ArrowRight": 39, "End": 35}[key]}
		if key == "Enter" {
			p["text"] = "\r"
		}
		w.do("Input.dispatchKeyEvent", p)
		p["type"] = "keyUp"
		delete(p, "text")
		w.do("Input.dispatchKeyEvent", p)
	}
}

// write types a text where the focus is.
func (w *window) write(text string) {
	w.t.Helper()
	w.do("Input.insertText", params{"text": text})
}

// keep keeps a picture of the window under out/seats.
func (w *window) keep(name string) {
	w.t.Helper()
	w.keepIn("seats", name)
}

// keepIn keeps a picture of the window in a folder under out.
func (w *window) keepIn(folder, name string) {
	w.t.Helper()
	w.picture(folder, name, params{"format": "png"})
}

// keepWhole keeps a picture of the window's page down to its end under out/pages.
func (w *window) keepWhole(name string) {
	w.t.Helper()
	w.picture("pages", name, params{"format": "png", "captureBeyondViewport": true})
}

// picture keeps a picture as the browser is asked to take it. Nobody looks at those of continuous integration, so
// it takes none there.
func (w *window) picture(folder, name string, of params) {
	w.t.Helper()
	if os.Getenv("CI") == "true" {
		return
	}
	var r struct{ Data string }
	w.send(w.t, w.session, "Page.captureScreenshot", of, &r)
	png, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(w.t, err)
	dir := filepath.Join("..", "..", "..", "..", "out", folder)
	require.NoError(w.t, os.MkdirAll(dir, 0o755))                                   //nolint:gosec // pictures for everybody
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)) //nolint:gosec // as above
}
