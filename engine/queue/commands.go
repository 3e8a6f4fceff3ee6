package queue

import (
	"boxoffice/engine"
	"boxoffice/engine/draw"
)

// These are the commands of a waiting room. The comment of each ends with the type of its answer.
type (
	// Open opens a room, or changes one. The rules of a room can't change once registration has begun
	// (QueueFrozen); the other settings can. A room that has ended may open again, with the next draw. The
	// answer is a *Record.
	Open struct{ Settings Settings }
	// End ends the room: everybody may order. The answer is a *Record.
	End struct{}
	// Pause stops admissions, or lets them go on. Visitors can join during a pause. The answer is a *Record.
	Pause struct{ On bool }
	// Drain lets nobody join any more. The room ends once everybody in line is admitted. The answer is a *Record.
	Drain struct{}
	// Steer sets the rate of a room that is steered (Settings.Auto). It changes nothing in other rooms. The
	// answer is a *Record.
	Steer struct{ Rate int64 }
	// Join enters a visitor. The leaf is the command's id. Person is a hash of the proven address or account,
	// or 0. The command is refused (QueueClosed) if nobody can join now, and (Conflict) if the person has an
	// entry with another leaf (NotNow entered), or if the leaf belongs to another person (used). The answer is
	// a *Placed.
	Join struct {
		Leaf   draw.Hash
		Class  draw.Class
		Person uint64
	}
	// Bring brings the beacon's signature of the rules' round. It does not matter who brings it:
	// the signature is checked. The answer is a *Record.
	Bring struct{ Signature []byte }
	// Look asks for a visitor's place. The answer is a *Placed.
	Look struct{ Leaf draw.Hash }
	// Admit begins the admission of a visitor whose turn has come, and otherwise is a Look. The answer is a
	// *Placed.
	Admit struct{ Leaf draw.Hash }
	// Use binds an admission to the first buyer who orders by it. Buyer is a hash of the buyer. Another buyer
	// is refused (QueueRequired, NotNow shared), and so is any order before the admission or after its end
	// (not_admitted, expired). The answer is a *Placed.
	Use struct {
		Leaf  draw.Hash
		Buyer uint64
	}
	// Prove asks for the proof that an entry is under the root. It is refused (NotFound) before the closing,
	// and for entries that came after it. The answer is a *Proof.
	Prove struct{ Leaf draw.Hash }
	// Get reads the room. The answer is a *Record.
	Get struct{}
)

// Command makes the types above commands (engine.Command).
func (Open) Command()  {}
func (End) Command()   {}
func (Pause) Command() {}
func (Join) Command()  {}
func (Bring) Command() {}
func (Look) Command()  {}
func (Admit) Command() {}
func (Use) Command()   {}
func (Drain) Command() {}
func (Steer) Command() {}
func (Prove) Command() {}
func (Get) Command()   {}

// These are the replies.
type (
	// Record describes a room.
	Record struct {
		Phase     string
		Paused    bool
		Draining  bool
		Settings  *Settings       // the room's settings; nil if the event never had a room
		Draw      uint32          // number of the draw
		Count     uint32          // how many entries there are
		Served    uint32          // the served place: places below it are admitted
		Statement *draw.Statement // nil before the closing
		Signature []byte          // the beacon's signature of the draw's round, once it is known
	}
	// Placed says where a visitor stands.
	Placed struct {
		Phase    string
		Draw     uint32
		Index    uint32 // number of the entry, from 0
		Place    int64  // place in the room's order, from 0; -1 as long as places are not known
		Served   uint32
		Admitted bool
		Until    int64 // unix milliseconds; end of the admission, 0 before it has begun
	}
	// Proof shows that an entry is under the root.
	Proof struct {
		Index  uint32
		Hashes []draw.Hash
	}
)

// These are details of refusals.
type (
	// NotNow says why a command comes at the wrong time: nobody can join (not_open, over, full), the person has an
	// entry (entered), the leaf is another person's (used), an admission does not hold (not_admitted, expired,
	// shared), or the phase that makes it impossible.
	NotNow struct {
		Reason string `json:"reason"`
	}
	// FrozenField names what can't change any more.
	FrozenField struct {
		Field string `json:"field"`
	}
)

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindQueue, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{Open{}, End{}, Pause{}, Join{}, Bring{}, Look{}, Admit{}, Prove{}, Get{}, Use{}, Drain{}, Steer{}},
		Replies:  []engine.Reply{&Record{}, &Placed{}, &Proof{}},
		Details:  []any{NotNow{}, FrozenField{}},
	},
}
