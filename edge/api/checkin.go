package api

import "cmp"

// ScanTicket is one scan at a gate.
type ScanTicket struct {
	QRData   string   `json:"qrData" required:"true" minLength:"6" maxLength:"200" example:"K7M2QX" description:"QR payload or door code"`
	EventID  string   `json:"eventId" required:"true" maxLength:"40" example:"1024"`
	GateName string   `json:"gateName,omitzero" maxLength:"100" example:"North"`
	DeviceID string   `json:"deviceId,omitzero" maxLength:"100" example:"scanner-7"`
	Method   string   `json:"method,omitzero" enum:"qr_scan,barcode,manual,nfc" default:"qr_scan"`
	GeoLat   *float64 `json:"geoLat,omitzero" minimum:"-90" maximum:"90"`
	GeoLng   *float64 `json:"geoLng,omitzero" minimum:"-180" maximum:"180"`
}

// LimitDevice is the device whose scans are counted, or else its gate.
func (s *ScanTicket) LimitDevice() string { return cmp.Or(s.DeviceID, s.GateName) }

// ScanResult is the verdict on a scan.
type ScanResult struct {
	Status       string  `json:"status" enum:"success,denied_duplicate,denied_cancelled,denied_expired,denied_wrong_event"`
	DeniedReason *string `json:"deniedReason"`
	TicketCode   *string `json:"ticketCode"`
	HolderName   *string `json:"holderName"`
	IDCheck      bool    `json:"idCheck"`
	CheckedInAt  Time    `json:"checkedInAt"`
	FirstGate    *string `json:"firstGate" description:"of a duplicate's first admission"`
}

// GateStats are the counters of an event's gates.
type GateStats struct {
	EventID         string      `json:"eventId"`
	TicketsIssued   int64       `json:"ticketsIssued"`
	CheckedIn       int64       `json:"checkedIn"`
	Scanned         int64       `json:"scanned"`
	Denied          int64       `json:"denied"`
	Remaining       int64       `json:"remaining"`
	CapacityPercent float64     `json:"capacityPercent" description:"admitted, of the capacity or else of the tickets issued"`
	EntryRate       int64       `json:"entryRatePerMinute" description:"admitted in the last full minute"`
	Gates           []GateCount `json:"gates"`
}

// GateCount are the counters of one gate.
type GateCount struct {
	Gate     string `json:"gate"`
	Scanned  int64  `json:"scanned"`
	Admitted int64  `json:"admitted"`
	Denied   int64  `json:"denied"`
}
