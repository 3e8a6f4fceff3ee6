package api

import (
	"time"

	"boxoffice/edge/route"
)

// SessionFields are the optional fields of a session of an event's schedule, which CreateSession and
// UpdateSession share.
type SessionFields struct {
	DayNumber      route.Opt[int]    `json:"dayNumber,omitzero" minimum:"1" maximum:"99" nullable:"false" example:"1" description:"The day of the event on which it is, from 1 to 99; 1 by default. The schedule is sorted by it first."`
	SessionDesc    route.Opt[string] `json:"sessionDesc,omitzero" maxLength:"5000" description:"What the session is about; null or an empty text removes it."`
	SpeakerName    route.Opt[string] `json:"speakerName,omitzero" format:"name" maxLength:"200" example:"Adaeze Obi" description:"Who speaks or plays; null or an empty text removes it."`
	SpeakerBio     route.Opt[string] `json:"speakerBio,omitzero" maxLength:"2000" description:"A few words about the speaker; null or an empty text removes them."`
	SpeakerAvatar  route.Opt[string] `json:"speakerAvatar,omitzero" format:"hosted" maxLength:"2048" description:"The speaker's picture: an http(s) address, or /media/<id> of an image of the organization's."`
	LocationDetail route.Opt[string] `json:"locationDetail,omitzero" maxLength:"200" example:"Main stage" description:"Where in the venue it takes place; null or an empty text removes it."`
	SortOrder      route.Opt[int]    `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000" nullable:"false" description:"The place among the sessions of its day, the lowest first; 0 by default. Equals are sorted by start."`
}

// CreateSession adds a session to an event's schedule.
type CreateSession struct {
	ID           string    `path:"id" format:"id" maxLength:"128"`
	SessionTitle string    `json:"sessionTitle" required:"true" format:"name" minLength:"1" maxLength:"200" example:"Opening night" description:"The session's name, as the schedule shows it."`
	StartTime    time.Time `json:"startTime" required:"true" example:"2031-06-20T19:00:00Z" description:"When it starts. It need not lie within the event's own dates."`
	EndTime      time.Time `json:"endTime" required:"true" example:"2031-06-20T20:00:00Z" description:"When it ends, after startTime."`
	SessionFields
}

// SessionID names a session of an event's schedule. A sign-in's session is another thing (OpenSession).
type SessionID struct {
	ID        string `path:"id" format:"id" maxLength:"128"`
	SessionID string `path:"sessionId" format:"id" maxLength:"128" description:"The session's id, a UUID."`
}

// UpdateSession changes those fields of a session that are sent.
type UpdateSession struct {
	SessionID
	SessionTitle route.Opt[string]    `json:"sessionTitle,omitzero" format:"name" minLength:"1" maxLength:"200" nullable:"false" description:"The session's name, as the schedule shows it."`
	StartTime    route.Opt[time.Time] `json:"startTime,omitzero" nullable:"false" description:"When it starts. It need not lie within the event's own dates."`
	EndTime      route.Opt[time.Time] `json:"endTime,omitzero" nullable:"false" description:"When it ends, after startTime."`
	SessionFields
}

// ScheduledSession is a session of an event's schedule, such as a talk or a concert.
type ScheduledSession struct {
	ID             string  `json:"id" format:"uuid" description:"The session's id, a UUID; it stays when the session changes."`
	SessionTitle   string  `json:"sessionTitle" description:"The session's name."`
	StartTime      Time    `json:"startTime" description:"When it starts, in UTC."`
	EndTime        Time    `json:"endTime" description:"When it ends, in UTC."`
	DayNumber      int     `json:"dayNumber" description:"The day of the event on which it is, from 1."`
	SessionDesc    *string `json:"sessionDesc" description:"What the session is about; null if nothing is said."`
	SpeakerName    *string `json:"speakerName" description:"Who speaks or plays; null if nobody is named."`
	SpeakerBio     *string `json:"speakerBio" description:"A few words about the speaker; null without any."`
	SpeakerAvatar  *string `json:"speakerAvatar" description:"The address of the speaker's picture; null without one. The organization reads it as it wrote it, the public as an absolute address."`
	LocationDetail *string `json:"locationDetail" description:"Where in the venue it takes place; null if nothing is said."`
	SortOrder      int     `json:"sortOrder" description:"The place among the sessions of its day, the lowest first."`
}

// Schedule is the list of all sessions of an event, by day, then in the order that the organizer chose.
type Schedule struct {
	Sessions []ScheduledSession `json:"sessions" description:"All sessions, by day, then sortOrder, then start. There are at most 500."`
}

// Gone is the answer to the deletion of a session, a section or a note.
type Gone struct {
	Deleted bool `json:"deleted" description:"Always true: it is gone."`
}

// SectionFields are the optional fields of a section, which CreateSection and UpdateSection share.
type SectionFields struct {
	Description    route.Opt[string] `json:"description,omitzero" maxLength:"2000" description:"What guests should know of this part of the room; null or an empty text removes it."`
	SortOrder      route.Opt[int]    `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000" nullable:"false" description:"The place among the event's sections, the lowest first; 0 by default. Equals are sorted by name."`
	MapCoordinates route.Opt[JSON]   `json:"mapCoordinates,omitzero" maxLength:"20000" format:"object" description:"Where the section is on a plan of your own: an object, kept as it was sent. Null removes it."`
}

// CreateSection adds a section to an event. It is a text for guests, and not a section of a seat map
// (SeatSection).
type CreateSection struct {
	ID       string `path:"id" format:"id" maxLength:"128"`
	Name     string `json:"name" required:"true" format:"name" minLength:"1" maxLength:"100" example:"Balcony" description:"The section's name."`
	Capacity int    `json:"capacity" required:"true" minimum:"1" maximum:"1000000" example:"250" description:"How many people fit in. It informs and bounds nothing: sales are bounded by ticket types and the event's capacity."`
	SectionFields
}

// SectionID names a section of an event.
type SectionID struct {
	ID        string `path:"id" format:"id" maxLength:"128"`
	SectionID string `path:"sectionId" format:"id" maxLength:"128" description:"The section's id, a UUID."`
}

// UpdateSection changes those fields of a section that are sent.
type UpdateSection struct {
	SectionID
	Name     route.Opt[string] `json:"name,omitzero" format:"name" minLength:"1" maxLength:"100" nullable:"false" example:"Balcony" description:"The section's name."`
	Capacity route.Opt[int]    `json:"capacity,omitzero" minimum:"1" maximum:"1000000" nullable:"false" description:"How many people fit in. It informs and bounds nothing."`
	SectionFields
}

// Section is a named part of an event's room. A ticket type can name the section that it is for.
type Section struct {
	ID             string  `json:"id" format:"uuid" description:"The section's id, a UUID: what a ticket type names as its sectionId."`
	Name           string  `json:"name" description:"The section's name."`
	Capacity       int     `json:"capacity" description:"How many people fit in. It informs: sales are bounded by ticket types and the event's capacity."`
	Description    *string `json:"description" description:"What guests should know of this part of the room; null if nothing is said."`
	SortOrder      int     `json:"sortOrder" description:"The place among the event's sections, the lowest first."`
	MapCoordinates JSON    `json:"mapCoordinates" format:"object" nullable:"true" description:"Where the section is on the organizer's plan, as it was sent; null if nothing was."`
}

// Sections is the list of all sections of an event, in the order that the organizer chose.
type Sections struct {
	Sections []Section `json:"sections" description:"All sections, by sortOrder, then name. There are at most 500."`
}

// FAQ is a question that guests often ask about an event, and its answer.
type FAQ struct {
	Question string `json:"question" required:"true" minLength:"1" maxLength:"280" example:"Is there parking?" description:"A question that guests ask."`
	Answer   string `json:"answer" required:"true" minLength:"1" maxLength:"4000" example:"Yes, behind the hall, from 18:00." description:"What the organizer answers."`
}

// Customize changes how an event's page looks, in those fields that are sent. Null sets a field back to its
// default.
type Customize struct {
	ID              string            `path:"id" format:"id" maxLength:"128"`
	FAQs            route.Opt[[]FAQ]  `json:"faqs,omitzero" maxItems:"40" example:"[{\"question\":\"Is there parking?\",\"answer\":\"Yes, behind the hall, from 18:00.\"}]" description:"The questions and answers of the page, in order. What is sent replaces all; an empty list or null clears them."`
	LayoutPattern   route.Opt[string] `json:"layoutPattern,omitzero" enum:"classic,split,gallery,minimal,magazine,festival" example:"festival" description:"How the page is laid out; null is classic."`
	HeroStyle       route.Opt[string] `json:"heroStyle,omitzero" enum:"image,video,gradient,pattern,solid" description:"What stands at the head of the page; null is image."`
	PrimaryColor    route.Opt[string] `json:"primaryColor,omitzero" format:"color" maxLength:"9" example:"#1b4332" description:"The leading colour, as #rgb, #rrggbb or #rrggbbaa; null is #1b4332."`
	SecondaryColor  route.Opt[string] `json:"secondaryColor,omitzero" format:"color" maxLength:"9" description:"The second colour; null is #40916c."`
	AccentColor     route.Opt[string] `json:"accentColor,omitzero" format:"color" maxLength:"9" description:"The colour of what should catch the eye; null is #d8572a."`
	BackgroundColor route.Opt[string] `json:"backgroundColor,omitzero" format:"color" maxLength:"9" description:"The colour behind the text; null is #ffffff."`
	TextColor       route.Opt[string] `json:"textColor,omitzero" format:"color" maxLength:"9" description:"The colour of the text; null is #1a1a1a."`
	CTALabel        route.Opt[string] `json:"ctaLabel,omitzero" format:"name" minLength:"1" maxLength:"80" example:"Reserve a seat" description:"What the button says that leads to the tickets; null is Get tickets."`
	ShowOrganizer   route.Opt[bool]   `json:"showOrganizer,omitzero" description:"Whether the page names the organizer; null is true."`
	ShowSchedule    route.Opt[bool]   `json:"showSchedule,omitzero" description:"Whether the page has the schedule; null is true."`
	ShowVenueMap    route.Opt[bool]   `json:"showVenueMap,omitzero" description:"Whether the page shows where the venue is; null is true."`
	ShowCountdown   route.Opt[bool]   `json:"showCountdown,omitzero" description:"Whether the page counts down to the start; null is true."`
	ShowSocialShare route.Opt[bool]   `json:"showSocialShare,omitzero" description:"Whether the page offers to share it; null is true."`
	ShowPoweredBy   route.Opt[bool]   `json:"showPoweredBy,omitzero" description:"Whether the page says which service it is made with; null is true."`
	SocialLinks     route.Opt[JSON]   `json:"socialLinks,omitzero" format:"links" maxLength:"50000" description:"Addresses by platform, at most 20, such as instagram. What is sent replaces all; null clears them."`
	SEOTitle        route.Opt[string] `json:"seoTitle,omitzero" format:"name" maxLength:"200" description:"The title that search engines and previews show; null leaves it to the page."`
	SEODescription  route.Opt[string] `json:"seoDescription,omitzero" maxLength:"500" description:"The description that search engines and previews show; null leaves it to the page."`
	SEOImage        route.Opt[string] `json:"seoImage,omitzero" format:"hosted" maxLength:"2048" description:"The image that previews show: an http(s) address, or /media/<id> of an image of the organization's. Null removes it."`
}

// Customization says how an event's page looks. The event stores it in this form.
type Customization struct {
	FAQs            []FAQ   `json:"faqs" description:"The questions and answers of the page, in order; empty by default."`
	LayoutPattern   string  `json:"layoutPattern" enum:"classic,split,gallery,minimal,magazine,festival" description:"How the page is laid out; classic by default."`
	HeroStyle       string  `json:"heroStyle" enum:"image,video,gradient,pattern,solid" description:"What stands at the head of the page; image by default."`
	PrimaryColor    string  `json:"primaryColor" description:"The leading colour, in hexadecimal; #1b4332 by default."`
	SecondaryColor  string  `json:"secondaryColor" description:"The second colour; #40916c by default."`
	AccentColor     string  `json:"accentColor" description:"The colour of what should catch the eye; #d8572a by default."`
	BackgroundColor string  `json:"backgroundColor" description:"The colour behind the text; #ffffff by default."`
	TextColor       string  `json:"textColor" description:"The colour of the text; #1a1a1a by default."`
	CTALabel        string  `json:"ctaLabel" description:"What the button says that leads to the tickets; Get tickets by default."`
	ShowOrganizer   bool    `json:"showOrganizer" description:"Whether the page names the organizer; true by default."`
	ShowSchedule    bool    `json:"showSchedule" description:"Whether the page has the schedule; true by default."`
	ShowVenueMap    bool    `json:"showVenueMap" description:"Whether the page shows where the venue is; true by default."`
	ShowCountdown   bool    `json:"showCountdown" description:"Whether the page counts down to the start; true by default."`
	ShowSocialShare bool    `json:"showSocialShare" description:"Whether the page offers to share it; true by default."`
	ShowPoweredBy   bool    `json:"showPoweredBy" description:"Whether the page says which service it is made with; true by default."`
	SocialLinks     JSON    `json:"socialLinks" format:"object" description:"Addresses by platform; an empty object by default."`
	SEOTitle        *string `json:"seoTitle" description:"The title that search engines and previews show; null leaves it to the page."`
	SEODescription  *string `json:"seoDescription" description:"The description that search engines and previews show; null leaves it to the page."`
	SEOImage        *string `json:"seoImage" description:"The image that previews show; null without one. The organization reads it as it wrote it, the public as an absolute address."`
}

// CustomizedPage says how an event's page looks and, if it was only read, how the page would look by default.
type CustomizedPage struct {
	Customization *Customization `json:"customization" description:"How the page looks: what was set, and the default of everything else."`
	Defaults      *Customization `json:"defaults,omitzero" description:"How the page would look if nothing were set. It comes with a read, and not with a change."`
}
