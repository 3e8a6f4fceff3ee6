package docs

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/limit"
)

var (
	rateCell  = regexp.MustCompile("^rate rule `([^`]+)`$")
	knobCell  = regexp.MustCompile("^`(BOXOFFICE_\\w+)`$")
	constCell = regexp.MustCompile("^`([\\w/.]+\\.go)` `(\\w+)`$")
	rateMost  = regexp.MustCompile(`^([\d,]+) in (\d+) min$`)
	most      = regexp.MustCompile(`^([\d,]+)(?: (\w+))?`)
)

// units are the units of a number; another word behind it only says what is counted.
var units = map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "s": int64(time.Second), "min": int64(time.Minute), "h": int64(time.Hour)}

// bounding are files whose constants are all limits, so that each has a row.
var bounding = []string{"edge/server/form/places.go", "persistence/quota/quota.go"}

// TestLimitsTellTheRules reads the tables of limits.md: each row names its rule and has its number,
// and each rate rule has a row.
func TestLimitsTellTheRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("limits.md")
	require.NoError(t, err)
	config, err := os.ReadFile("../cmd/boxoffice/node/config.go")
	require.NoError(t, err)
	rates := map[string]limit.RateRule{}
	for _, rule := range limit.RateRules() {
		rates[rule.Name] = rule
	}
	told := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || cells[0] == "---" || strings.Contains(line, "| Rule |") {
			continue
		}
		number, rule := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[4])
		require.False(t, told[rule], "%s has two rows", rule)
		told[rule] = true
		switch {
		case rateCell.MatchString(rule):
			name := rateCell.FindStringSubmatch(rule)[1]
			require.Contains(t, rates, name)
			m := rateMost.FindStringSubmatch(number)
			require.NotNil(t, m, "%s: %q", rule, number)
			require.Equal(t, rates[name].Most, int(amount(t, m[1])), rule)
			require.Equal(t, rates[name].Span, time.Duration(amount(t, m[2]))*time.Minute, rule)
			delete(rates, name)
		case knobCell.MatchString(rule):
			knob := regexp.MustCompile(`env:"` + knobCell.FindStringSubmatch(rule)[1] + `" default:"(\d+)(h?)"`).FindStringSubmatch(string(config))
			require.NotNil(t, knob, rule)
			require.Equal(t, amount(t, strings.TrimSpace(knob[1]+" "+knob[2])), amount(t, number), rule)
		default:
			m := constCell.FindStringSubmatch(rule)
			require.NotNil(t, m, rule)
			require.Equal(t, constants(t, m[1])[m[2]], amount(t, number), rule)
		}
	}
	require.Empty(t, rates, "rate rules without a row")
	for _, file := range bounding {
		for name := range constants(t, file) {
			if name != "flushEvery" && name != "flushTime" {
				require.True(t, told["`"+file+"` `"+name+"`"], "%s %s has no row", file, name)
			}
		}
	}
}

// amount is the number that a cell begins with, in bytes or nanoseconds if it has such a unit.
func amount(t *testing.T, cell string) int64 {
	t.Helper()
	m := most.FindStringSubmatch(cell)
	require.NotNil(t, m, cell)
	n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
	require.NoError(t, err)
	if unit, ok := units[m[2]]; ok {
		n *= unit
	}
	return n
}

// spans are the names of durations, as go/types can evaluate them without the package time.
var spans = strings.NewReplacer("time.Millisecond", "1000000", "time.Second", "1000000000", "time.Minute", "60000000000", "time.Hour", "3600000000000")

// constants are the whole numbers that a file of the repository declares as constants.
func constants(t *testing.T, file string) map[string]int64 {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, filepath.Join("..", file), nil, 0)
	require.NoError(t, err)
	all := map[string]int64{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != len(spec.Values) {
			return true
		}
		for i, name := range spec.Names {
			var b strings.Builder
			require.NoError(t, printer.Fprint(&b, fset, spec.Values[i]))
			if v, err := types.Eval(fset, nil, token.NoPos, spans.Replace(b.String())); err == nil && v.Value != nil && v.Value.Kind() == constant.Int {
				all[name.Name], _ = constant.Int64Val(v.Value)
			}
		}
		return true
	})
	return all
}
