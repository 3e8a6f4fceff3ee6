package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/persistence/persisttest"
)

// TestPaysimBaseURL makes sure that buyers are sent to the address where the simulator is
// published, which in a container is not where it listens.
func TestPaysimBaseURL(t *testing.T) {
	t.Parallel()
	c := paysimCmd{Listen: persisttest.Address(t), SecretKey: node.SimKey, BaseURL: "https://pay.example.org"}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	begin := func() string {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.Listen+"/transaction/initialize",
			strings.NewReader(`{"email":"ada@example.org","amount":"100","reference":"BX1","currency":"NGN"}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+node.SimKey)
		req.Header.Set("Content-Type", "application/json")
		req.Close = true
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return "" // not yet
		}
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return string(text)
	}
	answer := ""
	require.Eventually(t, func() bool { answer = begin(); return answer != "" }, time.Minute, 20*time.Millisecond)
	require.Contains(t, answer, `"authorization_url":"https://pay.example.org/checkout/`)
	stop()
	require.NoError(t, <-ended)
}
