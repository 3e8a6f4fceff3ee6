package route

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Money{
		"0": 0, "-0": 0, "0.00": 0, "1": 1000, "12.5": 12500, "12.50": 12500, "12.5000": 12500, "-0.001": -1, "0.1": 100, "0.29": 290,
		"1e2": 100000, "1E+2": 100000, "1500e-2": 15000, "0e999999999999": 0, "100000000000000000000e-18": 100000,
		"9223372036854775.807": math.MaxInt64,
	} {
		m, p := parseMoney([]byte(text))
		require.Equal(t, none, p, text)
		require.Equal(t, want, m, text)
	}
	for text, want := range map[string]string{
		"0.0001": IssueDecimals, "1e-4": IssueDecimals, "0.1234567890123456789012345678": IssueDecimals, "1e-999999999999": IssueDecimals,
		"9223372036854775.808": IssueMaximum, "-9223372036854775.809": IssueMinimum, "1e16": IssueMaximum, "1e999999999999": IssueMaximum,
		"-1e300": IssueMinimum, "123456789012345678901234": IssueMaximum, strings.Repeat("1", 65): IssueType,
		"": IssueType, "-": IssueType, ".5": IssueType, "5.": IssueType, "1e": IssueType, "x": IssueType, "1.2.3": IssueType, "NaN": IssueType,
	} {
		_, p := parseMoney([]byte(text))
		require.Equal(t, want, p.code, text)
	}
}

func TestMoneyIsWrittenAsDecimalString(t *testing.T) {
	t.Parallel()
	for m, want := range map[Money]string{
		0: `"0.00"`, 50: `"0.05"`, 12500: `"12.50"`, -1: `"-0.001"`, -10: `"-0.01"`, math.MaxInt64: `"9223372036854775.807"`, math.MinInt64: `"-9223372036854775.808"`,
	} {
		text, err := json.Marshal(m)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// FuzzMoney compares with exact arithmetic.
func FuzzMoney(f *testing.F) {
	for _, s := range []string{"0", "12.5", "-1e2", "1e-2", "99999999999999999.99", "0.005", "10e-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, p := parseMoney([]byte(text))
		if p.code == IssueType || strings.ContainsAny(text, "/xXpP_iInN") {
			return
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
			return // big.Rat would write these out
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok, "%q", text)
		exact.Mul(exact, big.NewRat(1000, 1))
		fits := exact.IsInt() && exact.Num().IsInt64() && exact.Num().Int64() != math.MinInt64
		require.Equal(t, fits, p == none, "%q: %v", text, p)
		if fits {
			require.Equal(t, exact.Num().Int64(), int64(m), "%q", text)
		}
	})
}

func TestOpt(t *testing.T) {
	t.Parallel()
	type patch struct {
		A Opt[int] `json:"a,omitzero"`
		B Opt[int] `json:"b,omitzero"`
		C Opt[int] `json:"c,omitzero"`
	}
	text, err := json.Marshal(patch{B: Null[int](), C: Some(0)})
	require.NoError(t, err)
	require.JSONEq(t, `{"b":null,"c":0}`, string(text))
	n := 5
	Opt[int]{}.Into(&n)
	require.Equal(t, 5, n)
	Some(7).Into(&n)
	require.Equal(t, 7, n)
	Null[int]().Into(&n)
	require.Zero(t, n)
}
