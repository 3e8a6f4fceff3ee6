package security

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
)

const (
	imagesPath  = "/media/upload"
	filesPath   = "/media/upload-file"
	unsupported = "UNSUPPORTED_FILE_TYPE"
)

// hostileFile is a file that somebody sends who means harm, and what comes of it.
type hostileFile struct {
	what   string
	path   string
	file   string // its name
	media  string
	body   []byte
	code   string // of the refusal; none: it is taken
	kept   string // the name it is known by; none: file
	absent string // what nothing that is served of it contains
}

// bombs become much larger when they are unpacked.
func bombs(t *testing.T) []hostileFile {
	t.Helper()
	const side = 50_000
	return []hostileFile{
		{"a PNG of 50,000 x 50,000", imagesPath, "a.png", "image/png", pngBomb(t, side, side, side), unsupported, "", ""},
		{"a PNG of 1 x 2 thousand million", imagesPath, "a.png", "image/png", pngBomb(t, 1, 1<<31-1, 1), unsupported, "", ""},
		{"a PNG with more rows than it says", imagesPath, "a.png", "image/png", pngBomb(t, 4_000, 10, side), unsupported, "", ""},
		{"a PNG with fewer rows than it says", imagesPath, "a.png", "image/png", pngBomb(t, 9_000, 9_000, 10), unsupported, "", ""},
		{"a PNG with a text that grows", imagesPath, "a.png", "image/png", pngWith(t, "zTXt", append([]byte("Comment\x00\x00"), deflated(t, 256<<20)...)), "", "", "Comment"},
		{"a PNG with a profile that grows", imagesPath, "a.png", "image/png", pngWith(t, "iCCP", append([]byte("profile\x00\x00"), deflated(t, 256<<20)...)), "", "", "profile"},
		{"a JPEG of 65,500 x 65,500", imagesPath, "a.jpg", "image/jpeg", jpegOf(t, 65_500, 65_500), unsupported, "", ""},
		{"a JPEG of 10,000 x 10,000 without pixels", imagesPath, "a.jpg", "image/jpeg", jpegOf(t, 10_000, 10_000), unsupported, "", ""},
		{"a WebP of 16 million x 16 million", imagesPath, "a.webp", "image/webp", webpOf(1<<24-1, 1<<24-1), unsupported, "", ""},
		{"an AVIF of 60,000 x 60,000", imagesPath, "a.avif", "image/avif", avifOf(t, 60_000, 60_000), unsupported, "", ""},
		{"a zip of zips, which is never unpacked", filesPath, "42.zip", "application/zip", zipBomb(t, 3), "", "", ""},
		{"a zip whose files lead out of it", filesPath, "a.zip", "application/zip", zipped(t, "../../../../etc/cron.d/a", `..\..\boot.ini`, "/etc/passwd"), "", "", ""},
	}
}

// polyglots are files of two kinds at once. What is taken is kept as pixels alone, or
// served in a way in which no browser runs it.
func polyglots(t *testing.T) []hostileFile {
	t.Helper()
	const script = "<script>alert(1)</script>"
	picture := nodetest.PNG(t, 40, 30)
	behind := func(b []byte, more ...byte) []byte { return append(slices.Clone(b), more...) }
	return []hostileFile{
		{"a PNG with a page behind it", imagesPath, "a.png", "image/png", behind(picture, []byte(script)...), "", "", "script"},
		{"a PNG with a zip behind it", imagesPath, "a.png", "image/png", behind(picture, zipped(t, "evil.class")...), "", "", "evil"},
		{"a PNG with a page in a text", imagesPath, "a.png", "image/png", pngWith(t, "tEXt", []byte("Comment\x00"+script)), "", "", "script"},
		{"a JPEG with a page in a comment", imagesPath, "a.jpg", "image/jpeg", jpegWith(t, 0xfe, "*/=alert(1)/*"+script), "", "", "script"},
		{"a JPEG that PHP would run", imagesPath, "a.jpg", "image/jpeg", jpegWith(t, 0xed, "<?php system($_GET[0]); ?>"), "", "", "php"},
		{"a GIF that is a script", filesPath, "a.gif", "image/gif", []byte("GIF89a/*\x00\x00\x00\x00*/=alert(1);"), "", "", ""},
		{"a GIF that is a script, as an image", imagesPath, "a.gif", "image/gif", []byte("GIF89a/*\x00\x00\x00\x00*/=alert(1);"), unsupported, "", ""},
		{"a PDF with a zip behind it", filesPath, "a.pdf", "application/pdf", append([]byte("%PDF-1.4\n%%EOF\n"), zipped(t, "a.txt")...), "", "", ""},
		{"a PDF with a page in it", filesPath, "a.pdf", "application/pdf", []byte("%PDF-1.4\n" + script), "", "", ""},
		{"a PDF that is a page but for its first line", filesPath, "a.pdf", "application/pdf", []byte("%PDF-1.4\n<!DOCTYPE html><html><body onload=alert(1)>" + script), "", "", ""},
		{"a script with the mark of a PDF", filesPath, "a.pdf", "application/pdf", []byte("%PDF-1.4/1;alert(1)//\n"), "", "", ""},
		{"a book that is a page", filesPath, "a.fb2", "application/x-fictionbook+xml", []byte(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`), unsupported, "", ""},
		{"a book with a script in it", filesPath, "a.fb2", "application/x-fictionbook+xml", []byte(`<?xml version="1.0"?><FictionBook xmlns:h="http://www.w3.org/1999/xhtml"><h:script>alert(1)</h:script></FictionBook>`), "", "", ""},
		{"a page with a PDF in it", filesPath, "a.pdf", "application/pdf", []byte("<html>" + script + "%PDF-1.4\n"), "", "", ""},
		{"a PNG as a PDF", filesPath, "a.pdf", "application/pdf", picture, unsupported, "", ""},
		{"a zip as a PDF", filesPath, "a.pdf", "application/pdf", zipped(t, "a.pdf"), unsupported, "", ""},
		{"a program of Java as a document", filesPath, "a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zipped(t, "META-INF/MANIFEST.MF", "A.class"), unsupported, "", ""},
	}
}

// markup is what browsers run, under every name of an image.
func markup() (all []hostileFile) {
	for what, body := range map[string]string{
		"an SVG":               `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"an SVG behind XML":    `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"a page":               "<!DOCTYPE html><script>alert(1)</script>",
		"a page behind spaces": "\n\n   <HTML><body onload=alert(1)>",
	} {
		for name, media := range map[string]string{"a.png": "image/png", "a.jpg": "image/jpeg", "a.webp": "image/webp", "a.avif": "image/avif", "a.svg": "image/svg+xml"} {
			all = append(all, hostileFile{what + " as " + name, imagesPath, name, media, []byte(body), unsupported, "", ""})
		}
		all = append(all,
			hostileFile{what + " as a text", filesPath, "a.txt", "text/plain", []byte(body), unsupported, "", ""},
			hostileFile{what + " as a picture for download", filesPath, "a.png", "image/png", []byte(body), unsupported, "", ""},
			hostileFile{what + " under its own type", filesPath, "a.html", "text/html", []byte(body), unsupported, "", ""})
	}
	return all
}

// programs are what machines run, under names of documents.
func programs() (all []hostileFile) {
	for what, body := range map[string]string{
		"a program for Linux":   "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00",
		"a program for Windows": "MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00",
		"a program for macOS":   "\xcf\xfa\xed\xfe\x07\x00\x00\x01\x03\x00\x00\x00\x02\x00\x00\x00",
		"a class of Java":       "\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x1d",
		"a module of wasm":      "\x00asm\x01\x00\x00\x00",
		"a script of a shell":   "#!/bin/sh\nrm -rf /\n",
		"a script of Python":    "#!/usr/bin/env python3\nimport os\n",
		"a script of PHP":       "<?php system($_GET[0]); ?>",
	} {
		for name, media := range map[string]string{
			"a.pdf": "application/pdf", "a.doc": "application/msword", "a.txt": "text/plain", "a.csv": "text/csv", "a.epub": "application/epub+zip",
			"a.zip": "application/zip", "a.mp3": "audio/mpeg", "a.mp4": "video/mp4", "a.exe": "application/octet-stream",
		} {
			all = append(all, hostileFile{what + " as " + name, filesPath, name, media, []byte(body), unsupported, "", ""})
		}
	}
	return all
}

// names would lead out of a folder, end a header or hide a type.
func names() (all []hostileFile) {
	for sent, kept := range map[string]string{
		"../../../../etc/passwd.txt": "passwd.txt", "/etc/passwd.txt": "passwd.txt", `..\..\boot.txt`: "boot.txt", `C:\Windows\a.txt`: "a.txt",
		"a.txt/../../b.txt": "b.txt", "..../b.txt": "b.txt", "....txt": "txt", ".htaccess.txt": "htaccess.txt", "file:///etc/a.txt": "a.txt", "a.php.txt": "a.php.txt",
		"a\u202etxt.exe.txt": "atxt.exe.txt", "a\u200b\ufeff.txt": "a.txt", "a\"b.txt": "ab.txt", "<img onerror=alert(1)>.txt": "img onerror=alert(1).txt",
		"a%00.txt": "a%00.txt", "%2e%2e%2fa.txt": "%2e%2e%2fa.txt", "$(id).txt": "$(id).txt", strings.Repeat("n", 5_000) + ".txt": strings.Repeat("n", 196) + ".txt",
	} {
		f := hostileFile{"a file called " + sent, filesPath, sent, "text/plain", []byte("a"), "", kept, ""}
		if filepath.Ext(kept) == "" {
			f.code, f.kept = unsupported, ""
		}
		all = append(all, f)
	}
	for _, sent := range []string{"a.txt\r\nContent-Type: text/html\r\n\r\n<script>", "a\r\n.txt"} {
		all = append(all, hostileFile{fmt.Sprintf("a file called %q", sent), filesPath, sent, "text/plain", []byte("a"), "VALIDATION_ERROR", "", ""})
	}
	return append(all, hostileFile{"a text under a name of two types", filesPath, "a.txt;.exe", "text/plain", []byte("a"), unsupported, "", ""})
}

// traces tell where a picture was taken, and with what.
func traces(t *testing.T) []hostileFile {
	t.Helper()
	return []hostileFile{
		{"a JPEG with a location", imagesPath, "a.jpg", "image/jpeg", jpegWith(t, 0xe1, gps), "", "", gpsDate},
		{"a JPEG with a location in XMP", imagesPath, "a.jpg", "image/jpeg", jpegWith(t, 0xe1, "http://ns.adobe.com/xap/1.0/\x00<exif:GPSLatitude>52,31N"), "", "", "GPSLatitude"},
		{"a JPEG with an author", imagesPath, "a.jpg", "image/jpeg", jpegWith(t, 0xed, "Photoshop 3.0\x008BIM Ada Lovelace"), "", "", "Lovelace"},
		{"a PNG with a location", imagesPath, "a.png", "image/png", pngWith(t, "eXIf", []byte(gps[6:])), "", "", gpsDate},
	}
}

// TestHostileFiles sends what should do harm as files, to each store: each is given the
// right answer, what is taken is served in a way that harms nobody, and nothing is left
// of the rest.
func TestHostileFiles(t *testing.T) { nodetest.OnEachStore(t, testHostileFiles) }

func testHostileFiles(t *testing.T, s *nodetest.Shop) {
	s.Org()
	files := slices.Concat(bombs(t), polyglots(t), markup(), programs(), names(), traces(t))
	stored := 0
	for _, f := range files {
		stored += f.send(t, s)
	}
	cut := cutUploads(t, s)
	for what, c := range cut {
		require.Equal(t, c.want, exchangeRaw(t, s, what, c.raw), what)
	}
	stored += 2 // of two requests that are as they should be
	requireKept(t, s, stored)
	t.Logf("hostile files: %d files and %d requests, each answered as it should be; %d blobs stored, none left over", len(files), len(cut), stored)
}

// send uploads the file, and looks at all that is served of it. It returns how many blobs
// should be stored.
func (f *hostileFile) send(t *testing.T, s *nodetest.Shop) int {
	t.Helper()
	a := s.Upload(f.path, nodetest.Upload{Name: f.file, Type: f.media, Body: f.body}, s.Bearer()...)
	switch f.code {
	case "":
		require.Equal(t, 201, a.Status, "%s: %v", f.what, a.Body)
	case unsupported:
		require.Equal(t, 415, a.Status, "%s: %v", f.what, a.Body)
		require.Equal(t, f.code, a.Get("error.code"), f.what)
		return 0
	default:
		require.Equal(t, 400, a.Status, "%s: %v", f.what, a.Body)
		require.Equal(t, f.code, a.Get("error.code"), f.what)
		return 0
	}
	if f.path == imagesPath {
		for size := range a.Data("variants").(map[string]any) {
			for _, format := range []string{"webp", "jpeg"} {
				f.look(t, s, a.Str("variants."+size+"."+format), "inline", nil)
			}
		}
		f.look(t, s, a.Str("primaryUrl"), "inline", nil)
		return 6
	}
	if f.kept != "" {
		require.Equal(t, f.kept, a.Str("filename"), f.what)
	}
	f.look(t, s, a.Str("primaryUrl"), "attachment", f.body)
	return 1
}

// look reads what is served of the file.
func (f *hostileFile) look(t *testing.T, s *nodetest.Shop, path, disposition string, body []byte) {
	t.Helper()
	res, text := s.Get(path)
	require.Equal(t, 200, res.StatusCode, f.what)
	f.runsNowhere(t, res, disposition)
	part, _ := s.Get(path, "Range", "bytes=0-")
	require.Equal(t, 206, part.StatusCode, f.what)
	f.runsNowhere(t, part, disposition)
	if f.absent != "" {
		require.NotContains(t, text, f.absent, f.what)
		require.NotContains(t, text, "Exif", f.what)
	}
	if body != nil {
		require.Equal(t, f.media, res.Header.Get("Content-Type"), f.what)
		require.True(t, text == string(body), f.what)
	}
}

// runsNowhere says that no browser makes a page of an answer, whatever its bytes are: it takes the
// type that it is told, saves what is no image, and would run nothing of it in its window.
func (f *hostileFile) runsNowhere(t *testing.T, res *http.Response, disposition string) {
	t.Helper()
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"), f.what)
	require.Equal(t, "default-src 'none'; sandbox", res.Header.Get("Content-Security-Policy"), f.what)
	require.NotRegexp(t, `html|svg|script`, res.Header.Get("Content-Type"), f.what)
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition"))
	require.NoError(t, err, f.what)
	require.Equal(t, disposition, kind, f.what)
	require.NotContains(t, params["filename"], "/", f.what)
}

// requireKept says that so many blobs are stored, and that nothing else is left: neither a
// row that is not ready nor a file on its way.
func requireKept(t *testing.T, s *nodetest.Shop, blobs int) {
	t.Helper()
	s.Becomes("[]", func() string { return fmt.Sprint(s.Spooled()) }) // a cut connection is noticed soon
	require.Len(t, s.Stored(), blobs)
	var unready int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM media WHERE NOT ready`).Scan(&unready))
	require.Zero(t, unready)
}

// rawUpload is a request as bytes, and the statuses of all answers on its connection.
type rawUpload struct {
	raw  []byte
	want []int
}

const border = "border"

// text is long enough for its upload to leave the loop of requests.
var text = strings.Repeat("hello ", 4_000)

// form is the body of a form with one text, whole or not.
func form(end string) string {
	return "--" + border + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n" + text + end
}

// uploadHead is the beginning of an upload; headers end in CRLF.
func uploadHead(s *nodetest.Shop, headers string) string {
	bearer := s.Bearer()
	return "POST /api/v1" + filesPath + " HTTP/1.1\r\nHost: x\r\n" + bearer[0] + ": " + bearer[1] + "\r\n" +
		"Content-Type: multipart/form-data; boundary=" + border + "\r\n" + headers + "\r\n"
}

// cutUploads end early, lie about their length, or hide a request behind them. None is
// taken for more than one request.
func cutUploads(t *testing.T, s *nodetest.Shop) map[string]rawUpload {
	t.Helper()
	whole := form("\r\n--" + border + "--\r\n")
	hidden := "GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }
	const chunked = "Transfer-Encoding: chunked\r\n"
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	of := func(headers, body string, want ...int) rawUpload {
		return rawUpload{[]byte(uploadHead(s, headers) + body), want}
	}
	return map[string]rawUpload{
		"cut in the file":                  of(length(len(whole)), form("")[:len(form(""))-2], 400),
		"cut before the last border":       of(length(len(whole)), form(""), 400),
		"cut before the file":              of(length(len(whole)), "--"+border, 400),
		"no last border":                   of(length(len(form(""))), form(""), 400),
		"a length that is too small":       of(length(len(whole)-30), whole, 400),
		"a length that is too large":       of(length(len(whole)+30), whole, 400),
		"a chunk that is cut":              of(chunked, fmt.Sprintf("%x\r\n%s", len(whole), form("")), 400),
		"chunks without an end":            of(chunked, chunk(form("")), 400),
		"a chunk of no size":               of(chunked, "zz\r\n"+whole+"\r\n0\r\n\r\n", 400),
		"a chunk of a negative size":       of(chunked, "-5\r\n"+whole+"\r\n0\r\n\r\n", 400),
		"a length that is negative":        of("Content-Length: -1\r\n", "", 400),
		"a length that overflows":          of("Content-Length: 99999999999999999999\r\n", "", 400),
		"two lengths":                      of(length(len(whole))+length(4), "", 400),
		"a length and chunks":              of(length(len(whole))+chunked, "", 400),
		"chunks twice":                     of(chunked+chunked, "", 400),
		"another coding":                   of("Transfer-Encoding: gzip\r\n", "", 400),
		"packed":                           of(length(len(whole))+"Content-Encoding: gzip\r\n", whole, 415),
		"a request behind a refusal":       of(length(len(text)), text+hidden, 400),
		"a request behind the border":      of(length(len(form(""))), form("")+hidden, 400),
		"no length":                        of("", "", 400),
		"as long as it should be":          of(length(len(whole)), whole+hidden, 201),
		"chunks as they should be":         of(chunked, chunk(whole)+"0\r\n\r\n"+hidden, 201),
		"a request that the length covers": of(length(len(form("")+hidden)), form("")+hidden, 400),
	}
}

// exchangeRaw sends bytes, ends the sending, and returns the statuses of all answers.
func exchangeRaw(t *testing.T, s *nodetest.Shop, what string, raw []byte) (statuses []int) {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Config().Listen)
	require.NoError(t, err)
	defer func() { _ = c.Close() }() // the node may have closed it
	_, err = c.Write(raw)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	for r := bufio.NewReader(c); ; {
		res, err := http.ReadResponse(r, nil)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return statuses
		}
		require.NoError(t, err, what)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, errors.Join(err, res.Body.Close()), what)
		statuses = append(statuses, res.StatusCode)
	}
}

// holdUpload begins an upload, and goes on with it as steadily as a body must come in, until end is called. end returns
// the status of the answer.
func holdUpload(t *testing.T, s *nodetest.Shop, credential, address string) (end func() int) {
	t.Helper()
	body, feed := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+filesPath, body) // in chunks
	require.NoError(t, err)
	req.Header.Set("Authorization", credential)
	req.Header.Set("X-Forwarded-For", address)
	req.Header.Set("Content-Type", "multipart/form-data; boundary="+border)
	answers := make(chan posted, 1)
	go func() { answers <- post(req) }()
	ends := make(chan struct{})
	go func() {
		defer feed.Close()
		_, err := io.WriteString(feed, form(""))
		for more := time.Tick(200 * time.Millisecond); err == nil; {
			select {
			case <-more:
				_, err = io.WriteString(feed, text)
			case <-ends:
				_, _ = io.WriteString(feed, "\r\n--"+border+"--\r\n")
				return
			}
		}
	}()
	return func() int {
		close(ends)
		a := <-answers
		require.NoError(t, a.err)
		return a.status
	}
}

// TestUploadsAtOnce holds as many uploads open as a credential, a network and the node may have: the
// next is told to come back, others are let in, and all that were begun end well.
func TestUploadsAtOnce(t *testing.T) {
	t.Parallel()
	const perCredential, perNetwork, perNode = 4, 8, 64
	s := nodetest.Open(t, func(c *node.Config) { c.TrustedProxies, c.MaxPerAddress = []string{"127.0.0.1"}, 1_000 })
	s.Org()
	credentials := []string{s.Bearer()[1]}
	for range perNode/perCredential + 1 {
		credentials = append(credentials, "Bearer "+s.Key(nil).Str("secret"))
	}
	network := func(i int) string { return fmt.Sprintf("2001:db8:77:%x::1", i) }
	refused := func(status int, credential, address string) {
		t.Helper()
		u := nodetest.Upload{Name: "a.txt", Type: "text/plain", Body: []byte("a")}
		a := s.Upload(filesPath, u, "Authorization", credential, "X-Forwarded-For", address)
		require.Equal(t, status, a.Status, "%v", a.Body)
	}
	var ends []func() int
	begin := func(credential, address string) {
		t.Helper()
		ends = append(ends, holdUpload(t, s, credential, address))
		s.Becomes(fmt.Sprint(len(ends)), func() string { return fmt.Sprint(len(s.Spooled())) })
	}
	for i := range perNode / perCredential {
		for range perCredential {
			begin(credentials[i], network(i*perCredential/perNetwork))
		}
		refused(429, credentials[i], network(100))
		if (i+1)*perCredential%perNetwork == 0 {
			refused(429, credentials[len(credentials)-1], network(i*perCredential/perNetwork))
		}
		if i == 0 {
			refused(201, credentials[len(credentials)-1], network(0))
		}
	}
	refused(503, credentials[len(credentials)-1], network(100))
	for _, end := range ends {
		require.Equal(t, 201, end())
	}
	refused(201, credentials[0], network(0))
	requireKept(t, s, perNode+2)
}

// TestFilesAreBoundWhileTheyAreRead sends endless files of all types in chunks: each is refused
// before its type's limit and a megabyte more have been sent, and one of no type at its beginning.
func TestFilesAreBoundWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.MediaVideoMB = 2 })
	s.Org()
	mp4 := "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom\x00\x00\x00\x08free"
	for what, one := range map[string]struct {
		path, field, name, media, head string
		most                           int
		code                           string
	}{
		"a text":          {filesPath, "", "a.txt", "text/plain", "text", 45 << 20, "FILE_TOO_LARGE"},
		"a video":         {filesPath, "video", "a.mp4", "video/mp4", mp4, 2 << 20, "FILE_TOO_LARGE"},
		"an image":        {imagesPath, "", "a.png", "image/png", string(nodetest.PNG(t, 9, 9)), 50 << 20, "FILE_TOO_LARGE"},
		"a program":       {filesPath, "", "a.exe", "application/octet-stream", "MZ", 0, "UNSUPPORTED_FILE_TYPE"},
		"a page as text":  {filesPath, "", "a.txt", "text/plain", "<!DOCTYPE html><script>", 0, "UNSUPPORTED_FILE_TYPE"},
		"a text as image": {imagesPath, "", "a.png", "image/png", "text", 0, "UNSUPPORTED_FILE_TYPE"},
		"a wrong type":    {filesPath, "", "a.txt", "application/pdf", "text", 0, "UNSUPPORTED_FILE_TYPE"},
	} {
		begin := ""
		if one.field != "" {
			begin = "--" + border + "\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\n" + one.field + "\r\n"
		}
		begin += "--" + border + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + one.name + "\"\r\nContent-Type: " + one.media + "\r\n\r\n" + one.head
		var sent *endless
		var text []byte
		for { // a busy machine may be told that the connection is closed before it reads the answer
			sent = &endless{begin: strings.NewReader(begin)}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+one.path, sent)
			require.NoError(t, err)
			req.Header.Set("Content-Type", "multipart/form-data; boundary="+border)
			req.Header.Set("Authorization", s.Bearer()[1])
			res, err := http.DefaultClient.Do(req)
			if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
				continue
			}
			require.NoError(t, err, what)
			text, err = io.ReadAll(res.Body)
			require.NoError(t, errors.Join(err, res.Body.Close()), what)
			break
		}
		require.Contains(t, string(text), one.code, what)
		t.Logf("%s: %d bytes sent", what, sent.bytes.Load())
		require.Less(t, sent.bytes.Load(), int64(one.most+24<<20), "%s: with what the system keeps for a connection", what)
	}
	require.Empty(t, s.Spooled())
}

// endless is a body that begins in some way and goes on with the letter a.
type endless struct {
	begin io.Reader
	bytes atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, _ := e.begin.Read(p) // at its end it is read no more
	if n == 0 {
		n = copy(p, bytes.Repeat([]byte("a"), len(p)))
	}
	e.bytes.Add(int64(n))
	return n, nil
}

// TestImagesAtOnce sends so many images at once: some are made, and the rest are told to
// come back.
func TestImagesAtOnce(t *testing.T) { nodetest.OnEachStore(t, testImagesAtOnce) }

func testImagesAtOnce(t *testing.T, s *nodetest.Shop) {
	s.Org()
	picture := nodetest.Upload{Name: "a.png", Type: "image/png", Body: nodetest.PNG(t, 1_000, 700)}
	answers := make([]posted, 64)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = postFile(t.Context(), s, picture, imagesPath) })
	}
	wg.Wait()
	count := map[int]int{}
	for _, a := range answers {
		require.NoError(t, a.err)
		count[a.status]++
		require.Equal(t, a.status == 429, a.retry != "")
	}
	require.Subset(t, []int{201, 429}, slices.Collect(maps.Keys(count)))
	require.Positive(t, count[201], "an organization has one image made at a time")
	requireKept(t, s, 6*count[201])
	t.Logf("%d images at once: %d made, %d told to come back", len(answers), count[201], count[429])
}

// posted is the answer to an upload.
type posted struct {
	status int
	retry  string
	err    error
}

func postFile(ctx context.Context, s *nodetest.Shop, u nodetest.Upload, path string) posted {
	body, media, err := u.Form()
	if err != nil {
		return posted{err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return posted{err: err}
	}
	bearer := s.Bearer()
	req.Header.Set("Content-Type", media)
	req.Header.Set(bearer[0], bearer[1])
	return post(req)
}

// post sends a request, and reads the answer to its end.
func post(req *http.Request) posted {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return posted{err: err}
	}
	_, err = io.Copy(io.Discard, res.Body)
	return posted{res.StatusCode, res.Header.Get("Retry-After"), errors.Join(err, res.Body.Close())}
}

// TestPrivateFilesStayPrivate asks for a private file in all ways that are not a valid
// link of a ticket's holder.
func TestPrivateFilesStayPrivate(t *testing.T) { nodetest.OnEachStore(t, testPrivateFiles) }

func testPrivateFiles(t *testing.T, s *nodetest.Shop) {
	s.Org()
	put := func(text string) (path string, id int64, tag string) {
		u := nodetest.Upload{Name: "a.txt", Type: "text/plain", Body: []byte(text), Fields: map[string]string{"private": "1"}}
		a := s.Upload(filesPath, u, s.Bearer()...).Is(201, "")
		res, body := s.Get(a.Str("primaryUrl"), s.Bearer()...)
		require.Equal(t, text, body, "its organization reads it")
		return a.Str("primaryUrl"), int64(a.Data("mediaId").(float64)), res.Header.Get("ETag")
	}
	const secret = "a paid secret"
	path, id, tag := put(secret)
	_, other, _ := put("another")
	stranger := s.As(s.Patient("POST", "/auth/register", nodetest.Object{"email": "other@example.org", "password": "correct horse", "organizationName": "Others"}).Is(201, "").Str("accessToken"))
	nobody := secrets.Viewer{Event: 1, Serial: 1, Version: secrets.Version}
	soon := time.Now().Add(time.Minute)
	ofOther := s.Secrets().MediaLink(other, nobody, soon)
	_, signed, _ := strings.Cut(ofOther, "?")
	asks := map[string][]string{
		"nothing":                {path},
		"a range":                {path, "Range", "bytes=0-3"},
		"its tag":                {path, "If-None-Match", tag},
		"any tag":                {path, "If-None-Match", "*"},
		"a time to come":         {path, "If-Modified-Since", soon.UTC().Format(http.TimeFormat)},
		"another's token":        append([]string{path}, stranger.Bearer()...),
		"a token that is none":   {path, "Authorization", "Bearer none"},
		"a time alone":           {path + "?exp=9999999999"},
		"an empty signature":     {path + "?exp=9999999999&sig="},
		"a signature of nothing": {path + "?exp=9999999999&sig=AAAA"},
		"another file's link":    {path + "?" + signed},
		"a link of no ticket":    {s.Secrets().MediaLink(id, nobody, soon)},
		"a link that has ended":  {s.Secrets().MediaLink(id, nobody, time.Now().Add(-time.Second))},
		"a number before it":     {strings.Replace(path, "/media/", "/media/0", 1)},
		"a variant":              {path + "/file"},
		"a part of its folder":   {path + "/../" + fmt.Sprint(id) + "/file"},
	}
	for what, ask := range asks {
		res, body := s.Get(ask[0], ask[1:]...)
		require.Contains(t, []int{401, 403, 404}, res.StatusCode, "%s: %s", what, body)
		require.NotContains(t, body, secret, what)
		require.NotContains(t, res.Header.Get("Cache-Control"), "public", what)
		require.Empty(t, res.Header.Get("ETag"), what)
	}
	t.Logf("private files: %d ways to ask, none answered", len(asks))
}
