package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/google/uuid"
)

// apiClient calls the public API for the commands that need it. It uses the API as any program of
// an organizer would, and has no way around it.
type apiClient struct {
	url    string // the address of the API: https://host/api/v1
	bearer string // the credential; empty: there is none
}

// apiRefusal is the error of every answer that is no success. Callers find it with errors.As and
// decide by its status.
type apiRefusal struct {
	status        int
	request       string // the method and the path of the request
	code, message string
}

// Error names the request and its answer.
func (r *apiRefusal) Error() string {
	return fmt.Sprintf("%s answered %d %s: %s", r.request, r.status, r.code, r.message)
}

// fields are the members of a JSON object, usually of a request's body.
type fields = map[string]any

// patience is how long a request is repeated while it is answered 503. It is long, because a busy machine may
// need seconds to hash a password.
const patience = time.Minute

// send sends a request and reads the data of its answer. It repeats the request while the node answers 503, for
// patience at most. All attempts have the same Idempotency-Key, so that nothing is done twice.
func (a *apiClient) send(ctx context.Context, method, path string, body, data any) error {
	key, until := uuid.NewString(), time.Now().Add(patience)
	for {
		err := a.sendOnce(ctx, key, method, path, body, data)
		var refused *apiRefusal
		// Other errors are the caller's: a refusal does not go away, and a request without an answer may have been
		// carried out.
		if !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return err
		}
	}
}

// sendOnce sends a request once. The caller has drawn the key, because a repeat must have the same
// one.
func (a *apiClient) sendOnce(ctx context.Context, key, method, path string, body, data any) error {
	var b bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, &b)
	if err != nil {
		return err
	}
	// Reads need no key: to repeat them changes nothing.
	if method != http.MethodGet {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return a.do(req, data)
}

// upload sends a text file that only the event's buyers may read. It returns the address by which
// the event refers to the file.
func (a *apiClient) upload(ctx context.Context, path, name, text string) (address string, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	_ = form.WriteField("private", "1") // a buffer takes everything
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}, "Content-Type": {"text/plain"},
	})
	if err != nil {
		return "", err
	}
	_, _ = io.WriteString(part, text)
	if err := form.Close(); err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+path, &b)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	var file struct{ PrimaryURL string }
	err = a.do(req, &file)
	return file.PrimaryURL, err
}

// do sends a request with the credential, and reads the data of its answer. An answer that is no
// success becomes an apiRefusal.
func (a *apiClient) do(req *http.Request, data any) error {
	if a.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	// Each request has a connection of its own, so that no idle connection stays open between
	// requests.
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // nothing more of it is needed
	if res.StatusCode >= http.StatusMultipleChoices {
		var refusal struct {
			Error struct{ Code, Message string }
		}
		_ = json.NewDecoder(res.Body).Decode(&refusal) // only nodes answer with such a body
		return &apiRefusal{res.StatusCode, req.Method + " " + strings.TrimPrefix(req.URL.String(), a.url), refusal.Error.Code, refusal.Error.Message}
	}
	if data == nil {
		return nil
	}
	// The API wraps what it answers in an object with the member data.
	return json.NewDecoder(res.Body).Decode(&struct{ Data any }{data})
}
