package docs_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/draw"
	"boxoffice/persistence/persisttest"
)

// drawn is one of the draws of engine/draw/testdata.
type drawn struct {
	draw.Published
	Receipt string      `json:"receipt"`
	Proof   []draw.Hash `json:"proof"`
	Places  []uint32    `json:"places"`
}

// TestPythonAgrees lets the Python program, which shares no code with the engine, verify ten draws:
// it finds every place, and each change.
func TestPythonAgrees(t *testing.T) {
	t.Parallel()
	python := persisttest.Program(t, "apt install python3", "python3")
	text, err := os.ReadFile("../engine/draw/testdata/draws.json")
	require.NoError(t, err)
	var all []drawn
	require.NoError(t, json.Unmarshal(text, &all))
	require.Len(t, all, 10)
	dir := t.TempDir()
	verify := func(d *drawn, leaves string) (string, error) {
		document, err := json.Marshal(d.Published)
		require.NoError(t, err)
		proof, err := json.Marshal(draw.Inclusion{Index: d.Statement.Count - 1, Proof: d.Proof})
		require.NoError(t, err)
		args := []string{"verify_draw.py"}
		for name, content := range map[string]string{"draw": string(document), "proof": string(proof), "leaves": leaves} {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			if name != "draw" {
				args = append(args, "--"+name, path)
			}
		}
		out, err := exec.CommandContext(t.Context(), python, append(args, "--receipt", d.Receipt, filepath.Join(dir, "draw"))...).Output()
		return string(out), err
	}
	for i := range all {
		d := &all[i]
		var leaves, places strings.Builder
		fmt.Fprintln(&places, d.Places[len(d.Places)-1]) // of the receipt
		for n, place := range d.Places {
			secret := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
			entry := draw.Entry{Secret: [draw.SecretSize]byte(secret[:draw.SecretSize]), Party: uint8(n%10 + 1), Class: draw.Class(n % 3)}
			fmt.Fprintln(&leaves, entry.Leaf())
			fmt.Fprintln(&places, place)
		}
		out, err := verify(d, leaves.String())
		require.NoError(t, err)
		require.Equal(t, places.String(), out)
	}

	d := &all[5]
	leaves := strings.Repeat("00", 32) + "\n"
	_, err = verify(d, leaves)
	require.Error(t, err, "another list")
	d.Statement.ByClass[0]--
	d.Statement.ByClass[1]++
	_, err = verify(d, leaves)
	require.Error(t, err, "another statement")
}
