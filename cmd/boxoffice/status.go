package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"boxoffice/cluster/placement"
	"boxoffice/engine"
	"boxoffice/persistence"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/readmodel"
	"boxoffice/persistence/retention"
)

// statusTime bounds all queries of a status together, so that an operator gets an answer or an
// error soon.
const statusTime = 10 * time.Second

// statusCmd shows the state of a cluster. It asks only the databases, so it works if no node
// answers.
type statusCmd struct {
	databases
	DiskWarn    uint     `env:"BOXOFFICE_DISK_WARN_MB" default:"512" help:"Megabytes free where the private Postgres lives, below which there is a warning."`
	DiskReserve uint     `env:"BOXOFFICE_DISK_RESERVE_MB" default:"64" help:"Of those, the ones that the node keeps free."`
	JSON        bool     `name:"json" help:"Print JSON instead of tables."`
	Event       []string `help:"Say which node owns these events, and which shard of the journal has them: their numbers, or the ids of them, their ticket types or orders."`
}

// Run shows the state of a cluster, as tables or JSON, and how much room the disk of a private Postgres has left. A
// warning about that disk goes to the standard error, also if Postgres does not answer.
func (c *statusCmd) Run(ctx context.Context) error {
	// The disk comes first: a full disk may be the reason why Postgres does not answer.
	room, err := c.lookAtDisk()
	if err != nil {
		return err
	}
	if room != nil && room.Level != disk.Plenty { // This is shown even if the database does not answer.
		fmt.Fprintf(os.Stderr, "boxoffice: the disk of %s is %s: %d MB of %d are left. Without room nothing is sold.\n",
			c.DataDir, room.Level, room.Free>>20, room.Size>>20)
	}
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	at, done, err := c.openChecked(ctx)
	if err != nil {
		return err
	}
	defer done()
	s, err := readStatus(ctx, at, c.Event)
	if err != nil {
		return err
	}
	s.Disk = room
	if c.JSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(s)
	}
	return s.print(os.Stdout)
}

// lookAtDisk returns how much room the disk of a private Postgres has, or nil if Postgres is not
// private.
func (c *statusCmd) lookAtDisk() (*diskStatus, error) {
	if c.DatabaseURL != "" {
		return nil, nil //nolint:nilnil // it is elsewhere
	}
	room, err := disk.Look(c.DataDir)
	if err != nil {
		return nil, err
	}
	return &diskStatus{Room: room, Level: disk.Limits{Warn: c.DiskWarn, Reserve: c.DiskReserve}.LevelOf(room)}, nil
}

// status is the state of a cluster as the databases show it. Its JSON is for scripts.
type status struct {
	Nodes     []nodeStatus        `json:"nodes"`
	Followers []followerStatus    `json:"followers"`
	Refunds   refundStatus        `json:"refunds"`
	Journal   retention.Standing  `json:"journal"`           // how far back the journal goes; of several shards, the one that goes back the furthest
	Shards    []shardStatus       `json:"shards,omitempty"`  // the journal's databases, if it has several
	Positions []follower.Position `json:"positions"`         // the positions of followers in writers that they have not read to the end
	SetAside  map[string]int64    `json:"setAside"`          // how many facts each follower could not digest
	Owners    map[string]string   `json:"owners,omitempty"`  // the names of the nodes that own the events that were asked for
	ShardOf   map[string]int      `json:"shardOf,omitempty"` // the shards of the events that were asked for, if the journal has several
	Disk      *diskStatus         `json:"disk,omitempty"`    // the room of a private Postgres; nil for any other
}

// diskStatus is the room that a private Postgres has.
type diskStatus struct {
	disk.Room
	Level disk.Level `json:"level"`
}

// nodeStatus is one life of a node: from its start to its end. It is listed if it is a member of
// the cluster or has left a writer of the journal open.
type nodeStatus struct {
	Node    string  `json:"node"`
	ID      string  `json:"id"`
	State   string  `json:"state"` // member, leaving, or gone if only its writers are still open; alone if there is no member at all
	HTTP    string  `json:"http"`
	Link    string  `json:"link"`
	Silent  float64 `json:"silentSeconds"` // seconds since its last beat
	Up      float64 `json:"upSeconds"`     // seconds since it joined
	Writers []int32 `json:"writers"`       // the numbers of its open writers of the journal
	nodeInfo
}

// nodeInfo is what a node reports about itself with each beat.
type nodeInfo struct {
	Version string `json:"version"`
	Actors  int    `json:"actors"`
	Backlog int    `json:"backlog"` // how many entries wait for the journal
	Waiting int64  `json:"waiting"` // for how many milliseconds the oldest batch has waited for its commit
}

// shardStatus is the state of one of the journal's databases.
type shardStatus struct {
	Shard int `json:"shard"`
	// First and Last are the buckets of events that the shard has.
	First   int    `json:"firstBucket"`
	Last    int    `json:"lastBucket"`
	Version int32  `json:"version"`        // the version of its place in the list of shards
	Away    string `json:"away,omitempty"` // why it does not answer; empty: it does
	retention.Standing
}

// followerStatus is how far a follower is behind the journal.
type followerStatus struct {
	Follower string `json:"follower"`
	Writers  int    `json:"writers"`    // how many writers it has not read to their end
	Lag      int64  `json:"lagBatches"` // how many batches it has not read, of these writers together
}

// refundStatus is about refunds whose money has not arrived at the buyers.
type refundStatus struct {
	Open   int64   `json:"open"`          // how many refunds have not arrived
	Stuck  int64   `json:"stuck"`         // how many of the open ones failed or need a person
	Oldest float64 `json:"oldestSeconds"` // for how many seconds the oldest open one has been due; 0 if none is open
}

// readStatus reads the state from the databases. A shard that does not answer is shown as away and
// is no error.
func readStatus(ctx context.Context, at opened, events []string) (*status, error) {
	pool, from := at.home, journal.NewReader(at.pools...)
	seen, err := members.List(ctx, pool)
	if err != nil {
		return nil, err
	}
	writers, err := from.Writers(ctx)
	if err != nil && !errors.Is(err, persistence.ErrAway) { // A shard that is away is shown as that.
		return nil, err
	}
	s := &status{}
	if s.Nodes, err = nodesOf(seen, writers); err != nil {
		return nil, err
	}
	if s.Positions, err = follower.Positions(ctx, pool, from); err != nil {
		return nil, err
	}
	// The table of followers is a sum of the positions, which stay in the JSON for scripts.
	s.Followers = followersOf(s.Positions)
	backlog, err := readmodel.New(pool).RefundBacklog(ctx)
	if err != nil {
		return nil, err
	}
	s.Refunds = refundStatus(backlog)
	if err := s.readShards(ctx, at); err != nil {
		return nil, err
	}
	if s.SetAside, err = follower.CountAsides(ctx, pool); err != nil {
		return nil, err
	}
	numbers, err := parseEvents(events)
	if err != nil {
		return nil, err
	}
	s.Owners, s.ShardOf = ownersOf(seen, numbers), shardsOf(s.Shards, numbers)
	return s, nil
}

// readShards reads how far back the journal goes in each of its databases. For the journal as a
// whole it keeps the shard that goes back the furthest.
func (s *status) readShards(ctx context.Context, at opened) error {
	for i, one := range at.shards {
		shown := shardStatus{Shard: i, First: one.First, Last: one.Last, Version: one.Version}
		var err error
		if one.Valve != nil && one.Valve.IsShut() {
			shown.Away = one.Valve.Err().Error()
		} else if shown.Standing, err = retention.Stand(ctx, at.home, one.Pool); err != nil {
			return err
		}
		if s.Journal.Oldest == "" || shown.Oldest != "" && shown.Oldest < s.Journal.Oldest {
			s.Journal = shown.Standing
		}
		// With a single database the journal's own row says everything.
		if len(at.shards) > 1 {
			s.Shards = append(s.Shards, shown)
		}
	}
	return nil
}

// nodesOf returns the members of the cluster, each with its open writers, and then the nodes that are no members and
// have left a writer open. The state of such a node is gone, or alone if the cluster has no members at all.
func nodesOf(seen []members.Seen, writers []journal.Writer) ([]nodeStatus, error) {
	nodes := []nodeStatus{}
	place := make(map[string]int)
	for _, m := range seen {
		n := nodeStatus{
			Node: m.Name, ID: m.ID, State: "member", HTTP: m.HTTP, Link: m.Link,
			Silent: m.Silent.Seconds(), Up: time.Since(m.Joined).Seconds(), Writers: []int32{},
		}
		if m.Leaving {
			n.State = "leaving"
		}
		if err := json.Unmarshal(m.Info, &n.nodeInfo); err != nil {
			return nil, fmt.Errorf("info of %s: %w", m.ID, err)
		}
		// place finds the row of a node's life by its id, for its writers below.
		place[m.ID] = len(nodes)
		nodes = append(nodes, n)
	}
	// A node's writers are closed when it stops or is buried. A writer that is still open belongs
	// to a node that runs, or to one that nobody has buried yet.
	for _, w := range writers {
		if w.Closed {
			continue
		}
		i, ok := place[w.Node]
		if !ok {
			i = len(nodes)
			place[w.Node] = i
			// The id of a node's life is its name and a suffix after #.
			name, _, _ := strings.Cut(w.Node, "#")
			state := "gone"
			if len(seen) == 0 {
				state = "alone" // it runs alone, or it was not stopped in order
			}
			nodes = append(nodes, nodeStatus{Node: name, ID: w.Node, State: state})
		}
		nodes[i].Writers = append(nodes[i].Writers, w.ID)
	}
	return nodes, nil
}

// followersOf sums up the positions of each follower over all writers.
func followersOf(positions []follower.Position) []followerStatus {
	list := []followerStatus{}
	for _, p := range positions {
		i := slices.IndexFunc(list, func(f followerStatus) bool { return f.Follower == p.Follower })
		if i < 0 {
			i = len(list)
			list = append(list, followerStatus{Follower: p.Follower})
		}
		list[i].Writers++
		list[i].Lag += p.Head - p.Batch
	}
	return list
}

// parseEvents returns the numbers of events that are named by number or by id. Ids of ticket types and orders
// are accepted too, because they contain the event's number.
func parseEvents(events []string) (map[string]int64, error) {
	numbers := make(map[string]int64)
	for _, text := range events {
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			id, err := engine.ParseID(text)
			if err != nil {
				return nil, fmt.Errorf("--event %s: neither a number nor an id", text)
			}
			number = id.Event()
		}
		numbers[text] = number
	}
	return numbers, nil
}

// ownersOf returns the name of the node that owns each event. It computes this from the list of
// members, as the nodes themselves do.
func ownersOf(seen []members.Seen, numbers map[string]int64) map[string]string {
	var list []members.Member
	for _, m := range seen {
		list = append(list, m.Member)
	}
	owners := make(map[string]string)
	for text, number := range numbers {
		if m, ok := placement.OwnerOf(list, number); ok {
			owners[text] = m.Name
		}
	}
	return owners
}

// shardsOf returns the shard that has each event's part of the journal: the shard whose range has
// the event's bucket.
func shardsOf(shards []shardStatus, numbers map[string]int64) map[string]int {
	of := make(map[string]int)
	for text, number := range numbers {
		bucket := engine.BucketOf(number)
		for _, one := range shards {
			if one.First <= bucket && bucket <= one.Last {
				of[text] = one.Shard
			}
		}
	}
	return of
}

// print writes the state as tables for people. Scripts read the JSON instead.
func (s *status) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		text := make([]string, len(cells))
		for i, c := range cells {
			text[i] = fmt.Sprint(c)
		}
		fmt.Fprintln(w, strings.Join(text, "\t"))
	}
	seconds := func(s float64) string {
		return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond).String()
	}
	row("NODE", "STATE", "VERSION", "UP", "SILENT", "ACTORS", "BACKLOG", "JOURNAL WAITS", "WRITERS", "API", "LINKS")
	for _, n := range s.Nodes {
		// A node that is no member reports nothing about itself.
		if n.Version == "" {
			row(n.Node, n.State, "-", "-", "-", "-", "-", "-", n.Writers, "-", "-")
			continue
		}
		row(n.Node, n.State, n.Version, seconds(n.Up), seconds(n.Silent), n.Actors, n.Backlog, fmt.Sprint(n.Waiting, "ms"), n.Writers, n.HTTP, n.Link)
	}
	// A flush or an empty line ends each table, so that its columns are as wide as its own cells.
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	row("FOLLOWER", "WRITERS", "LAG (BATCHES)", "POSITIONS (WRITER:BATCH)")
	for _, f := range s.Followers {
		var at []string
		for _, p := range s.Positions {
			if p.Follower == f.Follower {
				at = append(at, fmt.Sprintf("%d:%d", p.Writer, p.Batch))
			}
		}
		row(f.Follower, f.Writers, f.Lag, strings.Join(at, " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	row("JOURNAL DAYS", "OLDEST", "HELD BY")
	row(s.Journal.Days, s.Journal.Oldest, cmp.Or(s.Journal.Held, "-"))
	if err := w.Flush(); err != nil {
		return err
	}
	s.printShards(w, row)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	row("REFUNDS", "STUCK", "OLDEST")
	row(s.Refunds.Open, s.Refunds.Stuck, seconds(s.Refunds.Oldest))
	if len(s.SetAside) > 0 {
		fmt.Fprintln(w)
		row("SET ASIDE BY", "FACTS", "(boxoffice set-aside list)")
		for _, name := range slices.Sorted(maps.Keys(s.SetAside)) {
			row(name, s.SetAside[name])
		}
	}
	if s.Disk != nil {
		fmt.Fprintln(w)
		row("DISK", "FREE", "OF")
		row(s.Disk.Level, fmt.Sprint(s.Disk.Free>>20, " MB"), fmt.Sprint(s.Disk.Size>>20, " MB"))
	}
	s.printEvents(w, row)
	return w.Flush()
}

// printEvents writes the owner of each event that was asked for. If the journal has several shards,
// it also writes the event's shard.
func (s *status) printEvents(out io.Writer, row func(cells ...any)) {
	if len(s.Owners) > 0 {
		fmt.Fprintln(out)
		row("EVENT", "OWNER")
		for _, event := range slices.Sorted(maps.Keys(s.Owners)) {
			row(event, s.Owners[event])
		}
	}
	if len(s.ShardOf) > 0 {
		fmt.Fprintln(out)
		row("EVENT", "SHARD")
		for _, event := range slices.Sorted(maps.Keys(s.ShardOf)) {
			row(event, s.ShardOf[event])
		}
	}
}

// printShards writes the table of the journal's databases. It writes nothing if there is only one.
func (s *status) printShards(out io.Writer, row func(cells ...any)) {
	if len(s.Shards) == 0 {
		return
	}
	fmt.Fprintln(out)
	row("SHARD", "BUCKETS", "VERSION", "JOURNAL DAYS", "OLDEST", "HELD BY", "STATE")
	for _, one := range s.Shards {
		row(one.Shard, fmt.Sprint(one.First, "-", one.Last), one.Version, one.Days, cmp.Or(one.Oldest, "-"), cmp.Or(one.Held, "-"), cmp.Or(one.Away, "answers"))
	}
}
