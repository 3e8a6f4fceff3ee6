// Package deploy_test holds what is deployed to the code: every knob, metric,
// path, time and version that these files name is looked up where it is defined.
package deploy_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"boxoffice/edge"
	"boxoffice/engine"
)

const chart = "helm/boxoffice"

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// document reads a YAML file, strictly as far as it is known.
func document[T any](t *testing.T, path string) T {
	t.Helper()
	var v T
	require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), &v), path)
	return v
}

// found is the one group of a pattern in a file; there has to be a match.
func found(t *testing.T, path, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(read(t, path))
	require.NotNil(t, m, "%s in %s", pattern, path)
	return m[1]
}

// command is the source of the binary, parsed.
func command(t *testing.T) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob("../cmd/boxoffice/node/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	require.NotEmpty(t, files)
	return files
}

// knobs are the tags of the rows of type Config, by variable.
func knobs(t *testing.T) map[string]reflect.StructTag {
	t.Helper()
	rows := map[string]reflect.StructTag{}
	for _, f := range command(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Config" {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				text, err := strconv.Unquote(field.Tag.Value)
				require.NoError(t, err)
				tag := reflect.StructTag(text)
				rows[tag.Get("env")] = tag
			}
			return false
		})
	}
	require.NotEmpty(t, rows)
	return rows
}

// complaints are what a node says of knobs that are missing: for each such knob,
// those that it is missed with; "" for always.
func complaints(t *testing.T) map[string][]string {
	t.Helper()
	required := regexp.MustCompile(`(BOXOFFICE_\w+) is required(?: with (BOXOFFICE_\w+))?`)
	needs := regexp.MustCompile(`(BOXOFFICE_\w+) needs (BOXOFFICE_\w+)`)
	missed := map[string][]string{}
	for _, f := range command(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if m := required.FindStringSubmatch(lit.Value); m != nil {
					missed[m[1]] = append(missed[m[1]], m[2])
				}
				if m := needs.FindStringSubmatch(lit.Value); m != nil {
					missed[m[2]] = append(missed[m[2]], m[1])
				}
			}
			return true
		})
	}
	require.NotEmpty(t, missed)
	return missed
}

var knob = regexp.MustCompile(`BOXOFFICE_[A-Z_]+[A-Z]`)

// mentioned are the knobs that files name.
func mentioned(t *testing.T, paths ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, path := range paths {
		require.NoError(t, filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				for _, name := range knob.FindAllString(read(t, path), -1) {
					names[name] = true
				}
			}
			return err
		}))
	}
	require.NotEmpty(t, names)
	return names
}

// TestKnobsExist looks up every knob that anything here names.
func TestKnobsExist(t *testing.T) {
	t.Parallel()
	rows := knobs(t)
	for name := range mentioned(t, "compose.yaml", ".env.example", "Dockerfile", chart) {
		require.Contains(t, rows, name, "no node knows it")
	}
}

// TestKnobsSet looks for what a node refuses to start without, and for addresses
// that nobody outside a container reaches.
func TestKnobsSet(t *testing.T) {
	t.Parallel()
	c := document[compose](t, "compose.yaml")
	sets := map[string]map[string]bool{"the chart": mentioned(t, chart+"/values.yaml")}
	for _, m := range regexp.MustCompile(`\{name: (BOXOFFICE_\w+),`).FindAllStringSubmatch(read(t, chart+"/templates/statefulset.yaml"), -1) {
		sets["the chart"][m[1]] = true
	}
	for name, s := range c.nodes() {
		sets[name] = map[string]bool{}
		for knob := range s.Environment {
			sets[name][knob] = true
		}
	}
	for where, set := range sets {
		for name, with := range complaints(t) {
			if slices.ContainsFunc(with, func(other string) bool { return other == "" || set[other] }) {
				require.Contains(t, set, name, where)
			}
		}
		for name, row := range knobs(t) {
			// In live there is no simulator, and in a trial it is a service.
			if strings.HasPrefix(row.Get("default"), "127.0.0.1:") && name != "BOXOFFICE_PAYSIM_LISTEN" {
				require.Contains(t, set, name, where)
			}
		}
	}
	require.Contains(t, c.Services["paysim"].Environment, "BOXOFFICE_PAYSIM_LISTEN")
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	var secret []string
	for name, row := range knobs(t) {
		if _, is := row.Lookup("secret"); is {
			secret = append(secret, name)
		}
	}
	var schema struct {
		Properties struct {
			Knobs struct {
				PropertyNames struct{ Not struct{ Enum []string } }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, chart+"/values.schema.json")), &schema))
	require.ElementsMatch(t, secret, schema.Properties.Knobs.PropertyNames.Not.Enum, "a ConfigMap is no place for these")
	for name, s := range document[compose](t, "compose.yaml").Services {
		for knob, value := range s.Environment {
			if slices.Contains(secret, knob) || strings.Contains(knob, "PASSWORD") {
				require.Contains(t, value, "${", "%s of %s comes from the environment", knob, name)
			}
		}
	}
	require.NotRegexp(t, `(?m)^#?\w*(PASSWORD|KEY)=.`, read(t, ".env.example"))
	require.Contains(t, strings.Fields(read(t, "../.gitignore")), "/deploy/.env")
}

// compose is what the tests look at of the compose file.
type compose struct {
	Services map[string]service `yaml:"services"`
}

type service struct {
	Image       string            `yaml:"image"`
	Environment map[string]string `yaml:"environment"`
	Grace       string            `yaml:"stop_grace_period"`
	Volumes     []string          `yaml:"volumes"`
	Networks    yaml.Node         `yaml:"networks"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
}

// address is the service's fixed one on a network.
func (s service) address(t *testing.T, network string) string {
	t.Helper()
	var networks map[string]struct {
		Address string `yaml:"ipv4_address"`
	}
	require.NoError(t, s.Networks.Decode(&networks))
	return networks[network].Address
}

// nodes are the services that are nodes of the cluster.
func (c compose) nodes() map[string]service {
	nodes := map[string]service{}
	for name, s := range c.Services {
		if s.Environment["BOXOFFICE_NODE"] != "" {
			nodes[name] = s
		}
	}
	return nodes
}

type values struct {
	Replicas int `yaml:"replicas"`
	PreStop  int `yaml:"preStopSeconds"`
	Grace    int `yaml:"terminationGracePeriodSeconds"`
}

// A container's own files can't be written: what a node keeps in its data directory
// needs a volume.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	folder := found(t, "Dockerfile", `(?m)^WORKDIR (\S+)\nENTRYPOINT`)
	for name, s := range document[compose](t, "compose.yaml").nodes() {
		require.Contains(t, s.Volumes, "data:"+folder, name)
	}
	require.Equal(t, folder, found(t, chart+"/templates/statefulset.yaml", `name: data, mountPath: (\S+)\}`))
}

func TestComposeNodes(t *testing.T) {
	t.Parallel()
	c := document[compose](t, "compose.yaml")
	nodes := c.nodes()
	require.Len(t, nodes, document[values](t, chart+"/values.yaml").Replicas)
	names := slices.Sorted(maps.Keys(nodes))
	for name, s := range nodes {
		require.Equal(t, name, s.Environment["BOXOFFICE_NODE"])
		require.Equal(t, "postgres", s.Environment["BOXOFFICE_CLUSTER"])
		host, _, _ := strings.Cut(s.Environment["BOXOFFICE_LINK_LISTEN"], ":")
		require.Equal(t, s.address(t, "behind"), host)
		require.Equal(t, c.Services["balancer"].address(t, "front"), s.Environment["BOXOFFICE_TRUSTED_PROXIES"])
	}
	var balanced, scraped []string
	for _, m := range regexp.MustCompile(`(?m)^    server (\S+) (\S+):8080$`).FindAllStringSubmatch(read(t, "haproxy.cfg"), -1) {
		require.Equal(t, m[1], m[2])
		balanced = append(balanced, m[1])
	}
	_, port, _ := strings.Cut(c.Services["node-1"].Environment["BOXOFFICE_METRICS_LISTEN"], ":")
	require.NotEmpty(t, port)
	for _, m := range regexp.MustCompile(`"([\w-]+):`+port+`"`).FindAllStringSubmatch(read(t, "prometheus/prometheus.yaml"), -1) {
		scraped = append(scraped, m[1])
	}
	require.Equal(t, names, balanced)
	require.Equal(t, names, scraped)
}

// TestGracePeriods holds the time until a node is killed to what it takes to hand
// over and to stop.
func TestGracePeriods(t *testing.T) {
	t.Parallel()
	seconds := func(path, name string) int {
		n, err := strconv.Atoi(found(t, path, `(?m)^const `+name+` = (\d+) \* time\.Second$`))
		require.NoError(t, err)
		return n
	}
	stop := seconds("../cmd/boxoffice/node/members.go", "drainTime") + seconds("../cmd/boxoffice/node/node.go", "StopTime")
	for name, s := range document[compose](t, "compose.yaml").nodes() {
		grace, err := time.ParseDuration(s.Grace)
		require.NoError(t, err)
		require.Greater(t, grace, time.Duration(stop)*time.Second, name)
	}
	v := document[values](t, chart+"/values.yaml")
	require.Greater(t, v.Grace, v.PreStop+stop)
	require.Equal(t, strconv.Itoa(stop+1), found(t, chart+"/values.schema.json", `"terminationGracePeriodSeconds": \{"type": "integer", "minimum": (\d+)\}`))
	set := read(t, chart+"/templates/statefulset.yaml")
	require.Contains(t, set, "terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}")
	require.Contains(t, set, "sleep: {seconds: {{ .Values.preStopSeconds }}}")
}

// TestPaths looks the paths of probes up among those that a node serves.
func TestPaths(t *testing.T) {
	t.Parallel()
	var served []string
	for _, m := range regexp.MustCompile(`s\.read\("([^"]+)"`).FindAllStringSubmatch(read(t, "../edge/server/health.go"), -1) {
		served = append(served, m[1])
	}
	set := read(t, chart+"/templates/statefulset.yaml")
	for probe, path := range map[string]string{"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"} {
		require.Contains(t, served, path)
		require.Regexp(t, probe+`Probe:\n\s+httpGet: \{path: `+path+`,`, set)
	}
	for name, s := range document[compose](t, "compose.yaml").nodes() {
		require.Contains(t, s.Healthcheck.Test[len(s.Healthcheck.Test)-1], "/readyz", name)
	}
	require.Contains(t, served, found(t, "haproxy.cfg", `option httpchk GET (\S+)`))
	require.Contains(t, served, found(t, chart+"/templates/monitoring.yaml", `path: ([^,]+),`))
	for path := range strings.FieldsSeq(found(t, "haproxy.cfg", `deny_status 404 if \{ path ([^}]+) \}`)) {
		require.Contains(t, served, path)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[\w./-]+:v?\d+\.\d+[\w.-]*$`)
	c := document[compose](t, "compose.yaml")
	images := map[string]string{}
	for name, s := range c.Services {
		require.Regexp(t, pinned, s.Image, name)
		repository, tag, _ := strings.Cut(s.Image, ":")
		images[repository] = tag
	}
	for _, m := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		if m[1] != "scratch" {
			require.Regexp(t, pinned, m[1])
		}
	}
	ours := found(t, "../cmd/boxoffice/node/node.go", `const Version = "(.+)"`)
	require.Equal(t, ours, images["boxoffice"])
	require.Equal(t, ours, document[map[string]any](t, chart+"/Chart.yaml")["appVersion"])
	language := found(t, "../go.mod", `(?m)^go (\d+\.\d+)`)
	require.True(t, strings.HasPrefix(found(t, "Dockerfile", `FROM golang:(\S+)`), language+"."), "go.mod wants Go %s", language)
	require.Equal(t, found(t, "../.ci/kafka-broker/pom.xml", `<version>(\d+\.\d+\.\d+)</version>`), images["apache/kafka"], "what facts are tested with")
	// Prometheus 3.15.0 is the module's v0.315.0.
	release := regexp.MustCompile(`v(\d)\.(\d+)\.(\d+)`).ReplaceAllString(images["prom/prometheus"], "v0.$1$2.$3")
	require.Equal(t, found(t, "tools/go.mod", `github.com/prometheus/prometheus (v\S+)`), release, "what the rules are tested with")
}

// rule is one of Prometheus's.
type rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	file := document[struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}](t, "prometheus/rules.yaml")
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// expressions are those of the rules and of the dashboard, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range rules(t) {
		all["rule "+r.Record+r.Alert] = r.Expr
	}
	var board struct {
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr, RefID string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "grafana/boxoffice.json")), &board))
	for _, p := range board.Panels {
		require.NotEmpty(t, p.Description, p.Title)
		for _, target := range p.Targets {
			all["panel "+p.Title+" "+target.RefID] = target.Expr
		}
	}
	return all
}

// exported are the metrics of metrics.txt with their labels. TestMetricNames of
// cmd/boxoffice/node writes that file, and compares it with the registry of a node.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	metrics := map[string][]string{}
	for line := range strings.Lines(read(t, "prometheus/metrics.txt")) {
		name, rest, _ := strings.Cut(line, "{")
		labels, _, ok := strings.Cut(rest, "}")
		require.True(t, ok, line)
		metrics[name] = strings.Split(labels, ",")
	}
	require.NotEmpty(t, metrics)
	return metrics
}

var (
	selected = regexp.MustCompile(`\b((?:boxoffice|process)_\w+|boxoffice:[\w:]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"([^"]*)"`)
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	metrics := exported(t)
	recorded := map[string]bool{}
	for _, r := range rules(t) {
		recorded[r.Record] = true
	}
	operations := map[string]bool{}
	for _, op := range new(edge.Areas).Routes() {
		operations[op.ID] = true
	}
	for where, expr := range expressions(t) {
		for _, m := range selected.FindAllStringSubmatch(expr, -1) {
			labels, known := metrics[m[1]]
			if !known {
				labels, known = metrics[strings.TrimSuffix(m[1], "_bucket")]
			}
			require.True(t, known || recorded[m[1]], "%s: no node exports %s", where, m[1])
			if strings.HasSuffix(m[1], "_total") || strings.HasSuffix(m[1], "_bucket") {
				require.Regexp(t, `(rate|increase)\(`+m[1], expr, "%s: a counter's value says nothing", where)
			}
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				switch l[1] {
				case "job", "namespace": // of the scrape
				case "operation":
					require.Contains(t, operations, l[2], where)
				case "code":
					require.Contains(t, engine.CodeTable, engine.Code(l[2]), where)
				default:
					require.Contains(t, labels, l[1], where)
				}
			}
		}
	}
}

// TestDashboard holds the dashboard to what an operator is to see of a node.
func TestDashboard(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	for where, expr := range expressions(t) {
		if strings.HasPrefix(where, "panel") {
			shown.WriteString(expr + "\n")
		}
	}
	for name := range exported(t) {
		for _, part := range []string{"journal_", "mailbox_", "activations", "_lag", "_delay_", "sse_viewers", "http_errors"} {
			if strings.Contains(name, part) && !strings.HasPrefix(name, "boxoffice_webhook") {
				require.Contains(t, shown.String(), name, "the dashboard does not show it")
			}
		}
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(read(t, "../docs/operations.md"), -1) {
		sections[strings.ToLower(strings.ReplaceAll(m[1], " ", "-"))] = true
	}
	anchors := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		require.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.NotEmpty(t, r.Annotations["description"], r.Alert)
		file, anchor, _ := strings.Cut(r.Annotations["runbook"], "#")
		require.Equal(t, "docs/operations.md", file, r.Alert)
		require.Equal(t, strings.ToLower(r.Alert), anchor)
		require.Contains(t, sections, anchor, "what is the operator to do?")
		anchors[anchor] = true
	}
	for s := range sections {
		require.True(t, !strings.HasPrefix(s, "boxoffice") || anchors[s], "operations.md explains an alert that there is not: %s", s)
	}
	most, err := strconv.Atoi(strings.ReplaceAll(found(t, "../cluster/node.go", `c\.MaxInFlight = ([\d_]+)`), "_", ""))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(most/2), found(t, "prometheus/rules.yaml", `boxoffice_mailbox_commands_max > (\d+)`), "half of what an actor may have")
}

// TestChartHasTheRules: a chart cannot reach out of its folder, but for a link.
func TestChartHasTheRules(t *testing.T) {
	t.Parallel()
	require.Equal(t, read(t, "prometheus/rules.yaml"), read(t, chart+"/files/rules.yaml"))
}

// TestYAML reads every file that is YAML as it stands; the chart's templates are
// rendered by make deploy-lint.
func TestYAML(t *testing.T) {
	t.Parallel()
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(filepath.Dir(path)) == "templates" {
			return err
		}
		require.NotEmpty(t, document[map[string]any](t, path), path)
		return nil
	}))
}
