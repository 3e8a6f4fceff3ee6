package api

import "time"

// CreateGateEnrolment makes an enrolment: a code which a device can exchange once for an API key of a gate.
type CreateGateEnrolment struct {
	OrgID     string     `path:"orgId" format:"id" maxLength:"128"`
	Events    []string   `json:"events" required:"true" minItems:"1" maxItems:"20" maxLength:"40" example:"[\"1024\"]" description:"The UUIDs or the numbers of the events that the device checks in to, all of the organization."`
	GateName  string     `json:"gateName" required:"true" format:"name" minLength:"1" maxLength:"100" example:"North" description:"The gate as its people call it; what the device scans is counted for it."`
	Guests    bool       `json:"guests,omitzero" description:"Whether the device may search the guests of these events by name."`
	ExpiresAt *time.Time `json:"expiresAt" description:"When the device's key ends, in the future; left out or null, 30 days from now."`
}

// GateEnrolmentID names one of an organization's enrolments of gates.
type GateEnrolmentID struct {
	OrgID       string `path:"orgId" format:"id" maxLength:"128"`
	EnrolmentID string `path:"enrolmentId" format:"id" maxLength:"128"`
}

// GateEnrolment is an enrolment without its code. It shows whether a device has used the code.
type GateEnrolment struct {
	ID        string    `json:"id" example:"7" description:"The enrolment's number."`
	Status    string    `json:"status" enum:"open,used,over" description:"open: the code can be exchanged; used: it was exchanged for a key; over: nobody exchanged it in time."`
	GateName  string    `json:"gateName" description:"The gate as its people call it."`
	ExpiresAt time.Time `json:"expiresAt" description:"When the code ends."`
	KeyID     *string   `json:"keyId" example:"12" description:"The number of the key that the device got; null until the code is used."`
}

// GateEnrolmentCode is an enrolment with its code. Only the answer that makes the enrolment has this type.
type GateEnrolmentCode struct {
	GateEnrolment
	Code string `json:"code" description:"The code, for POST /gates/enrol; no other answer shows it."`
}

// EnrolGate exchanges the code of an enrolment for a key. The device at the gate sends it, without
// credentials.
type EnrolGate struct {
	Code string `json:"code" required:"true" maxLength:"100" description:"The code that the organizer's desk shows. It is good once, within ten minutes."`
}

// GateEvent is one of the events to which a gate admits.
type GateEvent struct {
	ID        string `json:"id" description:"The event's UUID."`
	NumericID string `json:"numericId" example:"1024" description:"The event's number."`
	Title     string `json:"title" description:"What the event is called; empty if it was deleted."`
}

// GateKey is the answer to EnrolGate: the device's API key, and what the device may do with it.
type GateKey struct {
	Key       string      `json:"key" description:"The device's key, for the header Authorization: Bearer; no other answer shows it. It may scan at the events of the gate, and is refused by everything else."`
	GateName  string      `json:"gateName" description:"The gate that the device is; what it scans is counted for it."`
	Guests    bool        `json:"guests" description:"Whether the device may search the guests of its events."`
	Events    []GateEvent `json:"events" description:"The events that the device checks in to."`
	ExpiresAt Time        `json:"expiresAt" description:"When the key ends."`
}

// ListGates asks for the gates of an organization, the newest first.
type ListGates struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128"`
	Page
}

// EnrolledGate is a device that has used the code of an enrolment, with the state of its key.
type EnrolledGate struct {
	KeyID      string      `json:"keyId" example:"12" description:"The number of the device's API key: revoking the key ends the gate."`
	GateName   string      `json:"gateName" description:"The gate as its people call it."`
	Status     string      `json:"status" enum:"active,paused,revoked" description:"That of the device's key."`
	Guests     bool        `json:"guests" description:"Whether the device may search the guests of its events."`
	Events     []GateEvent `json:"events" description:"The events that the device checks in to."`
	EnrolledAt time.Time   `json:"enrolledAt" description:"When the device used its code."`
	LastUsedAt Time        `json:"lastUsedAt" description:"When the device asked for something last, some seconds late; null if it never did."`
	ExpiresAt  Time        `json:"expiresAt" description:"When the device's key ends."`
}
