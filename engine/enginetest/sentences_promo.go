package enginetest

import (
	"fmt"
	"strings"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
)

// sayPromo reads what happens to a promo code, whose name begins with a percent sign.
//
//	%EARLY opens Percentage=yes Value=1000 MaxUses=1     %EARLY changes MaxUses=2
//	%EARLY is read     %EARLY is deleted     ann places 2 GA promo=EARLY
func (w *story) sayPromo(c *character, verb string, args []string) error {
	// A new code is valid from an hour ago until two days from now, unless the story says otherwise.
	t := promo.Details{ValidFrom: w.now.Add(-time.Hour).UnixMilli(), ValidUntil: w.now.Add(48 * time.Hour).UnixMilli()}
	t.Code = strings.TrimPrefix(c.name, "%")
	switch verb {
	case "opens":
		if err := w.set(&t, args); err != nil {
			return err
		}
		return w.tell(c, promo.Create{Details: t})
	case "changes":
		r, ok := c.state.Decide(promo.Get{}, w.now).Reply.(*promo.Record)
		if !ok {
			return fmt.Errorf("%s has no record", c.name)
		}
		t = r.Details
		if err := w.set(&t, args); err != nil {
			return err
		}
		return w.tell(c, promo.Update{Details: t, Revision: r.Revision})
	default: // is read, is deleted
		if args[0] == "deleted" {
			return w.tell(c, promo.Delete{})
		}
		return w.tell(c, promo.Get{})
	}
}

// promoOf returns a promo code as an order names it.
func (w *story) promoOf(name string) (*order.Promo, error) {
	c, err := w.actor("%" + name)
	if err != nil {
		return nil, err
	}
	return &order.Promo{Ref: c.ref, Code: name}, nil
}

// promoRef returns the reference of the next promo code of a story, which are numbered from 1.
func (w *story) promoRef() engine.Ref {
	codes := int64(1)
	for _, c := range w.actors {
		if c.ref.Kind == engine.KindPromo {
			codes++
		}
	}
	return engine.PromoRef(1, codes)
}

// showPromo writes a code's state.
func showPromo(r *promo.Record) string {
	s := fmt.Sprintf("%d used, %d held, revision %d", r.Used, r.Held, r.Revision)
	switch { // a code is never both
	case r.Disabled:
		return s + ", disabled"
	case r.Removed:
		return s + ", removed"
	}
	return s
}
