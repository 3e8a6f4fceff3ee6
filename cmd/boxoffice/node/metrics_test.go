package node_test

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// described parses a metric's name, help and labels from the text of a Desc, because there is no
// other way to read them.
var described = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: ("(?:[^"\\]|\\.)*"), unit: "[^"]*", constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

var rewriteMetrics = flag.Bool("rewrite", false, "write today's list of metrics instead of comparing it")

// TestMetricNames compares what a node can export, with Kafka and without, with the list that
// deploy's rules and dashboard are compared with.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	lines := map[string]bool{}
	s := nodetest.Open(t)
	note := func() {
		descs := make(chan *prometheus.Desc)
		go func() {
			defer close(descs)
			s.Registry().Describe(descs)
		}()
		for d := range descs {
			m := described.FindStringSubmatch(d.String())
			require.NotNil(t, m, d.String())
			if !strings.HasPrefix(m[1], "go_") { // those change with every release of Go
				lines[fmt.Sprintf("%s{%s} %s", m[1], strings.Join(labels(m[3], m[4]), ","), m[2])] = true
			}
		}
	}
	note()
	s.Config().KafkaBrokers, s.Config().KafkaTopic = broker.ListenAddrs(), "metrics"
	s.Config().KafkaPartitions, s.Config().KafkaReplication, s.Config().KafkaRetention = 1, 1, time.Hour
	s.Restart()
	note()

	got := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	path := filepath.Join("..", "..", "..", "deploy", "prometheus", "metrics.txt")
	if *rewriteMetrics {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), got, "what /metrics exports; see -rewrite")
}

// labels returns the names of constant labels, name="value", and of variable ones.
func labels(constant, variable string) []string {
	var names []string
	for l := range strings.SplitSeq(constant+","+variable, ",") {
		if name, _, _ := strings.Cut(l, "="); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestMetricsListener reads the metrics at the address that the knob sets, and at the API's
// address, which allows it only from this machine: not under a host name, and not through a proxy.
func TestMetricsListener(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.MetricsListen = "127.0.0.1:0" })
	get := func(address, path string, header ...string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		require.NoError(t, err)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
			if header[i] == "Host" {
				req.Host = header[i+1]
			}
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { require.NoError(t, res.Body.Close()) }()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, res.StatusCode == http.StatusOK, strings.Contains(string(body), "boxoffice_ready"))
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, get(s.MetricsAddr(), "/metrics"))
	require.Equal(t, http.StatusOK, get(s.MetricsAddr(), "/metrics", "X-Forwarded-For", "203.0.113.9"))
	require.Equal(t, http.StatusNotFound, get(s.MetricsAddr(), "/api/v1/events"))
	require.Equal(t, http.StatusNotFound, get(s.MetricsAddr(), "/"))
	require.Equal(t, http.StatusOK, get(s.Config().Listen, "/metrics"))
	for _, header := range [][]string{
		{"X-Forwarded-For", "127.0.0.1"}, {"Forwarded", "for=127.0.0.1"}, {"X-Real-Ip", "127.0.0.1"}, {"Via", "1.1 proxy"}, {"Host", "tickets.example.org"},
	} {
		require.Equal(t, http.StatusNotFound, get(s.Config().Listen, "/metrics", header...), header)
	}
}
