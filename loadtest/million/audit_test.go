package million

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rush"
)

// outcome is right: the first area is sold out, and the second was asked for less than it has.
func outcome() *Outcome {
	return &Outcome{
		Stats: &openloop.Stats{}, Stock: 2, Answers: 4,
		Areas:  []area{{ticketType: "a", asked: 3, accepted: 2, taken: 2}, {ticketType: "b", asked: 1, accepted: 1, taken: 1}},
		Orders: []placed{{Order: rush.Order{ID: "1"}}, {Order: rush.Order{ID: "2"}}, {Order: rush.Order{ID: "3"}}},
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
		sold     = "every area has sold its stock, or every ticket that was asked for"
		once     = "every accepted order is there once, with its ticket"
		answered = "every order was accepted, or refused because its area is sold out"
	)
	for _, fault := range []struct {
		check  string
		injure func(*Outcome)
	}{
		{sold, func(o *Outcome) { o.Areas[0].accepted, o.Areas[0].taken = 3, 3 }},
		{sold, func(o *Outcome) { o.Areas[0].taken = 1 }},
		{sold, func(o *Outcome) { o.Areas[1].accepted, o.Areas[1].taken = 0, 0 }},
		{once, func(o *Outcome) { o.Orders[0].ID = "2" }},
		{once, func(o *Outcome) { o.Orders[0].wrong = "404" }},
		{answered, func(o *Outcome) { o.Odds, o.Odd = 1, []string{"500"} }},
		{answered, func(o *Outcome) { o.Stats.Unsent = 1 }},
	} {
		o := outcome()
		fault.injure(o)
		for _, c := range Audit(o) {
			require.Equal(t, c.Name == fault.check, c.Failed > 0, "%s: %s", fault.check, c.Name)
		}
	}
}

func TestAnswersAreReadStrictly(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"code":"TICKET_SOLD_OUT","message":"Not enough tickets are left.","details":{"ticketTypeId":"a","requested":1,"available":0}},"meta":{"request_id":"r"}}`
	op, _, odd := readAnswer(409, []byte(refusal), "a")
	require.Equal(t, opSoldOut, op, odd)
	op, order, odd := readAnswer(201, []byte(`{"data":{"id":"1"}}`), "a")
	require.Equal(t, opAccepted, op, odd)
	require.Equal(t, "1", order.ID)
	for _, answer := range []struct {
		status           int
		body, ticketType string
	}{
		{409, refusal, "b"},
		{410, refusal, "a"},
		{503, refusal, "a"},
		{201, refusal, "a"},
		{201, "", "a"},
		{409, `{"error":{"code":"NOT_ON_SALE","message":"No."}}`, "a"},
		{409, `{"error":{"code":"TICKET_SOLD_OUT","message":"No.","details":{"ticketTypeId":"a","requested":1,"available":1}}}`, "a"},
	} {
		op, _, odd := readAnswer(answer.status, []byte(answer.body), answer.ticketType)
		require.Equal(t, opOdd, op)
		require.NotEmpty(t, odd)
	}
}
