package route

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Opt is a field of a partial update, which distinguishes an absent field, null and a value. The
// field's constraint tags apply to Value; `nullable:"false"` refuses null. The field's tag is
// `json:"name,omitzero"`.
type Opt[T any] struct {
	Set   bool // the field was sent
	Null  bool // it was sent as null
	Value T    // zero unless Set and not Null
}

// Some is an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// Null is an Opt that was sent as null.
func Null[T any]() Opt[T] { return Opt[T]{Set: true, Null: true} }

// Into replaces *dst if the field was sent; null sets *dst to zero.
func (o Opt[T]) Into(dst *T) {
	if o.Set {
		*dst = o.Value
	}
}

// MarshalJSONTo writes null or the value. Go clients that build requests use it.
func (o Opt[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !o.Set || o.Null {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, &o.Value)
}

// IsZero reports whether the field was not sent.
func (o Opt[T]) IsZero() bool { return !o.Set }

// Inner returns the type of Value. The plan and the OpenAPI document ask for it.
func (o Opt[T]) Inner() reflect.Type { return reflect.TypeFor[T]() }

// InlineJSONSchema makes the document show the value in place of a reference to this type.
func (o Opt[T]) InlineJSONSchema() {}

// Optional is implemented by every Opt and by nothing else, so it recognizes an Opt of whatever type.
type Optional interface{ Inner() reflect.Type }

// These are the positions of Opt's fields, for the plan.
const (
	optSet = iota
	optNull
	optValue
)
