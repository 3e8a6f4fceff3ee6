// Package redact copies bodies of requests and answers for the log of failed requests, with all values withheld
// that may be secrets: a log must not become a place where credentials lie about.
//
// The type that an operation reads decides what may be shown of a request's body: fields whose names sound secret, and
// members that the operation doesn't know, are withheld. A credential within another text is found by its form. The
// cost of a copy has a limit, however long the body is. The package keeps no state, and any goroutine may call it.
package redact

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// secretName matches the names of fields that are secrets, or that lead to what a ticket's holder alone may
// open.
var secretName = regexp.MustCompile(`(?i)(token|code|secret|password|passcode|qrdata|pin|otp|nonce|holder|admission|sig|signature|hash|apikey|authorization|cookie|accessurl|accessnote|onlinelink|onlinelinknote)$`)

// NamesSecret reports whether a field of this name holds a secret.
func NamesSecret(name string) bool { return secretName.MatchString(name) }

// credential matches a text that grants access wherever it stands: API keys, access tokens, signing secrets,
// secret parameters of a link, and a user with a password in one.
var credential = regexp.MustCompile(`(vt_|whsec_|eyJ)[\w.-]{8,}` +
	`|(?i:[?&#;]\w*(token|code|secret|password|sig|signature|key)=)[\w.%~+/-]+` +
	`|//[^/?#@\s"]+:[^/?#@\s"]+@`)

// withheld replaces a value that is not shown.
const withheld = `"[withheld]"`

// HideCredentials replaces the credentials that a text contains.
func HideCredentials(text []byte) []byte {
	return credential.ReplaceAllLiteral(text, []byte("[withheld]"))
}

// shape says which values of a JSON document may be shown.
type shape struct {
	members map[string]*shape // the members of an object; a member with any other name is withheld. nil: the value is no object
	free    bool              // members with any names are shown, except those that sound secret
	answer  bool              // the document is a refusal: as free, but a member "code" is shown too
}

// freeType is the type of a field that takes JSON of any form.
var freeType = reflect.TypeFor[jsontext.Value]()

var (
	scalarShape = &shape{}
	freeShape   = &shape{free: true}
	answerShape = &shape{free: true, answer: true}
)

// memberShape returns the shape of a member, or nil if its value is withheld.
func (s *shape) memberShape(name string) *shape {
	if !s.free {
		return s.members[name]
	}
	if s.answer && name == "code" || !NamesSecret(name) {
		return s
	}
	return nil
}

// shapeOf returns the shape of a type of a request's body. It keeps in known what it has made, so that
// recursive types end.
func shapeOf(t reflect.Type, known map[reflect.Type]*shape) *shape {
	if opt, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = opt.Inner()
	}
	switch {
	case t == freeType:
		return freeShape
	case route.IsScalar(t):
		return scalarShape
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return shapeOf(t.Elem(), known)
	case known[t] != nil:
		return known[t]
	}
	s := &shape{members: map[string]*shape{}}
	known[t] = s
	s.addMembers(t, known)
	return s
}

// addMembers adds the members of a struct that may be shown.
func (s *shape) addMembers(t reflect.Type, known map[reflect.Type]*shape) {
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && route.BindingTag(f) == "" {
			s.addMembers(f.Type, known)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && !NamesSecret(name) && f.Tag.Get("format") != "password" {
			s.members[name] = shapeOf(f.Type, known)
		}
	}
}

// Body returns the beginning of a JSON body of a request of the operation, at most about most bytes, with all
// values withheld that are secrets or that the operation doesn't know. The text ends before the first
// fault of a body that isn't JSON. It reports whether the text is less than the whole body.
func Body(op *route.Op, body []byte, most int) (text []byte, cut bool) {
	return redactJSON(shapeOf(op.Handler.In, map[reflect.Type]*shape{}), body, most)
}

// Answer returns the beginning of a refusal's body in the same way. A member of any name is shown unless the name
// sounds secret; but code is the refusal's own.
func Answer(body []byte, most int) (text []byte, cut bool) {
	return redactJSON(answerShape, body, most)
}

func redactJSON(s *shape, body []byte, most int) (text []byte, cut bool) {
	r := redactor{body: body, most: most}
	r.json = jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	whole := r.copyValue(s) && len(bytes.TrimSpace(body[r.read:])) == 0
	text = bytes.ToValidUTF8(r.text, nil)
	if len(text) > most {
		return bytes.ToValidUTF8(text[:most], nil), true
	}
	return text, !whole
}

// redactor copies a body as it is written, but for the values that are withheld.
type redactor struct {
	json *jsontext.Decoder
	body []byte
	read int // how many bytes of body have been copied to text or left out
	text []byte
	most int
}

// copyValue copies the next value, and reports whether there is more to copy. A text or a number in the place of
// an object is withheld, because it may be that object in an encoding that nothing here looks into.
func (r *redactor) copyValue(s *shape) bool {
	kind := r.json.PeekKind()
	switch {
	case s == nil, s.members != nil && (kind == jsontext.KindString || kind == jsontext.KindNumber):
		return r.copyNext(func([]byte) []byte { return []byte(withheld) })
	case kind == jsontext.KindBeginObject:
		return r.copyToken() && r.copyMembers(s) && r.copyToken()
	case kind == jsontext.KindBeginArray:
		return r.copyToken() && r.copyElements(s) && r.copyToken()
	case kind == jsontext.KindString:
		return r.copyNext(r.hideInText)
	}
	return r.copyToken()
}

func (r *redactor) copyElements(s *shape) bool {
	for r.json.PeekKind() != jsontext.KindEndArray {
		if !r.copyValue(s) {
			return false
		}
	}
	return true
}

// copyMembers copies names and values. A name, too, may hold a credential by mistake.
func (r *redactor) copyMembers(s *shape) bool {
	for r.json.PeekKind() != jsontext.KindEndObject {
		var name []byte
		more := r.copyNext(func(quoted []byte) []byte {
			name, _ = jsontext.AppendUnquote(nil, quoted) // the decoder has found it valid
			return r.hideInText(quoted)
		})
		if !more || !r.copyValue(s.memberShape(string(name))) {
			return false
		}
	}
	return true
}

// copyToken copies the next token, which is no text.
func (r *redactor) copyToken() bool {
	if r.json.StackDepth() > route.MaxDepth {
		return false
	}
	if _, err := r.json.ReadToken(); err != nil {
		return false
	}
	at := int(r.json.InputOffset())
	more := r.appendText(r.body[r.read:at])
	r.read = at
	return more
}

// copyNext copies the next value with what stands before it, as show returns it.
func (r *redactor) copyNext(show func(value []byte) []byte) bool {
	value, err := r.json.ReadValue()
	if err != nil {
		return false
	}
	at := int(r.json.InputOffset())
	more := r.appendText(r.body[r.read:at-len(value)]) && r.appendText(show(value))
	r.read = at
	return more
}

// hideInText hides the credentials in a quoted text. If the text contains a credential that is written with escapes, it
// withholds the whole text. It searches only as much of the text as may be kept, plus the length of the longest
// beginning of a credential.
func (r *redactor) hideInText(quoted []byte) []byte {
	quoted = quoted[:min(len(quoted), r.most+1+len("whsec_")*8)]
	hidden := HideCredentials(quoted)
	text, _ := jsontext.AppendUnquote(nil, hidden) // of a text that was cut, what there is
	if credential.Match(text) {
		return []byte(withheld)
	}
	return hidden
}

// appendText adds to the text, but only as much as is needed to see that the body must be cut. So nothing is spent on a
// search for credentials in what is not kept.
func (r *redactor) appendText(text []byte) bool {
	r.text = append(r.text, text[:min(len(text), r.most+1-len(r.text))]...)
	return len(r.text) <= r.most
}
