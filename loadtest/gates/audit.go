package gates

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/url"
	"time"

	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// counters are the service's counters of the gates.
type counters struct {
	CheckedIn, Scanned, Denied int64
	Inside, In, Out            int64
	Gates                      []struct {
		Gate                      string
		Scanned, Admitted, Denied int64
		In, Out                   int64
	}
}

// audit compares what the devices said with what is durable.
func (e *evening) audit(ctx context.Context, w *witnesses) ([]report.Check, error) {
	var stats counters
	if err := e.organizer.Send(ctx, "GET", "/checkin/event/"+url.PathEscape(e.event)+"/stats", nil, &stats); err != nil {
		return nil, err
	}
	facts, err := e.organizer.CountFacts(ctx, []string{rush.Admitted}, int(stats.CheckedIn), e.cfg.Agree)
	if err != nil {
		return nil, err
	}
	admissions := facts[rush.Admitted]
	inside, err := e.checkInside(ctx, &stats, admissions)
	if err != nil {
		return nil, err
	}
	return append([]report.Check{
		e.checkTold(), e.checkOnce(admissions), e.checkNamed(admissions), e.checkGood(), e.checkSums(&stats, admissions), inside,
	}, w.compareSums(ctx, &stats, admissions, e.cfg.Agree)...), nil
}

// checkTold checks that devices decided every code, and have told the event whom they let in.
func (e *evening) checkTold() report.Check {
	c := report.Check{Name: "devices decided every code, and have told whom they let in", Checked: e.shown.Load()}
	for _, f := range e.failed {
		c.Found("%s", f)
	}
	for _, d := range e.devices {
		if n := d.Counts().Waiting; n > 0 {
			c.Found("%s has %d admissions to tell", d.name, n)
		}
	}
	return c
}

// checkOnce checks that no ticket has two durable admissions.
func (e *evening) checkOnce(admissions map[string]int) report.Check {
	c := report.Check{Name: "a ticket has at most one durable admission", Checked: int64(len(e.holders))}
	for ticket, n := range admissions {
		if n > 1 {
			c.Found("ticket %s has %d", ticket, n)
		}
	}
	return c
}

// checkNamed checks that, where devices let several people in with one ticket, everybody is named as
// wrong except the one whose admission is durable.
func (e *evening) checkNamed(admissions map[string]int) report.Check {
	c := report.Check{Name: "who was let in wrongly is named, and nobody else"}
	of := map[string]*holder{}
	for _, h := range e.holders {
		of[h.code], of[h.short] = h, h
		if h.next != "" {
			of[h.next] = h
		}
		for _, qr := range h.qrs {
			of[qr] = h
		}
	}
	named := map[*holder]int{}
	for _, d := range e.devices {
		for _, w := range d.LetInWrongly() {
			h := of[w.Scan.Code]
			if h == nil {
				c.Found("%s names %q, which is no ticket's", d.name, w.Scan.Code)
				continue
			}
			named[h]++
		}
	}
	for _, h := range e.holders {
		if h.kind == strolls {
			continue // checkInside follows them
		}
		c.Checked += int64(len(h.letIn))
		if len(h.letIn)-named[h] != admissions[h.id] {
			c.Found("ticket %s was let in by %v; %d of them are named, %d admissions are durable", h.code, h.letIn, named[h], admissions[h.id])
		}
	}
	return c
}

// checkGood checks that nobody with a good ticket was turned away.
func (e *evening) checkGood() report.Check {
	c := report.Check{Name: "whoever has a good ticket was let in"}
	for _, h := range e.holders {
		if h.kind == plain {
			c.Checked++
		}
	}
	for _, f := range e.denied {
		c.Found("%s", f)
	}
	return c
}

// checkSums compares the sums of the devices with the service's counters. A request whose answer
// never came may be counted by the service.
func (e *evening) checkSums(stats *counters, admissions map[string]int) report.Check {
	c := report.Check{Name: "the gates' counters are the sums of the devices", Checked: int64(len(stats.Gates))}
	// The ways of people who stroll are judged once more whenever a device tells of another one. They may be
	// counted as denied or not.
	type sums struct{ admitted, denied, unanswered, strolls int64 }
	gates, durable := map[string]*sums{}, int64(0)
	for _, d := range e.devices {
		s := gates[d.gate]
		if s == nil {
			s = new(sums)
			gates[d.gate] = s
		}
		n, wrong := d.Counts(), len(d.LetInWrongly())
		s.admitted += int64(n.Admitted - wrong)
		s.denied += int64(n.Denied - n.DeniedAlone + wrong)
		s.unanswered += int64(n.Unanswered)
	}
	for _, h := range e.holders {
		for _, w := range h.ways {
			gates[w.gate].strolls++
		}
	}
	for _, n := range admissions {
		durable += int64(n)
	}
	var scanned, admitted, denied int64
	for _, g := range stats.Gates {
		scanned, admitted, denied = scanned+g.Scanned, admitted+g.Admitted, denied+g.Denied
		s := gates[g.Gate]
		if s == nil {
			c.Found("there is no gate %q", g.Gate)
			continue
		}
		again := g.Scanned - g.Admitted - g.Denied // who came in again, or went out
		if g.Admitted < s.admitted-s.strolls || g.Admitted > s.admitted || g.Denied < s.denied-s.strolls || g.Denied > s.denied+s.unanswered+s.strolls ||
			again < 0 || again > s.strolls || e.cfg.Strolls > 0 && again != g.In-g.Admitted+g.Out {
			c.Found("%s counts %d scanned, %d admitted, %d denied; its devices %d and %d, with %d unanswered",
				g.Gate, g.Scanned, g.Admitted, g.Denied, s.admitted, s.denied, s.unanswered)
		}
	}
	if admitted != stats.CheckedIn || scanned != stats.Scanned || denied != stats.Denied || durable != stats.CheckedIn {
		c.Found("the totals are %d scanned, %d admitted, %d denied, and the gates' %d, %d, %d; %d admissions are durable",
			stats.Scanned, stats.CheckedIn, stats.Denied, scanned, admitted, denied, durable)
	}
	return c
}

// These are letters of tickets in a manifest (docs/gates.md).
const (
	letterInside   = "c"
	letterRefunded = "r"
)

// checkInside compares who is inside by the service's manifest with the service's counter, and with what the devices let
// each holder do.
func (e *evening) checkInside(ctx context.Context, stats *counters, admissions map[string]int) (report.Check, error) {
	c := report.Check{Name: "inside are those who came in and did not go out"}
	if e.cfg.Strolls == 0 {
		return c, nil
	}
	letters, err := e.awaitManifest(ctx, stats, admissions)
	if err != nil {
		return c, err
	}
	if inside := e.countInside(letters, admissions); stats.Inside != stats.In-stats.Out || stats.Inside != inside {
		c.Found("%d are inside by the counter, %d by the manifest, and %d went in and %d out", stats.Inside, inside, stats.In, stats.Out)
	}
	e.compareStrollers(&c, letters)
	return c, nil
}

// compareStrollers compares, for each holder who went out and came in again, whether the manifest and what the devices let
// the holder do agree. Holders whose ways may be in another order are left out; if those are most, the run has proven
// nothing. Devices set their clocks by answers, which took up to the slowest scan's time.
func (e *evening) compareStrollers(c *report.Check, letters map[string]string) {
	slowest, strollers := time.Duration(e.online.Max())*time.Microsecond, int64(0)
	for _, h := range e.holders {
		if h.kind != strolls {
			continue
		}
		strollers++
		if !h.isSure(slowest) {
			continue
		}
		c.Checked++
		if in := letters[h.pass] == letterInside; in != h.isInside() {
			c.Found("ticket %s is inside: %v by the manifest, and %v by its %d ways", h.code, in, h.isInside(), len(h.ways))
		}
	}
	if 2*c.Checked < strollers {
		c.Found("only %d of %d who stroll had ways in a sure order: the slowest scan took %s", c.Checked, strollers, slowest)
	}
}

// awaitManifest returns the letter that the manifest has for each pass id. A manifest may be some seconds old, so it is
// asked for until it agrees with the counter of who is inside, or its time is over.
func (e *evening) awaitManifest(ctx context.Context, stats *counters, admissions map[string]int) (letters map[string]string, err error) {
	for deadline := time.Now().Add(e.cfg.Agree); ; rig.Wait(ctx, 200*time.Millisecond) {
		var manifest struct {
			Salt    string
			Tickets []struct{ H, S string }
		}
		if err := e.organizer.Send(ctx, "GET", "/checkin/event/"+url.PathEscape(e.event)+"/manifest", nil, &manifest); err != nil {
			return nil, err
		}
		hashed := map[string]string{}
		for _, t := range manifest.Tickets {
			hashed[t.H] = t.S
		}
		letters = map[string]string{}
		for _, h := range e.holders {
			letters[h.pass] = hashed[hashPass(manifest.Salt, h.pass)]
			delete(hashed, hashPass(manifest.Salt, h.pass))
		}
		maps.Copy(letters, hashed) // of those to whom a ticket was passed on; their pass ids are not known here
		if e.countInside(letters, admissions) == stats.Inside || !time.Now().Before(deadline) || ctx.Err() != nil {
			return letters, ctx.Err()
		}
	}
}

// countInside returns how many are inside by the letters of a manifest. A guest whose money
// went back after the admission is inside with a refunded ticket.
func (e *evening) countInside(letters map[string]string, admissions map[string]int) (inside int64) {
	for _, letter := range letters {
		if letter == letterInside {
			inside++
		}
	}
	for _, h := range e.holders {
		if letters[h.pass] == letterRefunded {
			inside += int64(admissions[h.id])
		}
	}
	return inside
}

// hashPass is a ticket's pass id as the manifest has it (docs/gates.md).
func hashPass(salt, pass string) string {
	sum := sha256.Sum256([]byte(salt + "|" + pass))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// countWays returns how often those who stroll were at a gate.
func (e *evening) countWays() (n int64) {
	for _, h := range e.holders {
		n += int64(len(h.ways))
	}
	return n
}
