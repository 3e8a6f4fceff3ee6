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
	// maxNotice bounds the body of a provider's notice, in bytes.
	maxNotice = 256 << 10
	// maxNoticeKey bounds what a notice is known by, in bytes; a longer one is hashed.
	maxNoticeKey = 200
)

// genuine is a notice whose signature was found good: it counts for its provider.
type genuine struct{ provider string }

// LimitProvider is the provider that is counted.
func (g genuine) LimitProvider() string { return g.provider }

// handleNotices makes the Handler of a provider's notices. signature returns what the request says proves the
// notice.
func handleNotices[In any](h *Handlers, provider string, signature func(*In) string) route.Handler {
	return route.HandleRaw("application/json", func(c *route.Call, in *In) (*api.Received, error) {
		return h.receiveNotice(c, provider, signature(in))
	})
}

// receiveNotice makes a notice of a provider durable, and leaves it to a job to ask the provider about the payment.
// The notice alone issues nothing, because anybody might have sent it.
func (h *Handlers) receiveNotice(c *route.Call, name, signature string) (*api.Received, error) {
	provider, err := h.Gateways.Choose(name)
	if err != nil {
		return nil, err
	}
	digest := c.BodyHash()
	told, err := provider.Notice(c.Body, signature)
	switch {
	case errors.Is(err, psp.ErrNotice): // it is the provider's, but we can't read it
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
	if err != nil { // whatever it is, the provider keeps the notice and sends it again
		h.Log.ErrorContext(c.Context, "payment notice not taken", slog.String("provider", provider.Name), slog.Any("error", err))
		return nil, engine.Refuse(engine.Unavailable, nil)
	}
	return &api.Received{Received: true}, nil
}

// noticeKey returns the key by which a notice is known, so that a second copy is not acted on. It has at most
// maxNoticeKey bytes of UTF-8 without NUL.
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

// ActOnNotice asks the provider about the payment that a notice is about, and tells the order the answer. It
// asks also for the disputes that the notice may be about. A payment that is not ours is none of our business.
func (h *Handlers) ActOnNotice(ctx context.Context, n notices.About) error {
	ctx, cancel := context.WithTimeout(ctx, sweepCall)
	defer cancel()
	err := h.verifyNoticed(ctx, &n)
	if n.Dispute != "" {
		err = errors.Join(err, h.noteDisputes(ctx, n.Provider, n.Dispute))
	}
	return err
}

// verifyNoticed asks the provider about the payment that a notice is about, if it names one.
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

// openingTime is longer than a node takes to note a payment that it opens at the provider.
const openingTime = time.Minute

// isApart reports whether a payment at the provider is another one than its attempt has noted: a
// later deposit to an address that has been paid, or one that a node opened and died before it
// noted it. It returns an error while the attempt may be about to note this one.
func (h *Handlers) isApart(ctx context.Context, p readmodel.Payment, providerID string) (bool, error) {
	o, err := h.Orders.FindInLedger(ctx, p.Order)
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

// takeDeposit asks the provider about money that came by another payment than the attempt's
// own. It buys nothing: the order notes that it is to go back.
func (h *Handlers) takeDeposit(ctx context.Context, p readmodel.Payment, deposit string) error {
	gateway, err := h.Gateways.Provider(p.Provider)
	if err != nil {
		return err
	}
	out, err := gateway.Verify(ctx, psp.Asked{Reference: p.Reference, ProviderID: deposit, Apart: true})
	if err != nil || out.Status != psp.Succeeded {
		return err
	}
	o, err := h.Orders.FindInLedger(ctx, p.Order)
	if err != nil {
		return err
	}
	_, err = h.Node.Ask(ctx, engine.EventRef(p.Order.Event()), ledger.ReportDeposit{
		Order: p.Order, Record: o, Reference: p.Reference, Deposit: deposit, Received: out.Amount,
	})
	return err
}

// findAttempt finds an attempt to pay with a provider by its reference; nil if it is none of ours.
func (h *Handlers) findAttempt(ctx context.Context, provider, reference string) (*readmodel.Payment, error) {
	if reference == "" || !isPlainText(reference) {
		return nil, nil //nolint:nilnil // it is somebody else's
	}
	p, err := h.FindPayment(ctx, reference)
	if errors.Is(err, readmodel.ErrNotFound) || err == nil && p.Provider != provider {
		h.Log.WarnContext(ctx, "payment notice about no payment of ours", slog.String("provider", provider), slog.String("reference", reference))
		return nil, nil //nolint:nilnil // as above
	}
	return &p, err
}

// FindPayment finds an attempt by its reference, also one that the read model does not have yet.
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
