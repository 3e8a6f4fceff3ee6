package enginetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
	"boxoffice/engine/promo"
	"boxoffice/engine/queue"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/waitlist"
	"boxoffice/engine/wallet"
)

// showFact writes a fact: its name, and the fields that are set. Some facts are written in a shorter form.
func (w *story) showFact(c *character, f engine.Fact) string {
	// A journaled fact has a name in its kind's list. Only the others are named by their type.
	name := volatileName(f)
	for _, def := range c.kind.Facts {
		if def.Type == f.FactType() {
			name = def.Name
		}
	}
	if e, ok := f.(*wallet.Entered); ok {
		return name + " " + w.showEntry(&e.Entry)
	}
	if t, ok := f.(*wallet.Told); ok {
		for i := range t.Entries {
			name += " " + w.showEntry(&t.Entries[i])
		}
		return name
	}
	if text := showQueueFact(f); text != "" {
		return name + " " + text
	}
	if a, ok := f.(*seatmap.AttachedFact); ok {
		return name + " " + w.showAttached(a)
	}
	// All other facts are written field by field.
	fields := w.fields(reflect.ValueOf(f).Elem())
	if name == "placing" {
		fields = "" // its content is private to the kind
	}
	return strings.TrimSpace(name + " " + fields)
}

// showCommand writes a command: its name, and those fields that are set.
func (w *story) showCommand(c engine.Command) string {
	return strings.TrimSpace(CommandName(c) + " " + w.fields(reflect.ValueOf(c)))
}

// show writes a reply. Records are written by what matters in a story, and other replies field by field.
func (w *story) show(r engine.Reply) string {
	switch r := r.(type) {
	case *engine.Refusal:
		if r.Details == nil {
			return string(r.Code)
		}
		return string(r.Code) + " " + w.value("", reflect.ValueOf(r.Details))
	case *ledger.OrderReply:
		if r.Order == nil {
			return r.Status + ", the rest is in the read model"
		}
		return w.showOrder(r.Order)
	case *event.Record:
		return fmt.Sprintf("%s, revision %d, %d ticket types", r.Status, r.Revision, r.Types)
	case *inventory.Record:
		return fmt.Sprintf("%d sold, %d available, revision %d", r.Sold, r.Available, r.Revision)
	case *wallet.Reply:
		return w.showEntry(&r.Entry) + "; now " + showWallet(&r.Wallet)
	case *wallet.Record:
		return showWallet(r)
	case *promo.Record:
		return showPromo(r)
	case *calendar.Record:
		return showCalendar(r)
	case *queue.Record:
		return w.showRoom(r)
	case *queue.Placed:
		return w.showPlace(r)
	case *queue.Proof:
		return fmt.Sprintf("entry %d, %d hashes", r.Index, len(r.Hashes))
	case *waitlist.Placed:
		return w.showPlaced(r)
	case *waitlist.Page:
		parts := make([]string, len(r.Entries))
		for i := range r.Entries {
			parts[i] = w.showPlaced(&r.Entries[i])
		}
		return "[" + strings.Join(parts, "; ") + "]"
	case *seatmap.Map:
		return w.showMap(r)
	case *seatmap.Selection:
		return w.showSelection(r)
	case *seatmap.Record:
		return w.showMap(&seatmap.Map{Record: *r, Layout: new(seatmap.Layout)})
	default:
		return w.value("", reflect.ValueOf(r))
	}
}

// showOrder writes an order's record, the most important things first.
func (w *story) showOrder(o *order.Order) string {
	parts := []string{w.OrderName(o.ID), o.Status, w.value("", reflect.ValueOf(o.Lines)), "total " + amount(o.Total)}
	if o.Promo != nil {
		parts = append(parts, fmt.Sprintf("%s off by %s", amount(o.Discount), o.Promo.Code))
	}
	if o.Issue != nil {
		parts = append(parts, strings.TrimSpace("issued "+w.fields(reflect.ValueOf(o.Issue).Elem())))
	}
	if o.Unpaid() {
		parts = append(parts, "until "+w.clock(o.ExpiresAt))
	}
	if o.FirstTicket > 0 {
		parts = append(parts, fmt.Sprintf("tickets from %d", o.FirstTicket))
	}
	for _, r := range o.Rescheduled {
		parts = append(parts, fmt.Sprintf("ticket %d%s", r.Ticket, w.showVisit(&r.Visit)))
	}
	for _, a := range o.Attempts {
		parts = append(parts, fmt.Sprintf("%s %s %s of %s", a.Reference, a.Status, amount(a.Received), amount(a.Amount)))
	}
	for _, r := range o.Refunds {
		parts = append(parts, fmt.Sprintf("%s of %s goes back (%s, %s)", amount(r.Amount), r.Reference, r.Reason, r.Status))
	}
	return strings.Join(parts, ", ")
}

// boring are fields that would tell nothing new in a story, because they are always the same or follow from others.
var boring = []string{
	"ID", "At", "CreatedAt", "UpdatedAt", "Currency", "Fingerprint", "Email", "Name", "Customer", "Category",
	"Title", "Type", "URL", "Number", "PublicID", "Ref", "Method", "Client",
}

// fields writes those fields of a struct that are set, in their order.
func (w *story) fields(v reflect.Value) string {
	var parts []string
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i)
		if f.IsZero() || !name.IsExported() {
			continue
		}
		// Ids of orders and claims are written by the story's names before a field can be left out as boring: they
		// tell which order a fact is about.
		id, isID := reflect.TypeAssert[engine.OrderID](f)
		claim, isClaim := reflect.TypeAssert[keeper.Claim](f)
		switch {
		case isID && !id.Zero() && name.Name != "PublicID":
			parts = append(parts, w.OrderName(id))
		case isClaim:
			parts = append(parts, w.OrderName(claim.Order)+"@"+serial(claim.Serial))
		case slices.Contains(boring, name.Name):
		case name.Name == "Status" || name.Name == "Keeper":
			parts = append(parts, w.value(name.Name, f))
		default:
			parts = append(parts, strings.TrimSpace(splitName(name.Name)+" "+w.value(name.Name, f)))
		}
	}
	return strings.Join(parts, ", ")
}

// These fields have numbers that stand for amounts in minor units, spans in milliseconds, or times in unix
// milliseconds. They are read and written in forms that people read.
var (
	amounts = []string{"Discount", "MinOrder", "Price", "UnitPrice", "Subtotal", "Fees", "Absorbed", "Fee", "Sales", "Cleared", "Total", "Amount", "Received"}
	spans   = []string{"OrderWindow", "WindowMillis", "HoldTime"}
	times   = []string{"At", "CreatedAt", "UpdatedAt", "EndedAt", "ExpiresAt", "ProcessedAt", "StartAt", "EndAt", "SaleStart", "SaleEnd", "SoldOutAt", "Since", "Until", "ValidFrom", "ValidUntil", "Rules.RegistersFrom", "Rules.ClosesAt", "Rules.OpensAt"}
)

// value writes the value of a field in the form that fits the field's type, and for numbers the field's name: an
// int64 may be an amount, a span, a time or a plain number.
func (w *story) value(name string, v reflect.Value) string {
	switch x := v.Interface().(type) {
	case engine.Ref:
		return w.nameOf(x)
	case keeper.Serial:
		return serial(x)
	case keeper.Day:
		return x.String()
	case []order.Line:
		lines := make([]string, len(x))
		for i, l := range x {
			lines[i] = fmt.Sprintf("%d %s at %s", l.Quantity, w.nameOf(engine.InventoryRef(1, l.Type)), amount(l.UnitPrice))
			if len(l.Seats) > 0 {
				lines[i] += " for " + strings.Join(l.Seats, " ")
			}
			if l.Visit != nil {
				lines[i] += w.showVisit(l.Visit)
			}
		}
		return strings.Join(lines, " + ")
	case int64:
		switch {
		case slices.Contains(amounts, name):
			return amount(x)
		case slices.Contains(spans, name):
			return w.span(x)
		case x == -1:
			return "none"
		case slices.Contains(times, name):
			return w.clock(x)
		}
	case *order.Order:
		return w.showOrder(x)
	case paged.Steps:
		return w.seatNames(x)
	case *engine.Refusal:
		return w.show(x)
	// Some replies name a ticket type by its public id. Other texts are written as they are.
	case string:
		if id, err := engine.ParseID(x); err == nil {
			return w.nameOf(engine.InventoryRef(id.Event(), id.Number()))
		}
	}
	// Values that have no form of their own are written by what they consist of.
	switch v.Kind() { //nolint:exhaustive // other values are written as they are
	case reflect.Pointer:
		return w.value(name, v.Elem())
	case reflect.Struct:
		return "{" + w.fields(v) + "}"
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = w.value(name, v.Index(i))
			if claim, ok := reflect.TypeAssert[keeper.Claim](v.Index(i)); ok {
				parts[i] = w.OrderName(claim.Order) + "@" + serial(claim.Serial)
			}
			if id, ok := reflect.TypeAssert[engine.OrderID](v.Index(i)); ok {
				parts[i] = w.OrderName(id)
			}
		}
		return "[" + strings.Join(parts, " ") + "]"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// splitName writes MaxPerOrder as "max per order", and TicketTypeID as "ticket type".
func splitName(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "IDs"), "ID")
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// serial writes a claim's serial as epoch.number.
func serial(n keeper.Serial) string { return fmt.Sprintf("%d.%d", n.Epoch(), uint32(n)) }

// amount writes minor units with two decimals, because stories sell in dollars.
func amount(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// clock writes a time, and its date unless it is on the story's first day.
func (w *story) clock(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if t.YearDay() == Epoch.YearDay() && t.Year() == Epoch.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04:05")
}

// span writes milliseconds as a span of time.
func (w *story) span(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// OrderName returns the name of an order in the story, which is its buyer's name. For an order that the story
// does not name, it returns a short name made of the order's number.
func (w *story) OrderName(id engine.OrderID) string {
	for name, known := range w.orders {
		if known == id {
			return name
		}
	}
	return OrderName(id)
}
