package mollie

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReasonsAreKnownWords checks that Mollie's codes of banks become the words that other providers use, so
// that letters say them in the reader's language. Any other reason stays as Mollie tells it.
func TestReasonsAreKnownWords(t *testing.T) {
	t.Parallel()
	read := func(code, description string) string {
		var b chargeback
		b.Reason.Code, b.Reason.Description = code, description
		d := b.readOutcome()
		return d.Reason
	}
	require.Equal(t, "insufficient_funds", read("AM04", "Insufficient funds"))
	require.Equal(t, "fraudulent", read("4837", "No cardholder authorization"))
	require.Equal(t, "Something else", read("XX99", "Something\nelse"))
	require.Equal(t, "XX99", read("XX99", ""))
	require.Empty(t, read("", ""))
}
