package money

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/promo"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/readmodel"
)

var (
	noCode    = &engine.Refusal{Code: engine.NotFound, Message: "No such promo code."}
	codeLooks = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

// editTries is how often an edit of a code is tried. A try fails if somebody else changes the code
// between our reading and our writing.
const editTries = 5

// listPromoCodes returns a page of an organization's codes, or of one of its events, the newest
// first. A cursor has the creation time and also the code's number, because several codes may have
// been created in the same millisecond.
func (h *Handlers) listPromoCodes(c *route.Call, in *api.ListPromoCodes) (*api.PromoCodes, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	var number int64
	if in.EventID != "" {
		if number, err = h.Known.FindOwn(c, in.EventID); err != nil {
			return nil, err
		}
	}
	keys, err := cursors.Read(in.Cursor, cursors.LastMoment, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	var after readmodel.PromoPlace
	if keys != nil {
		after = readmodel.PromoPlace{CreatedAt: keys[0], Number: keys[1]}
	}
	list, err := h.Read.PromoCodes(c.Context, org, number, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := &api.PromoCodes{PromoCodes: make([]api.PromoCode, 0, in.Limit)}
	for i := range list[:min(len(list), in.Limit)] {
		p := &list[i]
		out.PromoCodes = append(out.PromoCodes, *h.codeView(&promo.Record{
			Ref: p.Ref, Details: p.Details, CreatedAt: p.CreatedAt, Disabled: p.Disabled, Used: p.Used,
		}))
	}
	if len(list) > in.Limit {
		last := &list[in.Limit-1]
		out.NextCursor = cursors.Of(last.CreatedAt, last.Ref.ID)
	}
	return out, nil
}

// createPromoCode first claims the code's name and then makes the code. If the request fails in
// between, a repeat with the same Idempotency-Key gets the same number, to which the name then
// already belongs.
func (h *Handlers) createPromoCode(c *route.Call, in *api.CreatePromoCode) (*api.PromoCode, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrgID)
	if err != nil {
		return nil, err
	}
	t := promo.Details{ValidFrom: in.ValidFrom.UnixMilli(), ValidUntil: in.ValidUntil.UnixMilli()}
	if in.EventID != "" {
		e, err := h.findLiveEvent(c, org, in.EventID)
		if err != nil {
			return nil, err
		}
		// MoreDecimals is the number of decimals of the code's amounts less two.
		t.Event, t.MoreDecimals = e.Number, int64(engine.DecimalsOf(e.Details.Currency)-2)
	}
	t.Code, t.Percentage = in.Code, in.DiscountType == "percentage"
	if err := setAmounts(&t, in.DiscountValue, in.MinOrderValue.Value); err != nil {
		return nil, err
	}
	if err := h.editTerms(c, org, &t, &in.PromoFields); err != nil {
		return nil, err
	}
	number, err := live.NumberOf(c, h.Codes, org)
	if err != nil {
		return nil, err
	}
	if err := h.claimName(c, org, number, &t); err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[promo.Record](c.Context, h.Node, engine.PromoRef(org, number), promo.Create{Details: t})
	if err != nil {
		return nil, err
	}
	return h.codeView(r), nil
}

// findLiveEvent finds an event of the organization that was not cancelled. It refuses a cancelled one with
// EVENT_CANCELLED. An event of another organization is answered as missing.
func (h *Handlers) findLiveEvent(c *route.Call, org int64, id string) (*event.Record, error) {
	number, k, err := h.Known.ReadID(c.Context, id)
	if err != nil {
		return nil, err
	}
	if k.Org != org {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	e, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	if e.Status == event.StatusCancelled {
		return nil, &engine.Refusal{Code: engine.EventCancelled}
	}
	return e, nil
}

// claimName gives the name in t to the code with a number, in place of its former name. It refuses
// with CODE_ALREADY_EXISTS if another code has the name. The table of names decides that, because the actor
// of a code knows no other codes.
func (h *Handlers) claimName(c *route.Call, org, number int64, t *promo.Details) error {
	err := h.Promos.Claim(c.Context, number, promos.Name{Org: org, Event: t.Event, Code: t.Code})
	if errors.Is(err, promos.ErrTaken) {
		return &engine.Refusal{Code: engine.CodeExists}
	}
	return err
}

// findCode finds a promo code of the caller's organization by its id. A code of another
// organization is answered as missing.
func (h *Handlers) findCode(c *route.Call, id string) (engine.Ref, error) {
	number, ok := route.ReadNumber(id)
	if !ok {
		return engine.Ref{}, noCode
	}
	org, err := h.Promos.Owner(c.Context, number)
	if err != nil {
		return engine.Ref{}, err
	}
	g, ok := c.Principal.Grant(org)
	if org == 0 || !ok {
		return engine.Ref{}, noCode
	}
	return engine.PromoRef(org, number), route.ActFor(c, g)
}

// updatePromoCode changes a code. It starts over if another edit came in between, and refuses with
// CONFLICT after editTries tries.
func (h *Handlers) updatePromoCode(c *route.Call, in *api.UpdatePromoCode) (*api.PromoCode, error) {
	ref, err := h.findCode(c, in.ID)
	if err != nil {
		return nil, err
	}
	for range editTries {
		r, err := h.editCode(c, ref, in)
		if refusal, ok := errors.AsType[*engine.Refusal](err); ok && refusal.Code == engine.Conflict {
			continue
		}
		if err != nil {
			return nil, err
		}
		return h.codeView(r), nil
	}
	return nil, &engine.Refusal{Code: engine.Conflict}
}

// editCode tries an edit once. It reads the code, replaces the fields that the request has, and
// sends the result to the code's actor with the revision that it read. The actor refuses with
// CONFLICT if the code has another revision by now.
//
// A new name is claimed before the actor is asked, so that no other code can take it. If the actor
// then refuses, the old name is claimed back. If nobody knows whether the actor has taken the new
// name, the code keeps the claim on it: a repeat of the request makes the actor take the name, or
// finds that it has. The name of a code that an order has used cannot be changed (CODE_LOCKED).
func (h *Handlers) editCode(c *route.Call, ref engine.Ref, in *api.UpdatePromoCode) (*promo.Record, error) {
	r, err := cluster.AskFor[promo.Record](c.Context, h.Node, ref, promo.Get{})
	if err != nil {
		return nil, err
	}
	t := r.Details
	in.Code.Into(&t.Code)
	discountType, value := discountType(&t), route.MoneyOf(t.Value, t.ValueDecimals())
	least := route.MoneyOf(t.MinOrder, t.Decimals())
	in.DiscountType.Into(&discountType)
	in.DiscountValue.Into(&value)
	in.MinOrderValue.Into(&least)
	t.Percentage = discountType == "percentage"
	if err := setAmounts(&t, value, least); err != nil {
		return nil, err
	}
	for _, moment := range []struct {
		sent route.Opt[time.Time]
		to   *int64
	}{{in.ValidFrom, &t.ValidFrom}, {in.ValidUntil, &t.ValidUntil}} {
		if moment.sent.Set {
			*moment.to = moment.sent.Value.UnixMilli()
		}
	}
	if err := h.editTerms(c, ref.Home, &t, &in.PromoFields); err != nil {
		return nil, err
	}
	renamed := t.Code != r.Details.Code
	if renamed {
		if r.Redeemed {
			return nil, &engine.Refusal{Code: engine.CodeLocked}
		}
		if err := h.claimName(c, ref.Home, ref.ID, &t); err != nil {
			return nil, err
		}
	}
	after, err := cluster.AskFor[promo.Record](c.Context, h.Node, ref, promo.Update{Details: t, Revision: r.Revision})
	if renamed && isRefused(err) {
		return nil, errors.Join(err, h.claimName(c, ref.Home, ref.ID, &r.Details))
	}
	return after, err
}

// isRefused reports whether a command was refused, and so changed nothing. After UNAVAILABLE, and after an error that
// is no refusal, the command may have been carried out.
func isRefused(err error) bool {
	refusal, refused := errors.AsType[*engine.Refusal](err)
	return refused && refusal.Code != engine.Unavailable
}

// deletePromoCode removes a code that no order has used or reserved, and disables any other. The
// name of a removed code becomes free last, so that no other code can get the name while this code
// still exists.
func (h *Handlers) deletePromoCode(c *route.Call, in *api.PromoCodeID) (*api.PromoCodeGone, error) {
	ref, err := h.findCode(c, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[promo.Record](c.Context, h.Node, ref, promo.Delete{})
	if err != nil {
		return nil, err
	}
	if !r.Removed {
		return &api.PromoCodeGone{Disabled: true, PromoCode: h.codeView(r)}, nil
	}
	return &api.PromoCodeGone{Deleted: true}, h.Promos.Release(c.Context, ref.ID)
}

// discountType returns the API's word for the way in which a code reduces a price.
func discountType(t *promo.Details) string {
	if t.Percentage {
		return "percentage"
	}
	return "flat"
}

// setAmounts sets the discount and the least subtotal of a code. The amounts of a code for one
// event have the decimals of the event's currency. A code for all events of the organization is
// valid in every currency, so its amounts have as many decimals as the request needs.
func setAmounts(t *promo.Details, value, least route.Money) (err error) {
	if t.Event == 0 {
		t.MoreDecimals = int64(least.Decimals() - 2)
		if !t.Percentage {
			t.MoreDecimals = int64(max(least.Decimals(), value.Decimals()) - 2)
		}
	}
	if t.Value, err = value.In("discountValue", t.ValueDecimals()); err != nil {
		return err
	}
	t.MinOrder, err = least.In("minOrderValue", t.Decimals())
	return err
}

// editTerms writes the optional fields of a request into a code's terms, and checks the terms as a
// whole. Codes are stored in upper case, so that buyers may type them in any case.
func (h *Handlers) editTerms(c *route.Call, org int64, t *promo.Details, f *api.PromoFields) error {
	f.Description.Into(&t.Description)
	f.MaxUses.Into(&t.MaxUses)
	f.MaxUsesPerCustomer.Into(&t.MaxByCustomer)
	t.Code = strings.ToUpper(t.Code)
	var issues []route.Issue
	refuse := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: path, Code: code, Message: message})
	}
	// The rules below span several fields, so the tags of single fields cannot express
	// them.
	if !codeLooks.MatchString(t.Code) {
		refuse("code", route.IssueFormat, "must be letters, digits, - and _")
	}
	// A percentage has two decimals here: 10,000 is 100 %.
	if t.Percentage && t.Value > 10_000 {
		refuse("discountValue", route.IssueMaximum, "must be at most 100, for a percentage")
	}
	if t.ValidUntil <= t.ValidFrom {
		refuse("validUntil", route.IssueMinimum, "must be after validFrom")
	}
	if len(issues) > 0 {
		return route.Invalid(issues...)
	}
	if !f.ApplicableTypes.Set {
		return nil
	}
	return h.editTypes(c, org, t, f.ApplicableTypes.Value)
}

// editTypes reads the ticket types that a code is limited to. They must belong to the code's event
// or, for a code without an event, to any event of the organization.
func (h *Handlers) editTypes(c *route.Call, org int64, t *promo.Details, ids []string) error {
	t.Types = nil
	for i, text := range ids {
		id, err := engine.ParseID(text)
		known := err == nil && id == engine.NumberedID(id.Event(), id.Number()) && (t.Event == 0 || t.Event == id.Event())
		if known {
			if known, err = h.ownsType(c, org, id); err != nil {
				return err
			}
		}
		if !known {
			return route.Invalid(route.Issue{
				Path: "applicableTypes[" + strconv.Itoa(i) + "]", Code: route.IssueEnum, Message: "is no ticket type that the code can be for",
			})
		}
		if !slices.Contains(t.Types, id) {
			t.Types = append(t.Types, id)
		}
	}
	return nil
}

// ownsType reports whether an event of the organization has a ticket type. It is no error if there is no such event.
func (h *Handlers) ownsType(c *route.Call, org int64, id engine.TypeID) (bool, error) {
	k, err := h.Known.Find(c.Context, id.Event())
	if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
		return false, nil
	}
	if err != nil || k.Org != org {
		return false, err
	}
	r, err := cluster.AskFor[event.TypeReply](c.Context, h.Node, engine.EventRef(id.Event()), event.GetType{Type: id.Number()})
	if err != nil {
		return false, err
	}
	return r.Has, nil
}

// codeView shows a code to its organization. Limits of 0 mean that there is no limit, and are shown as null.
func (h *Handlers) codeView(r *promo.Record) *api.PromoCode {
	t := &r.Details
	v := &api.PromoCode{
		ID: strconv.FormatInt(r.Ref.ID, 10), Code: t.Code, DiscountType: discountType(t), DiscountValue: engine.DecimalIn(t.Value, t.ValueDecimals()),
		ValidFrom: api.At(t.ValidFrom), ValidUntil: api.At(t.ValidUntil), Description: view.Optional(t.Description),
		MinOrderValue: engine.DecimalIn(t.MinOrder, t.Decimals()), ApplicableTypes: []string{}, UsedCount: r.Used, Status: "active", CreatedAt: api.At(r.CreatedAt),
	}
	if r.Disabled {
		v.Status = "disabled"
	}
	if t.Event != 0 {
		id := h.Known.PublicID(t.Event)
		v.EventID = &id
	}
	if t.MaxUses > 0 {
		v.MaxUses = &t.MaxUses
	}
	if t.MaxByCustomer > 0 {
		v.MaxUsesPerCustomer = &t.MaxByCustomer
	}
	for _, id := range t.Types {
		v.ApplicableTypes = append(v.ApplicableTypes, id.String())
	}
	return v
}
