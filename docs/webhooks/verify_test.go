package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/persisttest"
)

// Every receiver takes what our signer signs, and nothing else.
func TestReceivers(t *testing.T) {
	t.Parallel()
	secret, _ := secrets.NewWebhookSecret()
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(&receiver{secret: secret, now: time.Now, seen: map[string]bool{}})
		t.Cleanup(server.Close)
		receives(t, server.URL, secret)
	})
	for program, script := range map[string]string{"node": "verify.mjs", "python3": "verify.py"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			persisttest.Program(t, "apt-get install "+program, program)
			receives(t, run(t, secret, program, script), secret)
			cmd := exec.CommandContext(t.Context(), program, script)
			cmd.Env = append(os.Environ(), "WEBHOOK_SECRET=", "PORT=0")
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), "WEBHOOK_SECRET is empty")
		})
	}
}

// run starts a receiver as a process of its own and waits until it listens.
func run(t *testing.T, secret, program, script string) (url string) {
	t.Helper()
	address := persisttest.Address(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, script)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, "PORT="+port)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
		if t.Failed() {
			t.Log(out.String())
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}, time.Minute, 20*time.Millisecond)
	return "http://" + address
}

func receives(t *testing.T, url, secret string) {
	t.Helper()
	post := func(signature, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		if signature != "" {
			req.Header.Set("X-Service-Signature", signature)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	body := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"type":"order.completed","created":"2031-06-20T19:00:00Z","seq":7,"data":{"order":{"total":"12.50"},"name":"Zoë \u00fc"}}`, id)
	}
	now := time.Now()
	sign := func(at time.Time, body string) string { return webhook.Sign(secret, at, []byte(body)) }
	one := body("evt_1")
	require.Equal(t, http.StatusNoContent, post(sign(now, one), one))
	require.Equal(t, http.StatusOK, post(sign(now.Add(time.Minute), one), one), "a retry is known by its id")
	two := body("evt_2")
	good := sign(now, two)
	for name, c := range map[string][2]string{
		"another body":      {good, one},
		"a changed body":    {good, two + " "},
		"no signature":      {"", two},
		"an empty one":      {"t=,v1=", two},
		"nonsense":          {"nonsense", two},
		"no time":           {good[strings.Index(good, "v1="):], two},
		"another time":      {strings.Replace(good, "t=", "t=1", 1), two},
		"no v1":             {good[:strings.Index(good, ",")], two},
		"cut short":         {good[:len(good)-2], two},
		"too old":           {sign(now.Add(-310*time.Second), two), two},
		"too new":           {sign(now.Add(330*time.Second), two), two},
		"of another secret": {webhook.Sign(secret+"x", now, []byte(two)), two},
		"of half a secret":  {webhook.Sign(strings.TrimPrefix(secret, "whsec_"), now, []byte(two)), two},
	} {
		require.Equal(t, http.StatusBadRequest, post(c[0], c[1]), name)
	}
	require.Equal(t, http.StatusNoContent, post(good, two), "what was refused was not taken for seen")
	three := body("evt_3")
	require.Equal(t, http.StatusNoContent, post(strings.Replace(sign(now, three), "v1=", "v1="+strings.Repeat("0", 64)+",v1=", 1), three), "one of several signatures is enough")
	require.Equal(t, http.StatusNoContent, post(sign(now.Add(-290*time.Second), body("evt_4")), body("evt_4")))
}
