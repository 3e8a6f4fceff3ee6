package people

import (
	"bytes"
	"context"
	"io"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/edge/web"
	"boxoffice/engine"
	"boxoffice/engine/order"
)

// followOrganization mails an address a link. The address follows the organization once somebody
// uses that link. Anybody may enter anybody's address, so nothing changes before that. A caller who
// is signed in and has proven to own the address follows at once.
func (h *Handlers) followOrganization(c *route.Call, in *api.FollowOrganization) (*api.Followed, error) {
	o, err := h.Accounts.OrganizationNamed(c.Context, in.OrgID)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, route.NoOrganization
	}
	email := order.NormalEmail(in.Email)
	if c.Principal.EmailProven && order.NormalEmail(c.Principal.Email) == email {
		return &api.Followed{Following: true}, h.Outreach.Follow(c.Context, o.ID, email, in.Name)
	}
	// The answer is the same whether or not the address follows already, so that it tells nothing
	// about the address.
	return new(api.Followed), h.Mail.AskToFollow(c.Context, o.ID, email, in.Name, letters.PreferredLanguage(c))
}

// confirmFollow makes the reader of a mail follow an organization. A reader who had unsubscribed
// gets the organization's bulk mail again.
func (h *Handlers) confirmFollow(c *route.Call, in *api.ConfirmFollow) (*api.Followed, error) {
	// The token carries everything that the link is about, signed, so no table keeps links that
	// nobody used.
	org, ends, email, name, ok := h.Secrets.ParseFollow(in.Token)
	if !ok || c.Now.Unix() > ends {
		return nil, noLink
	}
	return &api.Followed{Following: true}, h.Outreach.Follow(c.Context, org, email, name)
}

// noLink is the same refusal for a forged link and for a link that has ended.
var noLink = &engine.Refusal{Code: engine.NotFound, Message: "No such link, or no longer."}

// showUnsubscribe answers a GET of the link in a bulk mail's header. Security programs open all links of a mail, so a
// GET must not unsubscribe anybody. It answers with a page that leads people to the page with the button.
func (h *Handlers) showUnsubscribe(c *route.Call, in *api.Unsubscribe) (*route.Content, error) {
	if _, _, ok := h.Secrets.ParseUnsubscribe(in.Token); !ok {
		return nil, noLink
	}
	language, _ := mail.ReadLanguage(c.Languages)
	page, err := web.WriteUnsubscribeLink(in.Token, language == mail.German)
	if err != nil {
		return nil, err
	}
	return &route.Content{
		// The page holds a personal link, so no cache may keep it.
		Type: "text/html; charset=utf-8", Name: "unsubscribe.html", Inline: true, Size: int64(len(page)), Cache: "no-store",
		Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(page[offset : offset+length])), nil
		},
	}, nil
}

// unsubscribe ends an organization's bulk mail to an address. The link itself is the proof, because
// a mail program follows it while nobody is signed in (RFC 8058).
func (h *Handlers) unsubscribe(c *route.Call, in *api.Unsubscribe) (*api.Unsubscribed, error) {
	org, email, ok := h.Secrets.ParseUnsubscribe(in.Token)
	if !ok {
		return nil, noLink
	}
	if err := h.Outreach.Leave(c.Context, org, email); err != nil {
		return nil, err
	}
	return &api.Unsubscribed{Unsubscribed: true}, nil
}
