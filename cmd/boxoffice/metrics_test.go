package main

import (
	"fmt"
	"maps"
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
)

// described reads a metric's name, help and labels out of what a Desc says of
// itself: it has no other way.
var described = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: ("(?:[^"\\]|\\.)*"), unit: "[^"]*", constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

// TestMetricNames compares what a node can export, with Kafka and without, with
// the list that deploy's rules and dashboard are held to.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	lines := map[string]bool{}
	s := open(t)
	note := func() {
		descs := make(chan *prometheus.Desc)
		go func() {
			defer close(descs)
			s.registry.Describe(descs)
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
	s.cfg.KafkaBrokers, s.cfg.KafkaTopic = broker.ListenAddrs(), "metrics"
	s.cfg.KafkaPartitions, s.cfg.KafkaReplication, s.cfg.KafkaRetention = 1, 1, time.Hour
	s.restart()
	note()

	got := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	path := filepath.Join("..", "..", "deploy", "prometheus", "metrics.txt")
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), got, "what /metrics exports; see -rewrite")
}

// labels are the names of constant labels, name="value", and of variable ones.
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
