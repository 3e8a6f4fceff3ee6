package people

import (
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// followOrganization has an address told of an organization's new events, also one that
// had unsubscribed. The mail that says so has the link that ends it.
func (h *Handlers) followOrganization(c *route.Call, in *api.FollowOrganization) (*api.Followed, error) {
	o, err := h.Accounts.OrganizationNamed(c.Context, in.OrgID)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, route.NoOrganization
	}
	email := order.NormalEmail(in.Email)
	since, err := h.Outreach.Follow(c.Context, o.ID, email, in.Name)
	if err != nil {
		return nil, err
	}
	if since != 0 {
		about := strconv.FormatInt(o.ID, 10) + "/" + email + "/" + strconv.FormatInt(since, 10)
		if err := h.Mail.Add(c.Context, mailqueue.Mail{Template: mailqueue.Following, Subject: about, To: email, Name: in.Name, Org: o.ID}); err != nil {
			return nil, err
		}
	}
	return &api.Followed{Following: true}, nil
}

func (h *Handlers) unsubscribe(c *route.Call, in *api.Unsubscribe) (*api.Unsubscribed, error) {
	org, email, ok := h.Secrets.ParseUnsubscribe(in.Token)
	if !ok {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "No such link."}
	}
	if err := h.Outreach.Leave(c.Context, org, email); err != nil {
		return nil, err
	}
	return &api.Unsubscribed{Unsubscribed: true}, nil
}
