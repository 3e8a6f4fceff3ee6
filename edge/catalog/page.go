package catalog

import (
	"github.com/go-json-experiment/json"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// defaultPage returns how the page of an event looks if nobody has customized it. Each call makes a new one,
// because callers change it.
func defaultPage() *api.Customization {
	return &api.Customization{
		FAQs: []api.FAQ{}, LayoutPattern: "classic", HeroStyle: "image",
		PrimaryColor: "#1b4332", SecondaryColor: "#40916c", AccentColor: "#d8572a", BackgroundColor: "#ffffff", TextColor: "#1a1a1a",
		CTALabel: "Get tickets", ShowOrganizer: true, ShowSchedule: true, ShowVenueMap: true, ShowCountdown: true,
		ShowSocialShare: true, ShowPoweredBy: true, SocialLinks: api.JSON("{}"),
	}
}

// pageOf reads a stored customization over the default, so that a setting which was added later has its default in
// old documents too.
func pageOf(document []byte) (*api.Customization, error) {
	page := defaultPage()
	if document == nil {
		return page, nil
	}
	return page, json.Unmarshal(document, page)
}

// getCustomization shows how an event's page looks, beside how it would look by default.
func (h *Handlers) getCustomization(c *route.Call, in *api.ByID) (*api.CustomizedPage, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	document, err := h.Program.Customization(c.Context, number)
	if err != nil {
		return nil, err
	}
	page, err := pageOf(document)
	return &api.CustomizedPage{Customization: page, Defaults: defaultPage()}, err
}

// customize changes how an event's page looks. Unlike a change of the schedule, this makes no fact; it only refreshes
// the cached page.
func (h *Handlers) customize(c *route.Call, in *api.Customize) (*api.CustomizedPage, error) {
	number, e, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, e.Details.Org, in); err != nil {
		return nil, err
	}
	if err := h.Texts.Change(c, number); err != nil {
		return nil, err
	}
	var page *api.Customization
	err = h.Program.Customize(c.Context, number, func(document []byte) ([]byte, error) {
		if page, err = pageOf(document); err != nil {
			return nil, err
		}
		editPage(page, in)
		return json.Marshal(page)
	})
	if err != nil {
		return nil, err
	}
	h.Pages.Refresh(c.Context, number)
	return &api.CustomizedPage{Customization: page}, nil
}

// editPage writes into a page the fields that were sent. A null resets a field to its default.
func editPage(page *api.Customization, in *api.Customize) {
	usual := defaultPage()
	setOrDefault(in.FAQs, &page.FAQs, usual.FAQs)
	setOrDefault(in.LayoutPattern, &page.LayoutPattern, usual.LayoutPattern)
	setOrDefault(in.HeroStyle, &page.HeroStyle, usual.HeroStyle)
	setOrDefault(in.PrimaryColor, &page.PrimaryColor, usual.PrimaryColor)
	setOrDefault(in.SecondaryColor, &page.SecondaryColor, usual.SecondaryColor)
	setOrDefault(in.AccentColor, &page.AccentColor, usual.AccentColor)
	setOrDefault(in.BackgroundColor, &page.BackgroundColor, usual.BackgroundColor)
	setOrDefault(in.TextColor, &page.TextColor, usual.TextColor)
	setOrDefault(in.CTALabel, &page.CTALabel, usual.CTALabel)
	setOrDefault(in.ShowOrganizer, &page.ShowOrganizer, usual.ShowOrganizer)
	setOrDefault(in.ShowSchedule, &page.ShowSchedule, usual.ShowSchedule)
	setOrDefault(in.ShowVenueMap, &page.ShowVenueMap, usual.ShowVenueMap)
	setOrDefault(in.ShowCountdown, &page.ShowCountdown, usual.ShowCountdown)
	setOrDefault(in.ShowSocialShare, &page.ShowSocialShare, usual.ShowSocialShare)
	setOrDefault(in.ShowPoweredBy, &page.ShowPoweredBy, usual.ShowPoweredBy)
	setOrDefault(in.SocialLinks, &page.SocialLinks, usual.SocialLinks)
	setPointer(in.SEOTitle, &page.SEOTitle)
	setPointer(in.SEODescription, &page.SEODescription)
	setPointer(in.SEOImage, &page.SEOImage)
}

// setOrDefault stores a field that was sent; null makes it the usual value.
func setOrDefault[T any](f route.Opt[T], dst *T, usual T) {
	switch {
	case f.Null:
		*dst = usual
	case f.Set:
		*dst = f.Value
	}
}
