package broadcast

import (
	"time"

	"boxoffice/loadtest/report"
)

// Recipient is an attendee.
type Recipient struct {
	Email string
	Gone  bool // whether they have unsubscribed or their address has bounced
	Mails int  // mails of the broadcast; each id counts once
}

// Order is an order that was accepted while the broadcast went out.
type Order struct {
	Email string
	At    time.Time // time of the answer
	Took  time.Duration
	Mails int // confirmations; each id counts once
}

// Outcome is the outcome of a run. Promised is how many recipients the service announced for the broadcast, and
// Within is how soon a confirmation must come.
type Outcome struct {
	Recipients []Recipient
	Orders     []Order
	Promised   int64
	Again      int // mails that came again under the same id
	Within     time.Duration
}

// Audit checks the outcome of a run.
func Audit(o *Outcome) []report.Check {
	return []report.Check{checkConfirmed(o), checkOnce(o), checkGone(o)}
}

// checkConfirmed checks that every order was confirmed in time, and once.
func checkConfirmed(o *Outcome) report.Check {
	c := report.Check{Name: "every order was confirmed in time, once", Checked: int64(len(o.Orders))}
	for i := range o.Orders {
		if of := &o.Orders[i]; of.Mails != 1 || of.Took > o.Within {
			c.Found("the order of %s had %d confirmations, the first after %v", of.Email, of.Mails, of.Took.Round(time.Millisecond))
		}
	}
	return c
}

// checkOnce checks that every attendee has got the broadcast once; people who buy in the meantime may
// have got it. If the node dies when the mail server has just taken a mail, the mail is handed over
// again under its id, because no protocol tells the node that it was taken.
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

// checkGone checks that people who unsubscribed or whose address bounced get nothing.
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
