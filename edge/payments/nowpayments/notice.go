package nowpayments

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

// Notice checks the signature x-nowpayments-sig: the hex HMAC-SHA512, under the IPN secret, of the
// body written again with its keys sorted. The provider's own examples disagree about how lists are
// written, so Notice accepts either form.
func (n *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	got, err := hex.DecodeString(strings.TrimSpace(signature))
	if err != nil || len(got) != sha512.Size || n.secret == "" {
		return psp.Notice{}, n.client.Fail(psp.ErrSignature, "")
	}
	if !slices.ContainsFunc([]bool{false, true}, func(listsAsObjects bool) bool {
		text, err := sortKeys(body, listsAsObjects)
		if err != nil {
			return false
		}
		mac := hmac.New(sha512.New, []byte(n.secret))
		mac.Write(text)
		return hmac.Equal(got, mac.Sum(nil))
	}) {
		return psp.Notice{}, n.client.Fail(psp.ErrSignature, "")
	}
	var p payment
	if err := json.Unmarshal(body, &p); err != nil || p.ID == "" {
		return psp.Notice{}, n.client.Fail(psp.ErrNotice, "not a payment")
	}
	// The key makes repeats of a notice equal. It has the status and the coins that arrived,
	// because the same payment sends one notice for each change.
	return psp.Notice{
		Event: p.Status, Reference: p.Order, ProviderID: string(p.ID),
		Key: strings.Join([]string{string(p.ID), p.Status, string(p.ActuallyPaid)}, "|"),
	}, nil
}

// maxDepth bounds how deep the values of a notice may be nested. Anybody can send a notice, and a
// deep one would take much of the stack before its signature is checked.
const maxDepth = 16

var errDepth = errors.New("too deep")

// sortKeys writes a JSON text again without spaces and with the keys of every object sorted, as
// JavaScript does: the provider signs that text. Numbers stay as they are; appendText writes the texts. Lists are
// written as lists or, with listsAsObjects, as objects with the indexes as keys.
func sortKeys(text []byte, listsAsObjects bool) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out, err := appendSorted(nil, d, listsAsObjects, 0)
	if err != nil {
		return nil, err
	}
	// A second value after the first would not be covered by the signature.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return out, nil
}

// appendSorted appends the next value of the decoder, whatever its type, in the form of sortKeys. depth is how deep
// the value is nested; it returns errDepth beyond maxDepth.
func appendSorted(out []byte, d *json.Decoder, listsAsObjects bool, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return appendObject(out, d, listsAsObjects, depth)
		}
		return appendList(out, d, listsAsObjects, depth)
	case json.Number:
		return append(out, v...), nil
	case string:
		return appendText(out, v), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	default:
		return append(out, "null"...), nil
	}
}

// appendObject appends an object with its keys sorted. JavaScript sorts keys by their UTF-16 units.
// In practice keys are ASCII, for which sorting by bytes is the same. If a key occurs twice, the
// last value counts.
func appendObject(out []byte, d *json.Decoder, listsAsObjects bool, depth int) ([]byte, error) {
	members := make(map[string][]byte)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // the decoder returns no other type for a key
		if members[key], err = appendSorted(nil, d, listsAsObjects, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	// The values are ready; only now their order is known.
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, key), ':'), members[key]...)
	}
	return append(out, '}'), nil
}

// appendList appends a list, with its values in their order.
func appendList(out []byte, d *json.Decoder, listsAsObjects bool, depth int) (_ []byte, err error) {
	first, last := byte('['), byte(']')
	if listsAsObjects {
		first, last = '{', '}'
	}
	out = append(out, first)
	for i := 0; d.More(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		if listsAsObjects {
			out = append(append(append(out, '"'), strconv.Itoa(i)...), '"', ':')
		}
		if out, err = appendSorted(out, d, listsAsObjects, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return append(out, last), nil
}

// appendText appends a text as JSON.stringify writes it. It does not escape slashes, <, > and &,
// nor characters beyond ASCII. Go's encoder escapes the separators U+2028 and U+2029 in every case, so
// appendText puts them back.
func appendText(out []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // texts always encode
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	text = replaceEscape(text, `\u2028`, "\u2028")
	return append(out, replaceEscape(text, `\u2029`, "\u2029")...)
}

// replaceEscape replaces an escape by the plain character. If the escape's backslash is itself
// escaped, the text only looks like an escape, and stays.
func replaceEscape(text []byte, escape, plain string) []byte {
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(escape))
		if i < 0 {
			return text
		}
		i += at
		// An odd number of backslashes before it means that its own backslash is escaped.
		slashes := 0
		for j := i - 1; j >= 0 && text[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 1 {
			at = i + 1
			continue
		}
		text = slices.Concat(text[:i], []byte(plain), text[i+len(escape):])
		at = i + len(plain)
	}
}
