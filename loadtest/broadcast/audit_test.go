package broadcast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outcome makes a correct outcome: one attendee stayed, one left, and an order was confirmed.
func outcome() *Outcome {
	return &Outcome{
		Recipients: []Recipient{{Email: "ada", Mails: 1}, {Email: "bob", Gone: true}},
		Orders:     []Order{{Email: "eve", Mails: 1, Took: time.Second}},
		Promised:   1, Within: 5 * time.Second,
	}
}

// TestAudit plants one mistake at a time.
func TestAudit(t *testing.T) {
	t.Parallel()
	const (
		confirmed = "every order was confirmed in time, once"
		once      = "everybody who stayed was written to once"
		gone      = "nobody who unsubscribed or bounced was written to"
	)
	for _, c := range Audit(outcome()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
	for what, plant := range map[string]struct {
		found string
		spoil func(o *Outcome)
	}{
		"a confirmation that is late":     {confirmed, func(o *Outcome) { o.Orders[0].Took = 6 * time.Second }},
		"a confirmation that never came":  {confirmed, func(o *Outcome) { o.Orders[0].Mails = 0 }},
		"two confirmations":               {confirmed, func(o *Outcome) { o.Orders[0].Mails = 2 }},
		"a mail that never came":          {once, func(o *Outcome) { o.Recipients[0].Mails = 0 }},
		"two mails":                       {once, func(o *Outcome) { o.Recipients[0].Mails = 2 }},
		"a mail to whom has unsubscribed": {gone, func(o *Outcome) { o.Recipients[1].Mails = 1 }},
	} {
		o := outcome()
		plant.spoil(o)
		var failed []string
		for _, c := range Audit(o) {
			if c.Failed > 0 {
				failed = append(failed, c.Name)
			}
		}
		require.Equal(t, []string{plant.found}, failed, what)
	}
}
