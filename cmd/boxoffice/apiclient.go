package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// apiClient speaks the public API for the commands that are its callers, as any program of
// an organizer would.
type apiClient struct {
	url    string // of the API: https://host/api/v1
	bearer string // empty: nobody's
}

// apiRefusal is an answer other than success.
type apiRefusal struct {
	status        int
	request       string // its method and path
	code, message string
}

// Error names the request and says what was answered.
func (r *apiRefusal) Error() string {
	return fmt.Sprintf("%s answered %d %s: %s", r.request, r.status, r.code, r.message)
}

// fields are a request's body.
type fields = map[string]any

// patience is for how long a request is repeated that is answered 503: a machine that has
// much else to do is slow at hashing a password.
const patience = time.Minute

// send sends a request, again while the node has no time for it, and reads what stands
// under data.
func (a *apiClient) send(ctx context.Context, method, path string, body, data any) error {
	key, until := uuid.NewString(), time.Now().Add(patience)
	for {
		err := a.sendOnce(ctx, key, method, path, body, data)
		var refused *apiRefusal
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
	if method != http.MethodGet {
		req.Header.Set("Idempotency-Key", key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it has been read
	if res.StatusCode >= http.StatusMultipleChoices {
		var refusal struct {
			Error struct{ Code, Message string }
		}
		_ = json.NewDecoder(res.Body).Decode(&refusal) // an answer of something else than a node has none
		return &apiRefusal{res.StatusCode, method + " " + path, refusal.Error.Code, refusal.Error.Message}
	}
	if data == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(&struct{ Data any }{data})
}
