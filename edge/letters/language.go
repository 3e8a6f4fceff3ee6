package letters

import (
	"context"

	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// PreferredLanguage is the language that a call asks for, of those that mails are written in; "" if it
// asks for none of them.
func PreferredLanguage(c *route.Call) string {
	if l, ok := mail.ReadLanguage(c.Languages); ok {
		return l.String()
	}
	return ""
}

// KeptLanguage is the PreferredLanguage as facts keep it: "" also stands for the deployment's own, so
// that most orders pay nothing for it.
func (h *Writer) KeptLanguage(c *route.Call) string {
	if l := PreferredLanguage(c); l != h.Language.String() {
		return l
	}
	return ""
}

// ReaderLanguage is the language of what is written for the reader of an order who asks for it: the one
// that the request prefers, as in Accept-Language, else the one of the order's letters.
func (h *Writer) ReaderLanguage(ctx context.Context, preferred string, o *order.Order) (mail.Language, error) {
	if l, ok := mail.ReadLanguage(preferred); ok {
		return l, nil
	}
	return h.languageOf(ctx, o.Email, o.Language)
}

// languageOf is the language in which somebody reads mails: the account's language, if it names one,
// else the first that is known of those in which somebody has asked, else the deployment's.
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
