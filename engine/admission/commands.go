package admission

import (
	"boxoffice/engine"
	"boxoffice/engine/order"
)

// These are the commands to an event about its tickets and gates. A command that is refused is answered by a
// *engine.Refusal instead of the answer that its comment names.
type (
	// Scan is a scan of a code at a gate, now. It admits the ticket once; where exits are counted, it may also
	// let the holder out or in again. The edge has checked the code. The answer is a *ScanReply.
	Scan struct {
		Ticket uint32 // serial of the ticket; 0 if the code is not of this event
		Denied string // set if the edge found the code too old; the event then denies the scan, unless it has another reason first
		// Version is the version of the holder whose code it is; 0 if the code does not say.
		Version byte `cbor:",omitempty"`
		Printed bool `cbor:",omitempty"` // whether a device read a code that does not rotate: a printed one, or a door code
		Out     bool `cbor:",omitempty"` // whether the holder goes out
		Gate    string
		Device  string
		Method  string
		Key     uint64 // hash of the request's idempotency key; 0 without one
		// Request is remembered for 24 hours, whatever the verdict on it was, unless more than maxScans come after it.
		Request engine.Request
	}
	// Transfer offers a ticket to somebody else. Version is the version of the holder who offers it.
	// The answer is a *TransferReply.
	Transfer struct {
		Ticket  uint32 // serial of the ticket
		Version byte
		From    string // e-mail address of the holder who gives the ticket away
		To      string
		Name    string // name of the recipient
	}
	// RevokeTransfer takes an offered ticket back. The answer is a *TransferReply.
	RevokeTransfer struct {
		Ticket  uint32
		Version byte
	}
	// ClaimTransfer makes the recipient the holder. The answer is a *TransferReply.
	ClaimTransfer struct {
		Ticket uint32
		Round  uint16 // number of the ticket's transfer that is claimed
	}
	// GateRoster reads what gates need to know about all tickets. The answer is a *Roster.
	GateRoster struct{}
	// UndoScan takes a ticket's admission back or, if the ticket has several passages, the last of them. The
	// answer is a *ScanReply, without a Status if the admission itself was taken back.
	UndoScan struct {
		Ticket  uint32
		Version byte // version of the holder whose code was shown
	}
	// GateStats reads the counters of the gates. The answer is a *Stats.
	GateStats struct{}
)

// Command makes the types above commands (engine.Command).
func (Scan) Command()           {}
func (GateRoster) Command()     {}
func (UndoScan) Command()       {}
func (GateStats) Command()      {}
func (Transfer) Command()       {}
func (RevokeTransfer) Command() {}
func (ClaimTransfer) Command()  {}

// Messages are the messages about tickets and gates. They are a part of the event's row in the list of kinds.
var Messages = engine.Messages{
	Commands: []engine.Command{Scan{}, ScanBatch{}, GateRoster{}, UndoScan{}, GateStats{}, Transfer{}, RevokeTransfer{}, ClaimTransfer{}},
	Replies:  []engine.Reply{&ScanReply{}, &BatchReply{}, &Roster{}, &Stats{}, &TransferReply{}},
	Details:  []any{NotTransferable{}},
}

// The outcomes of a scan (docs/rules.md, Gates).
const (
	ScanSuccess    = "success"
	ScanDuplicate  = "denied_duplicate"
	ScanCancelled  = "denied_cancelled"
	ScanExpired    = "denied_expired"
	ScanWrongEvent = "denied_wrong_event"
	ScanNotInside  = "denied_not_inside" // somebody would go out who is not inside
)

// ScanReply is the verdict on a scan. For a duplicate, At, Gate and Holder are those of the ticket's admission.
// Where exits are counted, At and Gate of a refused scan are taken from the passage that it contradicts.
type ScanReply struct {
	Status  string
	Reason  string
	Ticket  uint32
	Version byte // version of the ticket's holder, in an answer of success; 0 for the first holder
	Holder  string
	IDCheck bool
	At      int64 // unix milliseconds
	Gate    string
	Known   bool // whether the request had its verdict before
	Out     bool `cbor:",omitempty"` // whether At and Gate are of an exit
}

// TransferReply is a ticket's last transfer, as it is after a command.
type TransferReply struct {
	Transfer order.Transfer
	Order    engine.OrderID
	Version  byte // version of the ticket's holder
}

// Stats are the counters of an event's gates, and how many of its tickets were issued and have ended.
type Stats struct {
	Issued   int64
	Admitted int64
	Scanned  int64
	Denied   int64
	Ended    int64 // tickets that were refunded or cancelled before anybody was let in with them
	Capacity int64 // the event's capacity, or NoCapacity
	// InsideCounted says that the event counts who is inside. InsideLimit is how many people may be inside; 0
	// means no limit.
	InsideCounted bool  `cbor:",omitempty"`
	InsideLimit   int64 `cbor:",omitempty"`
	PerMin        []MinuteCount
	Gates         []GateCount
}

// Roster is what gates need to know about the tickets of an event. The tickets of a group are of
// one type and have consecutive serials.
type Roster struct {
	Letters      []byte          // one for each ticket, by serial (roster.go says what they mean)
	First        []uint32        // serials of the groups' first tickets, ascending
	Types        []int64         // ticket types of the groups
	Opens        []int64         // when the groups begin to admit, unix milliseconds; empty if nothing is booked
	Closes       []int64         // when the groups cease to admit; 0: when the event does
	DoorCodes    bool            // whether offline gates may know door codes
	RotatingOnly bool            // whether gates refuse scanned codes that don't rotate (printed ones, and door codes); typed codes are accepted
	Exits        bool            `cbor:",omitempty"` // whether gates let holders out and in again
	Versions     map[uint32]byte // versions of the holders of tickets that have changed hands, by serial
	// Rescheduled says when those tickets admit that were moved to another date than their group's.
	Rescheduled map[uint32]Window `cbor:",omitempty"`
}

// Window returns from when until when a ticket of a group admits, in unix milliseconds. Zeros mean
// that it admits whenever the event does.
func (r *Roster) Window(ticket uint32, group int) (opens, closes int64) {
	if w, moved := r.Rescheduled[ticket]; moved {
		return w.Opens, w.Closes
	}
	if group < len(r.Closes) && r.Closes[group] > 0 {
		return r.Opens[group], r.Closes[group]
	}
	return 0, 0
}

// MinuteCount says how many people were admitted in one minute.
type MinuteCount struct {
	Minute int64 `cbor:"1,keyasint"` // unix minutes
	Count  int64 `cbor:"2,keyasint"`
}

// GateCount are the counters of one gate.
type GateCount struct {
	Name     string `cbor:"1,keyasint"`
	Scanned  int64  `cbor:"2,keyasint"`
	Admitted int64  `cbor:"3,keyasint"`
	Denied   int64  `cbor:"4,keyasint"`
	Again    int64  `cbor:"5,keyasint,omitempty"` // how often somebody came in again who had gone out
	Out      int64  `cbor:"6,keyasint,omitempty"` // how often somebody went out
}

// In returns how often somebody came in.
func (g *GateCount) In() int64 { return g.Admitted + g.Again }

// Inside returns how many people are inside.
func (s *Stats) Inside() (n int64) {
	for i := range s.Gates {
		n += s.Gates[i].In() - s.Gates[i].Out
	}
	return n
}

// NotTransferable is the detail of TICKET_NOT_TRANSFERABLE. Reason is type, status,
// pending, event_over or certificate.
type NotTransferable struct {
	Reason string `json:"reason"`
}

// Why a ticket can't be passed on.
const (
	NotTransferableType    = "type"
	NotTransferableStatus  = "status"
	NotTransferablePending = "pending"
	NotTransferableOver    = "event_over"
	// NotTransferableEarned is the reason for a ticket with which somebody has earned a certificate. The edge
	// refuses the transfer, because an event's actor does not know what the learners of a course have done.
	NotTransferableEarned = "certificate"
)
