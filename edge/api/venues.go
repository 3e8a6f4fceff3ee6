package api

import "boxoffice/edge/venuemap"

// ListVenues asks for the maps that an organization may seat its events by.
type ListVenues struct {
	OrgID  string `query:"orgId" maxLength:"40"`
	Search string `query:"search" maxLength:"200" description:"what the name contains"`
	Status string `query:"status" enum:"published,draft,all" default:"published" description:"published in some version, not yet, or either"`
	Page
}

// CreateVenue makes a map: the members of the document, at the top of the body.
type CreateVenue struct {
	QueryOrg string `query:"orgId" maxLength:"40"`
	OrgID    string `json:"orgId" maxLength:"40"`
	venuemap.Document
}

// UpdateVenue replaces a map's draft.
type UpdateVenue struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	venuemap.Document
}

// GetVenue asks for a map with its document.
type GetVenue struct {
	ID      string `path:"id" format:"id" maxLength:"128"`
	Version int32  `query:"version" minimum:"1" maximum:"2147483647" description:"whose document; absent: the draft's"`
}

// Venue is a map without its document.
type Venue struct {
	ID             string         `json:"id" format:"uuid"`
	OrganizationID *string        `json:"organizationId" description:"null: shared with everybody, and nobody's to change"`
	Name           string         `json:"name"`
	Seats          int            `json:"seats" description:"of the draft"`
	Versions       []VenueVersion `json:"versions" description:"published ones, the newest first"`
	CreatedAt      Time           `json:"createdAt"`
	UpdatedAt      Time           `json:"updatedAt" description:"of the draft"`
}

// VenueVersion is a published version of a map.
type VenueVersion struct {
	Version     int32 `json:"version" description:"1, 2, 3... in the map"`
	Seats       int   `json:"seats"`
	PublishedAt Time  `json:"publishedAt"`
}

// VenueMap is a map with its document.
type VenueMap struct {
	Venue
	Version  *int32             `json:"version" description:"whose document it is; null: the draft's"`
	Document *venuemap.Document `json:"document"`
}
