package draw

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

const opening = 1_800_000_000_000 // unix milliseconds

// entryOf is the n-th entry of the tests: its secret is the start of the SHA-256 of n.
func entryOf(n int) Entry {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	return Entry{Secret: [SecretSize]byte(sum[:SecretSize]), Party: uint8(n%10 + 1), Class: Class(n % 3)}
}

func newBeacon(t testing.TB) *TestBeacon {
	b, err := NewTestBeacon(bytes.Repeat([]byte("seed"), 8), opening/1000-1000, 3)
	require.NoError(t, err)
	return b
}

// newStatement closes a registration of count entries.
func newStatement(t testing.TB, b *TestBeacon, number uint32, count int) (Statement, *Tree) {
	tree := new(Tree)
	var by Counts
	for n := range count {
		e := entryOf(n)
		tree.Append(e.Leaf())
		by[e.Class]++
	}
	closes := int64(opening - 180_000)
	return Statement{
		Event: "evt_golden", Draw: number, Count: uint32(count), ByClass: by, Root: tree.Root(), TestBeacon: true,
		Rules: Rules{
			Chain: b.Chain.Hash, Round: b.Chain.RoundAt(closes + BeaconDelay), ClosesAt: closes, Mode: ByDraw, OpensAt: opening,
			PartyMax: 10, Proof: "address", RegistersFrom: opening - 86_400_000, VoidAfter: 60,
		},
	}, tree
}

var signer = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))

// publish returns the document of a draw and the visitors' leaves.
func publish(t testing.TB, number uint32, count int) (*Published, *Chain, *Tree) {
	b := newBeacon(t)
	s, tree := newStatement(t, b, number, count)
	p := &Published{
		Statement: s, Signer: Bytes(signer.Public().(ed25519.PublicKey)), Signature: SignStatement(signer, &s),
		Beacon: b.Sign(s.Rules.Round),
	}
	return p, &b.Chain, tree
}

func TestVisitorChecksHisPlace(t *testing.T) {
	t.Parallel()
	p, chain, tree := publish(t, 1, 3000)
	draw, err := p.Verify(chain)
	require.NoError(t, err)
	leaves := make([]Hash, tree.Len())
	for i := range leaves {
		leaves[i] = tree.Leaf(i)
	}
	places, err := draw.Places(leaves)
	require.NoError(t, err)
	taken := make([]bool, len(places))
	key := signer.Public().(ed25519.PublicKey)
	for i, place := range places {
		require.False(t, taken[place], "two visitors have the place %d", place)
		taken[place] = true
		if i%97 != 0 {
			continue
		}
		proof, err := tree.Prove(uint32(i))
		require.NoError(t, err)
		r, err := ParseReceipt(new(SignReceipt(signer, "evt_golden", 1, leaves[i], opening)).Text())
		require.NoError(t, err)
		alone, err := draw.PlaceOf(&r, key, uint32(i), proof)
		require.NoError(t, err)
		require.Equal(t, place, alone)

		_, err = draw.PlaceOf(&r, key, uint32(i+1)%3000, proof)
		require.ErrorIs(t, err, ErrInclusion)
		r.At++
		_, err = draw.PlaceOf(&r, key, uint32(i), proof)
		require.ErrorIs(t, err, ErrReceipt)
	}
	leaves[5], leaves[6] = leaves[6], leaves[5]
	_, err = draw.Places(leaves)
	require.ErrorIs(t, err, ErrInclusion)
}

// TestEveryChangeIsFound changes one input after another: the signature of the statement breaks, or,
// if the cheat signs anew, the draw is refused or the two statements are rivals.
func TestEveryChangeIsFound(t *testing.T) {
	t.Parallel()
	honest, chain, _ := publish(t, 1, 100)
	for name, change := range map[string]func(*Statement){
		"count":    func(s *Statement) { s.Count++; s.ByClass[0]++ },
		"classes":  func(s *Statement) { s.ByClass[0]++; s.ByClass[1]-- },
		"sum":      func(s *Statement) { s.ByClass[0]++ },
		"root":     func(s *Statement) { s.Root[31] ^= 1 },
		"event":    func(s *Statement) { s.Event = "evt_other" },
		"draw":     func(s *Statement) { s.Draw = 2 },
		"round":    func(s *Statement) { s.Rules.Round++ },
		"chain":    func(s *Statement) { s.Rules.Chain[0] ^= 1 },
		"closing":  func(s *Statement) { s.Rules.ClosesAt += 3000 },
		"opening":  func(s *Statement) { s.Rules.OpensAt++ },
		"mode":     func(s *Statement) { s.Rules.Mode = ByArrival },
		"party":    func(s *Statement) { s.Rules.PartyMax-- },
		"proof":    func(s *Statement) { s.Rules.Proof = "none" },
		"register": func(s *Statement) { s.Rules.RegistersFrom++ },
		"void":     func(s *Statement) { s.Rules.VoidAfter++ },
	} {
		p := *honest
		change(&p.Statement)
		_, err := p.Verify(chain)
		require.Error(t, err, name)
		p.Signature = SignStatement(signer, &p.Statement)
		if _, err = p.Verify(chain); err == nil {
			same := p.Statement.Event == honest.Statement.Event && p.Statement.Draw == honest.Statement.Draw
			require.Equal(t, same, AreRival(&p.Statement, &honest.Statement), name)
			if name != "classes" { // they bound the list, and decide no order
				require.NotEqual(t, honest.Statement.Key(p.Beacon), p.Statement.Key(p.Beacon), name)
			}
		}
	}
	require.False(t, AreRival(&honest.Statement, &honest.Statement))
	for i := range honest.Beacon {
		p := *honest
		p.Beacon = bytes.Clone(p.Beacon)
		p.Beacon[i] ^= 1
		_, err := p.Verify(chain)
		require.ErrorIs(t, err, ErrBeacon)
	}
	p := *honest
	p.Beacon = nil
	_, err := p.Verify(chain)
	require.ErrorIs(t, err, ErrBeacon)
}

// quicknetInfo is what drand's nodes answer at /info.
const quicknetInfo = `{"public_key":"83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a","period":3,"genesis_time":1692803367,"hash":"52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971","groupHash":"f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e","schemeID":"bls-unchained-g1-rfc9380","metadata":{"beaconID":"quicknet"}}`

// TestQuicknet verifies rounds that drand has published.
func TestQuicknet(t *testing.T) {
	t.Parallel()
	c := Quicknet()
	for round, signature := range map[uint64]string{
		1000:   "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
		1001:   "b33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41",
		657413: "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
	} {
		text, err := hex.DecodeString(signature)
		require.NoError(t, err)
		require.NoError(t, c.Verify(round, text))
		require.ErrorIs(t, c.Verify(round+1, text), ErrBeacon)
		for bit := range 8 * len(text) {
			if bit%29 == 0 {
				wrong := bytes.Clone(text)
				wrong[bit/8] ^= 1 << (bit % 8)
				require.ErrorIs(t, c.Verify(round, wrong), ErrBeacon)
			}
		}
		require.Equal(t, round, c.RoundAt(c.Time(round)))
		require.Equal(t, round+1, c.RoundAt(c.Time(round)+1))
	}
	require.Equal(t, int64(1_692_806_364_000), c.Time(1000))
	read, err := ReadChain([]byte(quicknetInfo))
	require.NoError(t, err)
	require.Equal(t, c, read)
	for was, is := range map[string]string{"83cf": "83cd", "1692803367": "1692803368", ":3,": ":4,", "f477": "f478", `"quicknet"`: `"fastnet"`, "52db": "52dc"} {
		changed := strings.Replace(quicknetInfo, was, is, 1)
		require.NotEqual(t, quicknetInfo, changed)
		_, err := ReadChain([]byte(changed))
		require.ErrorIs(t, err, ErrBeacon, was)
	}
	test := newBeacon(t)
	info, err := test.Info()
	require.NoError(t, err)
	read, err = ReadChain(info)
	require.NoError(t, err)
	require.Equal(t, &test.Chain, read)
}

// TestNoBias draws 1,000 times among few and looks where each index ends up.
func TestNoBias(t *testing.T) {
	t.Parallel()
	const draws, count = 1000, 10
	var at [count][count]int
	for n := range draws {
		p := NewPermutation(sha256.Sum256([]byte(fmt.Sprint("bias", n))), count)
		for index := range uint32(count) {
			at[index][p.Place(index)]++
		}
	}
	for index := range at {
		// 9 degrees of freedom: one of 10 indexes exceeds 33.7 by chance in one of 1,000 tests.
		require.Less(t, chiSquare(at[index][:], draws), 33.7, "index %d", index)
	}
}

// TestSmallCounts looks at whole orders of few, where a Feistel network is at its weakest.
func TestSmallCounts(t *testing.T) {
	t.Parallel()
	for count, orders := range map[uint32]int{2: 2, 3: 6, 4: 24, 5: 120} {
		draws := 100 * orders
		seen := make(map[string]int)
		for n := range draws {
			p := NewPermutation(sha256.Sum256([]byte(fmt.Sprint("small", count, n))), count)
			seen[fmt.Sprint(p.All())]++
		}
		require.Len(t, seen, orders)
		tally := make([]int, 0, orders)
		for _, k := range seen {
			tally = append(tally, k)
		}
		df := float64(orders - 1)
		require.Less(t, chiSquare(tally, draws), df+4*math.Sqrt(2*df)+4, "count %d", count)
	}
}

// TestMintedEntriesGainNothing lets an attacker who knows everything but the round mint 100,000 entries
// behind 20,000 honest ones. He goes on minting, and stops where the list would give him the most of the first
// places if the round were the last one that is known. Under the real round each tenth of the line has its
// share of his entries.
func TestMintedEntriesGainNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("gives the places of 120,000 entries some hundred times")
	}
	const honest, minted, tries, draws, first = 20_000, 100_000, 5, 20, 1000
	b := newBeacon(t)
	s, tree := newStatement(t, b, 1, honest+minted+tries)
	places := func(count int, round uint64) []uint32 {
		under := tree.Prefix(count)
		s.Count, s.Root, s.Rules.Round = uint32(count), under.Root(), round
		return NewPermutation(s.Key(b.Sign(round)), s.Count).All()
	}
	tenths, hoped, won := make([]int, 10), 0, 0
	for round := uint64(2); round < draws+2; round++ {
		best, stop := 0, 0
		for count := honest + minted; count < honest+minted+tries; count++ {
			if n := countFirst(places(count, round-1)[honest:], first); n > best {
				best, stop = n, count
			}
		}
		own := places(stop, round)[honest:]
		hoped, won = hoped+best, won+countFirst(own, first)
		for _, place := range own {
			tenths[int(place)*len(tenths)/stop]++
		}
	}
	t.Logf("of the first %d places the attacker hoped for %d and has %d", draws*first, hoped, won)
	// A tenth that is full of his entries holds no other one, so the counts vary less than free ones would: by
	// the share of the honest.
	all := 0
	for _, n := range tenths {
		all += n
	}
	require.Less(t, chiSquare(tenths, all)*(honest+minted)/honest, 33.7)
	fair := float64(draws*first) * minted / (honest + minted)
	require.InDelta(t, fair, won, 4*math.Sqrt(fair*honest/(honest+minted)))
}

// countFirst counts the places that are among the first.
func countFirst(places []uint32, first uint32) (n int) {
	for _, place := range places {
		if place < first {
			n++
		}
	}
	return n
}

func chiSquare(tally []int, total int) (sum float64) {
	expected := float64(total) / float64(len(tally))
	for _, n := range tally {
		sum += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	return sum
}

// TestMillion verifies a whole draw of a million.
func TestMillion(t *testing.T) {
	t.Parallel()
	p, chain, tree := publish(t, 1, 1_000_000)
	leaves := make([]Hash, tree.Len())
	for i := range leaves {
		leaves[i] = tree.Leaf(i)
	}
	start := time.Now()
	draw, err := p.Verify(chain)
	require.NoError(t, err)
	places, err := draw.Places(leaves)
	require.NoError(t, err)
	t.Logf("verified %d entries in %s", len(places), time.Since(start))
	require.Equal(t, places[123_456], NewPermutation(p.Statement.Key(p.Beacon), 1_000_000).Place(123_456))
}

func TestPrefixOfATree(t *testing.T) {
	t.Parallel()
	var tree Tree
	roots := []Hash{tree.Root()}
	for n := range 2500 {
		e := entryOf(n)
		tree.Append(e.Leaf())
		roots = append(roots, tree.Root())
	}
	for _, count := range []int{0, 1, 1023, 1024, 1025, 2048, 2500} {
		part := tree.Prefix(count)
		require.Equal(t, roots[count], part.Root(), count)
	}
}

func TestRulesAreCanonical(t *testing.T) {
	t.Parallel()
	s, _ := newStatement(t, newBeacon(t), 1, 1)
	text, err := json.Marshal(&s.Rules)
	require.NoError(t, err)
	canonical := jsontext.Value(bytes.Clone(text))
	require.NoError(t, canonical.Canonicalize())
	require.Equal(t, string(canonical), string(text))
}

func TestReceiptsThatAreNone(t *testing.T) {
	t.Parallel()
	text := new(SignReceipt(signer, "evt_golden", 1, Hash{1}, 5)).Text()
	for end := range len(text) {
		if r, err := ParseReceipt(text[:end]); err == nil {
			require.ErrorIs(t, r.Verify(signer.Public().(ed25519.PublicKey)), ErrReceipt)
		}
	}
}

// vector is one of the draws that other programs verify (docs/verify_draw.py). Its entries are those
// of entryOf.
type vector struct {
	Published
	Receipt string   `json:"receipt"` // of the last entry
	Proof   []Hash   `json:"proof"`
	Places  []uint32 `json:"places"`
}

// TestVectors holds the formats: what was drawn once is drawn so for ever.
func TestVectors(t *testing.T) {
	t.Parallel()
	var all []vector
	for n, count := range []int{1, 2, 3, 5, 16, 17, 257, 1000, 1025, 2100} {
		p, chain, tree := publish(t, uint32(n+1), count)
		draw, err := p.Verify(chain)
		require.NoError(t, err)
		proof, err := tree.Prove(uint32(count - 1))
		require.NoError(t, err)
		r := SignReceipt(signer, p.Statement.Event, p.Statement.Draw, tree.Leaf(count-1), opening-90_000_000)
		all = append(all, vector{Published: *p, Receipt: r.Text(), Proof: proof, Places: draw.places.All()})
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	text = append(text, '\n')
	const path = "testdata/draws.json"
	if *rewrite {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), string(text))
}
