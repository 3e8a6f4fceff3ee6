package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
)

func TestStatusTables(t *testing.T) {
	t.Parallel()
	seen := []members.Seen{
		{
			Member: members.Member{ID: "a#1", Name: "a", HTTP: "10.0.0.1:80", Link: "10.0.0.1:81"}, Joined: time.Now().Add(-time.Hour),
			Silent: 200 * time.Millisecond, Info: []byte(`{"version":"0.1.0","actors":7,"backlog":2,"waiting":30}`),
		},
		{Member: members.Member{ID: "b#1", Name: "b", Leaving: true}, Joined: time.Now(), Info: []byte(`{"version":"0.2.0"}`)},
	}
	writers := []journal.Writer{{ID: 1, Node: "a#0", Closed: true}, {ID: 2, Node: "a#1"}, {ID: 3, Node: "a#1"}, {ID: 4, Node: "c#1"}}
	s := &status{Positions: []follower.Position{{Follower: "f", Writer: 2, Batch: 5, Head: 9}, {Follower: "f", Writer: 3, Batch: 1, Head: 1}}}
	var err error
	s.Nodes, err = nodesOf(seen, writers)
	require.NoError(t, err)
	s.Followers = followersOf(s.Positions)
	numbers, err := parseEvents([]string{"17", "00000000-0011-8000-8000-0000000fffff"})
	require.NoError(t, err)
	s.Owners = ownersOf(seen, numbers)
	require.Equal(t, map[string]string{"17": "a", "00000000-0011-8000-8000-0000000fffff": "a"}, s.Owners, "b takes none any more")
	_, err = parseEvents([]string{"x"})
	require.Error(t, err)
	bucket := engine.BucketOf(17)
	s.ShardOf = shardsOf([]shardStatus{{Shard: 0, Last: bucket - 1}, {Shard: 1, First: bucket, Last: bucket}, {Shard: 2, First: bucket + 1}}, numbers)
	require.Equal(t, map[string]int{"17": 1, "00000000-0011-8000-8000-0000000fffff": 1}, s.ShardOf)

	s.Refunds = refundStatus{Open: 3, Stuck: 1, Oldest: 7200}
	s.Disk = &diskStatus{Room: disk.Room{Free: 90 << 20, Size: 200 << 20}, Level: disk.Low}

	var out bytes.Buffer
	require.NoError(t, s.print(&out))
	for _, line := range []string{
		`(?m)^a +member +0.1.0 +1h0m0s +200ms +7 +2 +30ms +\[2 3\] +10.0.0.1:80 +10.0.0.1:81$`,
		`(?m)^b +leaving +0.2.0`,
		`(?m)^c +gone .* \[4\]`,
		`(?m)^f +2 +4 +2:5 3:1$`,
		`(?m)^3 +1 +2h0m0s$`,
		`(?m)^low +90 MB +200 MB$`,
		`(?m)^17 +a$`,
	} {
		require.Regexp(t, line, out.String())
	}
}
