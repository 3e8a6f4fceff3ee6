package broadcast

import (
	"time"

	"boxoffice/loadtest/report"
)

// Recipient is somebody who attends.
type Recipient struct {
	Email string
	Gone  bool // has unsubscribed, or the address has bounced
	Mails int  // of the broadcast, each id once
}

// Order is an order that was granted while the broadcast went out.
type Order struct {
	Email string
	At    time.Time // of the answer
	Took  time.Duration
	Mails int // confirmations, each id once
}

// Outcome is what a run has come to.
type Outcome struct {
	Recipients []Recipient
	Orders     []Order
	Promised   int64
	Again      int // mails that came once more, under the same id
	Within     time.Duration
}

// Audit judges what a run has come to.
func Audit(o *Outcome) []report.Check {
	return []report.Check{checkConfirmed(o), checkOnce(o), checkGone(o)}
}

// checkConfirmed: every order was confirmed, in time and once.
func checkConfirmed(o *Outcome) report.Check {
	c := report.Check{Name: "every order was confirmed in time, once", Checked: int64(len(o.Orders))}
	for i := range o.Orders {
		if of := &o.Orders[i]; of.Mails != 1 || of.Took > o.Within {
			c.Found("the order of %s had %d confirmations, the first after %v", of.Email, of.Mails, of.Took.Round(time.Millisecond))
		}
	}
	return c
}

// checkOnce: who attends has the broadcast once, and who buys meanwhile may. A mail that a
// server has taken when the node dies is handed over again, under its id: no protocol tells
// the node that it was taken.
func checkOnce(o *Outcome) report.Check {
	c := report.Check{Name: "everybody who stayed was written to once"}
	for i := range o.Recipients {
		r := &o.Recipients[i]
		if r.Gone {
			continue
		}
		c.Checked++
		if r.Mails != 1 {
			c.Found("%s had %d mails of the broadcast", r.Email, r.Mails)
		}
	}
	return c
}

// checkGone: who has unsubscribed, or bounced, gets nothing.
func checkGone(o *Outcome) report.Check {
	c := report.Check{Name: "nobody who unsubscribed or bounced was written to"}
	for i := range o.Recipients {
		if r := &o.Recipients[i]; r.Gone {
			c.Checked++
			if r.Mails != 0 {
				c.Found("%s had %d mails of the broadcast", r.Email, r.Mails)
			}
		}
	}
	return c
}
