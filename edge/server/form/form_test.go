package form_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/edge/server/form"
)

// TestErrorOfJudge has the judge of a file fail because its database is away. The sender of a whole form did nothing
// wrong, and must not hear that the form is broken: clients don't repeat such a request.
func TestErrorOfJudge(t *testing.T) {
	t.Parallel()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", "picture.png")
	require.NoError(t, err)
	_, err = part.Write([]byte("picture"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	away := errors.New("the database is away")
	_, err = form.Read(&form.Source{
		ContentType: w.FormDataContentType(), Body: &body, Dir: t.TempDir(), Now: time.Now, FindRoom: func() error { return nil },
	}, func(*route.Part) (route.Bound, error) { return route.Bound{}, away })
	require.ErrorIs(t, err, away)
}
