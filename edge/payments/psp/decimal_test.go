package psp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecimal reads amounts in all forms in which providers write them, and refuses all other texts: among them are
// short ones for numbers that would take megabytes.
func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"42": "42", "42.00": "42", "+0.5": "0.5", "1e-7": "0.0000001", "1E2": "100", "1.5e+2": "150", "007": "7", "0": "0",
		"123456789012345678901234567890.5": "123456789012345678901234567890.5",
	} {
		require.Equal(t, want, Decimal(text).ShowPlain(), text)
	}
	for _, text := range []string{
		"", ".", "-1", "e5", "1e", "1e+", "1ee5", "1e5.0", "1 ", "1,5", "ten", "inf", "nan", "1/3", "1_000",
		"1p9", "1p999999", "1P9999999", "1p-9999999", "0x10", "0X10", "0x1p9", "0b11", "0o17", "0e1p9999999",
		"1e100", "1e-100", "1e999", "1e999999999", "1e-999999999", "1e99999999999999999999",
		strings.Repeat("9", 1_000_000),
	} {
		_, ok := Decimal(text).Rat()
		require.False(t, ok, "%.40s", text)
		require.Error(t, new(Decimal).UnmarshalJSON([]byte(`"`+text+`"`)), "%.40s", text)
	}
}
