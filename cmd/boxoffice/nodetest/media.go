package nodetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/persistence/persisttest"
)

// Upload is a file in the form that a browser sends.
type Upload struct {
	Field      string // name of the form's field; "file" if empty
	Name, Type string
	Body       []byte
	Fields     map[string]string
}

// Form returns an upload as a multipart body, and the media type that goes with it.
func (u Upload) Form() (body []byte, mediaType string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range u.Fields {
		if err := w.WriteField(name, value); err != nil {
			return nil, "", err
		}
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="`+cmp.Or(u.Field, "file")+`"; filename="`+strings.NewReplacer("\\", "\\\\", `"`, `\"`).Replace(u.Name)+`"`)
	h.Set("Content-Type", u.Type)
	part, err := w.CreatePart(h)
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(u.Body); err != nil {
		return nil, "", err
	}
	err = w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// Upload sends a file to a path. The headers are pairs of name and value.
func (s *Shop) Upload(path string, u Upload, headers ...string) Answer {
	s.T.Helper()
	body, mediaType, err := u.Form()
	require.NoError(s.T, err)
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.URL+path, bytes.NewReader(body))
	require.NoError(s.T, err)
	req.Header.Set("Content-Type", mediaType)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, res.Body.Close()) }()
	a := Answer{T: s.T, Status: res.StatusCode}
	require.NoError(s.T, json.NewDecoder(res.Body).Decode(&a.Body))
	checkConforms(s.T, req, res.StatusCode, a.Body)
	return a
}

// Get reads something that is not JSON, from a path below the root of the server. The headers are
// pairs of name and value.
func (s *Shop) Get(path string, headers ...string) (*http.Response, string) {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, strings.TrimSuffix(s.URL, "/api/v1")+path, nil)
	require.NoError(s.T, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, res.Body.Close()) }()
	var b bytes.Buffer
	_, err = b.ReadFrom(res.Body)
	require.NoError(s.T, err)
	return res, b.String()
}

// PNG returns a picture of one colour, for tests that only care about its size.
func PNG(t testing.TB, width, height int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{R: 200, G: 30, B: 90, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// OnEachStore runs a test twice: on a node that keeps files on its disk, and on a node that keeps
// them in a bucket.
func OnEachStore(t *testing.T, test func(t *testing.T, s *Shop)) {
	t.Helper()
	t.Parallel()
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		test(t, Open(t))
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		test(t, OpenOnS3(t))
	})
}

// OpenOnS3 starts a node that keeps uploaded files in a bucket of a local S3 server.
func OpenOnS3(t testing.TB, changes ...func(*node.Config)) *Shop {
	t.Helper()
	address, folder := persisttest.S3(t)
	s := Open(t, append(changes, func(c *node.Config) { c.MediaURL = address })...)
	s.files = folder
	return s
}

// Stored returns the paths of all files that the node has stored, with their variants.
func (s *Shop) Stored() []string { return filesIn(s.T, s.files) }

// Spooled returns the paths of files that a node has received but whose requests it has not
// answered yet.
func (s *Shop) Spooled() []string { return filesIn(s.T, filepath.Join(s.Config().DataDir, "uploads")) }

// filesIn returns the paths of all files in a folder, without the scratch files of the S3 server.
func filesIn(t testing.TB, folder string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, persisttest.S3Scratch) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// OwnFiles makes rows for files of the shop's organization with the given numbers. The files have
// no bytes, for tests that only refer to files.
func (s *Shop) OwnFiles(ids ...int64) {
	s.T.Helper()
	_, err := s.Pool().Exec(s.T.Context(), `
INSERT INTO media (id, org, command, kind, filename, mime, bytes, room, sha256, private, ready)
SELECT id, $1, gen_random_uuid(), 'file', 'a.txt', 'text/plain', 0, 0, '', false, true FROM unnest($2::bigint[]) id`, s.Org(), ids)
	require.NoError(s.T, err)
}
