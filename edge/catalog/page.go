package catalog

import (
	"github.com/go-json-experiment/json"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// defaultPage is how an event's page looks that nobody has customized.
func defaultPage() *api.Customization {
	return &api.Customization{
		FAQs: []api.FAQ{}, LayoutPattern: "classic", HeroStyle: "image",
		PrimaryColor: "#1b4332", SecondaryColor: "#40916c", AccentColor: "#d8572a", BackgroundColor: "#ffffff", TextColor: "#1a1a1a",
		CTALabel: "Get tickets", ShowOrganizer: true, ShowSchedule: true, ShowVenueMap: true, ShowCountdown: true,
		ShowSocialShare: true, ShowPoweredBy: true, SocialLinks: api.JSON("{}"),
	}
}

// pageOf reads a stored customization: what it does not say is the default.
func pageOf(document []byte) (*api.Customization, error) {
	page := defaultPage()
	if document == nil {
		return page, nil
	}
	return page, json.Unmarshal(document, page)
}

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

// editPage takes the fields over that were sent; null is the default.
func editPage(page *api.Customization, in *api.Customize) {
	usual := defaultPage()
	override(in.FAQs, &page.FAQs, usual.FAQs)
	override(in.LayoutPattern, &page.LayoutPattern, usual.LayoutPattern)
	override(in.HeroStyle, &page.HeroStyle, usual.HeroStyle)
	override(in.PrimaryColor, &page.PrimaryColor, usual.PrimaryColor)
	override(in.SecondaryColor, &page.SecondaryColor, usual.SecondaryColor)
	override(in.AccentColor, &page.AccentColor, usual.AccentColor)
	override(in.BackgroundColor, &page.BackgroundColor, usual.BackgroundColor)
	override(in.TextColor, &page.TextColor, usual.TextColor)
	override(in.CTALabel, &page.CTALabel, usual.CTALabel)
	override(in.ShowOrganizer, &page.ShowOrganizer, usual.ShowOrganizer)
	override(in.ShowSchedule, &page.ShowSchedule, usual.ShowSchedule)
	override(in.ShowVenueMap, &page.ShowVenueMap, usual.ShowVenueMap)
	override(in.ShowCountdown, &page.ShowCountdown, usual.ShowCountdown)
	override(in.ShowSocialShare, &page.ShowSocialShare, usual.ShowSocialShare)
	override(in.ShowPoweredBy, &page.ShowPoweredBy, usual.ShowPoweredBy)
	override(in.SocialLinks, &page.SocialLinks, usual.SocialLinks)
	pointer(in.SEOTitle, &page.SEOTitle)
	pointer(in.SEODescription, &page.SEODescription)
	pointer(in.SEOImage, &page.SEOImage)
}

// override takes a field over that was sent; null makes it the usual value.
func override[T any](f route.Opt[T], dst *T, usual T) {
	switch {
	case f.Null:
		*dst = usual
	case f.Set:
		*dst = f.Value
	}
}
