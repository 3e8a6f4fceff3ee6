package route

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// moments is a request with a time in the body and times in the query.
type moments struct {
	At   time.Time      `json:"at"`
	May  Opt[time.Time] `json:"may"`
	From time.Time      `query:"from" dateOnly:"start"`
	To   time.Time      `query:"to" dateOnly:"end"`
	Bare time.Time      `query:"bare"`
}

// TestTimesStayWithinTheYears holds that no instant outside of the years 1970
// to 9999 in UTC enters, whatever its offset makes of it.
func TestTimesStayWithinTheYears(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		"9999-12-31T23:59:59-23:59":      IssueMaximum, // the year 10000 in UTC
		"9999-12-31T23:59:59.999999999Z": "",
		"9999-12-31T23:59:59-00:01":      IssueMaximum,
		"9999-12-31T23:59:59+23:59":      "",
		"0000-01-01T00:00:00+23:59":      IssueMinimum, // the year -1
		"0000-01-01T00:00:00Z":           IssueMinimum,
		"0001-01-01T00:00:00Z":           IssueMinimum, // Go's zero time
		"1969-12-31T23:59:59.999Z":       IssueMinimum,
		"1970-01-01T00:00:00+00:01":      IssueMinimum,
		"1970-01-01T00:00:00Z":           "",
		"1969-12-31T23:00:00-01:00":      "",
	} {
		for _, name := range []string{"at", "may"} {
			in, issues := read[moments](fmt.Sprintf(`{%q:%q}`, name, text), request{})
			if code != "" {
				require.Equal(t, []string{name + ": " + code}, issues, text)
				continue
			}
			require.Empty(t, issues, text)
			for _, at := range []time.Time{in.At, in.May.Value} {
				_, err := json.Marshal(at)
				require.NoError(t, err, "the answer could not be written")
			}
		}
		_, issues := read[moments](``, request{query: map[string][]string{"bare": {text}}})
		if code != "" {
			require.Equal(t, []string{"bare: " + code}, issues, text)
		} else {
			require.Empty(t, issues, text)
		}
	}
}

// TestTheFirstMomentIsNotNone holds that the first instant of 1970, which would
// be stored as 0 and so as none, stays a moment.
func TestTheFirstMomentIsNotNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0009Z"} {
		in, issues := read[moments](fmt.Sprintf(`{"at":%q}`, text), request{})
		require.Empty(t, issues)
		require.Equal(t, int64(1), in.At.UnixMilli(), text)
	}
}

func TestDateOnlyParameters(t *testing.T) {
	t.Parallel()
	in, issues := read[moments](``, request{query: map[string][]string{"from": {"2026-01-01"}, "to": {"2026-02-28"}}})
	require.Empty(t, issues)
	require.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), in.From, "the day's first instant in UTC")
	require.Equal(t, time.Date(2026, 2, 28, 23, 59, 59, 999_999_000, time.UTC), in.To, "the day's last instant in UTC")
	in, issues = read[moments](``, request{query: map[string][]string{"from": {"2026-01-01T12:00:00Z"}, "to": {"9999-12-31"}}})
	require.Empty(t, issues)
	require.Equal(t, 12, in.From.Hour())
	require.Equal(t, 9999, in.To.Year())
	for _, text := range []string{"2026-02-29", "2026-13-01", "26-01-01", "2026-1-1", "2026-01-01T", "2026-01-01Z", "0001-01-01", "1969-12-31", "10000-01-01", "+2026-01-01"} {
		_, issues := read[moments](``, request{query: map[string][]string{"from": {text}}})
		require.Len(t, issues, 1, text)
	}
	_, issues = read[moments](``, request{query: map[string][]string{"bare": {"2026-01-01"}}})
	require.Equal(t, []string{"bare: type"}, issues, "where a row does not say so, a date is no time")
	_, issues = read[moments](`{"at":"2026-01-01"}`, request{})
	require.Equal(t, []string{"at: type"}, issues)
	require.Panics(t, func() {
		compileOf[struct {
			Name string `query:"name" maxLength:"5" dateOnly:"start"`
		}]()
	}, "only a time may be given as a date")
}

func TestCountriesOfAnyCase(t *testing.T) {
	t.Parallel()
	type in struct {
		Of string      `query:"of" format:"country"`
		At Opt[string] `json:"at" format:"country"`
	}
	for _, text := range []string{"ng", "Ng", "nG", "NG"} {
		got, issues := read[in](fmt.Sprintf(`{"at":%q}`, text), request{query: map[string][]string{"of": {text}}})
		require.Empty(t, issues)
		require.Equal(t, "NG", got.Of)
		require.Equal(t, "NG", got.At.Value)
	}
	for _, text := range []string{"xx", "n", "nga", "ıt", "ßs", "ng "} {
		_, issues := read[in](fmt.Sprintf(`{"at":%q}`, text), request{})
		require.Equal(t, []string{"at: format"}, issues, text)
	}
}

// TestFreeFormText holds what no check of a schema would see in stored JSON.
func TestFreeFormText(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]string{
		`{"object":{"a":"\ud800"}}`:         IssueJSON,
		`{"object":{"a":"` + "\xff" + `"}}`: IssueJSON,
		`{"object":{"\u0000":1}}`:           IssueFormat,
		`{"object":{"a":1,"a":2}}`:          IssueDuplicate,
		`{"object":{"a":1e999}}`:            IssueType,
		`{"object":{"a":[-1e400]}}`:         IssueType,
		`{"object":{"a":"1e999"}}`:          "",
		`{"object":{"a":-0}}`:               "",
		`{"object":{"a":1e308}}`:            "",
	} {
		_, issues := read[struct {
			Object Opt[jsontext.Value] `json:"object" maxLength:"100" format:"object"`
		}](body, request{})
		if code == "" {
			require.Empty(t, issues, body)
			continue
		}
		require.Len(t, issues, 1, body)
		require.True(t, bytes.HasSuffix([]byte(issues[0]), []byte(": "+code)), "%s: %s", body, issues[0])
	}
}

// TestNumbersAsJSONWritesThem holds that a parameter takes a number in no form
// that a body would not.
func TestNumbersAsJSONWritesThem(t *testing.T) {
	t.Parallel()
	type in struct {
		N int     `query:"n"`
		F float64 `query:"f"`
	}
	for _, text := range []string{"+1", "0x10", "0x1p4", "1_000", "inf", "NaN", "-", "1e", "١"} {
		_, issues := read[in](``, request{query: map[string][]string{"n": {text}, "f": {text}}})
		require.Equal(t, []string{"n: type", "f: type"}, issues, text)
	}
	got, issues := read[in](``, request{query: map[string][]string{"n": {"-7"}, "f": {"-7.5e1"}}})
	require.Empty(t, issues)
	require.Equal(t, in{N: -7, F: -75}, *got)
}
