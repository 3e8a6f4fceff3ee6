package contest

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Order places an order, again until the answer is settled.
func (p *Place) Order(ctx context.Context, from int, body any, out *rush.Order) client.Answer {
	return p.Insist(ctx, from, client.Call{Method: "POST", Path: "/orders", Body: rush.Encode(body)}, out)
}

// Checkout opens an attempt to pay an order, and returns the provider's page.
func (p *Place) Checkout(ctx context.Context, from int, o *rush.Order) (*url.URL, error) {
	var at struct{ AuthorizationURL string }
	a := p.Insist(ctx, from, client.Call{Method: "POST", Path: "/orders/" + url.PathEscape(o.ID) + "/pay", Body: rush.Encode(map[string]string{
		"provider": "paystack", "token": o.AccessToken,
	})}, &at)
	if !a.OK() {
		return nil, fmt.Errorf("contest: checkout: %w", a.Err())
	}
	page, err := url.Parse(at.AuthorizationURL)
	if err != nil {
		return nil, fmt.Errorf("contest: checkout: %w", err)
	}
	return page, nil
}

// Pay pays on the provider's page. The service does not know of it until it asks the provider.
func (p *Place) Pay(ctx context.Context, from int, page *url.URL) error {
	host, err := client.HostOf(page)
	if err != nil {
		return fmt.Errorf("contest: pay: %w", err)
	}
	return client.Exchange(ctx, p.Net.Source(from), &client.Request{
		Method: "POST", Host: host, Path: page.RequestURI(), ContentType: "application/x-www-form-urlencoded", Body: []byte("outcome=success"),
	}, nil).Err()
}

// Verify makes the service look for an order's payment until the order is no longer open, and notes
// what has become of the order.
func (p *Place) Verify(ctx context.Context, from int, o *rush.Order) error {
	body := rush.Encode(map[string]string{"orderId": o.ID, "token": o.AccessToken})
	for deadline := time.Now().Add(p.Patience); ; {
		var now rush.Order
		a := p.Insist(ctx, from, client.Call{Method: "POST", Path: "/payments/verify", Body: body}, &now)
		// The service has found the payment, or the order has ended in another way.
		if a.OK() && !IsOpen(now.Status) {
			o.Status, o.Tickets = now.Status, now.Tickets
			return nil
		}
		if !a.OK() && !a.Unsettled() || time.Now().After(deadline) {
			return fmt.Errorf("contest: verify order %s, %s: %w", o.ID, now.Status, a.Err())
		}
		if err := rig.Pause(ctx, rush.FirstPause); err != nil {
			return fmt.Errorf("contest: verify: %w", err)
		}
	}
}

// IsOpen reports whether an order of the status still waits for money.
func IsOpen(status string) bool { return status == rush.Pending || status == "processing" }

// Buy pays an order and waits until it is completed.
func (p *Place) Buy(ctx context.Context, from int, o *rush.Order) error {
	page, err := p.Checkout(ctx, from, o)
	if err == nil {
		err = p.Pay(ctx, from, page)
	}
	if err == nil {
		err = p.Verify(ctx, from, o)
	}
	return err
}

// GiveUp cancels an order.
func (p *Place) GiveUp(ctx context.Context, from int, o *rush.Order) error {
	return p.Insist(ctx, from, client.Call{
		Method: "POST", Path: "/orders/" + url.PathEscape(o.ID) + "/cancel", Body: rush.Encode(map[string]string{"token": o.AccessToken}),
	}, o).Err()
}

// Refund refunds all tickets of an order, as the organizer.
func (p *Place) Refund(ctx context.Context, o *rush.Order) error {
	return p.Insist(ctx, 0, client.Call{
		Method: "POST", Path: "/organizer/orders/" + url.PathEscape(o.ID) + "/refund", Bearer: p.Organizer.Bearer,
		Body: rush.Encode(map[string]string{"reason": "The line-up has changed."}),
	}, nil).Err()
}

// Read reads what has become of an order.
func (p *Place) Read(ctx context.Context, from int, o *rush.Order) error {
	return p.Insist(ctx, from, client.Call{Method: "GET", Path: "/orders/" + url.PathEscape(o.ID) + "?token=" + url.QueryEscape(o.AccessToken)}, o).Err()
}
