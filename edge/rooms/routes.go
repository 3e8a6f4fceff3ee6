package rooms

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: the rows for a room's visitors, and the rows by which the room's organization
// sets it up and runs it.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		// For visitors of the waiting room. They need no account. Some rows admit the organization
		// too.
		route.Group{
			Prefix: "/api/v1/public/events/{id}/queue",
			Tag:    "Waiting room",
			Auth:   route.Public | route.User | own,
			Read:   route.EventsRead,
			Tier:   route.TierPublic,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getQueue",
					Summary:     "Read an event's waiting room, and one's own place",
					Description: "For the page on which people wait: state, times, rules, counts and what is still on sale; an event without a room has the state `none`. With the visitor's token, as `Authorization: Queue <token>` or as `ticket`, it also says where the visitor stands, and gives the admission once the turn has come.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.getQueue),
				},
				{
					Method:      "POST",
					ID:          "joinQueue",
					Summary:     "Join an event's waiting room",
					Description: "For a party of one or more: the entry is durable once it is answered, and its place is the same on all devices that have the token; a repeat with the same Idempotency-Key is the same entry. Where a room asks for an address, one who is not signed in is mailed a link, and has no entry before it is used (`pending`).",
					Auth:        route.Public | route.User,
					Tier:        route.TierStrict,
					Idempotency: route.ByActor,
					Status:      201,
					Errors:      codes{engine.QueueClosed, engine.Conflict},
					Handler:     route.Handle(h.joinQueue),
				},
				{
					Method:      "POST",
					Path:        "/confirm",
					ID:          "confirmQueue",
					Summary:     "Join an event's waiting room by the mailed link",
					Description: "The page behind the mailed link sends it when the reader presses its button: the entry counts from then on. A repeat, on this device or another, answers the same entry, and an address has one.",
					Auth:        route.Public,
					Tier:        route.TierStrict,
					Idempotency: route.ByActor,
					Status:      201,
					Errors:      codes{engine.QueueClosed, engine.Conflict, engine.NotFound},
					Handler:     route.Handle(h.confirmQueue),
				},
				{
					Method:      "GET",
					Path:        "/live",
					ID:          "watchQueue",
					Summary:     "Watch an event's waiting room",
					Description: "A stream of Server-Sent Events for a page that stays open: `snapshot` has what GET answers to everybody, at once and whenever it changes, and `numbers` its `count` and `served` alone. Pages keep the root that they were sent, and read their own place by themselves.",
					Handler:     route.Stream(h.watchQueue),
				},
				{
					Method:      "GET",
					Path:        "/draw",
					ID:          "getDraw",
					Summary:     "Read the document of an event's draw",
					Description: "For whoever checks a draw: the signed statement from the closing on, and the beacon's round once it is known. docs/waiting-room.md says how it is checked.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.getDraw),
				},
				{
					Method:      "GET",
					Path:        "/proof",
					ID:          "proveQueueEntry",
					Summary:     "Prove that an entry is in the draw",
					Description: "For whoever has a receipt: the hashes that lead from its leaf to the statement's root. A leaf of a receipt that has none proves that the operator has cheated.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.proveEntry),
				},
				{
					Method:      "POST",
					Path:        "/beacon",
					ID:          "bringBeacon",
					Summary:     "Bring the beacon's round of a draw",
					Description: "Anybody may bring it, from any relay: the signature decides. The service fetches it by itself, and brought again it changes nothing.",
					Auth:        route.Public,
					Tier:        route.TierStrict,
					Errors:      codes{engine.Conflict, engine.NotFound},
					Handler:     route.Handle(h.bringBeacon),
				},
			},
		},
		// For the organization that has the room.
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/queue",
			Tag:    "Waiting room",
			Auth:   own,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "PUT",
					ID:          "setQueue",
					Summary:     "Open, change or end an event's waiting room",
					Description: "Once registration has begun the rules of a draw stand (409 QUEUE_FROZEN); rate and hold can be changed at any time. From the opening on, orders and seat holds need an admission, but for keys and members of the organization.",
					Errors:      codes{engine.QueueFrozen, engine.QuotaExceeded},
					Handler:     route.Handle(h.setQueue),
				},
				{
					Method:      "POST",
					Path:        "/pause",
					ID:          "pauseQueue",
					Summary:     "Stop admissions",
					Description: "Nobody else is admitted until the room is resumed; whoever has an admission may use it. What was not admitted meanwhile is not made up for.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.pauseQueue),
				},
				{
					Method:      "POST",
					Path:        "/resume",
					ID:          "resumeQueue",
					Summary:     "Let admissions go on",
					Description: "Admission goes on at the rate. A room that was not paused stays as it is.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.resumeQueue),
				},
				{
					Method:      "POST",
					Path:        "/drain",
					ID:          "drainQueue",
					Summary:     "Let nobody join any more",
					Description: "Those in line are admitted at the rate, and then the room ends; one with nobody in line ends at once. PUT with `enabled: true` takes it back.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.drainQueue),
				},
			},
		},
	)
}
