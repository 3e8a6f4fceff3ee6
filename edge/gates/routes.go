package gates

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows. The groups differ in who calls: devices and screens at gates, members who
// make a device a gate, and a device that has no key yet.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		// Devices at gates call these, and the screens that watch the gates.
		route.Group{
			Prefix: "/api/v1/checkin",
			Tag:    "Check-in",
			Auth:   own,
			Read:   route.CheckinWrite,
			Write:  route.CheckinWrite,
			Tier:   route.TierCheckin,
			Errors: codes{engine.EventNotFound},

			AtGates: true,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/scan",
					ID:          "scanTicket",
					Summary:     "Scan a ticket at a gate",
					Description: "A gate sends each code that it reads, and lets the person in on success alone. The answer is 200 whatever the verdict is, and the first success of a ticket is its admission, for all gates. With direction out it lets the person out, where the event's exits are on.",
					Idempotency: route.ByActor,
					Handler:     route.Handle(h.scanTicket),
				},
				{
					Method:      "POST",
					Path:        "/event/{id}/manual",
					ID:          "checkInManually",
					Summary:     "Check a ticket in by a typed code",
					Description: "For the desk, when a code can't be scanned: somebody types the full code or the door code. The verdict is that of a scan, and so is the admission.",
					Idempotency: route.ByActor,
					Handler:     route.Handle(h.checkInManually),
				},
				{
					Method:      "GET",
					Path:        "/event/{id}/manifest",
					ID:          "getManifest",
					Summary:     "Read what a device needs to decide offline",
					Description: "A device takes it once in full, then every few seconds with since, and decides by it while it is offline. It has hashes of the tickets' codes and what became of each ticket, at most a second old.",
					Versioned:   true,
					Timeout:     20 * time.Second,
					Handler:     route.Handle(h.manifest),
				},
				{
					Method:      "POST",
					Path:        "/batch",
					ID:          "scanBatch",
					Summary:     "Send scans that devices have kept",
					Description: "A device that was offline sends whom it has let in, and out, when it is online again. Each scan is judged as things stood when it was made, and one of the same device, time and code has the same verdict again, so that a batch may be repeated.",
					Idempotency: route.Replay,
					MaxBody:     512 << 10,
					Handler:     route.Handle(h.scanBatch),
				},
				{
					Method:      "POST",
					Path:        "/event/{id}/undo",
					ID:          "undoCheckIn",
					Summary:     "Take a check-in back",
					Description: "For the desk, when the wrong ticket was admitted or a guest leaves at once: the ticket is issued again and admits once more; of one that has gone out since, only the last exit or return is taken back. The gate's admissions are one less, what it scanned stays, and no webhook tells of it.",
					Errors:      codes{engine.TicketNotFound, engine.NotCheckedIn},
					Idempotency: route.Replay,
					Handler:     route.Handle(h.undoCheckIn),
				},
				{
					Method:      "GET",
					Path:        "/event/{id}/gate/{gate}",
					ID:          "getGate",
					Summary:     "Read one gate's counters",
					Description: "For a screen at the gate. A gate is made by the first scan that names it: one at which nothing was scanned yet has zeros.",
					Handler:     route.Handle(h.oneGate),
				},
				{
					Method:      "GET",
					Path:        "/event/{id}/stats",
					ID:          "getGateStats",
					Summary:     "Read the gates' counters",
					Description: "For whoever runs the entrance: how many are in, how many are still to come, and what each gate does. The counters are those of this moment; to watch them, open the live stream instead of asking again.",
					Handler:     route.Handle(h.gateStats),
				},
				{
					Method:      "GET",
					Path:        "/event/{id}/live",
					ID:          "watchGates",
					Summary:     "Watch the gates' counters",
					Description: "A stream of Server-Sent Events for a screen that stays open, each with the counters of the stats. It sends a snapshot at once, one every 2 seconds while something changes, and one every 30 seconds otherwise. An event named alarm comes once when the inside reach 90, and once when they reach 100 percent of the insideLimit.",
					Auth:        own | route.LiveToken,
					Handler:     route.Stream(h.watchGates),
				},
				{
					Method:      "POST",
					Path:        "/event/{id}/live-token",
					ID:          "openLiveToken",
					Summary:     "Make a token that opens the live counters once, within a minute",
					Description: "For readers that can send no header, such as a browser's EventSource, which take it as the query's token. It is spent by the first stream that it opens.",
					Status:      201,
					Handler:     route.Handle(h.openLiveToken),
				},
			},
		},
		// The organizer's desk makes a device a gate by these. API keys are not accepted, because a
		// device could otherwise make other devices gates.
		route.Group{
			Prefix: "/api/v1/organizer/integrations/org/{orgId}/gates",
			Tag:    "Check-in",
			Auth:   route.Member,
			Read:   route.Manage,
			Write:  route.Manage,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listGates",
					Summary:     "List the devices that were made gates",
					Description: "An owner or admin reads which devices may check in to which events, the newest first, revoked ones too. To end one, revoke its key.",
					Handler:     route.Handle(h.listGates),
				},
				{
					Method:      "POST",
					Path:        "/enrolments",
					ID:          "createGateEnrolment",
					Summary:     "Make a code that makes a device a gate",
					Description: "An owner or admin makes a code for one device, which this answer alone shows, and which is good once within ten minutes. An organization has 100 codes at most that wait.",
					Status:      201,
					Errors:      codes{engine.Conflict, engine.EventNotFound},
					Handler:     route.Handle(h.createEnrolment),
				},
				{
					Method:      "GET",
					Path:        "/enrolments/{enrolmentId}",
					ID:          "getGateEnrolment",
					Summary:     "Read whether a code was used",
					Description: "The desk that shows a code asks until a device has used it. A code is known for a day.",
					Handler:     route.Handle(h.getEnrolment),
				},
			},
		},
		// This is the only request of a device that has no key yet.
		route.Group{
			Prefix: "/api/v1/gates/enrol",
			Tag:    "Check-in",
			Auth:   route.Public,
			Tier:   route.TierAuth,
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "enrolGate",
					Summary:     "Exchange a code for the key of a gate",
					Description: "A device sends the code that the organizer's desk shows, and gets a key that checks in to the code's events and does nothing else. A code that was used, or is over, is refused with 409 and the reason CODE_USED or CODE_OVER; 404 is no code at all.",
					Status:      201,
					Errors:      codes{engine.NotFound, engine.Conflict},
					Handler:     route.Handle(h.enrolGate),
				},
			},
		},
	)
}
