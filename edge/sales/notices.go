package sales

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/payments/psp"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/readmodel"
)

const (
	// maxNotice is the most bytes of the body of a provider's notice.
	maxNotice = 256 << 10
	// maxNoticeKey is the most bytes of a notice's key; a longer key is hashed.
	maxNoticeKey = 200
)

// genuine stands for a notice with a good signature when the rate limit of its provider is counted (Gate.Admit).
type genuine struct{ provider string }

// LimitProvider returns the provider for which the notice counts.
func (g genuine) LimitProvider() string { return g.provider }

// handleNotices makes the Handler of a provider's notices. signature returns the request's proof that the notice is
// the provider's, which Gateway.Notice checks.
func handleNotices[In any](h *Handlers, provider string, signature func(*In) string) route.Handler {
	return route.HandleRaw("application/json", func(c *route.Call, in *In) (*api.Received, error) {
		return h.receiveNotice(c, provider, signature(in))
	})
}

// receiveNotice checks a notice's signature and the provider's rate limit, and stores the notice, also one that can't
// be read. A job then asks the provider about the payment (ActOnNotice). The contents of the notice are not trusted.
func (h *Handlers) receiveNotice(c *route.Call, name, signature string) (*api.Received, error) {
	provider, err := h.Gateways.Choose(name)
	if err != nil {
		return nil, err
	}
	digest := c.BodyHash()
	told, err := provider.Notice(c.Body, signature)
	switch {
	case errors.Is(err, psp.ErrNotice): // The signature is good, but we can't read the notice.
		told = psp.Notice{Event: "unreadable", Key: hex.EncodeToString(digest[:])}
		h.Log.WarnContext(c.Context, "payment notice not understood", slog.String("provider", provider.Name), slog.Any("error", err))
	case err != nil:
		return nil, err
	}
	if c.Gate != nil {
		if err := c.Gate.Admit(c, genuine{provider.Name}); err != nil {
			return nil, err
		}
	}
	err = h.Notices.Add(c.Context, &notices.Notice{
		Provider: provider.Name, EventID: noticeKey(told.Key), Digest: digest,
		Body:  h.Secrets.Seal("payment notice", digest[:], c.Body),
		About: notices.About{Provider: provider.Name, Reference: told.Reference, ProviderID: told.ProviderID, Dispute: told.Dispute},
	})
	if err != nil { // The provider sends a notice again after any answer that is not a success.
		h.Log.ErrorContext(c.Context, "payment notice not taken", slog.String("provider", provider.Name), slog.Any("error", err))
		return nil, engine.Refuse(engine.Unavailable, nil)
	}
	return &api.Received{Received: true}, nil
}

// noticeKey returns the key under which a notice is stored, so that a second copy has no effect. It is the
// provider's key, or a hash of it if that is long or has other characters than printable ASCII.
func noticeKey(key string) string {
	if len(key) <= maxNoticeKey && isPlainText(key) {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isPlainText reports whether a text is made of printable ASCII.
func isPlainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// ActOnNotice asks the provider about the payment that a notice is about, and reports the answer to the order. It
// also asks for disputes if the notice may be about one. It ignores payments that are not ours.
func (h *Handlers) ActOnNotice(ctx context.Context, n notices.About) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	err := h.verifyNoticed(ctx, &n)
	if n.Dispute != "" {
		err = errors.Join(err, h.noteDisputes(ctx, n.Provider, n.Dispute))
	}
	return err
}

// verifyNoticed asks the provider about the payment that a notice is about, if the notice names a payment of
// ours. If that is another payment than the attempt's own, takeDeposit asks about it. It does not ask about the
// attempt's own payment if the attempt was refunded, or if the notice is a repeat (Again) and the attempt has
// succeeded.
func (h *Handlers) verifyNoticed(ctx context.Context, n *notices.About) error {
	found, err := h.findAttempt(ctx, n.Provider, n.Reference)
	if err != nil || found == nil {
		return err
	}
	p := *found
	if n.ProviderID != "" {
		apart, err := h.isApart(ctx, p, n.ProviderID)
		if err != nil {
			return err
		}
		if apart {
			return h.takeDeposit(ctx, p, n.ProviderID)
		}
	}
	if p.Status == order.AttemptRefunded || n.Again && p.Status == order.AttemptSucceeded {
		return nil
	}
	return sweep{h}.verifyAttempt(ctx, p)
}

// openingTime is longer than a node needs from the beginning of an attempt until it has noted the payment that it
// opens at the provider.
const openingTime = time.Minute

// isApart reports whether the provider's payment providerID differs from the one that its attempt has noted. That
// happens with a later deposit to an address that has been paid, or if a node opened the payment and died before it
// noted it. It returns an error while the attempt may still be about to note the payment.
func (h *Handlers) isApart(ctx context.Context, p readmodel.Payment, providerID string) (bool, error) {
	o, err := h.Orders.Find(ctx, p.Order)
	if err != nil {
		return false, err
	}
	a := o.Attempt(p.Reference)
	switch {
	case a == nil:
		return false, errors.New("the order has no such attempt")
	case a.Open() && !a.Opened() && time.Since(time.UnixMilli(a.At)) < openingTime:
		return false, errors.New("the attempt is being opened")
	}
	return a.ProviderID != providerID, nil
}

// takeDeposit asks the provider about another payment than the attempt's own. If it has fully succeeded, its money does not
// pay the order: the order notes that it must go back, also if the ledger has forgotten the order.
func (h *Handlers) takeDeposit(ctx context.Context, p readmodel.Payment, deposit string) error {
	gateway, err := h.Gateways.Provider(p.Provider)
	if err != nil {
		return err
	}
	out, err := gateway.Verify(ctx, psp.Asked{Reference: p.Reference, ProviderID: deposit, Apart: true})
	if err != nil || out.Status != psp.Succeeded {
		return err
	}
	o, err := h.Orders.Find(ctx, p.Order)
	if err != nil {
		return err
	}
	_, err = h.Node.Ask(ctx, engine.EventRef(p.Order.Event()), ledger.ReportDeposit{
		Order: p.Order, Record: o, Reference: p.Reference, Deposit: deposit, Received: out.Amount,
	})
	return err
}

// findAttempt finds an attempt to pay with a provider by its reference. It returns nil if there is no such attempt.
func (h *Handlers) findAttempt(ctx context.Context, provider, reference string) (*readmodel.Payment, error) {
	if reference == "" || !isPlainText(reference) {
		return nil, nil //nolint:nilnil // it is somebody else's
	}
	p, err := h.FindPayment(ctx, reference)
	if errors.Is(err, readmodel.ErrNotFound) || err == nil && p.Provider != provider {
		h.Log.WarnContext(ctx, "payment notice about no payment of ours", slog.String("provider", provider), slog.String("reference", reference))
		return nil, nil //nolint:nilnil // it is no payment of ours
	}
	return &p, err
}

// FindPayment finds an attempt by its reference. If the read model does not have the attempt, it waits until the read
// model has all that is committed, and looks again. It returns readmodel.ErrNotFound if there is none.
func (h *Handlers) FindPayment(ctx context.Context, reference string) (readmodel.Payment, error) {
	p, err := h.Read.Payment(ctx, reference)
	if !errors.Is(err, readmodel.ErrNotFound) {
		return p, err
	}
	if err := h.Settled(ctx); err != nil {
		return p, err
	}
	return h.Read.Payment(ctx, reference)
}
