package letters

import (
	"context"

	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// PreferredLanguage returns the language that a request asks for, if mails are written in it, or
// else "".
func PreferredLanguage(c *route.Call) string {
	if l, ok := mail.ReadLanguage(c.Languages); ok {
		return l.String()
	}
	return ""
}

// KeptLanguage returns the preferred language in the form in which facts store it. The deployment's own language
// is stored as "", so that most orders need no space for it.
func (h *Writer) KeptLanguage(c *route.Call) string {
	if l := PreferredLanguage(c); l != h.Language.String() {
		return l
	}
	return ""
}

// ReaderLanguage returns the language for a page or file of an order. preferred is an Accept-Language header.
// If we have none of the preferred languages, it returns the language of the order's letters.
func (h *Writer) ReaderLanguage(ctx context.Context, preferred string, o *order.Order) (mail.Language, error) {
	if l, ok := mail.ReadLanguage(preferred); ok {
		return l, nil
	}
	return h.languageOf(ctx, o.Email, o.Language)
}

// languageOf returns the language in which a person reads mails. The account's language comes
// first, then the languages in which the person has asked, then the deployment's.
func (h *Writer) languageOf(ctx context.Context, email string, asked ...string) (mail.Language, error) {
	locale, err := h.Accounts.LocaleOf(ctx, order.NormalEmail(email))
	if err != nil {
		return h.Language, err
	}
	for _, tag := range append([]string{locale}, asked...) {
		if l, ok := mail.ReadLanguage(tag); ok {
			return l, nil
		}
	}
	return h.Language, nil
}
