package gates

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/apikeys"
)

// keyLife is how long the key of a gate is valid, unless the request names another end.
const keyLife = 30 * 24 * time.Hour

// createEnrolment makes the code that the organizer's desk shows to a device. If the answer is lost, a repeat makes
// another code. That does no harm, because nobody has seen the first code, and it ends after ten minutes.
func (h *Handlers) createEnrolment(c *route.Call, in *api.CreateGateEnrolment) (*api.GateEnrolmentCode, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	events, err := h.readEvents(c, org, in.Events)
	if err != nil {
		return nil, err
	}
	ends := c.Now.Add(keyLife)
	if in.ExpiresAt != nil {
		if ends = *in.ExpiresAt; !ends.After(c.Now) {
			return nil, route.Invalid(route.Issue{Path: "expiresAt", Code: route.IssueMinimum, Message: "must be in the future"})
		}
	}
	code := rand.Text() // at least 128 bits
	e, err := h.Keys.AddEnrolment(c.Context, &apikeys.Enrolment{
		Org: org, Gate: in.GateName, Events: events, Guests: in.Guests, KeyEnds: ends, CreatedBy: c.Principal.User,
	}, code, c.Now)
	if errors.Is(err, apikeys.ErrTooManyCodes) {
		return nil, &engine.Refusal{
			Code: engine.Conflict, Message: fmt.Sprintf("An organization has at most %d codes that wait for a device; each ends after ten minutes.", apikeys.MaxEnrolments),
		}
	}
	if err != nil {
		return nil, err
	}
	return &api.GateEnrolmentCode{GateEnrolment: *viewEnrolment(e, c.Now), Code: code}, nil
}

// readEvents reads the ids of an organization's events, each once. An event of another organization
// is answered as missing.
func (h *Handlers) readEvents(c *route.Call, org int64, ids []string) ([]int64, error) {
	var events []int64
	for _, id := range ids {
		number, k, err := h.Known.ReadID(c.Context, id)
		if err != nil {
			return nil, err
		}
		if k.Org != org {
			return nil, &engine.Refusal{Code: engine.EventNotFound}
		}
		if !slices.Contains(events, number) {
			events = append(events, number)
		}
	}
	return events, nil
}

// getEnrolment shows whether a device has used the code or the code's time is over, for the desk that waits for the
// device.
func (h *Handlers) getEnrolment(c *route.Call, in *api.GateEnrolmentID) (*api.GateEnrolment, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	none := &engine.Refusal{Code: engine.NotFound, Message: "No such enrolment."}
	id, ok := route.ReadNumber(in.EnrolmentID)
	if !ok {
		return nil, none
	}
	e, err := h.Keys.GetEnrolment(c.Context, org, id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, none
	}
	return viewEnrolment(e, c.Now), nil
}

// viewEnrolment shows an enrolment without its code. Only the answer of createEnrolment has the code.
func viewEnrolment(e *apikeys.Enrolment, now time.Time) *api.GateEnrolment {
	v := &api.GateEnrolment{ID: strconv.FormatInt(e.ID, 10), Status: "open", GateName: e.Gate, ExpiresAt: e.EndsAt.UTC()}
	switch {
	case e.Key != nil:
		v.Status, v.KeyID = "used", new(strconv.FormatInt(*e.Key, 10))
	case !now.Before(e.EndsAt):
		v.Status = "over"
	}
	return v
}

// enrolGate exchanges a code for the key of a gate. The device has no credential yet, so the code
// alone is its proof.
func (h *Handlers) enrolGate(c *route.Call, in *api.EnrolGate) (*api.GateKey, error) {
	var plaintext string
	k, err := h.Keys.ExchangeCode(c.Context, in.Code, c.Now, h.formKey, func(environment string) (publicID string, hash [32]byte) {
		plaintext, publicID, hash = secrets.NewAPIKey(environment)
		return publicID, hash
	})
	if err != nil {
		return nil, refuseCode(err)
	}
	events, err := h.viewEvents(c.Context, k.Events)
	if err != nil {
		return nil, err
	}
	return &api.GateKey{Key: plaintext, GateName: k.Gate, Guests: searchesGuests(k), Events: events, ExpiresAt: view.UTC(k.ExpiresAt)}, nil
}

// formKey returns the API key for a device, which may check in at the events of its enrolment and, if the enrolment
// allows it, search for guests there. The key may do nothing else.
func (h *Handlers) formKey(e *apikeys.Enrolment) *apikeys.Key {
	may := route.CheckinWrite
	if e.Guests {
		may |= route.AttendeesRead
	}
	return &apikeys.Key{
		Org: e.Org, Name: "Gate " + e.Gate, Environment: h.Env, Scopes: may.Names(), ExpiresAt: &e.KeyEnds, CreatedBy: e.CreatedBy,
		Events: e.Events, Gate: e.Gate,
	}
}

// refuseCode turns an error of the store into a refusal whose message says to the people at the device what to do. It
// returns any other error unchanged.
func refuseCode(err error) error {
	refuse := func(reason, message string) error {
		return &engine.Refusal{Code: engine.Conflict, Message: message, Details: route.Reason{Reason: reason}}
	}
	switch {
	case errors.Is(err, apikeys.ErrNoCode):
		return &engine.Refusal{Code: engine.NotFound, Message: "There is no such code. Ask the organizer's desk for a new one."}
	case errors.Is(err, apikeys.ErrCodeUsed), errors.Is(err, apikeys.ErrRevoked):
		return refuse("CODE_USED", "This code was used already. Ask the organizer's desk for a new one.")
	case errors.Is(err, apikeys.ErrCodeOver):
		return refuse("CODE_OVER", "This code is over: it is good for ten minutes. Ask the organizer's desk for a new one.")
	case errors.Is(err, apikeys.ErrTooMany):
		return refuse("TOO_MANY_KEYS", fmt.Sprintf("The organization has %d API keys, as many as it may; revoke one that is not needed, then use the code again.", apikeys.MaxPerOrg))
	}
	return err
}

// listGates returns a page of the keys that an organization's devices at gates have, the newest
// first. Each has its events, its state and the time of its last use, but not the key itself.
func (h *Handlers) listGates(c *route.Call, in *api.ListGates) (*api.List[*api.EnrolledGate], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	before, err := cursors.ReadNumber(in.Cursor)
	if err != nil {
		return nil, err
	}
	keys, err := h.Keys.ListGates(c.Context, org, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	views := make([]*api.EnrolledGate, len(keys))
	for i, k := range keys {
		events, err := h.viewEvents(c.Context, k.Events)
		if err != nil {
			return nil, err
		}
		views[i] = &api.EnrolledGate{
			KeyID: strconv.FormatInt(k.ID, 10), GateName: k.Gate, Status: k.Status, Guests: searchesGuests(k), Events: events,
			EnrolledAt: k.CreatedAt.UTC(), LastUsedAt: view.UTC(k.LastUsedAt), ExpiresAt: view.UTC(k.ExpiresAt),
		}
	}
	return api.PageOf(len(keys), in.Limit, func(i int) *api.EnrolledGate { return views[i] },
		func(last int) *string { return cursors.Of(keys[last].ID) }), nil
}

// searchesGuests reports whether a gate's key may search for guests.
func searchesGuests(k *apikeys.Key) bool {
	return k.Scopes == nil || slices.Contains(k.Scopes, route.AttendeesRead.Names()[0])
}

// viewEvents shows events with their titles. A draft that was deleted since has no title and is shown by its number.
func (h *Handlers) viewEvents(ctx context.Context, numbers []int64) ([]api.GateEvent, error) {
	all := make([]api.GateEvent, len(numbers))
	for i, number := range numbers {
		all[i] = api.GateEvent{NumericID: strconv.FormatInt(number, 10)}
		page, err := h.Pages.Event(ctx, number)
		if r := (*engine.Refusal)(nil); errors.As(err, &r) && r.Code == engine.EventNotFound {
			all[i].ID = all[i].NumericID
			continue
		}
		if err != nil {
			return nil, err
		}
		all[i].ID, all[i].Title = page.Event.Details.PublicID.String(), page.Event.Details.Title
	}
	return all, nil
}

// gateOf returns the gate for which a scan counts: the gate to which the device's key is bound, or
// else the one that the device names. So a bound device cannot count for another gate.
func gateOf(c *route.Call, named string) string {
	if c.Principal.Bound != nil {
		return cmp.Or(c.Principal.Bound.Gate, named)
	}
	return named
}
