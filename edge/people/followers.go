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

// followOrganization mails an address the link with which it follows an organization. Anybody may
// enter anybody's address, so nothing changes before the link is used. A caller who is signed in and has
// proven to own the address follows at once.
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
	return new(api.Followed), h.Mail.AskToFollow(c.Context, o.ID, email, in.Name, letters.PreferredLanguage(c))
}

// confirmFollow makes the reader of a mail follow, also one who had unsubscribed.
func (h *Handlers) confirmFollow(c *route.Call, in *api.ConfirmFollow) (*api.Followed, error) {
	org, ends, email, name, ok := h.Secrets.ParseFollow(in.Token)
	if !ok || c.Now.Unix() > ends {
		return nil, noLink
	}
	return &api.Followed{Following: true}, h.Outreach.Follow(c.Context, org, email, name)
}

var noLink = &engine.Refusal{Code: engine.NotFound, Message: "No such link, or no longer."}

// showUnsubscribe answers programs and people that open the link in a mail's header. Programs open
// links to look for harm, so nothing ends here: people are shown the way to the page that does it.
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
		Type: "text/html; charset=utf-8", Name: "unsubscribe.html", Inline: true, Size: int64(len(page)), Cache: "no-store",
		Open: func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(page[offset : offset+length])), nil
		},
	}, nil
}

// unsubscribe ends the mails of an organization to an address. The link alone is the proof, because a mail program
// follows it without anybody being signed in (RFC 8058).
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
