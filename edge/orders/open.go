package orders

import (
	"time"

	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/order"
)

// tokenAfterPayment is how long after an order's end (or its placing, if it has not ended) the order can be opened by
// its token, if the product has no end date.
const tokenAfterPayment = 400 * 24 * time.Hour

// tokenOver is the refusal for an order's token that has expired.
var tokenOver = &engine.Refusal{
	Code: engine.Unauthorized, Message: "The order's access token has ended; sign in with the buyer's address.", Details: route.Reason{Reason: "TOKEN_EXPIRED"},
}

// Open finds an order for a caller who may see it: somebody with the order's token, the buyer in a
// session whose address is proven, or the organization that sells it. It refuses an expired token with tokenOver, a
// caller without any credentials with UNAUTHORIZED, and everybody else with ORDER_NOT_FOUND. For a seller who lacks a
// scope, it returns the refusal of route.ActFor. A caller who is both buyer and seller reads the order as its buyer.
func (d *Desk) Open(c *route.Call, text string, tokens ...string) (*order.Order, Reader, error) {
	var nobody Reader
	token, err := soleToken(c, tokens)
	if err != nil {
		return nil, nobody, err
	}
	id, err := engine.ParseID(text)
	if err != nil {
		return nil, nobody, &engine.Refusal{Code: engine.OrderNotFound}
	}
	k, err := d.Known.Find(c.Context, id.Event())
	if err != nil {
		return nil, nobody, HideEvent(err, engine.OrderNotFound)
	}
	until, byToken := d.Secrets.OpensOrder(id, token)
	grant, member := c.Principal.Grant(k.Org)
	if !byToken && !c.Principal.EmailProven {
		if !member {
			return nil, nobody, &engine.Refusal{Code: engine.OrderNotFound}
		}
		if err := route.ActFor(c, grant); err != nil {
			return nil, nobody, err
		}
	}
	o, err := d.Find(c.Context, id)
	if err != nil {
		return nil, nobody, err
	}
	if c.Principal.EmailProven && order.NormalEmail(c.Principal.Email) == order.NormalEmail(o.Email) {
		return o, Person(o.Email), nil
	}
	over := false
	if byToken && !c.Now.Before(until) {
		if over, err = d.isTokenOver(c, o); err != nil {
			return nil, nobody, err
		}
	}
	switch {
	case byToken && !over:
		return o, Person(o.Email), nil
	case member:
		return o, Seller(grant), route.ActFor(c, grant)
	case over:
		return nil, nobody, tokenOver
	}
	return nil, nobody, &engine.Refusal{Code: engine.OrderNotFound}
}

// soleToken returns the order's token from the credentials, the query or the body, which must be
// the same wherever it stands. It returns "" for a caller with other credentials, and refuses a
// caller without any.
func soleToken(c *route.Call, tokens []string) (string, error) {
	token := c.Principal.Token
	for _, t := range tokens {
		if t != "" && token != "" && t != token {
			return "", route.Invalid(route.Issue{Path: "token", Code: route.IssueDuplicate, Message: "is not the same in query and body"})
		}
		if t != "" {
			token = t
		}
	}
	if token == "" && !c.Principal.Proven() {
		return "", &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token is required."}
	}
	return token, nil
}

// isTokenOver reports whether an order's token has expired. Orders are placed before their event
// ends. So a token cannot have expired if the order is younger than letters.TokenAfterEnd, and most
// requests do not need the event.
func (d *Desk) isTokenOver(c *route.Call, o *order.Order) (bool, error) {
	if c.Now.Before(time.UnixMilli(o.CreatedAt).Add(letters.TokenAfterEnd)) {
		return false, nil
	}
	p, err := d.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return false, err
	}
	end := time.UnixMilli(p.Event.Details.EndAt).Add(letters.TokenAfterEnd)
	if p.Event.Details.EndAt == 0 {
		end = time.UnixMilli(max(o.CreatedAt, o.EndedAt)).Add(tokenAfterPayment)
	}
	return !c.Now.Before(end), nil
}

// ReadToken returns an order's id in its canonical spelling ("" if the text is no id), and whether
// a token is that order's, even if the token has expired.
func (d *Desk) ReadToken(id, token string) (order string, opens bool) {
	o, err := engine.ParseID(id)
	if err != nil {
		return "", false
	}
	_, opens = d.Secrets.OpensOrder(o, token)
	return o.String(), opens
}

// OpenOwn finds an order for a caller who acts for the organization that sells it. It refuses other callers with
// ORDER_NOT_FOUND. If the caller lacks a scope, it returns the refusal of route.ActFor.
func (d *Desk) OpenOwn(c *route.Call, id engine.OrderID) (*order.Order, Reader, error) {
	k, err := d.Known.Find(c.Context, id.Event())
	if err != nil {
		return nil, Reader{}, HideEvent(err, engine.OrderNotFound)
	}
	g, ok := c.Principal.Grant(k.Org)
	if !ok {
		return nil, Reader{}, &engine.Refusal{Code: engine.OrderNotFound}
	}
	if err := route.ActFor(c, g); err != nil {
		return nil, Reader{}, err
	}
	o, err := d.Find(c.Context, id)
	return o, Seller(g), err
}
