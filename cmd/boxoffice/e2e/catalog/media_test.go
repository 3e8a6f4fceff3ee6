package catalog

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

const filesPath = "/media/upload-file"

// pdf is a document of some size, of the smallest kind that is one.
func pdf(size int) []byte {
	return append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte("% nothing\n"), size/10)...)
}

func textFile(name, text string) nodetest.Upload {
	return nodetest.Upload{Name: name, Type: "text/plain", Body: []byte(text)}
}

func TestUploadFile(t *testing.T) { nodetest.OnEachStore(t, testUploadFile) }

func testUploadFile(t *testing.T, s *nodetest.Shop) {
	s.Org()
	made := s.Upload(filesPath, textFile("notes.txt", "hello world"), s.Bearer()...).Is(201, "")
	require.Equal(t, nodetest.Words("mediaId primaryUrl filename bytes mime"), made.Keys(""))
	require.Equal(t, "notes.txt", made.Str("filename"))
	require.Equal(t, "11", made.Str("bytes"))
	require.Equal(t, "text/plain", made.Str("mime"))
	path := made.Str("primaryUrl")

	t.Log("everybody may read it, may keep it, and shows nothing of it")
	res, body := s.Get(path)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "hello world", body)
	require.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
	require.Equal(t, "attachment; filename=notes.txt", res.Header.Get("Content-Disposition"))
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	require.Contains(t, res.Header.Get("Content-Security-Policy"), "sandbox")
	tag := res.Header.Get("ETag")
	require.NotEmpty(t, tag)

	t.Log("whoever has it is told so")
	res, body = s.Get(path, "If-None-Match", tag)
	require.Equal(t, 304, res.StatusCode)
	require.Empty(t, body)
	res, _ = s.Get(path, "If-Modified-Since", res.Header.Get("Last-Modified"))
	require.Equal(t, 304, res.StatusCode)

	t.Log("parts of it")
	for asked, want := range map[string]string{"bytes=0-4": "hello", "bytes=6-": "world", "bytes=-3": "rld", "bytes=6-99": "world"} {
		res, body = s.Get(path, "Range", asked)
		require.Equal(t, 206, res.StatusCode)
		require.Equal(t, want, body)
		require.True(t, strings.HasSuffix(res.Header.Get("Content-Range"), "/11"))
	}
	for _, ignored := range []string{"bytes=0-1,3-4", "lines=1-2", "bytes=4-1"} {
		res, body = s.Get(path, "Range", ignored)
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "hello world", body)
	}
	res, _ = s.Get(path, "Range", "bytes=11-")
	require.Equal(t, 416, res.StatusCode)
	require.Equal(t, "bytes */11", res.Header.Get("Content-Range"))
	res, _ = s.Get(path, "Range", "bytes=0-4", "If-Range", `"other"`)
	require.Equal(t, 200, res.StatusCode)

	res, _ = s.Get("/media/17")
	require.Equal(t, 404, res.StatusCode)
	res, _ = s.Get("/media/abc")
	require.Equal(t, 404, res.StatusCode)
}

func TestUploadFileRefuses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	put := func(name, mediaType string, body []byte, fields ...string) nodetest.Answer {
		u := nodetest.Upload{Name: name, Type: mediaType, Body: body, Fields: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			u.Fields[fields[i]] = fields[i+1]
		}
		return s.Upload(filesPath, u, s.Bearer()...)
	}
	mp4 := []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom\x00\x00\x00\x08free")
	put("a.mp4", "video/mp4", mp4, "field", "video").Is(201, "")
	put("a.pdf", "application/pdf", pdf(100), "field", "pdf").Is(201, "")

	const refused = "UNSUPPORTED_FILE_TYPE"
	t.Log("the name, the declared type and the content must agree")
	put("a.exe", "application/octet-stream", []byte("MZ")).Is(415, refused)
	put("noextension", "text/plain", []byte("a")).Is(415, refused)
	put("a.pdf", "text/html", pdf(100)).Is(415, refused)
	put("a.txt", "application/pdf", pdf(100)).Is(415, refused)
	put("a.pdf", "application/pdf", []byte("MZ\x90\x00 a program")).Is(415, refused)
	put("a.pdf", "application/pdf", []byte("<html><script>alert(1)</script></html>")).Is(415, refused)
	put("a.txt", "text/plain", []byte("<!DOCTYPE html><script>alert(1)</script>")).Is(415, refused)
	put("a.txt", "text/plain", []byte("#!/bin/sh\nrm -rf /\n")).Is(415, refused)
	put("a.png", "image/png", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")).Is(415, refused)
	put("a.svg", "image/svg+xml", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")).Is(415, refused)
	put("a.mp4", "video/mp4", mp4, "field", "pdf").Is(415, refused)
	put("a.pdf", "application/pdf", pdf(100), "field", "video").Is(415, refused)

	put("a.txt", "text/plain", nil).Is(400, "EMPTY_FILE")
	put("a.pdf", "application/pdf", pdf(45<<20+20), "field", "pdf").Is(413, "FILE_TOO_LARGE")
	put("a.mp4", "video/mp4", append(mp4, make([]byte, 46<<20)...), "field", "video").Is(201, "")
	put("a.txt", "text/plain", []byte("a"), "field", "song").Invalid("field", "enum")
	put("a.txt", "text/plain", []byte("a"), "private", "yes").Invalid("private", "enum")
	put("a.txt", "text/plain", []byte("a"), "orgId", "7").Is(404, "NOT_FOUND")
	misnamed := textFile("a.txt", "a")
	misnamed.Field = "document"
	s.Upload(filesPath, misnamed, s.Bearer()...).Invalid("document", "unsupported")
	s.Own("POST", filesPath, nodetest.Object{"file": "a"}).Is(415, "UNSUPPORTED_MEDIA_TYPE")
	s.Upload(filesPath, textFile("a.txt", "a")).Is(401, "UNAUTHORIZED")

	t.Log("names lead nowhere")
	for name, kept := range map[string]string{
		"../../etc/passwd.txt": "passwd.txt", `..\..\boot.txt`: "boot.txt", "a\u202etxt.txt": "atxt.txt", "..txt.txt": "txt.txt", "ü b.txt": "ü b.txt",
	} {
		require.Equal(t, kept, put(name, "text/plain", []byte("a")).Is(201, "").Str("filename"))
	}
	require.Empty(t, s.Spooled(), "nothing is left behind")
}

func TestUploadOnceUnderAKey(t *testing.T) { nodetest.OnEachStore(t, testUploadOnceUnderAKey) }

func testUploadOnceUnderAKey(t *testing.T, s *nodetest.Shop) {
	s.Org()
	key := append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	first := s.Upload(filesPath, textFile("a.txt", "one"), key...).Is(201, "")
	require.Equal(t, first.Body, s.Upload(filesPath, textFile("a.txt", "one"), key...).Is(201, "").Body, "with other borders")
	s.Upload(filesPath, textFile("a.txt", "two"), key...).Is(409, "IDEMPOTENCY_KEY_REUSED")
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was stored
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE media SET ready = false`)
	require.NoError(t, err)
	for _, stored := range s.Stored() {
		require.NoError(t, os.Remove(stored))
	}
	require.Equal(t, first.Body, s.Upload(filesPath, textFile("a.txt", "one"), key...).Is(201, "").Body)
	_, body := s.Get(first.Str("primaryUrl"))
	require.Equal(t, "one", body)
}

func TestUploadQuota(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.MediaQuotaMB = 1 })
	s.Org()
	half := nodetest.Upload{Name: "a.pdf", Type: "application/pdf", Body: pdf(600_000)}
	s.Upload(filesPath, half, s.Bearer()...).Is(201, "")
	s.Upload(filesPath, half, s.Bearer()...).Is(413, "QUOTA_EXCEEDED")
	s.Upload(filesPath, textFile("a.txt", "small"), s.Bearer()...).Is(201, "")
}

func TestPrivateFile(t *testing.T) { nodetest.OnEachStore(t, testPrivateFile) }

func testPrivateFile(t *testing.T, s *nodetest.Shop) {
	s.Org()
	u := textFile("secret.txt", "a paid secret")
	u.Fields = map[string]string{"private": "1"}
	made := s.Upload(filesPath, u, s.Bearer()...).Is(201, "")
	path := made.Str("primaryUrl")
	is := func(link string, status int, reason string) {
		t.Helper()
		res, body := s.Get(link)
		require.Equal(t, status, res.StatusCode, body)
		require.Contains(t, body, reason)
		require.NotContains(t, res.Header.Get("Cache-Control"), "public")
	}
	is(path, 404, "NOT_FOUND")
	id := int64(made.Data("mediaId").(float64))
	_, ids := s.OnSale(nodetest.TypeBody(0, 10))
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	ticket, err := engine.ParseID(o.Str("tickets.0.id"))
	require.NoError(t, err)
	serial, _ := s.Secrets().Event(ticket.Event()).FromTicketID(ticket)
	viewer := secrets.Viewer{Event: ticket.Event(), Serial: serial, Version: secrets.Version}
	link := s.Secrets().MediaLink(id, viewer, time.Now().Add(time.Minute))
	s.Becomes("200 OK", func() string { res, _ := s.Get(link); return res.Status })
	require.True(t, strings.HasPrefix(link, path+"?exp="))
	is(link, 200, "a paid secret")
	is(strings.Replace(link, "exp=", "exp=9", 1), 403, "LINK_INVALID")
	is(link[:len(link)-6]+"AAAAAA", 403, "LINK_INVALID")
	is(path+"?exp=9999999999&sig=", 404, "NOT_FOUND")
	is(s.Secrets().MediaLink(id, viewer, time.Now().Add(-time.Second)), 403, "LINK_EXPIRED")
	viewer.Version++
	is(s.Secrets().MediaLink(id, viewer, time.Now().Add(time.Minute)), 403, "TICKET_ENDED")
	res, _ := s.Get(path, s.Bearer()...)
	require.Equal(t, 200, res.StatusCode, "its organization sees it")
}

func TestUploadImage(t *testing.T) { nodetest.OnEachStore(t, testUploadImage) }

func testUploadImage(t *testing.T, s *nodetest.Shop) {
	s.Org()
	put := func(name, mediaType string, body []byte) nodetest.Answer {
		return s.Upload("/media/upload", nodetest.Upload{Name: name, Type: mediaType, Body: body, Fields: map[string]string{"kind": "event-gallery"}}, s.Bearer()...)
	}
	made := put("cover.png", "image/png", nodetest.PNG(t, 3000, 1000)).Is(201, "")
	require.Equal(t, nodetest.Words("mediaId primaryUrl variants"), made.Keys(""))
	require.Equal(t, nodetest.Words("web thumbnail og"), made.Keys("variants"))
	require.Equal(t, "2048", made.Str("variants.web.width"))
	require.Equal(t, "630", made.Str("variants.og.height"))
	for path, want := range map[string]string{
		made.Str("primaryUrl"): "image/jpeg", made.Str("variants.web.webp"): "image/webp", made.Str("variants.thumbnail.jpeg"): "image/jpeg", made.Str("variants.og.webp"): "image/webp",
	} {
		res, body := s.Get(path)
		require.Equal(t, 200, res.StatusCode, path)
		require.Equal(t, want, res.Header.Get("Content-Type"))
		require.Contains(t, res.Header.Get("Content-Disposition"), "inline")
		require.Contains(t, res.Header.Get("Cache-Control"), "immutable")
		require.NotEmpty(t, res.Header.Get("ETag"))
		require.NotEmpty(t, body)
	}
	res, _ := s.Get(made.Str("primaryUrl") + "/original.png")
	require.Equal(t, 404, res.StatusCode)

	put("a.txt", "text/plain", []byte("hello")).Is(415, "UNSUPPORTED_FILE_TYPE")
	put("a.svg", "image/svg+xml", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")).Is(415, "UNSUPPORTED_FILE_TYPE")
	put("a.png", "image/png", []byte("this is no image")).Is(415, "UNSUPPORTED_FILE_TYPE")
	put("a.png", "image/png", []byte("\x89PNG\r\n\x1a\n and no more")).Is(415, "UNSUPPORTED_FILE_TYPE")
	put("a.jpg", "image/jpeg", nodetest.PNG(t, 10, 10)).Is(415, "UNSUPPORTED_FILE_TYPE")
	put("a.png", "image/png", nil).Is(400, "EMPTY_FILE")
	require.Empty(t, s.Spooled(), "nothing is left behind")
}

func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	own := s.Upload(filesPath, textFile("a.txt", "ours"), s.Bearer()...).Str("primaryUrl")
	other := s.As(s.Patient("POST", "/auth/register", nodetest.Object{"email": "other@example.org", "password": "correct horse", "organizationName": "Others"}).Is(201, "").Str("accessToken"))
	theirs := s.Upload(filesPath, textFile("a.txt", "theirs"), other.Bearer()...).Is(201, "").Str("primaryUrl")
	id, typeID := s.Sell(nodetest.Object{"coverImage": own}, nodetest.TypeBody(5, 10))
	path := "/organizer/events/" + id
	require.Equal(t, map[string]string{"coverImage": "format", "gallery[1]": "format", "entities[0].imageUrl": "format"},
		s.Own("PUT", path, nodetest.Object{"coverImage": theirs, "gallery": []string{own, "/media/17"}, "entities": nodetest.Entity(nodetest.Object{"imageUrl": theirs})}).Is(400, "").Issues())
	s.Own("PUT", path+"/tickets/"+typeID[0], nodetest.Object{"accessUrl": theirs}).Invalid("accessUrl", "format")
	s.Own("PUT", path+"/tickets/"+typeID[0], nodetest.Object{"accessUrl": own}).Is(200, "")

	t.Log("what is told around an event, and of the organization")
	schedule := path + "/schedule"
	opening := s.Own("POST", schedule, session(nil)).Is(201, "").Str("id")
	for _, f := range []struct{ method, path, field string }{
		{"POST", schedule, "speakerAvatar"},
		{"PUT", schedule + "/" + opening, "speakerAvatar"},
		{"PUT", "/organizer/event-customization/" + id, "seoImage"},
		{"PUT", "/organizer/organizations/" + s.Org(), "logoUrl"},
	} {
		body := nodetest.Object{}
		if f.method == "POST" {
			body = session(nil)
		}
		for _, other := range []string{theirs, "/media/17"} {
			s.Own(f.method, f.path, nodetest.With(body, nodetest.Object{f.field: other})).Invalid(f.field, "format")
		}
		for _, good := range []string{own, "https://example.org/a.png"} {
			require.Less(t, s.Own(f.method, f.path, nodetest.With(body, nodetest.Object{f.field: good})).Status, 300, f.path)
		}
	}
}

func TestCollectFiles(t *testing.T) { nodetest.OnEachStore(t, testCollectFiles) }

func testCollectFiles(t *testing.T, s *nodetest.Shop) {
	s.Org()
	put := func() string {
		return s.Upload(filesPath, textFile("a.txt", "some text"), s.Bearer()...).Is(201, "").Str("primaryUrl")
	}
	cover, access, unnamed, young := put(), put(), put(), put()
	id, types := s.Sell(nodetest.Object{"coverImage": cover}, nodetest.TypeBody(5, 10))
	s.Own("PUT", "/organizer/events/"+id+"/tickets/"+types[0], nodetest.Object{"accessUrl": access}).Is(200, "")
	s.Becomes("1", func() string {
		var n int
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM ticket_types WHERE position('/media/'::bytea in record) > 0`).Scan(&n))
		return strconv.Itoa(n)
	})
	_, err := s.Pool().Exec(t.Context(), `UPDATE media SET named_at = now() - interval '8 days' WHERE '/media/' || id <> $1`, young)
	require.NoError(t, err)
	require.NoError(t, s.Areas().Files.Collect(t.Context()))
	for path, status := range map[string]int{cover: 200, access: 200, young: 200, unnamed: 404} {
		res, _ := s.Get(path)
		require.Equal(t, status, res.StatusCode, path)
	}
	require.Len(t, s.Stored(), 3)
}
