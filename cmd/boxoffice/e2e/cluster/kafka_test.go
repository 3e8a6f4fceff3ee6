package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestFactsThroughKafka has one node tell the world of orders by following the
// journal, then through Kafka, and then again without it: of each order once.
func TestFactsThroughKafka(t *testing.T) {
	t.Parallel()
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(broker.Close)
	s := nodetest.Open(t)
	_, types := s.Sell(nodetest.Object{}, nodetest.TypeBody(0, 100))
	var placed []string
	sell := func() {
		id, _ := s.Place("ada@example.org", types[0], 1)
		placed = append(placed, id)
	}
	told := func() {
		t.Helper()
		count := func(where string) (n int) {
			require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM facts WHERE type = 'order.completed'`+where).Scan(&n))
			return n
		}
		require.Eventually(t, func() bool { return count("") >= len(placed) }, time.Minute, 20*time.Millisecond)
		require.Equal(t, len(placed), count(""))
		var twice int
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) - count(DISTINCT id) FROM facts`).Scan(&twice))
		require.Zero(t, twice)
	}
	sell()
	told()

	s.Config().KafkaBrokers, s.Config().KafkaTopic = broker.ListenAddrs(), "facts"
	s.Config().KafkaPartitions, s.Config().KafkaReplication, s.Config().KafkaRetention = 3, 1, time.Hour
	s.Restart()
	sell()
	told()
	root := *s
	root.URL = strings.TrimSuffix(s.URL, "/api/v1")
	metrics := root.Raw("GET", "/metrics", "", "").Body
	for name := range strings.FieldsSeq("relay_lag_batches relay_delay_seconds relay_errors_total consumer_lag_messages consumer_errors_total") {
		require.Contains(t, metrics, "\nboxoffice_kafka_"+name+" ")
	}

	broker.Close()
	sell() // nobody waits for Kafka
	require.Equal(t, 200, root.Raw("GET", "/readyz", "", "").Status)
	s.Config().KafkaBrokers = nil
	s.Restart()
	told()
}
