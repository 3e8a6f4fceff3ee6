package api

import "boxoffice/edge/venuemap"

// ListVenues asks for the venue maps that an organization may give to its events: its own and those that all
// may use.
type ListVenues struct {
	OrgID  string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Search string `query:"search" maxLength:"200" description:"A part of the map's name, in either case."`
	Status string `query:"status" enum:"published,draft,all" default:"published" description:"Maps that were published in some version, those that were not yet, or all."`
	Page
}

// CreateVenue makes a venue map, which is a draft at first. The body has the members of the map's document
// directly at its top.
type CreateVenue struct {
	QueryOrg string `query:"orgId" maxLength:"40" description:"The number of the organization that gets the map, if the caller acts for several. It may stand in the body instead."`
	OrgID    string `json:"orgId" maxLength:"40" description:"The number of the organization that gets the map, if the caller acts for several."`
	venuemap.Document
}

// UpdateVenue replaces the draft of a venue map. Published versions stay as they are.
type UpdateVenue struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	venuemap.Document
}

// GetVenue asks for a venue map with the document of its draft or of a published version.
type GetVenue struct {
	ID      string `path:"id" format:"id" maxLength:"128"`
	Version int32  `query:"version" minimum:"1" maximum:"2147483647" description:"The published version whose document is answered; the draft's without it."`
}

// Venue is a venue map without its document.
type Venue struct {
	ID             string         `json:"id" format:"uuid" description:"The map's UUID: what an event's seating names as its venueMapId."`
	OrganizationID *string        `json:"organizationId" description:"The number of the organization that has it; null of a map that all may use and nobody may change."`
	Name           string         `json:"name" description:"The map's name, as the draft has it."`
	Seats          int            `json:"seats" description:"How many seats the draft has."`
	Versions       []VenueVersion `json:"versions" description:"The published versions, the newest first; empty while there is none. There are at most 50."`
	CreatedAt      Time           `json:"createdAt" description:"When the map was made."`
	UpdatedAt      Time           `json:"updatedAt" description:"When the draft changed last."`
}

// VenueVersion is a published version of a venue map, without its document.
type VenueVersion struct {
	Version     int32 `json:"version" description:"The version's number within its map, from 1."`
	Seats       int   `json:"seats" description:"How many seats it has."`
	PublishedAt Time  `json:"publishedAt" description:"When it was published."`
}

// VenueMap is a venue map with the document of its draft or of one version.
type VenueMap struct {
	Venue
	Version  *int32             `json:"version" description:"The version whose document this is; null if it is the draft's."`
	Document *venuemap.Document `json:"document" description:"What the author wrote, whole. Send it back, changed, to replace the draft."`
}
