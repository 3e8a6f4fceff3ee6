package api

import (
	"time"

	"boxoffice/edge/route"
)

// SetQueue opens an event's waiting room, changes it, or ends it. A field that is left out does not change.
// In a new room it gets its default.
type SetQueue struct {
	ID             string               `path:"id" format:"id" maxLength:"128"`
	Enabled        bool                 `json:"enabled" required:"true" description:"True opens the room or changes it; false ends it, and everybody may order."`
	OpensAt        route.Opt[time.Time] `json:"opensAt,omitzero" nullable:"false" description:"When admission begins. Left out of a new room: when the first ticket type's sale starts, or now if one has."`
	RegistersFrom  route.Opt[time.Time] `json:"registersFrom,omitzero" nullable:"false" description:"When visitors may join, and from when on the rules of a draw stand. Left out: an hour before the opening, or now. A draw's list is closed 180 seconds before the opening."`
	Mode           string               `json:"mode,omitzero" enum:"draw,arrival" description:"How places are given: by a draw among all who came before the list was closed, or by arrival. Left out: a draw, if there is time for one."`
	PartyMax       int                  `json:"partyMax,omitzero" minimum:"1" maximum:"10" description:"How many people one entry may stand for, who are admitted together; 1 to 10, 1 if it is left out."`
	Proof          string               `json:"proof,omitzero" enum:"none,address,account" description:"What a visitor must have proven to join: nothing, an e-mail address, or an account. With a proof everybody has one entry, and orders as the same person."`
	AdmitPerMinute JSON                 `json:"admitPerMinute,omitzero" maxLength:"16" example:"600" description:"How many entries are admitted in a minute, 1 to 1000000, or auto: as many as the orders keep up with and the stock lasts for. Left out of a new room: auto."`
	HoldMinutes    int64                `json:"holdMinutes,omitzero" minimum:"1" maximum:"30" description:"For how many minutes an admission is valid, 1 to 30; 10 if it is left out."`
	Work           route.Opt[int]       `json:"work,omitzero" nullable:"false" minimum:"0" maximum:"22" example:"18" description:"How many bits of work joining costs the visitor's device, 0 to 22; 0 if it is left out of a new room. It is a price for those who join very often, and proves nothing; 20 are about a second."`
	VoidAfter      int64                `json:"voidAfterMinutes,omitzero" minimum:"1" maximum:"1440" description:"After so many minutes without the beacon's round the draw is given up, and places go by arrival; 60 if it is left out."`
}

// RoomByID names the event whose waiting room is paused, resumed or drained.
type RoomByID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// ReadQueue asks for an event's waiting room and, if Ticket names a visitor, for the visitor's place.
type ReadQueue struct {
	EventID string `path:"id" format:"id" maxLength:"128"`
	Ticket  string `query:"ticket" maxLength:"200" description:"The visitor's secret token, if it is not sent as Authorization: Queue; the answer then says where the visitor stands."`
}

// WatchQueue opens the stream of changes of an event's waiting room.
type WatchQueue struct {
	EventID string `path:"id" format:"id" maxLength:"128"`
}

// JoinQueue makes an entry in a waiting room for a visitor, or for a party. If the room asks for a proven
// address and the visitor's is not proven, JoinQueue only mails a link to it (ConfirmQueue).
type JoinQueue struct {
	EventID string `path:"id" format:"id" maxLength:"128"`
	Party   int    `json:"party,omitzero" minimum:"1" maximum:"10" default:"1" example:"2" description:"How many people the entry stands for, up to the room's partyMax. It can't change later, because the draw's list has it."`
	Email   string `json:"email,omitzero" format:"email" maxLength:"254" example:"ada@example.org" description:"Where the link to the place is mailed to. A room that asks for an address needs it of visitors who are not signed in, and their entry counts from the use of that link."`
	Work    string `json:"work,omitzero" maxLength:"40" example:"29700000.00000000000a3f21" description:"The proof of work of a room that asks for it (work of GET), as docs/waiting-room.md describes it: bound to event, draw, party and email, and at most ten minutes old. Sent again it is the same entry."`
}

// ConfirmQueue makes the entry of a visitor who has opened the link in the mail that JoinQueue asked for.
type ConfirmQueue struct {
	EventID string `path:"id" format:"id" maxLength:"128"`
	Token   string `json:"token" required:"true" minLength:"1" maxLength:"600" description:"The token of the link in the mail."`
	Party   int    `json:"party,omitzero" minimum:"1" maximum:"10" example:"2" description:"How many people the entry stands for; as many as were asked for if left out."`
}

// JoinedQueue is the answer to JoinQueue and ConfirmQueue: the entry, with the secret token by which the
// visitor finds it again. If Pending is true, there is no entry before a mailed link is used, and all other
// fields are null.
type JoinedQueue struct {
	Pending bool        `json:"pending" description:"True if the entry counts only once its visitor has used the link that is mailed; everything else is null then."`
	Receipt *string     `json:"receipt" description:"The signed promise that the entry is on the list, as docs/waiting-room.md describes it. Whoever has it can check the draw, and nothing else."`
	Token   *string     `json:"token" description:"The visitor's secret, from which the place is read and the admission taken. It is the same on every device that has it."`
	Place   *int64      `json:"place" description:"The place from 1; null before the draw."`
	Queue   *QueuePlace `json:"queue" description:"The same as GET answers to this token."`
}

// ProveQueue asks for the hashes that prove that an entry is in the draw's list (DrawProof). Leaf is the
// entry's hash.
type ProveQueue struct {
	EventID string `path:"id" format:"id" maxLength:"128"`
	Leaf    string `query:"leaf" required:"true" minLength:"64" maxLength:"64" example:"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" description:"The leaf, in 64 hexadecimal digits, as the receipt has it."`
}

// BringBeacon gives the service the signature of the beacon's round that decides a draw. Anybody may send it,
// so the draw can go on even if the service can't reach the beacon.
type BringBeacon struct {
	EventID   string `path:"id" format:"id" maxLength:"128"`
	Round     int64  `json:"round" required:"true" minimum:"1" maximum:"9007199254740991" description:"The number of the round, which must be that of the rules."`
	Signature string `json:"signature" required:"true" minLength:"96" maxLength:"96" example:"abababababababababababababababababababababababababababababababababababababababababababababababab" description:"The beacon's signature of the round, in 96 hexadecimal digits. It decides, whoever brings it."`
}

// Queue is an event's waiting room. Everybody sees the same, except that You is the place of the visitor who
// asks.
type Queue struct {
	EventID        string       `json:"eventId" description:"The UUID of the event."`
	State          string       `json:"state" description:"none: no room, orders need no admission; announced: nobody can join yet; registering; closed: the list stands and the beacon's round is awaited; drawn: places are known and admission has not begun; open."`
	Paused         bool         `json:"paused" description:"True while nobody is admitted by the organizer's wish."`
	Draining       bool         `json:"draining" description:"True once nobody can join any more; the room ends when all in line are admitted."`
	AdmitPerMinute *int64       `json:"admitPerMinute" description:"How many entries are admitted in a minute now; null without a room."`
	Auto           bool         `json:"auto" description:"True if that rate is steered by load and stock."`
	HoldMinutes    int64        `json:"holdMinutes" description:"For how many minutes an admission is valid; 0 without a room."`
	Work           int          `json:"work" description:"How many bits of work joining takes; 0 for none."`
	Rules          *DrawRules   `json:"rules" description:"What governs the places, as docs/waiting-room.md describes it; times in unix milliseconds. Null without a room."`
	RulesDigest    *string      `json:"rulesDigest" description:"The SHA-256 of the rules as canonical JSON; null without a room."`
	TestBeacon     bool         `json:"testBeacon" description:"True if the operator may know the beacon's rounds beforehand, as on machines for trying out: such a draw proves nothing."`
	OpensAt        Time         `json:"opensAt" description:"When admission begins; null without a room."`
	RegistersFrom  Time         `json:"registersFrom" description:"From when on visitors may join; null without a room."`
	ClosesAt       Time         `json:"closesAt" description:"When the list of the draw is closed; who joins later stands behind it. Null without a room."`
	Draw           int64        `json:"draw" description:"The number of the draw, which counts the event's rooms from 1; 0 before the first."`
	Count          int64        `json:"count" description:"How many entries there are."`
	Drawn          *int64       `json:"drawn" description:"How many of them are in the draw; null before the list was closed."`
	Root           *string      `json:"root" description:"The root over all entries of the draw, in hexadecimal digits; null before the list was closed."`
	Served         int64        `json:"served" description:"Places up to this one are admitted; it never falls."`
	OnSale         []QueueStock `json:"onSale" description:"What can still be bought, by currency; empty if nothing is left."`
	You            *QueuePlace  `json:"you" description:"Where the visitor stands whose token came with the request; null without one."`
}

// QueueStock says which prices can still be bought in one currency.
type QueueStock struct {
	Currency     string `json:"currency" description:"The currency in ISO 4217, e.g. USD."`
	PriceFrom    string `json:"priceFrom" description:"The price of the cheapest type that is left, as a decimal."`
	PriceTo      string `json:"priceTo" description:"The price of the dearest type that is left, as a decimal."`
	CheapestGone bool   `json:"cheapestGone" description:"True if a cheaper type is sold out."`
}

// QueuePlace says where a visitor's entry stands in a waiting room.
type QueuePlace struct {
	Place     *int64          `json:"place" description:"The place from 1; it never grows. Null before the draw."`
	Ahead     *int64          `json:"ahead" description:"How many entries are admitted before this one; null before the draw."`
	Estimate  *QueueEstimate  `json:"estimate" description:"When the turn comes, as far as one can say; null if nobody can."`
	Admission *QueueAdmission `json:"admission" description:"The admission, once the turn has come; null before. One that has run out is still shown, and does not order any more."`
	Index     int64           `json:"index" description:"The number of the entry in the list, from 0, by which the draw can be checked."`
	Party     int             `json:"party" description:"How many people the entry stands for."`
	Leaf      string          `json:"leaf" description:"The entry's leaf, in hexadecimal digits, for the proof."`
	Draw      int64           `json:"draw" description:"The number of the draw that the entry is in."`
}

// QueueEstimate is the span of time in which a visitor will probably be admitted.
type QueueEstimate struct {
	From Time `json:"from" description:"Not before this moment, as it looks now."`
	To   Time `json:"to" description:"Not after this moment, as it looks now."`
}

// QueueAdmission has the token with which an admitted visitor may place orders and hold seats, until it
// expires.
type QueueAdmission struct {
	Token     string `json:"token" description:"What POST /orders and seat holds take as X-Queue-Admission or as admission. The first buyer who orders by it is the only one."`
	ExpiresAt Time   `json:"expiresAt" description:"Until when it may be used to order; what was ordered by it may be paid for later."`
}

// DrawRules are the rules of a draw. Their canonical JSON is hashed (Queue.RulesDigest), so this type has
// exactly the rules and nothing else.
type DrawRules struct {
	BeaconChain      string `json:"beaconChain" description:"The beacon's chain, by its hash in hexadecimal digits."`
	BeaconRound      int64  `json:"beaconRound" description:"The round that decides: the first that is signed 120 seconds after the closing or later."`
	ClosesAt         int64  `json:"closesAt" description:"When the list is closed, in unix milliseconds."`
	Mode             string `json:"mode" description:"How places are given: draw or arrival."`
	OpensAt          int64  `json:"opensAt" description:"When admission begins, in unix milliseconds."`
	PartyMax         int    `json:"partyMax" description:"How many people an entry may stand for."`
	Proof            string `json:"proof" description:"What a visitor must have proven: none, address or account."`
	RegistersFrom    int64  `json:"registersFrom" description:"From when on visitors may join, in unix milliseconds."`
	VoidAfterMinutes int64  `json:"voidAfterMinutes" description:"After so many minutes without the round, places go by arrival."`
}

// DrawCounts says how many entries proved an account, an address, or nothing.
type DrawCounts struct {
	Account int64 `json:"account" description:"Entries of accounts."`
	Address int64 `json:"address" description:"Entries of proven addresses."`
	None    int64 `json:"none" description:"Entries for which nothing was proven."`
}

// DrawStatement is what the operator signs and publishes about the list of entries when the list is closed.
type DrawStatement struct {
	Event      string     `json:"event" description:"The UUID of the event."`
	Draw       int64      `json:"draw" description:"The number of the draw, from 1."`
	Rules      DrawRules  `json:"rules" description:"What governs it."`
	Count      int64      `json:"count" description:"How many entries there are."`
	ByClass    DrawCounts `json:"byClass" description:"The same by what was proven."`
	Root       string     `json:"root" description:"The Merkle root over all entries (RFC 6962), in hexadecimal digits."`
	TestBeacon bool       `json:"testBeacon" description:"True if the operator may know the rounds beforehand: such a draw proves nothing."`
}

// DrawDocument is the public document of a draw. With it, a receipt and the receipt's DrawProof, anybody can
// verify a place.
type DrawDocument struct {
	Statement DrawStatement `json:"statement" description:"What was published when the list was closed."`
	Signer    string        `json:"signer" description:"The operator's Ed25519 key, in hexadecimal digits."`
	Signature string        `json:"signature" description:"Its signature of the statement, in hexadecimal digits."`
	Beacon    *string       `json:"beacon" description:"The beacon's signature of the round, in hexadecimal digits; null before it is known."`
	Witness   *string       `json:"witness" description:"What an outside witness has signed before the round: an RFC 3161 token (DER, base64) over the SHA-256 of what the signature is of; null where none is configured, or none has answered in time."`
}

// DrawProof has the hashes that lead from an entry to the root of the draw's list. They prove that the entry
// is in the list.
type DrawProof struct {
	Index int64    `json:"index" description:"The number of the entry, from 0."`
	Proof []string `json:"proof" description:"The hashes from the leaf's sibling up to the root (RFC 9162), in hexadecimal digits."`
}
