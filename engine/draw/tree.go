package draw

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	chunkLevel = 10 // level of a chunk's root in the tree; leaves are on level 0
	chunkSize  = 1 << chunkLevel
)

// Tree is a Merkle tree by RFC 6962 over leaves in the order in which they are appended. It stores
// 32 bytes for each leaf and the roots of the complete chunks. With a million leaves, a root or a
// proof therefore costs about 2,000 hashes. The zero value is an empty tree.
type Tree struct {
	chunks []*[chunkSize]Hash // all but the last one are full
	roots  []Hash             // the roots of the full chunks
	count  int
}

// Append adds a leaf after the last one.
func (t *Tree) Append(leaf Hash) {
	if t.count%chunkSize == 0 {
		t.chunks = append(t.chunks, new([chunkSize]Hash))
	}
	t.chunks[t.count/chunkSize][t.count%chunkSize] = leaf
	if t.count++; t.count%chunkSize == 0 {
		t.roots = append(t.roots, Hash(t.hashOfSubtree(chunkLevel, int64(t.count/chunkSize-1))))
	}
}

// Len returns the number of leaves.
func (t *Tree) Len() int { return t.count }

// Leaf returns the leaf with an index.
func (t *Tree) Leaf(index int) Hash { return t.chunks[index/chunkSize][index%chunkSize] }

// Prefix returns the tree of the first count leaves. It shares their memory with t, to which more
// leaves may be appended afterwards.
func (t *Tree) Prefix(count int) Tree {
	full := count / chunkSize
	all := (count + chunkSize - 1) / chunkSize
	return Tree{chunks: t.chunks[:all:all], roots: t.roots[:full:full], count: count}
}

// Chunks returns the leaves, in pieces that share the tree's memory. The caller must not change
// them.
func (t *Tree) Chunks() [][]Hash {
	all := make([][]Hash, len(t.chunks))
	for i, c := range t.chunks {
		all[i] = c[:min(chunkSize, t.count-i*chunkSize)]
	}
	return all
}

// Root returns the tree's root. The root of an empty tree is the SHA-256 of no bytes.
func (t *Tree) Root() Hash {
	root, err := tlog.TreeHash(int64(t.count), t)
	if err != nil {
		panic(err) // ReadHashes never fails for a tree's own indexes
	}
	return Hash(root)
}

// Prove returns the hashes that show the leaf with an index to be under the root. If there is no such leaf, the
// error wraps ErrInclusion.
func (t *Tree) Prove(index uint32) ([]Hash, error) {
	if int(index) >= t.count {
		return nil, fmt.Errorf("%w: there is no leaf %d among %d", ErrInclusion, index, t.count)
	}
	proof, err := tlog.ProveRecord(int64(t.count), int64(index), t)
	if err != nil {
		return nil, err
	}
	hashes := make([]Hash, len(proof))
	for i := range proof {
		hashes[i] = Hash(proof[i])
	}
	return hashes, nil
}

// ReadHashes gives package tlog the hashes of complete subtrees, from which tlog computes roots and
// proofs.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = t.hashOfSubtree(tlog.SplitStoredHashIndex(index))
	}
	return hashes, nil
}

// hashOfSubtree returns the hash of the n-th complete subtree of a level.
func (t *Tree) hashOfSubtree(level int, n int64) tlog.Hash {
	switch {
	case level == 0:
		return tlog.Hash(t.Leaf(int(n)))
	case level == chunkLevel && n < int64(len(t.roots)):
		return tlog.Hash(t.roots[n])
	}
	return tlog.NodeHash(t.hashOfSubtree(level-1, 2*n), t.hashOfSubtree(level-1, 2*n+1))
}

// ErrInclusion says that a leaf, or a list of leaves, is not the one under a root.
var ErrInclusion = errors.New("draw: not under the root")

// CheckInclusion returns nil if the proof shows that the leaf has the index among the count leaves
// of the root.
func CheckInclusion(root Hash, count uint32, leaf Hash, index uint32, proof []Hash) error {
	hashes := make(tlog.RecordProof, len(proof))
	for i := range proof {
		hashes[i] = tlog.Hash(proof[i])
	}
	if index >= count {
		return fmt.Errorf("%w: there is no leaf %d among %d", ErrInclusion, index, count)
	}
	if err := tlog.CheckRecord(hashes, int64(count), tlog.Hash(root), int64(index), tlog.Hash(leaf)); err != nil {
		return fmt.Errorf("%w: leaf %s as number %d of %d", ErrInclusion, leaf, index, count)
	}
	return nil
}
