package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

// TestFactsThroughKafka has one node tell the world of orders by following the
// journal, then through Kafka, and then again without it: of each order once.
func TestFactsThroughKafka(t *testing.T) {
	t.Parallel()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	s := open(t)
	_, types := s.sell(object{}, typeBody(0, 100))
	var placed []string
	sell := func() {
		id, _ := s.place("ada@example.org", types[0], 1)
		placed = append(placed, id)
	}
	told := func() {
		t.Helper()
		count := func(where string) (n int) {
			require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM facts WHERE type = 'order.completed'`+where).Scan(&n))
			return n
		}
		require.Eventually(t, func() bool { return count("") >= len(placed) }, 30*time.Second, 20*time.Millisecond)
		require.Equal(t, len(placed), count(""))
		var twice int
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) - count(DISTINCT id) FROM facts`).Scan(&twice))
		require.Zero(t, twice)
	}
	sell()
	told()

	s.cfg.KafkaBrokers, s.cfg.KafkaTopic = broker.ListenAddrs(), "facts"
	s.cfg.KafkaPartitions, s.cfg.KafkaReplication, s.cfg.KafkaRetention = 3, 1, time.Hour
	s.restart()
	sell()
	told()
	root := *s
	root.url = strings.TrimSuffix(s.url, "/api/v1")
	metrics := root.raw("GET", "/metrics", "", "").body
	for name := range strings.FieldsSeq("relay_lag_batches relay_delay_seconds relay_errors_total consumer_lag_messages consumer_errors_total") {
		require.Contains(t, metrics, "\nboxoffice_kafka_"+name+" ")
	}

	broker.Close()
	sell() // nobody waits for Kafka
	require.Equal(t, 200, root.raw("GET", "/readyz", "", "").status)
	s.cfg.KafkaBrokers = nil
	s.restart()
	told()
}

func TestKafkaKnobs(t *testing.T) {
	t.Parallel()
	c := config{KafkaBrokers: []string{"k:9092"}, KafkaUser: "u", Env: "live"}
	_, _, err := c.kafka()
	require.ErrorContains(t, err, "BOXOFFICE_KAFKA_TLS")
	c.KafkaTLS = true
	k, through, err := c.kafka()
	require.NoError(t, err)
	require.True(t, through)
	require.NotNil(t, k.TLS)
	_, through, err = new(config).kafka()
	require.NoError(t, err)
	require.False(t, through)
}
