package api

import (
	"time"

	"boxoffice/edge/route"
)

// CreateAPIKey makes an API key of an organization.
type CreateAPIKey struct {
	OrgID       string              `path:"orgId" format:"id" maxLength:"128"`
	Name        string              `json:"name" required:"true" minLength:"2" maxLength:"120" example:"Box office"`
	Environment string              `json:"environment,omitzero" enum:"live,test" description:"a key works only on deployments of its environment; left out: this one's"`
	Scopes      route.Opt[[]string] `json:"scopes,omitzero" maxItems:"40" enum:"events:read,events:write,tickets:read,tickets:write,orders:read,orders:write,attendees:read,attendees:write,checkin:write,payouts:read,payouts:write,webhooks:manage,analytics:read" description:"absent or null: all; empty: none"`
	IPAllowlist route.Opt[[]string] `json:"ipAllowlist,omitzero" maxItems:"40" maxLength:"64" example:"[\"192.0.2.7\",\"2001:db8::/32\"]" description:"addresses or CIDR blocks that may use the key; absent or empty: any"`
	ExpiresAt   *time.Time          `json:"expiresAt" description:"in the future; absent or null: never"`
}

// UpdateAPIKey changes the fields that are sent.
type UpdateAPIKey struct {
	OrgID       string               `path:"orgId" format:"id" maxLength:"128"`
	KeyID       string               `path:"keyId" format:"id" maxLength:"128"`
	Name        route.Opt[string]    `json:"name,omitzero" minLength:"2" maxLength:"120" nullable:"false"`
	Status      route.Opt[string]    `json:"status,omitzero" enum:"active,paused,revoked" nullable:"false" description:"revoked is final"`
	Scopes      route.Opt[[]string]  `json:"scopes,omitzero" maxItems:"40" enum:"events:read,events:write,tickets:read,tickets:write,orders:read,orders:write,attendees:read,attendees:write,checkin:write,payouts:read,payouts:write,webhooks:manage,analytics:read" description:"replaces them; null: all; empty: none"`
	IPAllowlist route.Opt[[]string]  `json:"ipAllowlist,omitzero" maxItems:"40" maxLength:"64" description:"replaces it; null or empty: any address"`
	ExpiresAt   route.Opt[time.Time] `json:"expiresAt,omitzero" description:"in the future; null: never"`
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

// LimitAPIKey sets a key's own ceiling.
type LimitAPIKey struct {
	KeyID           string         `path:"keyId" format:"id" maxLength:"128"`
	StrictPerMinute route.Opt[int] `json:"strictPerMinute,omitzero" minimum:"1" maximum:"1000000" example:"600" description:"strict writes a minute; null: the tier's limit"`
}

// ServerKey is an API key without its secret.
type ServerKey struct {
	ID              string              `json:"id" description:"numeric"`
	OrganizationID  string              `json:"organizationId" description:"numeric"`
	Name            string              `json:"name"`
	Prefix          string              `json:"prefix" description:"the part that is no secret"`
	Display         string              `json:"display" description:"the key with its secret masked"`
	Environment     string              `json:"environment" enum:"live,test"`
	Scopes          route.Opt[[]string] `json:"scopes" description:"null: all"`
	IPAllowlist     []string            `json:"ipAllowlist" description:"empty: any address"`
	Status          string              `json:"status" enum:"active,paused,revoked"`
	ExpiresAt       Time                `json:"expiresAt"`
	LastUsedAt      Time                `json:"lastUsedAt" description:"some seconds late"`
	StrictPerMinute *int                `json:"strictPerMinute" description:"strict writes a minute; null: the tier's limit"`
	CreatedAt       time.Time           `json:"createdAt"`
	UpdatedAt       time.Time           `json:"updatedAt"`
}

// ServerKeySecret is a key at the one moment at which its secret is shown.
type ServerKeySecret struct {
	ServerKey
	Secret string `json:"secret" description:"the whole key; it cannot be shown again"`
}
