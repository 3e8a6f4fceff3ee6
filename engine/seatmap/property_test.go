package seatmap_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/codec"
)

var ref = engine.SeatmapRef(1)

// maps are two venues with rows of various lengths, aisles and all kinds of seats.
var maps = []*seatmap.Layout{
	enginetest.NewLayout(1, "floor:A=ssss|sss", "floor:B=sswccc", "back:C=sssss", "back:D=swsc"),
	enginetest.NewLayout(2, "floor:A=ssssssss", "roof:B=ss|s|wcs"),
}

// world is a seat map and the model that it has to agree with.
type world struct {
	t       *rapid.T
	s       engine.State
	m       *model
	now     time.Time
	journal [][]byte
	watched []seatmap.Status // the seats as a watcher of the facts sees them
	serial  uint32
	claims  []keeper.Claim
}

// TestAgainstModel sends random commands, some of them twice, with a clock that also jumps back,
// and lets the map crash and come back from its journal or a snapshot.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, s: seatmap.New(ref), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
		w.tell(seatmap.Attach{Layout: maps[0]})
		w.m = newModel(maps[0], seatmap.DefaultHold)
		w.sayPrice([]int64{1, 2})
		kept := make(map[*seatmap.Frozen][]byte)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "wait") == 0 {
				w.now = w.now.Add(time.Duration(rapid.Int64Range(-20_000, 200_000).Draw(t, "pause")) * time.Millisecond)
			}
			w.step()
			w.check()
			switch rapid.IntRange(0, 9).Draw(t, "crash") {
			case 0:
				w.s = replayed(t, w.journal)
			case 1:
				w.s = thawed(t, w.s)
			case 2:
				f, _ := w.s.Freeze().(*seatmap.Frozen)
				kept[f] = encoded(t, f)
			}
		}
		for f, was := range kept {
			require.Equal(t, was, encoded(t, f), "a snapshot stands still")
		}
		want := encoded(t, w.s.Freeze())
		require.Equal(t, want, encoded(t, replayed(t, w.journal).Freeze()))
		require.Equal(t, want, encoded(t, thawed(t, w.s).Freeze()))
		w.checkSizes()
		w.allEnds()
	})
}

// tell makes the map decide, and applies its facts.
func (w *world) tell(c engine.Command) engine.Decision {
	d := w.s.Decide(c, w.now)
	require.Equal(w.t, d, w.s.Decide(c, w.now), "a decision changes nothing")
	for _, f := range d.Facts {
		w.watch(f)
		w.s.Apply(f)
		if !f.FactType().Volatile() {
			b, err := codec.AppendFact(nil, f)
			require.NoError(w.t, err)
			w.journal = append(w.journal, b)
		}
	}
	return d
}

// again sends a command a second time: nothing changes, and the answer is the same.
func (w *world) again(c engine.Command, was engine.Decision) {
	d := w.tell(c)
	require.Empty(w.t, d.Facts, "%T again", c)
	require.Equal(w.t, was.Reply, d.Reply)
	require.Equal(w.t, was.Sends, d.Sends)
}

// watch updates the picture that a watcher has who sees only the facts.
func (w *world) watch(f engine.Fact) {
	if f.FactType().Volatile() {
		return
	}
	u := seatmap.UpdateOf(f)
	if a, ok := f.(*seatmap.AttachedFact); ok {
		require.True(w.t, u.Whole)
		w.watched = make([]seatmap.Status, a.Layout.Len())
	}
	for _, change := range []struct {
		seats    []int32
		from, to []seatmap.Status
	}{
		{u.Available, []seatmap.Status{seatmap.Held, seatmap.Sold}, []seatmap.Status{seatmap.Available}},
		{u.Held, []seatmap.Status{seatmap.Available}, []seatmap.Status{seatmap.Held}},
		{u.Sold, []seatmap.Status{seatmap.Available, seatmap.Held, seatmap.Sold}, []seatmap.Status{seatmap.Sold}},
		{u.Blocked, []seatmap.Status{seatmap.Available, seatmap.Held}, []seatmap.Status{seatmap.Blocked}},
		{u.Unblocked, []seatmap.Status{seatmap.Blocked}, []seatmap.Status{seatmap.Available}},
	} {
		require.True(w.t, slices.IsSorted(change.seats), "seats rise")
		for _, i := range change.seats {
			require.Contains(w.t, change.from, w.watched[i], "seat %d by %T", i, f)
			w.watched[i] = change.to[0]
		}
	}
}

func (w *world) step() {
	switch rapid.IntRange(0, 13).Draw(w.t, "step") {
	case 0, 1, 2, 3:
		w.sayHold()
	case 4:
		w.sayRelease()
	case 5:
		w.sayBest()
	case 6:
		w.sayBlock()
	case 7, 8:
		w.sayReserve()
	case 9, 10:
		w.sayEnd()
	case 11:
		w.sayReturn()
	case 12:
		w.sayMap()
	case 13:
		w.m.expire(w.now.UnixMilli())
		w.tell(engine.Wake{})
	}
}

func (w *world) holder() string {
	return rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(w.t, "holder")
}

func (w *world) principal() uint64 { return rapid.Uint64Range(1, 3).Draw(w.t, "principal") }

// seats draws some of the map's seats, mostly beside each other.
func (w *world) seats(most int) []string {
	l := w.m.layout
	from := rapid.IntRange(0, l.Len()-1).Draw(w.t, "from")
	ids := slices.Clone(l.SeatIDs[from:min(l.Len(), from+rapid.IntRange(0, most).Draw(w.t, "count"))])
	for range rapid.IntRange(0, 2).Draw(w.t, "more") {
		ids = append(ids, l.SeatIDs[rapid.IntRange(0, l.Len()-1).Draw(w.t, "seat")])
	}
	return ids
}

func (w *world) sayHold() {
	c := seatmap.Hold{Holder: w.holder(), Principal: w.principal(), Seats: w.seats(4)}
	if rapid.IntRange(0, 9).Draw(w.t, "unknown") == 0 {
		c.Seats = append(c.Seats, "Z1")
	}
	held, failed, reasons, until := w.m.hold(c.Holder, c.Principal, c.Seats, w.now.UnixMilli())
	d := w.tell(c)
	r, ok := d.Reply.(*seatmap.Selection)
	require.True(w.t, ok, "%v", d.Reply)
	require.Equal(w.t, append([]string{}, held...), r.Held)
	require.Equal(w.t, failed, r.Failed)
	require.Equal(w.t, reasons, r.Reasons)
	require.Equal(w.t, until, r.ExpiresAt)
	c.Seats = r.Held // what has failed may succeed now, because a wheelchair place that was not kept no longer counts
	d.Reply = &seatmap.Selection{Held: r.Held, ExpiresAt: until}
	w.again(c, d)
}

func (w *world) sayRelease() {
	c := seatmap.Release{Holder: w.holder()}
	his := w.m.heldBy(c.Holder)
	if rapid.Bool().Draw(w.t, "some") {
		c.Seats = w.seats(3)
		his = slices.DeleteFunc(his, func(id string) bool { return !slices.Contains(c.Seats, id) })
	}
	w.m.give(c.Holder, his)
	r, ok := w.tell(c).Reply.(*seatmap.Released)
	require.True(w.t, ok)
	require.ElementsMatch(w.t, his, r.Seats)
}

func (w *world) sayBlock() {
	c := seatmap.Block{Block: w.seats(3), Unblock: w.seats(6)}
	sold := slices.ContainsFunc(c.Block, func(id string) bool { return w.m.status(w.m.seat(id)) == seatmap.Sold })
	d := w.tell(c)
	if sold {
		require.Equal(w.t, engine.SeatSold, d.Reply.(*engine.Refusal).Code)
		require.Empty(w.t, d.Facts)
		return
	}
	for _, id := range c.Unblock {
		w.m.places[w.m.seat(id)].blocked = false
	}
	for _, id := range c.Block {
		p := &w.m.places[w.m.seat(id)]
		p.blocked = true
		if p.holder != "" {
			w.m.give(p.holder, []string{id})
		}
	}
	d.Reply = &seatmap.Blocking{}
	w.again(c, d)
}

func (w *world) sayPrice(types []int64) {
	var c seatmap.Price
	for i, typ := range types {
		if typ != 0 {
			c.Sections = append(c.Sections, seatmap.SectionPrice{Section: w.m.layout.Sections[i].ID, Type: typ})
		}
	}
	copy(w.m.types, types)
	w.again(c, w.tell(c))
}

// sayMap prices the map, attaches another map, or detaches it.
func (w *world) sayMap() {
	if rapid.IntRange(0, 2).Draw(w.t, "price") > 0 {
		w.sayPrice([]int64{rapid.Int64Range(0, 3).Draw(w.t, "type"), rapid.Int64Range(0, 3).Draw(w.t, "type")})
		return
	}
	c := seatmap.Attach{
		Layout: rapid.SampledFrom(maps).Draw(w.t, "map"), HoldTime: rapid.SampledFrom([]int64{60_000, 300_000}).Draw(w.t, "time"),
	}
	other := c.Layout != w.m.layout
	if other && w.m.anySold() {
		require.Equal(w.t, engine.SeatsSold, w.tell(c).Reply.(*engine.Refusal).Code)
		require.Equal(w.t, engine.SeatsSold, w.tell(seatmap.Detach{}).Reply.(*engine.Refusal).Code)
		return
	}
	if !w.m.anySold() && rapid.IntRange(0, 3).Draw(w.t, "detach") == 0 {
		w.again(seatmap.Detach{}, w.tell(seatmap.Detach{}))
		require.Equal(w.t, engine.NoSeating, w.tell(seatmap.Hold{Holder: "ann"}).Reply.(*engine.Refusal).Code)
		other = true
	}
	if other {
		w.m.attach(c.Layout, c.HoldTime)
	}
	w.m.holdTime = c.HoldTime
	w.again(c, w.tell(c))
}

// claim returns a new serial of one of a few orders.
func (w *world) claim() keeper.Claim {
	w.serial++
	c := keeper.Claim{
		Order:  engine.NumberedID(1, rapid.Int64Range(1, 5).Draw(w.t, "order")),
		Serial: keeper.NewSerial(1, w.serial),
	}
	w.claims = append(w.claims, c)
	return c
}

func (w *world) sayReserve() {
	c := keeper.Reserve{Claim: w.claim()}
	c.Line.Seats = slices.Compact(slices.Sorted(slices.Values(append(w.seats(3), w.m.layout.SeatIDs[0]))))
	if rapid.Bool().Draw(w.t, "selected") {
		c.Line.Holder = w.holder()
		if his := w.m.heldBy(c.Line.Holder); len(his) > 0 {
			c.Line.Seats = his
		}
	}
	c.Line.Principal, c.Line.Late = w.principal(), rapid.IntRange(0, 4).Draw(w.t, "late") == 0
	for _, id := range c.Line.Seats {
		typ := w.m.typ(w.m.seat(id))
		if typ == 0 || rapid.IntRange(0, 19).Draw(w.t, "wrong") == 0 {
			typ = 3
		}
		c.Line.SeatTypes = append(c.Line.SeatTypes, typ)
	}
	code := w.m.reserve(c.Claim, &c.Line)
	d := w.tell(c)
	require.Len(w.t, d.Sends, 1)
	require.Equal(w.t, engine.EventRef(1), d.Sends[0].To)
	if code != "" {
		refused, ok := d.Sends[0].Cmd.(keeper.Refused)
		require.True(w.t, ok, "want %s", code)
		require.Equal(w.t, engine.Code(code), refused.Refusal.Code)
		require.Empty(w.t, d.Facts)
		return
	}
	require.Equal(w.t, keeper.Granted{Claim: c.Claim, Keeper: ref}, d.Sends[0].Cmd)
	w.again(c, d)
}

// sayEnd commits or releases one of the orders, perhaps one that has ended.
func (w *world) sayEnd() {
	if len(w.claims) == 0 {
		return
	}
	c := rapid.SampledFrom(w.claims).Draw(w.t, "claim")
	closed := []engine.Send{{To: engine.EventRef(1), Cmd: keeper.Closed{Claim: c, Keeper: ref}}}
	known := w.m.open[c] || w.m.ended[c]
	if !known { // the order was refused, and a ledger does not commit such orders
		return
	}
	var cmd engine.Command = keeper.Commit{Claim: c}
	if rapid.Bool().Draw(w.t, "release") {
		cmd = keeper.Release{Claim: c}
		if w.m.open[c] {
			w.m.release(c)
		}
	}
	delete(w.m.open, c)
	w.m.ended[c] = true
	d := w.tell(cmd)
	require.Equal(w.t, closed, d.Sends)
	w.again(cmd, d)
}

func (w *world) sayReturn() {
	if len(w.claims) == 0 {
		return
	}
	c := keeper.Return{Claim: rapid.SampledFrom(w.claims).Draw(w.t, "claim"), Seats: w.seats(8)}
	d := w.tell(c)
	if !w.m.ended[c.Claim] {
		require.Empty(w.t, d.Facts)
		require.True(w.t, len(d.Sends) == 0 || !w.m.open[c.Claim], "not committed, and answered")
		return
	}
	w.m.giveBack(c.Claim, c.Seats)
	require.Equal(w.t, keeper.Returned{Claim: c.Claim, Keeper: ref, Seats: c.Seats}, d.Sends[0].Cmd)
	w.again(c, d)
}

// check compares the map with the model and with a watcher's picture.
func (w *world) check() {
	require.NoError(w.t, w.s.Check())
	v, ok := w.s.Decide(seatmap.View{}, w.now).Reply.(*seatmap.Map)
	require.True(w.t, ok)
	require.Equal(w.t, uint64(len(w.journal)), v.Position)
	for i := range w.m.places {
		require.Equal(w.t, w.m.status(i), v.State(i), "seat %s", w.m.layout.SeatIDs[i])
	}
	require.Equal(w.t, len(w.m.of(func(i int, _ place) bool { return w.m.status(i) == seatmap.Held })), v.Held)
	for i, status := range w.watched {
		require.Equal(w.t, v.State(i), status, "seat %s as watched", w.m.layout.SeatIDs[i])
	}
	holders := 0
	w.s.(*seatmap.State).Selections(func(holder string, until int64, seats []string) {
		holders++
		require.Equal(w.t, w.m.shoppers[holder].until, until)
		require.ElementsMatch(w.t, w.m.heldBy(holder), seats)
	})
	require.Len(w.t, w.m.shoppers, holders, "who holds nothing is forgotten")
}

// checkSizes checks the sizes that the ticket types are told after an activation.
func (w *world) checkSizes() {
	w.s = thawed(w.t, w.s)
	told := make(map[uint64]bool)
	for _, send := range w.tell(engine.Wake{}).Sends {
		if r, ok := send.Cmd.(keeper.Resize); ok {
			require.Equal(w.t, w.m.quantity(send.To.ID), r.Quantity, "type %d", send.To.ID)
			require.False(w.t, told[r.Revision], "a revision is of one size")
			told[r.Revision] = true
		}
	}
	for revision := range told {
		w.tell(keeper.ResizeSeen{Revision: revision})
	}
	for _, send := range w.tell(engine.Wake{}).Sends {
		_, again := send.Cmd.(keeper.Resize)
		require.False(w.t, again, "told again, though seen")
	}
}

// allEnds lets time pass without any command: no hold is left at the end, and none has ended before
// its time.
func (w *world) allEnds() {
	for range 50 {
		next := w.s.Next()
		v := w.s.Decide(seatmap.View{}, w.now).Reply.(*seatmap.Map)
		if v.Held == 0 {
			return
		}
		require.False(w.t, next.IsZero(), "held for ever")
		w.now = next
		for _, f := range w.tell(engine.Wake{}).Facts {
			if expired, ok := f.(*seatmap.ExpiredFact); ok {
				for _, i := range expired.Seats {
					s := w.m.shoppers[w.m.places[i].holder]
					require.LessOrEqual(w.t, s.until, next.UnixMilli())
					require.Less(w.t, next.UnixMilli()-s.until, int64(1_000))
				}
			}
		}
	}
	w.t.Fatal("fifty wakes, and seats are held")
}

func replayed(t *rapid.T, journal [][]byte) engine.State {
	s := seatmap.New(ref)
	for _, b := range journal {
		facts, err := codec.Facts(engine.KindSeatmap, b)
		require.NoError(t, err)
		for _, f := range facts {
			s.Apply(f)
		}
	}
	require.NoError(t, s.Check())
	return s
}

func encoded(t *rapid.T, snapshot any) []byte {
	b, err := codec.Marshal(snapshot)
	require.NoError(t, err)
	return b
}

func thawed(t *rapid.T, s engine.State) engine.State {
	f := new(seatmap.Frozen)
	require.NoError(t, codec.Unmarshal(encoded(t, s.Freeze()), f))
	again, err := seatmap.Thaw(ref, f)
	require.NoError(t, err)
	return again
}
