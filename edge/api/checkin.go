package api

import (
	"cmp"
	"time"
)

// ScanTicket is one scan at a gate that has a network. It is decided at once.
type ScanTicket struct {
	QRData    string   `json:"qrData" required:"true" format:"raw" minLength:"1" example:"K7M2QX" description:"What the scanner read: a QR payload, rotating (v2) or printed (p2), or a door code of six characters. Any other text, of any length and with any characters, is denied."`
	EventID   string   `json:"eventId" required:"true" maxLength:"40" example:"1024" description:"The UUID or the number of the event that the gate admits to."`
	GateName  string   `json:"gateName,omitzero" format:"name" maxLength:"100" example:"North" description:"The gate as its people call it; counters are kept by this name, whatever its case and blanks."`
	DeviceID  string   `json:"deviceId,omitzero" maxLength:"100" example:"scanner-7" description:"A name that the device keeps: a repeat of it within two seconds is the same scan, and its wrong door codes are counted."`
	Method    string   `json:"method,omitzero" enum:"qr_scan,barcode,manual,nfc" default:"qr_scan" description:"How the code was read, for the record; it changes no verdict."`
	Direction string   `json:"direction,omitzero" enum:"in,out" description:"in, or left out: the holder comes in; out: the holder leaves. Where the event's exits are off such a scan is denied."`
	GeoLat    *float64 `json:"geoLat,omitzero" minimum:"-90" maximum:"90" description:"Latitude in degrees. It is checked and not kept."`
	GeoLng    *float64 `json:"geoLng,omitzero" minimum:"-180" maximum:"180" description:"Longitude in degrees. It is checked and not kept."`
}

// NamedEvent returns the id of the event that the scan is for. The key of a gate may only name events that it
// is bound to (route.EventNamed).
func (s *ScanTicket) NamedEvent() string { return s.EventID }

// ManualCheckIn checks in a ticket whose code somebody at a gate has typed.
type ManualCheckIn struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	TicketCode string `json:"ticketCode" required:"true" format:"raw" minLength:"1" example:"K7M2QX" description:"The ticket's full code or its door code."`
	GateName   string `json:"gateName,omitzero" format:"name" maxLength:"100" example:"Desk" description:"The gate as its people call it; counters are kept by this name, whatever its case and blanks."`
	DeviceID   string `json:"deviceId,omitzero" maxLength:"100" example:"desk-1" description:"A name that the device keeps; its wrong door codes are counted."`
	Direction  string `json:"direction,omitzero" enum:"in,out" description:"in, or left out: the holder comes in; out: the holder leaves. Where the event's exits are off such a scan is denied."`
}

// LimitDevice returns the name of the device, or of the gate if the device has no name. The rate limits of
// scans and of wrong door codes count by this name.
func (m *ManualCheckIn) LimitDevice() string { return cmp.Or(m.DeviceID, m.GateName) }

// ScanBatch sends scans that devices decided and kept while they had no network. All are for one event.
type ScanBatch struct {
	EventID string       `json:"eventId" required:"true" maxLength:"40" example:"1024" description:"The UUID or the number of the event that the scans were for."`
	Scans   []QueuedScan `json:"scans" required:"true" minItems:"1" maxItems:"500" description:"The scans that admitted somebody while the device was offline, 500 at a time."`
}

// NamedEvent returns the id of the event that the scans are for. The key of a gate may only name events that
// it is bound to (route.EventNamed).
func (b *ScanBatch) NamedEvent() string { return b.EventID }

// LimitDevice returns the device of the first scan, or its gate. The rate limit counts the whole batch by
// this name.
func (b *ScanBatch) LimitDevice() string { return b.Scans[0].LimitDevice() }

// QueuedScan is a scan that a device has kept. It has exactly one of QRData, TicketCode and ShortCode.
type QueuedScan struct {
	QRData     string    `json:"qrData,omitzero" format:"raw" minLength:"1" description:"The QR payload, or door code, that was scanned; one of the three codes is given. Whatever other text it is, it has a verdict."`
	TicketCode string    `json:"ticketCode,omitzero" format:"raw" minLength:"1" description:"The full code, or door code, that was typed."`
	ShortCode  string    `json:"shortCode,omitzero" format:"raw" minLength:"1" example:"K7M2QX" description:"The door code that was typed; one that a device read is qrData."`
	ScannedAt  time.Time `json:"scannedAt" required:"true" description:"When the device let the person in, by its clock as corrected by the Date header. One more than five minutes ahead counts as five minutes ahead."`
	GateName   string    `json:"gateName,omitzero" format:"name" maxLength:"100" example:"North" description:"The gate at which it was scanned."`
	DeviceID   string    `json:"deviceId,omitzero" maxLength:"100" example:"scanner-7" description:"The name of the device that scanned it. With scannedAt and the code it tells repeats."`
	Direction  string    `json:"direction,omitzero" enum:"in,out" description:"in, or left out: the holder comes in; out: the holder leaves. Where the event's exits are off such a scan is denied."`
}

// LimitDevice returns the name of the device, or of the gate if the device has no name. Wrong door codes are
// counted by this name, and it is a part of what identifies a scan that is sent again.
func (q *QueuedScan) LimitDevice() string { return cmp.Or(q.DeviceID, q.GateName) }

// BatchVerdicts are the verdicts on the scans of a batch, in the order of the scans.
type BatchVerdicts struct {
	Results []BatchVerdict `json:"results" description:"One verdict for each scan that was sent, in the same order."`
}

// BatchVerdict is the verdict on one scan of a batch. The device has decided already, so the verdict only says
// whether that was right.
type BatchVerdict struct {
	Index            int     `json:"index" description:"The place of the scan in the request, from 0."`
	Status           string  `json:"status" enum:"success,denied_duplicate,denied_cancelled,denied_expired,denied_wrong_event,denied_not_inside" description:"success is an admission or an exit; anything else says that the person was let in wrongly, and why; denied_not_inside, that somebody went out who had not come in."`
	DeniedReason     *string `json:"deniedReason" description:"More about a denial, for people, or ROTATING_ONLY, NOT_YET or OVER; null where the status says all."`
	TicketCode       *string `json:"ticketCode" description:"The full code of the admitted ticket, by which the admission can be taken back; null when it is denied."`
	HolderName       *string `json:"holderName" description:"Whose ticket it is, of an admission and of a duplicate, if a name is known."`
	FirstCheckedInAt Time    `json:"firstCheckedInAt" description:"When the ticket was admitted first or, where exits are counted, came in last; null if it never was."`
	FirstGate        *string `json:"firstGate" description:"The gate that admitted the ticket first or, where exits are counted, saw it go through; null if it has no name."`
	LeftAt           Time    `json:"leftAt,omitzero" description:"Of an exit, when the holder went out: now, or before if they are not inside. Absent for all else."`
}

// GetManifest asks for the manifest of an event or, with Since, only for the tickets that have changed since
// then.
type GetManifest struct {
	ID       string `path:"id" format:"id" maxLength:"128"`
	Since    string `query:"since" maxLength:"64" description:"A time, or the cursor of the last manifest: only tickets that changed since are answered."`
	DeviceID string `query:"deviceId" maxLength:"100" description:"The name of the device that asks; its requests are counted apart from those of other devices."`
}

// LimitDevice returns the name of the device, by which the rate limit counts the request. All devices of one
// key that send no name share one count.
func (g *GetManifest) LimitDevice() string { return g.DeviceID }

// Manifest is what a device needs to decide scans while it has no network: all tickets of an event, or those
// that changed.
type Manifest struct {
	EventID          string           `json:"eventId" description:"The UUID of the event."`
	GeneratedAt      time.Time        `json:"generatedAt" description:"When the last of these changes was seen."`
	Cursor           string           `json:"cursor" description:"The next request's since: it then gets what has changed after this answer."`
	Full             bool             `json:"full" description:"True if these are all tickets: the device forgets those that are not among them. False if these are changes."`
	Salt             string           `json:"salt" description:"What is hashed before a code, as the text that it is."`
	OfflineDoorCodes bool             `json:"offlineDoorCodes" description:"True if tickets have k, so that door codes can be decided offline."`
	RotatingOnly     bool             `json:"rotatingOnly" description:"True if printed codes (p1) are denied."`
	Exits            bool             `json:"exits,omitzero" description:"True if gates let holders out, and in again; absent if not."`
	Tickets          []ManifestTicket `json:"tickets" description:"The tickets, one entry for each holder that a ticket has had."`
}

// ManifestTicket is a ticket for one of the holders that it has had. It has hashes in place of the codes, so
// that nobody can read a code that admits from a device (docs/gates.md).
type ManifestTicket struct {
	Hash      string `json:"h" description:"The code: base64url of the first 16 bytes of SHA-256(salt|code)."`
	Status    string `json:"s" enum:"i,c,o,x,r,e" description:"What became of it: i issued, c checked in, o gone out, x cancelled or passed on, r refunded, e expired. Only i and o admit, and o is only where exits are counted."`
	Type      string `json:"t" description:"The UUID of its ticket type."`
	Version   int    `json:"v" description:"The holder's version, which each transfer raises."`
	ShortHash string `json:"k,omitempty" description:"The door code: base64url of the first 6 bytes of SHA-256(salt|door code), only with offlineDoorCodes."`
	From      int64  `json:"a,omitzero" description:"Of a booked ticket, unix seconds before which it does not admit."`
	Before    int64  `json:"b,omitzero" description:"Of a booked ticket, unix seconds from which on it no longer admits."`
}

// UndoCheckIn takes back the last passage of a ticket: its admission or, where exits are counted, maybe an
// exit or a return.
type UndoCheckIn struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	TicketCode string `json:"ticketCode" required:"true" format:"raw" minLength:"1" example:"K7M2QX" description:"The ticket's full code or its door code."`
}

// CheckInUndone is a ticket after its last passage was taken back.
type CheckInUndone struct {
	TicketCode string  `json:"ticketCode" description:"The full code of the ticket."`
	Status     string  `json:"status" enum:"issued,checked_in" description:"issued: the ticket admits again. checked_in: only its last exit, or return, was taken back."`
	HolderName *string `json:"holderName" description:"Whose ticket it is, if a name is known."`
}

// OneGate names a gate of an event.
type OneGate struct {
	ID   string `path:"id" format:"id" maxLength:"128"`
	Gate string `path:"gate" format:"name" maxLength:"100" example:"North" description:"The gate's name as devices send it, percent-encoded."`
}

// LimitDevice returns the name of the device, or of the gate if the device has no name. The rate limits of
// scans and of wrong door codes count by this name.
func (s *ScanTicket) LimitDevice() string { return cmp.Or(s.DeviceID, s.GateName) }

// ScanResult is the verdict on one scan, or on one code that was typed.
type ScanResult struct {
	Status       string  `json:"status" enum:"success,denied_duplicate,denied_cancelled,denied_expired,denied_wrong_event,denied_not_inside" description:"success lets the person in, once, or out; every other verdict denies. denied_not_inside is of an exit alone."`
	DeniedReason *string `json:"deniedReason" description:"More about a denial, for people, or ROTATING_ONLY, NOT_YET or OVER; null on success."`
	TicketCode   *string `json:"ticketCode" description:"The full code of the admitted ticket; null when it is denied."`
	HolderName   *string `json:"holderName" description:"Whose ticket was admitted, just now or before, if a name is known."`
	IDCheck      bool    `json:"idCheck" description:"True if the event asks its gates to look at the holder's papers."`
	CheckedInAt  Time    `json:"checkedInAt" description:"When the ticket was admitted: just now, or of a duplicate the first time or, where exits are counted, the last; else null."`
	FirstGate    *string `json:"firstGate" description:"Of a duplicate, the gate that admitted it then, and of an exit that is denied the gate of the last one; null if it has no name."`
	LeftAt       Time    `json:"leftAt,omitzero" description:"Of an exit, when the holder went out: just now, or before if they are not inside. Absent for all else."`
}

// GateStats are the counters of all gates of an event together, and of each gate.
type GateStats struct {
	EventID         string      `json:"eventId" description:"The UUID of the event."`
	TicketsIssued   int64       `json:"ticketsIssued" description:"Tickets that were ever issued, those that have ended since too."`
	CheckedIn       int64       `json:"checkedIn" description:"Tickets that were admitted, less those taken back."`
	Scanned         int64       `json:"scanned" description:"Codes that gates have shown, whatever came of them."`
	Denied          int64       `json:"denied" description:"Codes that were denied."`
	Remaining       int64       `json:"remaining" description:"Tickets that may yet be admitted: of those issued, neither admitted nor refunded or cancelled."`
	CapacityPercent float64     `json:"capacityPercent" description:"The admitted as a percentage of the event's capacity, or of the tickets issued where it has none."`
	EntryRate       int64       `json:"entryRatePerMinute" description:"Admissions in the last full minute of the clock."`
	Inside          *int64      `json:"inside,omitzero" description:"How many are inside now. Absent unless the event counts exits or has an insideLimit, as are the next four."`
	In              *int64      `json:"in,omitzero" description:"How often somebody came in, also again."`
	Out             *int64      `json:"out,omitzero" description:"How often somebody went out."`
	InsideLimit     *int64      `json:"insideLimit,omitzero" description:"How many may be inside, if the event says so."`
	InsideAlarm     *int64      `json:"insideAlarm,omitzero" minimum:"90" maximum:"100" description:"How full it is, in percent of insideLimit: 90, or 100 from the limit on. Absent below."`
	Gates           []GateCount `json:"gates" description:"The same by gate, those that have scanned something."`
}

// WatchGates opens the stream of an event's counters, which go on changing while the stream is open.
type WatchGates struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Token string `query:"token" maxLength:"100" description:"A live token, in place of an Authorization header. It opens one stream."`
}

// LiveToken has a token that opens the stream of WatchGates, once. Browsers need it, because they can't send
// an Authorization header when they open a stream.
type LiveToken struct {
	Token     string    `json:"token" description:"What the stream takes as its token, once."`
	ExpiresAt time.Time `json:"expiresAt" description:"Until then a stream may be opened with it; the stream itself goes on."`
}

// GateCount has the counters of one gate.
type GateCount struct {
	Gate     string `json:"gate" description:"The name of the gate as a device sent it first."`
	Scanned  int64  `json:"scanned" description:"Codes that were shown at this gate, whatever came of them."`
	Admitted int64  `json:"admitted" description:"Tickets that this gate has admitted, less those taken back."`
	Denied   int64  `json:"denied" description:"Codes that this gate has denied."`
	In       *int64 `json:"in,omitzero" description:"How often somebody came in here, also again; absent where nobody counts who is inside."`
	Out      *int64 `json:"out,omitzero" description:"How often somebody went out here; absent where nobody counts who is inside."`
}
