package api

import (
	"time"

	"boxoffice/edge/route"
)

// CreateAPIKey makes an API key of an organization.
type CreateAPIKey struct {
	OrgID       string              `path:"orgId" format:"id" maxLength:"128"`
	Name        string              `json:"name" required:"true" format:"name" minLength:"2" maxLength:"120" example:"Box office" description:"What people call the key."`
	Environment string              `json:"environment,omitzero" enum:"live,test" description:"A key works only on deployments of its environment; left out, it is this one's."`
	Scopes      route.Opt[[]string] `json:"scopes,omitzero" maxItems:"40" enum:"events:read,events:write,tickets:read,tickets:write,orders:read,orders:write,attendees:read,attendees:write,checkin:write,payouts:read,payouts:write,webhooks:manage,analytics:read" description:"What the key may do; left out or null it may do everything, with an empty list nothing."`
	IPAllowlist route.Opt[[]string] `json:"ipAllowlist,omitzero" maxItems:"40" maxLength:"64" example:"[\"192.0.2.7\",\"2001:db8::/32\"]" description:"Addresses or CIDR blocks that may use the key; left out or empty, any may."`
	ExpiresAt   *time.Time          `json:"expiresAt" description:"When the key ends, in the future; left out or null, never."`
}

// UpdateAPIKey changes those fields of an API key that are sent.
type UpdateAPIKey struct {
	OrgID       string               `path:"orgId" format:"id" maxLength:"128"`
	KeyID       string               `path:"keyId" format:"id" maxLength:"128"`
	Name        route.Opt[string]    `json:"name,omitzero" format:"name" minLength:"2" maxLength:"120" nullable:"false" description:"What people call the key."`
	Status      route.Opt[string]    `json:"status,omitzero" enum:"active,paused,revoked" nullable:"false" description:"paused refuses the key until it is active again; revoked is final."`
	Scopes      route.Opt[[]string]  `json:"scopes,omitzero" maxItems:"40" enum:"events:read,events:write,tickets:read,tickets:write,orders:read,orders:write,attendees:read,attendees:write,checkin:write,payouts:read,payouts:write,webhooks:manage,analytics:read" description:"What the key may do, instead of what it might; null is everything, an empty list nothing."`
	IPAllowlist route.Opt[[]string]  `json:"ipAllowlist,omitzero" maxItems:"40" maxLength:"64" description:"Addresses or CIDR blocks that may use the key, instead of those before; null or empty, any may."`
	ExpiresAt   route.Opt[time.Time] `json:"expiresAt,omitzero" description:"When the key ends, in the future; null, never."`
}

// ListAPIKeys asks for an organization's keys, the newest first.
type ListAPIKeys struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128"`
	Page
}

// ServerKeyID names one of an organization's keys.
type ServerKeyID struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128"`
	KeyID string `path:"keyId" format:"id" maxLength:"128"`
}

// LimitAPIKey sets how many requests of the strict tier one key may make, instead of the tier's own limit.
// Null restores the tier's limit. Only the platform may do this.
type LimitAPIKey struct {
	KeyID           string         `path:"keyId" format:"id" maxLength:"128"`
	StrictPerMinute route.Opt[int] `json:"strictPerMinute,omitzero" minimum:"1" maximum:"1000000" example:"600" description:"How many requests of the strict tier the key may make a minute; null for the tier's own limit."`
}

// ServerKey is an API key without its secret.
type ServerKey struct {
	ID              string              `json:"id" example:"12" description:"The key's number."`
	OrganizationID  string              `json:"organizationId" description:"The organization's number."`
	Name            string              `json:"name" description:"What people call the key."`
	Prefix          string              `json:"prefix" example:"vt_live_8kF2m9Qa" description:"The part of the key that is no secret, by which it is recognized."`
	Display         string              `json:"display" example:"vt_live_8kF2m9Qa…" description:"The key with its secret masked."`
	Environment     string              `json:"environment" enum:"live,test" description:"The kind of deployment on which the key works."`
	Scopes          route.Opt[[]string] `json:"scopes" description:"What the key may do; null is everything, an empty list nothing."`
	IPAllowlist     []string            `json:"ipAllowlist" description:"The addresses or CIDR blocks that may use the key; empty, any may."`
	Status          string              `json:"status" enum:"active,paused,revoked" description:"active works, paused does not for now, revoked never will again."`
	ExpiresAt       Time                `json:"expiresAt" description:"When the key ends; null, never."`
	LastUsedAt      Time                `json:"lastUsedAt" description:"When it was used last, some seconds late; null if it never was."`
	StrictPerMinute *int                `json:"strictPerMinute" description:"How many requests of the strict tier it may make a minute; null for the tier's own limit."`
	CreatedAt       time.Time           `json:"createdAt" description:"When it was made."`
	UpdatedAt       time.Time           `json:"updatedAt" description:"When it was changed last."`
}

// ServerKeySecret is an API key with its secret. Only the answers that make a key or rotate its secret have
// this type.
type ServerKeySecret struct {
	ServerKey
	Secret string `json:"secret" description:"The whole key, for the header Authorization: Bearer; no other answer shows it."`
}
