package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/witness"
	"boxoffice/edge/witness/witnesstest"
	"boxoffice/engine/draw"
)

// TestVerifyDraw goes the way of a visitor who checks a place, and of one who finds fraud.
func TestVerifyDraw(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	beacon, err := draw.NewTestBeacon(bytes.Repeat([]byte{3}, 32), 1_800_000_000, 3)
	require.NoError(t, err)
	info, err := beacon.Info()
	require.NoError(t, err)
	var tree draw.Tree
	for n := range byte(20) {
		entry := draw.Entry{Secret: [draw.SecretSize]byte{n}, Party: 1, Class: draw.ClassAccount}
		tree.Append(entry.Leaf())
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	closes := int64(1_800_000_600_000)
	s := draw.Statement{
		Event: "evt_1", Draw: 1, Count: 20, ByClass: draw.Counts{draw.ClassAccount: 20}, Root: tree.Root(), TestBeacon: true,
		Rules: draw.Rules{Chain: beacon.Chain.Hash, Round: beacon.Chain.RoundAt(closes + draw.BeaconDelay), ClosesAt: closes, Mode: draw.ByDraw},
	}
	public := draw.Bytes(key.Public().(ed25519.PublicKey))
	doc := draw.Published{Statement: s, Signer: public, Signature: draw.SignStatement(key, &s), Beacon: beacon.Sign(s.Rules.Round)}
	proof, err := tree.Prove(7)
	require.NoError(t, err)
	receipt := draw.SignReceipt(key, "evt_1", 1, tree.Leaf(7), 5)
	c := verifyDrawCmd{
		Draw: write("draw", doc), Chain: write("chain", json.RawMessage(info)), Receipt: receipt.Text(),
		Proof: write("proof", draw.Inclusion{Index: 7, Proof: proof}), Signer: public,
	}
	var said strings.Builder
	require.NoError(t, c.verify(&said))
	require.Regexp(t, `(?s)^draw 1 of evt_1: 20 entries .*TEST BEACON.*receipt: entry 8 of 20 has the place \d+\n$`, said.String())

	t.Log("the signer is another")
	other := c
	other.Signer = draw.Bytes{1}
	require.ErrorContains(t, other.verify(&said), "not by the key")

	t.Log("quicknet has not signed it")
	other = c
	other.Chain = ""
	require.ErrorIs(t, other.verify(&said), draw.ErrBeacon)

	t.Log("a witness saw it in time")
	seer := witnesstest.Open(t)
	roots := filepath.Join(dir, "roots.pem")
	require.NoError(t, os.WriteFile(roots, seer.Root, 0o600))
	closed := time.UnixMilli(beacon.Chain.Time(s.Rules.Round))
	witnessed := func(digest draw.Hash, at time.Time) verifyDrawCmd {
		seen, with := doc, c
		seen.Witness = seer.Token(digest, at)
		with.Draw, with.Witness = write("witnessed", seen), roots
		return with
	}
	said.Reset()
	inTime := witnessed(s.Digest(), time.Now())
	require.NoError(t, inTime.verify(&said))
	require.Contains(t, said.String(), "witness: CN="+witnesstest.Name+" saw the statement at ")
	require.NotContains(t, said.String(), "not checked")
	t.Log("or too late, or something else, or it is another witness")
	require.ErrorContains(t, witnessed(s.Digest(), closed).verify(&said), "the round was known from")
	require.ErrorIs(t, witnessed(draw.Hash{}, time.Now()).verify(&said), witness.ErrToken)
	require.NoError(t, os.WriteFile(roots, witnesstest.Open(t).Root, 0o600))
	require.ErrorIs(t, inTime.verify(&said), witness.ErrToken)

	t.Log("the proof is another's")
	other = c
	other.Proof = write("other-proof", draw.Inclusion{Index: 8, Proof: proof})
	require.ErrorIs(t, other.verify(&said), draw.ErrInclusion)

	t.Log("two roots under one key")
	require.Error(t, (&verifyDrawCmd{Draw: c.Draw, Rival: c.Draw}).verify(&said))
	s.Root[0] ^= 1
	rival := draw.Published{Statement: s, Signer: public, Signature: draw.SignStatement(key, &s)}
	said.Reset()
	require.NoError(t, (&verifyDrawCmd{Draw: c.Draw, Rival: write("rival", rival)}).verify(&said))
	require.Contains(t, said.String(), "FRAUD")
}
