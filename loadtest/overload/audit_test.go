package overload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rush"
)

const envelope = `{"error":{"code":"OVERLOADED","message":"Later.","details":null},"meta":{"request_id":"req_1"}}`

// outcome is right: two orders of three were accepted, and one was refused.
func outcome() *Outcome {
	return &Outcome{
		Orders: []placed{{Order: rush.Order{ID: "a"}}, {Order: rush.Order{ID: "b"}}}, Taken: 2,
		Refuses: []refusal{{503, "2", []byte(envelope)}}, Answers: 3,
	}
}

func TestRightOutcomeHasNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range Audit(outcome()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestEachFaultIsFound injures the right outcome in every way that a check is for.
func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	const (
		once     = "every accepted order is there once, as it was answered"
		stock    = "the stock lacks the accepted tickets and no others"
		answered = "every order was accepted, or refused with a time to come back, in the envelope"
	)
	for _, fault := range []struct {
		check  string
		injure func(*Outcome)
	}{
		{once, func(o *Outcome) { o.Orders = append(o.Orders, placed{Order: rush.Order{ID: "b"}}) }},
		{once, func(o *Outcome) { o.Orders[0].wrong = "404" }},
		{stock, func(o *Outcome) { o.Taken++ }},
		{stock, func(o *Outcome) { o.Taken-- }},
		{answered, func(o *Outcome) { o.Refuses[0].retryAfter = "" }},
		{answered, func(o *Outcome) { o.Refuses[0].retryAfter = "0" }},
		{answered, func(o *Outcome) { o.Refuses[0].body = []byte("Service Unavailable") }},
		{answered, func(o *Outcome) { o.Refuses[0].body = []byte(`{"error":{"code":"OVERLOADED"}}`) }},
		{answered, func(o *Outcome) { o.Odd = []string{"500"} }},
	} {
		o := outcome()
		fault.injure(o)
		for _, c := range Audit(o) {
			require.Equal(t, c.Name == fault.check, c.Failed > 0, "%s: %s", fault.check, c.Name)
		}
	}
}
