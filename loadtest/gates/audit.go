package gates

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"time"

	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// counters are the service's counters of the gates, in the fields of its API: tickets checked in,
// scans, denials, the people inside, and the ways in and out. The same shape comes from the route
// of statistics and from the live stream, so that compareSums can compare the two as wholes.
type counters struct {
	CheckedIn, Scanned, Denied int64
	Inside, In, Out            int64
	Gates                      []struct {
		Gate                      string
		Scanned, Admitted, Denied int64
		In, Out                   int64
	}
}

// audit compares what the devices said with what is durable in the service. It first reads the
// counters, and then reads the feed of facts until the feed has as many admissions as the counters
// say: the feed may lag behind the gates for some seconds.
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

// checkTold checks two things: every device could decide every code that people showed, and no
// device still keeps an admission that it has not told the service. A kept admission would mean
// that the service does not know of somebody inside.
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

// checkOnce checks that no ticket has two durable admissions. Two devices may both let the same
// ticket in while they are offline, but the service must accept only one of the two.
func (e *evening) checkOnce(admissions map[string]int) report.Check {
	c := report.Check{Name: "a ticket has at most one durable admission", Checked: int64(len(e.holders))}
	for ticket, n := range admissions {
		if n > 1 {
			c.Found("ticket %s has %d", ticket, n)
		}
	}
	return c
}

// checkNamed checks the cases in which several people came in with one ticket, because a device
// decided alone. The service accepts one admission of such a ticket. Every other one must be named
// by its device as let in wrongly, so that the staff know about it. Nobody else may be named.
func (e *evening) checkNamed(admissions map[string]int) report.Check {
	c := report.Check{Name: "who was let in wrongly is named, and nobody else"}
	// A device names a scan by the code that was shown. A ticket can be shown by its code, by its
	// door code, by any QR payload that a phone showed, and by the code that it got when it was
	// passed on. The map leads from each of them to the ticket.
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
	// For each ticket: the times it was let in, less the times that were named as wrong, must be
	// the admissions that are durable.
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

// checkGood checks that no person with a good ticket was turned away. Only plain tickets count: the
// others of the run were copied, refunded, passed on or used for strolls, and a device may have a
// reason to deny those.
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

// checkSums compares the sums of the devices with the service's counters. The comparison has bounds
// where the truth is unknown: a request that got no answer may have reached the service and be
// counted there, or may be lost.
func (e *evening) checkSums(stats *counters, admissions map[string]int) report.Check {
	c := report.Check{Name: "the gates' counters are the sums of the devices", Checked: int64(len(stats.Gates))}
	// The service judges all ways of a person who strolls once more, whenever a device tells of another way of the
	// same person. So each way of such a person may be counted as denied or not, and widens the bounds by one.
	type sums struct{ admitted, denied, unanswered, strolls int64 }
	gates, durable := map[string]*sums{}, int64(0)
	for _, d := range e.devices {
		s := gates[d.gate]
		if s == nil {
			s = new(sums)
			gates[d.gate] = s
		}
		// A device counted as admitted whom it let in wrongly while offline. The service has
		// counted the same scan as denied, so the sums move it. The service never hears of codes
		// that a device denied while offline (DeniedAlone).
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

// checkInside compares three sources of who is inside: the letters of the tickets in the service's
// manifest, the service's counter, and what the devices let each holder do. Without strolls the
// event has no exits, and nothing is compared.
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

// compareStrollers checks, for each holder who went out and came in again, that the manifest and
// the devices agree whether the holder is inside. It leaves out the holders whose ways the service
// may have put in another order (isSure). If more than half are left out, the run has proven
// nothing, and that is a finding; on a machine so slow that a scan takes longer than clockError, it
// is only noted. The slowest scan bounds how wrong a device's clock may be, because a device sets
// its clock by the answers of the service.
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
	if 2*c.Checked >= strollers {
		return
	}
	few := fmt.Sprintf("only %d of %d who stroll had ways in a sure order: the slowest scan took %s", c.Checked, strollers, slowest)
	if slowest > clockError {
		c.Note = few
	} else {
		c.Found("%s", few)
	}
}

// awaitManifest returns the letter that the manifest has for each pass id. The service may answer
// with a manifest that is some seconds old. So awaitManifest asks again until the manifest agrees
// with the counter of the people inside, or until the time Agree is over.
func (e *evening) awaitManifest(ctx context.Context, stats *counters, admissions map[string]int) (letters map[string]string, err error) {
	for deadline := time.Now().Add(e.cfg.Agree); ; rig.Wait(ctx, 200*time.Millisecond) {
		var manifest struct {
			Salt    string
			Tickets []struct{ H, S string }
		}
		if err := e.organizer.Send(ctx, "GET", "/checkin/event/"+url.PathEscape(e.event)+"/manifest", nil, &manifest); err != nil {
			return nil, err
		}
		// A manifest has no pass ids, only salted hashes of them. The run knows its holders' pass
		// ids and hashes them with the manifest's salt. The entry of a found ticket is removed, so
		// that what stays in hashed is of unknown pass ids.
		hashed := map[string]string{}
		for _, t := range manifest.Tickets {
			hashed[t.H] = t.S
		}
		letters = map[string]string{}
		for _, h := range e.holders {
			letters[h.pass] = hashed[hashPass(manifest.Salt, h.pass)]
			delete(hashed, hashPass(manifest.Salt, h.pass))
		}
		// These tickets were passed on: the new owner has a pass id that the run does not know.
		// They are kept by their hash, so that countInside counts them too.
		maps.Copy(letters, hashed)
		if e.countInside(letters, admissions) == stats.Inside || !time.Now().Before(deadline) || ctx.Err() != nil {
			return letters, ctx.Err()
		}
	}
}

// countInside returns how many people are inside by the letters of a manifest. A guest may get the
// money back after the admission: then the letter says refunded, but the guest is still inside, and
// counts.
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

// hashPass returns the form in which a manifest names a ticket's pass id: the first 16 bytes of a
// salted SHA-256, in base64 (docs/gates.md).
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
