// Package redact copies the bodies of requests and answers for the log of failed requests, without
// the values that may be secrets, because a log must not contain credentials.
//
// The type that an operation reads decides what is shown of a request's body: values of fields whose names
// sound secret, and of members that the operation doesn't know, are withheld. Credentials in the values that
// are shown are recognized by their form. The work is bounded by the length of the copy, however long the body
// is. The package keeps nothing, and any goroutine may call its functions.
package redact

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// secretName matches the names of fields that hold secrets, or addresses that only a ticket's
// holder may open.
var secretName = regexp.MustCompile(`(?i)(token|code|secret|password|passcode|qrdata|pin|otp|nonce|holder|admission|sig|signature|hash|apikey|authorization|cookie|accessurl|accessnote|onlinelink|onlinelinknote)$`)

// NamesSecret reports whether the name of a field sounds as if the field holds a secret.
func NamesSecret(name string) bool { return secretName.MatchString(name) }

// credential matches credentials anywhere in a text: API keys, access tokens, signing secrets,
// secret parameters of a link, and a user's name and password in a link.
var credential = regexp.MustCompile(`(vt_|whsec_|eyJ)[\w.-]{8,}` +
	`|(?i:[?&#;]\w*(token|code|secret|password|sig|signature|key)=)[\w.%~+/-]+` +
	`|//[^/?#@\s"]+:[^/?#@\s"]+@`)

// withheld is the JSON that replaces a value that is not shown.
const withheld = `"[withheld]"`

// HideCredentials replaces each credential in a text by [withheld].
func HideCredentials(text []byte) []byte {
	return credential.ReplaceAllLiteral(text, []byte("[withheld]"))
}

// shape says which values of a JSON document may be shown.
type shape struct {
	members map[string]*shape // the members of an object that may be shown, by name; nil if the shape is not an object with known members
	free    bool              // members of all names are shown, except those whose names sound secret
	answer  bool              // like free, but the member code is shown too, because it is a refusal's code
}

// freeType is the type of a field that takes JSON of any form.
var freeType = reflect.TypeFor[jsontext.Value]()

var (
	scalarShape = &shape{}
	freeShape   = &shape{free: true}
	answerShape = &shape{free: true, answer: true}
)

// memberShape returns the shape of the member with a name, or nil if its value must be withheld.
func (s *shape) memberShape(name string) *shape {
	if !s.free {
		return s.members[name]
	}
	if s.answer && name == "code" || !NamesSecret(name) {
		return s
	}
	return nil
}

// shapeOf returns the shape of a type of a request's body. It stores each shape in known before it
// visits the members, so that it also ends for recursive types.
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

// addMembers adds the members of a struct, except those whose names sound secret (NamesSecret) or whose
// format is password. The members of an embedded struct count as the struct's own.
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

// Body returns the beginning of the JSON body of a request for the operation, in up to most bytes. Values that
// may be secrets, or that the operation doesn't know, are withheld. If the body is not valid JSON, the text
// ends before the first fault. cut reports whether the end of the body is missing.
func Body(op *route.Op, body []byte, most int) (text []byte, cut bool) {
	return redactJSON(shapeOf(op.Handler.In, map[reflect.Type]*shape{}), body, most)
}

// Answer returns the beginning of a refusal's body in the same way. It shows all members whose
// names do not sound secret, and the member code.
func Answer(body []byte, most int) (text []byte, cut bool) {
	return redactJSON(answerShape, body, most)
}

// redactJSON does the work of Body and Answer: s says which values of the body are shown. Bytes that are not UTF-8 are
// left out of text. cut is also true if anything but spaces follows the JSON value.
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

// redactor copies a body unchanged, except for the values that are withheld and the credentials that are hidden.
type redactor struct {
	json *jsontext.Decoder
	body []byte
	read int // how many bytes of body have been copied or withheld so far
	text []byte
	most int
}

// copyValue copies the next value, without the credentials in its texts (hideInText), or withholds it if s is nil.
// It reports whether copying may go on: not after a fault or at the bound. A text or a number in the place of an
// object is withheld, because it may be that object in another encoding, with secrets.
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

// copyElements copies the elements of an array, each as s says, and reports whether copying may go on.
func (r *redactor) copyElements(s *shape) bool {
	for r.json.PeekKind() != jsontext.KindEndArray {
		if !r.copyValue(s) {
			return false
		}
	}
	return true
}

// copyMembers copies the names and values of an object's members. It hides credentials in the names
// too, because a client may have put one there by mistake.
func (r *redactor) copyMembers(s *shape) bool {
	for r.json.PeekKind() != jsontext.KindEndObject {
		var name []byte
		more := r.copyNext(func(quoted []byte) []byte {
			name, _ = jsontext.AppendUnquote(nil, quoted) // this never fails, because the decoder has read the name
			return r.hideInText(quoted)
		})
		if !more || !r.copyValue(s.memberShape(string(name))) {
			return false
		}
	}
	return true
}

// copyToken copies the next token, which is not a string. It stops copying at a depth of more than
// route.MaxDepth.
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

// copyNext copies what stands before the next value, and then what show returns for the value.
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

// hideInText hides the credentials in a quoted text. If the unquoted text still contains a credential, because
// the credential was written with escapes, the whole text is withheld. It searches only as many bytes as may be
// kept, and a few more, by which a credential at the bound is recognized.
func (r *redactor) hideInText(quoted []byte) []byte {
	quoted = quoted[:min(len(quoted), r.most+1+len("whsec_")*8)]
	hidden := HideCredentials(quoted)
	text, _ := jsontext.AppendUnquote(nil, hidden) // if the text was cut, this returns the part before the cut
	if credential.Match(text) {
		return []byte(withheld)
	}
	return hidden
}

// appendText appends to the copy, up to one byte more than the bound, which shows that the body
// must be cut. It returns false beyond the bound, so that no time is spent on the rest of a long
// body.
func (r *redactor) appendText(text []byte) bool {
	r.text = append(r.text, text[:min(len(text), r.most+1-len(r.text))]...)
	return len(r.text) <= r.most
}
