package transfers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// races are right: a ticket that stayed with its buyer, one that the first friend claimed,
// and one that was taken back and claimed by the second.
func races() []*Race {
	people := [holders]person{{email: "buyer"}, {email: "first"}, {email: "second"}}
	offered := Act{what: offer, person: firstFriend, done: true}
	refused := Act{what: claim, person: firstFriend, code: "TRANSFER_NOT_PENDING"}
	return []*Race{
		{Ticket: "stayed", people: people, holder: "buyer", admissions: 1, acts: []Act{
			offered,
			{what: scan, code: "success", done: true},
			refused,
			{what: revoke, code: "TRANSFER_NOT_PENDING"},
			{what: scan, code: "denied_duplicate", last: true},
		}},
		{Ticket: "claimed", people: people, holder: "first", admissions: 1, transfers: 1, acts: []Act{
			offered,
			{what: claim, person: firstFriend, done: true},
			{what: offer, person: secondFriend, code: "TICKET_NOT_FOUND"},
			{what: scan, code: "denied_cancelled", last: true},
			{what: scan, person: firstFriend, code: "success", done: true, last: true},
		}},
		{Ticket: "taken back", people: people, holder: "second", admissions: 1, transfers: 1, acts: []Act{
			offered,
			{what: revoke, done: true},
			{what: offer, person: secondFriend, done: true},
			refused,
			{what: claim, person: secondFriend, done: true},
			{what: scan, code: "denied_cancelled", last: true},
			{what: scan, person: secondFriend, code: "success", done: true, last: true},
		}},
	}
}

func TestRightRacesHaveNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range Audit(races()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestWrongRacesAreFound plants one mistake at a time.
func TestWrongRacesAreFound(t *testing.T) {
	t.Parallel()
	const (
		answers    = "every act was granted or refused, as a race can have it"
		offers     = "an offer ends once"
		onlyHolder = "a ticket has one holder, the last who was told so"
		once       = "a ticket admits once"
		noOldCode  = "no code of an earlier holder admits"
	)
	for what, plant := range map[string]struct {
		found string
		spoil func(stayed, claimed, takenBack *Race)
	}{
		"an answer that never came":           {answers, func(r, _, _ *Race) { r.acts[2].code = "timeout" }},
		"an internal error":                   {answers, func(_, r, _ *Race) { r.acts[2].code = "INTERNAL_ERROR" }},
		"a claim of what was taken back":      {offers, func(_, _, r *Race) { r.acts[3].done = true }},
		"an offer that nothing ended":         {offers, func(_, r, _ *Race) { r.acts[1] = Act{what: claim, person: firstFriend, code: "TRANSFER_NOT_PENDING"} }},
		"a second offer beside the first":     {offers, func(_, r, _ *Race) { r.acts[2].done = true }},
		"two holders":                         {onlyHolder, func(_, _, r *Race) { r.acts[3].done = true }},
		"a claim that did not hold":           {onlyHolder, func(_, r, _ *Race) { r.holder = "buyer" }},
		"a claim that nobody was told of":     {onlyHolder, func(_, r, _ *Race) { r.transfers = 0 }},
		"a holder without a claim":            {onlyHolder, func(r, _, _ *Race) { r.holder = "second" }},
		"two admissions":                      {once, func(r, _, _ *Race) { r.acts[4].done = true }},
		"an admission that is not durable":    {once, func(_, r, _ *Race) { r.admissions = 0 }},
		"nobody was let in":                   {once, func(_, r, _ *Race) { r.acts[4].done = false }},
		"the sender was let in by an old one": {noOldCode, func(_, r, _ *Race) { r.acts[3].done = true }},
		"an old code is taken for the new":    {noOldCode, func(_, _, r *Race) { r.acts[5].code = "denied_duplicate" }},
	} {
		all := races()
		plant.spoil(all[0], all[1], all[2])
		var failed []string
		for _, c := range Audit(all) {
			if c.Failed > 0 {
				failed = append(failed, c.Name)
			}
		}
		require.Contains(t, failed, plant.found, what)
	}
}
