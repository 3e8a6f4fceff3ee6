package web_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/web"
	"boxoffice/persistence/persisttest"
)

// decideByPage decides the vectors on standard input by the source of the gate's page.
const decideByPage = `
	const fs = require('fs'), ts = require('typescript');
	const source = ts.transpileModule(fs.readFileSync('src/gate/roster.ts', 'utf8'), {compilerOptions: {target: 'ES2022', module: 'ESNext'}}).outputText;
	import('data:text/javascript;base64,' + Buffer.from(source).toString('base64')).then(async ({Roster, readShown}) => {
		const says = [];
		for (const {steps} of JSON.parse(fs.readFileSync(0, 'utf8'))) {
			const roster = new Roster();
			for (const step of steps) {
				if (step.manifest) {
					roster.apply(step.manifest, 1000 * step.at || 0);
					continue;
				}
				const at = 1000 * step.at, shown = readShown(step.text, step.typed ?? false), found = shown ? await roster.find(shown) : {ticket: null, known: true};
				const {status, reason} = roster.judge(shown, found, at, !!step.out);
				if (status === 'success' && !roster.justPassed(found.ticket, at, !!step.out)) roster.note(found.ticket, {out: !!step.out, at, told: 0});
				says.push({status, reason: reason === 'NO_CODE' ? '' : reason});
			}
		}
		console.log(JSON.stringify(says));
	});`

// TestVectorsOnThePage checks that the gate's page decides as package gate does.
func TestVectorsOnThePage(t *testing.T) {
	t.Parallel()
	node := persisttest.Program(t, "apt-get install nodejs", "node")
	if _, err := os.Stat("app/node_modules/typescript"); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "npm --prefix edge/web/app ci --ignore-scripts")
		t.Skip("npm --prefix edge/web/app ci --ignore-scripts installs what this needs")
	}
	text, err := os.ReadFile("../../docs/gates/vectors.json")
	require.NoError(t, err)
	type verdict struct{ Status, Reason string }
	var vectors []struct {
		Name  string
		Steps []struct {
			Manifest json.RawMessage
			verdict
		}
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	cmd := exec.CommandContext(t.Context(), node, "-e", decideByPage)
	cmd.Dir, cmd.Stdin, cmd.Stderr = "app", strings.NewReader(string(text)), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var says []verdict
	require.NoError(t, json.Unmarshal(out, &says))
	for _, v := range vectors {
		for i, step := range v.Steps {
			if step.Manifest == nil {
				require.NotEmpty(t, says)
				require.Equal(t, step.verdict, says[0], "%s, step %d", v.Name, i)
				says = says[1:]
			}
		}
	}
	require.Empty(t, says)
}

// installWorker installs the worker on standard input, and says how it asks for each file that it keeps.
const installWorker = `
	const asked = {}, steps = [];
	globalThis.Request = class { constructor(url, options) { this.url = url; this.cache = options.cache; } };
	globalThis.caches = {open: async () => ({addAll: async (all) => { for (const r of all) asked[r.url ?? r] = r.cache ?? 'default'; }})};
	globalThis.skipWaiting = async () => {};
	globalThis.addEventListener = (type, listen) => { if (type === 'install') listen({waitUntil: (step) => steps.push(step)}); };
	eval(require('fs').readFileSync(0, 'utf8'));
	Promise.all(steps).then(() => console.log(JSON.stringify(asked)));`

// TestWorkersKeepNothingStale checks that a worker, as it is installed, lets the browser answer from its own cache only
// for assets, whose addresses change with their contents. For a day the browser has an old copy of an icon otherwise,
// and the worker would keep that for ever.
func TestWorkersKeepNothingStale(t *testing.T) {
	t.Parallel()
	node := persisttest.Program(t, "apt-get install nodejs", "node")
	list, err := web.App()
	require.NoError(t, err)
	workers := 0
	for _, f := range list {
		if !strings.HasSuffix(f.Path, "-worker.js") {
			continue
		}
		workers++
		cmd := exec.CommandContext(t.Context(), node, "-e", installWorker)
		cmd.Stdin, cmd.Stderr = strings.NewReader(string(f.Body)), os.Stderr
		out, err := cmd.Output()
		require.NoError(t, err)
		var asked map[string]string
		require.NoError(t, json.Unmarshal(out, &asked))
		require.Contains(t, asked, "/favicon.svg")
		for path, cache := range asked {
			if !strings.HasPrefix(path, "/web/assets/") {
				require.Equal(t, "no-cache", cache, "%s asks for %s", f.Path, path)
			}
		}
	}
	require.Positive(t, workers)
}

// TestWorkers checks that each worker keeps its page and all files of it, and that these files exist.
func TestWorkers(t *testing.T) {
	t.Parallel()
	list, err := web.App()
	require.NoError(t, err)
	files := map[string]web.File{}
	for _, f := range list {
		files[f.Path] = f
	}
	for worker, of := range map[string]struct {
		page  string
		later []string
	}{
		"/gate-worker.js":  {"/gate", []string{"words.de-", "decode-"}},
		"/order-worker.js": {"/o/{id}", []string{"words.de-", "Pass-", "kept-"}},
		"/me-worker.js":    {"/me", []string{"words.de-", "TicketView-", "kept-"}},
	} {
		file := files[worker]
		require.Equal(t, "no-cache", file.Cache, worker)
		require.NotContains(t, file.Policy, "script-src", "%s loads no script of anybody's", worker)
		require.NotRegexp(t, `\{(family|version|page|addresses|files)\}`, string(file.Body), worker)
		_, rest, ok := strings.Cut(string(file.Body), "const files = ")
		require.True(t, ok, worker)
		text, _, ok := strings.Cut(rest, ";\n")
		require.True(t, ok, worker)
		var kept []string
		require.NoError(t, json.Unmarshal([]byte(text), &kept))
		for _, at := range kept {
			require.Contains(t, files, at, worker)
		}
		for _, m := range asset.FindAllStringSubmatch(string(files[of.page].Body), -1) {
			require.Contains(t, kept, m[1], worker)
		}
		for _, later := range of.later {
			require.Contains(t, text, later, "what is loaded later is kept too")
		}
	}
}
