package gate

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

// vector is one case of docs/gates/vectors.json: manifests that arrive, and codes that are shown
// with their verdicts.
type vector struct {
	Name  string
	Steps []struct {
		Manifest *Manifest
		At       int64
		Text     string
		Typed    bool
		Out      bool
		Verdict
	}
}

func readVectors(t *testing.T) ([]byte, []vector) {
	t.Helper()
	text, err := os.ReadFile("../docs/gates/vectors.json")
	require.NoError(t, err)
	var all []vector
	require.NoError(t, json.Unmarshal(text, &all))
	require.NotEmpty(t, all)
	return text, all
}

func TestVectors(t *testing.T) {
	t.Parallel()
	_, all := readVectors(t)
	for _, v := range all {
		r := newRoster()
		for i, step := range v.Steps {
			at := time.Unix(step.At, 0)
			if step.Manifest != nil {
				r.apply(step.Manifest, at)
				continue
			}
			says, ticket := r.decideCode(step.Text, step.Typed, step.Out, at)
			require.Equal(t, step.Verdict, says, "%s, step %d", v.Name, i)
			if says.Status == Success && !r.justPassed(ticket, step.Out, at) {
				r.notePassage(step.Text, note{out: step.Out, at: at})
			}
		}
	}
}

// TestVectorsInPython checks that another implementation decides the same.
func TestVectorsInPython(t *testing.T) {
	t.Parallel()
	python := persisttest.Program(t, "apt-get install python3", "python3")
	text, all := readVectors(t)
	cmd := exec.CommandContext(t.Context(), python, "../docs/gates/decide.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var says []Verdict
	require.NoError(t, json.Unmarshal(out, &says))
	for _, v := range all {
		for i, step := range v.Steps {
			if step.Manifest == nil {
				require.NotEmpty(t, says)
				require.Equal(t, step.Verdict, says[0], "%s, step %d", v.Name, i)
				says = says[1:]
			}
		}
	}
	require.Empty(t, says)
}
