package sim

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mutants are mistakes in package activation that the simulator has to find. Each is an
// edit of its source; nothing here or there knows of it otherwise. The search for it begins with the seed
// first, which found it last; 0 is the first of all.
var mutants = []struct {
	name, file, from, to string
	first                uint64
}{
	{
		"a reply leaves before its facts are durable", "decide.go",
		"	w.entry.Ref, w.entry.Claim, w.entry.Owner = a.Ref, a.claim, w\n",
		"	w.entry.Ref, w.entry.Claim, w.entry.Owner = a.Ref, a.claim, w\n	if w.call != nil {\n		w.call.Finish(w.reply, nil)\n		w.call = nil\n	}\n", 0,
	},
	{
		"an answer does not wait for the facts before it", "decide.go",
		"len(w.entry.Facts) == 0 && a.pending.Load() == 0", "len(w.entry.Facts) == 0", 0,
	},
	{
		"an answer without facts leaves without a proof", "decide.go",
		"if len(a.unproven) == 0 && a.isProven() {", "if true {", 0,
	},
	{
		"a proof that took too long is good enough", "decide.go",
		"if a.provenAt(at.UnixMilli()); !a.isProven() {", "if a.provenAt(a.shell.Now().UnixMilli()); !a.isProven() {", 35,
	},
	{
		"a retire loses sends", "decide.go",
		"	for _, s := range w.sends {\n", "	if w.act.leaving.Load() {\n		w.sends = nil\n	}\n	for _, s := range w.sends {\n", 0,
	},
	{
		"a state ahead of the journal answers", "decide.go",
		"if a.lost.Load() { // the state", "if false { // the state", 321,
	},
	{
		"what rests on a fact leaves before it is handed over", "decide.go",
		"Joint{s.Cmd, a.claim}", "Joint{s.Cmd, journal.Claim{}}", 0,
	},
	{
		"the callers of an ended activation hear nothing", "activation.go",
		"		for _, c := range a.held[key] {\n", "		for range a.held[key] {\n			break\n		}\n		for _, c := range a.held[key][:0] {\n", 0,
	},
}

// TestSimFindsMutants builds the simulator with each mistake and expects it to go red.
func TestSimFindsMutants(t *testing.T) {
	t.Parallel()
	source, err := filepath.Abs("../activation")
	require.NoError(t, err)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(source, m.file)
			was, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(was), m.from), "the source has changed: mend the mutant")
			edited := filepath.Join(dir, m.file)
			require.NoError(t, os.WriteFile(edited, []byte(strings.Replace(string(was), m.from, m.to, 1)), 0o600))
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: edited}})
			require.NoError(t, err)
			list := filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(list, overlay, 0o600))
			program := filepath.Join(dir, "sim.test")
			out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", list, "-o", program, ".").CombinedOutput()
			require.NoError(t, err, "%s", out)
			out, err = exec.CommandContext(t.Context(), program, "-test.run=^TestSim$", "-seeds=2000", "-stop", "-first="+strconv.FormatUint(max(m.first, 1), 10)).CombinedOutput()
			require.Error(t, err, "the simulator does not find it:\n%s", out)
			require.Contains(t, string(out), "see it with -run", "it ended otherwise:\n%s", out)
		})
	}
}
