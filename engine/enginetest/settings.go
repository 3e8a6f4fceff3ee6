package enginetest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/engine"
)

// short has short names for settings whose own names would be long in a story.
var short = map[string]string{
	"code": "PresaleCode", "body": "Fingerprint", "by": "Customer", "window": "WindowMillis", "key": "Key",
	"person": "Person", "class": "Class", "device": "Device", "denied": "Denied", "late": "Late", "quantity": "Quantity", "from": "Client", "scale": "Scale",
	"seats": "Seats", "types": "SeatTypes", "holder": "Holder", "of": "Principal", "net": "Network",
}

// set reads key=value into the fields of a struct. The key is a field's name, or one of its short names. A dot in
// the key leads to a field of a field. A story that misspells a name fails.
func (w *story) set(to any, args []string) error {
	v := reflect.ValueOf(to).Elem()
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if long := short[key]; long != "" {
			key = long
		}
		f := v
		for name := range strings.SplitSeq(key, ".") {
			if f = f.FieldByName(name); !ok || !f.IsValid() {
				return fmt.Errorf("%T has no setting %q", to, arg)
			}
		}
		if err := w.setField(key, f, value); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	return nil
}

// setField reads a value in the form that its field's type needs: a text, yes, a number, money
// (20.00), a span (15m; for a time, it counts from now), a time of the story's day (12:30), or
// none.
func (w *story) setField(name string, f reflect.Value, value string) error {
	switch f.Kind() { //nolint:exhaustive // commands have no other settings
	case reflect.String:
		f.SetString(value)
		return nil
	case reflect.Slice: // texts, as A1,A2; ticket types, as GA,VIP
		for part := range strings.SplitSeq(value, ",") {
			one := reflect.New(f.Type().Elem()).Elem()
			// An array is a public id of a ticket type, and a number is its number within the event. Both are
			// written as the type's name.
			if one.Kind() == reflect.Array {
				c, err := w.actor(part)
				if err != nil {
					return err
				}
				one.Set(reflect.ValueOf(engine.NumberedID(c.ref.Home, c.ref.ID)))
			} else if one.CanInt() {
				c, err := w.actor(part)
				if err != nil {
					return err
				}
				one.SetInt(c.ref.ID)
			} else {
				one.SetString(part)
			}
			f.Set(reflect.Append(f, one))
		}
		return nil
	case reflect.Bool:
		f.SetBool(value == "yes")
		return nil
	case reflect.Array: // the id of an order
		f.Set(reflect.ValueOf(w.order(value)))
		return nil
	}
	if f.CanFloat() {
		n, err := strconv.ParseFloat(value, 64)
		f.SetFloat(n)
		return err
	}
	n, err := w.readNumber(name, value)
	if f.CanUint() {
		f.SetUint(uint64(n))
	} else {
		f.SetInt(n)
	}
	return err
}

// readNumber reads a number of the field with this name, or a form that stands for one.
func (w *story) readNumber(name, value string) (int64, error) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return n, nil
	}
	switch d, err := time.ParseDuration(value); {
	// The settings that take "none" have -1 for it, such as a capacity without a limit.
	case value == "none":
		return -1, nil
	// A span means a time from now on in a field that has a time, and the span itself in others.
	case err == nil && slices.Contains(times, name):
		return w.now.Add(d).UnixMilli(), nil
	case err == nil:
		return d.Milliseconds(), nil
	case strings.Contains(value, ":"):
		at, err := time.Parse("15:04", value)
		return Epoch.Truncate(24 * time.Hour).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute).UnixMilli(), err
	default:
		return readMoney(value)
	}
}

// readMoney reads an amount with two decimals in minor units: "20.00" is 2000. Without the decimals it is no
// amount, so that a plain number is never taken for money.
func readMoney(text string) (int64, error) {
	whole, cents, ok := strings.Cut(text, ".")
	if !ok || len(cents) != 2 {
		return 0, fmt.Errorf("%q is no amount", text)
	}
	return strconv.ParseInt(whole+cents, 10, 64)
}
