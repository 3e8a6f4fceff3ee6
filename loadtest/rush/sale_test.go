package rush_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rush"
)

// TestRegisterWhoseAnswerIsLost registers with a service that makes the account and does not say so: the next try is
// told that the address is taken.
func TestRegisterWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	const session = `{"data":{"accessToken":"session","user":{"organizations":[{"id":"org-1"}]}}}`
	registered := false
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/auth/register", func(w http.ResponseWriter, _ *http.Request) {
		code, answer := http.StatusServiceUnavailable, `{"error":{"code":"UNAVAILABLE"}}`
		if registered {
			code, answer = http.StatusConflict, `{"error":{"code":"EMAIL_TAKEN"}}`
		}
		registered = true
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answer))
	})
	mux.HandleFunc("POST /api/v1/auth/login", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(session)) })
	service := httptest.NewServer(mux)
	t.Cleanup(service.Close)
	network, err := client.NewNetwork(client.Config{Sources: 1, Timeout: time.Minute})
	require.NoError(t, err)
	t.Cleanup(network.Close)

	o, err := rush.Register(t.Context(), client.API{Host: service.Listener.Addr().String()}, network.Source(0))
	require.NoError(t, err)
	require.Equal(t, "session org-1", o.Bearer+" "+o.Organization)
}
