package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"boxoffice/engine"
)

// CompareStates returns an error that shows where two states differ, or nil. It compares their snapshots, because
// only what is in a snapshot survives a crash: fields that a state derives from others need not be the same.
func CompareStates(a, b engine.State) error {
	x, err := canonicalBytes(a)
	if err != nil {
		return err
	}
	y, err := canonicalBytes(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("not the same as all facts replayed: %s", showDifference(a.Freeze(), b.Freeze()))
	}
	return nil
}

// canonicalMode encodes equal values as equal bytes: an empty list like a missing one, and the keys of maps sorted.
var canonicalMode, errCanonical = cbor.EncOptions{NilContainers: cbor.NilContainerAsEmpty, Sort: cbor.SortCoreDeterministic}.EncMode()

// canonicalBytes encodes the snapshot of a state with canonicalMode.
func canonicalBytes(s engine.State) ([]byte, error) {
	if errCanonical != nil {
		return nil, errCanonical
	}
	return canonicalMode.Marshal(s.Freeze())
}

// showDifference writes where two values differ first, as lines of JSON with a few lines before. The order of keys
// is the same in both texts, because JSON sorts the keys of maps and keeps the order of fields.
func showDifference(a, b any) string {
	x, errA := json.MarshalIndent(a, "", " ")
	y, errB := json.MarshalIndent(b, "", " ")
	if errA != nil || errB != nil {
		return fmt.Sprint(errA, errB)
	}
	one, two := strings.Split(string(x), "\n"), strings.Split(string(y), "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return fmt.Sprintf("line %d: %s, and %s", i+1, strings.Join(one[max(0, i-3):i+1], " "), two[i])
		}
	}
	return fmt.Sprintf("%d lines, and %d", len(one), len(two))
}
