package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// TestConfirmedAfterKill kills a node as a whole process while it confirms orders, and starts it
// again: every order is confirmed once.
func TestConfirmedAfterKill(t *testing.T) {
	t.Parallel()
	const orders = 200
	dsn, dir, listen := persisttest.DB(t), t.TempDir(), persisttest.Address(t)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATABASE_URL="+dsn, "BOXOFFICE_ALLOW_UNSAFE_POSTGRES=true", "BOXOFFICE_MAIL_DIR="+dir, "BOXOFFICE_LISTEN="+listen,
		"BOXOFFICE_PAYSIM_LISTEN="+persisttest.Address(t), "BOXOFFICE_MASTER_KEY="+strings.Repeat("ab", 32), "BOXOFFICE_LIMITS_SCALE=1000")
	var log bytes.Buffer
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	remote := &nodetest.Shop{T: t, URL: "http://" + listen + "/api/v1"}
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listen+"/readyz", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	_, ids := remote.OnSale(nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"maxPerCustomer": 1000}))
	numbers := map[string]bool{}
	for i := range orders {
		o := remote.Call("POST", "/orders", nodetest.OrderBody(fmt.Sprintf("p%d@example.org", i), ids[0], 1)).Is(201, "")
		numbers[o.Str("orderNumber")] = true
	}
	require.Eventually(t, func() bool {
		sent, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		return err == nil && len(sent) > 0
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	sent, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	require.NoError(t, err)
	t.Logf("killed after %d mails", len(sent))

	s := nodetest.Open(t, func(c *node.Config) { c.DatabaseURL, c.MailDir = dsn, dir })
	s.Mailed() // its follower reads what the node before it had committed to the end
	for _, number := range listConfirmed(s) {
		require.True(t, numbers[number], "%s was confirmed twice, or is none", number)
		delete(numbers, number)
	}
	require.Empty(t, numbers)
}

// listConfirmed lists the numbers of the orders that mails confirm, one for each mail.
func listConfirmed(s *nodetest.Shop) []string {
	list, err := s.Mailbox().List(1_000)
	require.NoError(s.T, err)
	var numbers []string
	for _, m := range list {
		if m.Kind != "order_confirmation" {
			continue // a mail about the organizer's account
		}
		whole, err := s.Mailbox().Read(m.Name)
		require.NoError(s.T, err)
		number, _, _ := strings.Cut(strings.SplitAfter(whole.Text, "Your order ")[1], " ")
		numbers = append(numbers, number)
	}
	return numbers
}
