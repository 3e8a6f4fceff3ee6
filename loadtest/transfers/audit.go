package transfers

import (
	"slices"

	"boxoffice/loadtest/report"
)

// Audit judges the races by what everybody was told, and by what the service says
// afterwards.
func Audit(races []*Race) []report.Check {
	return []report.Check{checkAnswers(races), checkOffers(races), checkHolders(races), checkAdmissions(races), checkCodes(races)}
}

// refusals are the answers that an act may have when it is not granted.
var refusals = [acts][]string{
	offer:  {"TICKET_NOT_TRANSFERABLE", "TICKET_NOT_FOUND"},
	claim:  {"TRANSFER_NOT_PENDING"},
	revoke: {"TRANSFER_NOT_PENDING", "TICKET_NOT_FOUND"},
	scan:   {"denied_duplicate", "denied_cancelled", "denied_expired"},
}

// checkAnswers: an act is granted, or refused for a reason that a race can bring about.
func checkAnswers(races []*Race) report.Check {
	c := report.Check{Name: "every act was granted or refused, as a race can have it"}
	for _, r := range races {
		for _, a := range r.acts {
			c.Checked++
			if !a.done && !slices.Contains(refusals[a.what], a.code) {
				c.Found("ticket %s: the %s was answered %q", r.Ticket, a.what, a.code)
			}
		}
	}
	return c
}

// checkOffers: an offer ends once, by a claim, by being taken back or by an admission.
func checkOffers(races []*Race) report.Check {
	c := report.Check{Name: "an offer ends once"}
	for _, r := range races {
		offers, revoked := r.countActs(offer, true), r.countActs(revoke, true)
		c.Checked += int64(offers)
		ended := r.countClaims(firstFriend) + revoked
		switch {
		case ended > 1:
			c.Found("ticket %s: the first offer was claimed %d times and taken back %d times", r.Ticket, r.countClaims(firstFriend), revoked)
		case ended == 0 && !r.wasAdmitted(buyerHolds):
			c.Found("ticket %s: the first offer was neither claimed nor taken back, and nobody was admitted", r.Ticket)
		case offers > 1 && revoked == 0:
			c.Found("ticket %s was offered again while the first offer stood", r.Ticket)
		case offers > 1 && r.countClaims(secondFriend) == 0 && !r.wasAdmitted(buyerHolds):
			c.Found("ticket %s: the second offer was not claimed, and nobody was admitted", r.Ticket)
		}
	}
	return c
}

// checkHolders: a ticket has the holder whose claim was granted, or else its buyer.
func checkHolders(races []*Race) report.Check {
	c := report.Check{Name: "a ticket has one holder, the last who was told so"}
	for _, r := range races {
		c.Checked++
		claims := r.countActs(claim, true)
		if want := r.people[r.lastHolder()].email; claims > 1 || r.holder != want || r.transfers != claims {
			c.Found("ticket %s: %d claims granted, %d facts of them, and it is held by %q instead of %q", r.Ticket, claims, r.transfers, r.holder, want)
		}
	}
	return c
}

// checkAdmissions: a ticket admitted once, for at last every holder shows all codes.
func checkAdmissions(races []*Race) report.Check {
	c := report.Check{Name: "a ticket admits once"}
	for _, r := range races {
		c.Checked++
		if told := r.countActs(scan, true); told != 1 || r.admissions != 1 {
			c.Found("ticket %s: %d gates were told that it admits, %d facts say so", r.Ticket, told, r.admissions)
		}
	}
	return c
}

// checkCodes: what admits is a code of the last holder. A ticket that was used is not
// passed on, so none of an earlier holder's codes may ever have admitted.
func checkCodes(races []*Race) report.Check {
	c := report.Check{Name: "no code of an earlier holder admits"}
	for _, r := range races {
		last := r.lastHolder()
		for _, a := range r.acts {
			if a.what != scan || a.person == last {
				continue
			}
			c.Checked++
			if a.done || a.last && a.code == "denied_duplicate" {
				c.Found("ticket %s: a code of holder %d was answered %q, and it is held by %d", r.Ticket, a.person, a.code, last)
			}
		}
	}
	return c
}

// countClaims counts the claims of somebody that were granted.
func (r *Race) countClaims(who int) (n int) {
	for _, a := range r.acts {
		if a.what == claim && a.person == who && a.done {
			n++
		}
	}
	return n
}

// wasAdmitted reports whether a code of somebody has admitted.
func (r *Race) wasAdmitted(who int) bool {
	return slices.ContainsFunc(r.acts, func(a Act) bool { return a.what == scan && a.person == who && a.done })
}

// lastHolder is whose claim was granted, or the buyer.
func (r *Race) lastHolder() int {
	for who := holders - 1; who > buyerHolds; who-- {
		if r.countClaims(who) > 0 {
			return who
		}
	}
	return buyerHolds
}
