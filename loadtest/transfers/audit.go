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

// refusals are the answers that an act may have when it is not granted. Each of them follows from another act that
// came first, such as a claim from which the offer is no longer pending.
var refusals = [acts][]string{
	offer:  {"TICKET_NOT_TRANSFERABLE", "TICKET_NOT_FOUND"},
	claim:  {"TRANSFER_NOT_PENDING"},
	revoke: {"TRANSFER_NOT_PENDING", "TICKET_NOT_FOUND"},
	scan:   {"denied_duplicate", "denied_cancelled", "denied_expired"},
}

// checkAnswers checks that every act was granted, or refused for a reason that a race can bring about. Any other
// code is an error of the service.
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

// checkOffers checks that an offer ends once: by a claim, by being taken back, or by an admission of the buyer. A
// second offer is only possible after the first one was taken back.
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

// checkHolders checks that a ticket has the holder whose claim was granted, or else its buyer. At most one claim
// may be granted, the service must show the claimant as the holder, and the feed must have one fact for it.
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

// checkAdmissions checks that a ticket admitted exactly once. It must have admitted by the end, because after the
// race all codes of all holders are shown.
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

// checkCodes checks that only a code of the last holder admits. A ticket that has admitted can't be passed on, so
// no code of an earlier holder may ever have admitted. After the race such a code must not be answered as a
// duplicate either: that would mean that the service still takes the code for the ticket's.
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

// lastHolder returns the person whose claim was granted, or the buyer if none was.
func (r *Race) lastHolder() int {
	for who := holders - 1; who > buyerHolds; who-- {
		if r.countClaims(who) > 0 {
			return who
		}
	}
	return buyerHolds
}
