package server

import (
	"bytes"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/engine"
)

// readPath checks the parameters of the path, and decodes those that may be any text. The router matches the
// path as it was sent, so an encoded slash is part of a parameter and never separates two. readPath returns
// false for a path that cannot name anything; the caller then answers 404. p.MaxLength is in characters; for a
// parameter that is not text, a character is one byte.
func readPath(ctx *fasthttp.RequestCtx, params []route.PathParam) bool {
	for i := range params {
		p := &params[i]
		value, _ := ctx.UserValue(p.Name).(string)
		if !p.Text {
			if strings.IndexByte(value, '%') >= 0 {
				value = decodeUnreserved(value)
				ctx.SetUserValue(p.Name, value)
			}
			if !plainParam(value) || p.MaxLength >= 0 && len(value) > p.MaxLength {
				return false
			}
			continue
		}
		text, err := url.PathUnescape(value)
		if err != nil || !utf8.ValidString(text) || strings.Trim(text, ".") == "" ||
			strings.IndexByte(text, 0) >= 0 || utf8.RuneCountInString(text) > p.MaxLength {
			return false
		}
		ctx.SetUserValue(p.Name, text)
	}
	return true
}

// decodeUnreserved decodes characters that need no percent-encoding: letters, digits and the marks "-", ".", "_"
// and "~". Their encoded forms mean the same (RFC 3986, 6.2.2.2). Everything else stays as it was sent.
func decodeUnreserved(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '%' && i+2 < len(value) {
			if c, err := strconv.ParseUint(value[i+1:i+3], 16, 8); err == nil && isUnreserved(byte(c)) {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// isUnreserved reports whether a character is unreserved in RFC 3986, 2.3.
func isUnreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '.' || c == '_' || c == '~'
}

// maxPlainParam is the most bytes of a path parameter that is not text. A row's
// maxLength can make the limit smaller, not larger.
const maxPlainParam = 128

// plainParam reports whether a value has at most maxPlainParam bytes, all of them characters that ids have. An
// empty value is not plain, nor is one of dots alone: proxies resolve "." and ".." in a path, so they would see
// another address than we do.
func plainParam(value string) bool {
	if len(value) > maxPlainParam || strings.Trim(value, ".") == "" {
		return false
	}
	for _, c := range []byte(value) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

// provePrincipal authenticates the request. An operation whose only kind of caller is the public is also served
// to a caller whose credentials prove nothing: an app that still sends an expired token should not lose the
// public pages. A key of the other environment (live, test) is always refused: its owner has mixed up the two
// and should learn of it.
func (s *Server) provePrincipal(ctx *fasthttp.RequestCtx, call *route.Call) (route.Principal, error) {
	op := call.Op
	nobody := route.Principal{Kinds: route.Public}
	c, ok := readCredentials(ctx, op)
	// A visitor's token has a scheme of its own in the same header, so such a request has no bearer token.
	if call.Visitor = readVisitor(ctx); call.Visitor != "" {
		c.Bearer, ok = "", true
	}
	if ok && (c == route.Credentials{}) && op.Auth.Has(route.Public) {
		return nobody, nil
	}
	if !ok || (c == route.Credentials{}) || s.cfg.Authenticate == nil {
		if op.Auth == route.Public {
			return nobody, nil
		}
		return nobody, engine.Refuse(engine.Unauthorized, nil)
	}
	c.Client, c.Now = call.Client, call.Now
	p, err := s.cfg.Authenticate(call.Context, c)
	if err == nil {
		if op.Auth.Has(route.Public) { // what is public is also served to callers whose credential is of another kind
			p.Kinds |= route.Public
		}
		return p, nil
	}
	if r, ok := err.(*engine.Refusal); op.Auth == route.Public && (!ok || r.Code != engine.WrongEnv) { //nolint:errorlint // Authenticate refuses bare
		return nobody, nil
	}
	return nobody, err
}

// readCredentials copies the credentials of the request, because fasthttp uses their memory again. ok is false
// for an Authorization header that has no bearer token.
func readCredentials(ctx *fasthttp.RequestCtx, op *route.Op) (c route.Credentials, ok bool) {
	if op.Auth.Has(route.QueryToken) {
		c.Token = string(ctx.QueryArgs().Peek("token"))
	}
	header := ctx.Request.Header.Peek(fasthttp.HeaderAuthorization)
	if len(header) == 0 {
		return c, true
	}
	scheme, token, _ := bytes.Cut(header, []byte(" "))
	c.Bearer = string(bytes.TrimSpace(token))
	return c, bytes.EqualFold(scheme, []byte("Bearer")) && c.Bearer != ""
}

// languagesOf returns the Accept-Language header, or "" if it is longer than any that a browser sends.
func languagesOf(ctx *fasthttp.RequestCtx) string {
	languages := ctx.Request.Header.Peek(fasthttp.HeaderAcceptLanguage)
	if len(languages) > route.MaxLanguages {
		return ""
	}
	return string(languages)
}

// readVisitor returns the token of a waiting room's visitor, or "". The token proves a place in a room and
// nothing else.
func readVisitor(ctx *fasthttp.RequestCtx) string {
	scheme, token, _ := bytes.Cut(ctx.Request.Header.Peek(fasthttp.HeaderAuthorization), []byte(" "))
	if !bytes.EqualFold(scheme, []byte("Queue")) {
		return ""
	}
	return string(bytes.TrimSpace(token))
}

// idempotencyKey returns the UUID of the Idempotency-Key header in lower case, or "" if the client sent none or
// the operation only reads. It refuses a key that is not a UUID.
func idempotencyKey(ctx *fasthttp.RequestCtx, op *route.Op) (string, error) {
	key := ctx.Request.Header.Peek("Idempotency-Key")
	if len(key) == 0 || !op.Writes() {
		return "", nil
	}
	s := strings.ToLower(string(key))
	if !format.ValidUUID(s) {
		return "", route.Invalid(route.Issue{Path: "Idempotency-Key", Code: route.IssueFormat, Message: "must be a UUID"})
	}
	return s, nil
}

// source reads a request's parameters from HTTP. A handler's plan reads them through it, because the plan knows
// nothing of HTTP.
type source struct{ ctx *fasthttp.RequestCtx }

func (s source) Param(name string) (string, bool) {
	value, ok := s.ctx.UserValue(name).(string)
	return value, ok
}

func (s source) Query(name string) [][]byte { return s.ctx.QueryArgs().PeekMulti(name) }

// QueryNames leaves out parameters that are sent empty: they count as not sent.
func (s source) QueryNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name, value := range s.ctx.QueryArgs().All() {
			if len(value) > 0 && !yield(string(name)) {
				return
			}
		}
	}
}

func (s source) Header(name string) []byte { return s.ctx.Request.Header.Peek(name) }

// Part returns a text field of the request's form. It returns false if the request has no form or no such field.
func (s source) Part(name string) (string, bool) {
	f := formOf(s.ctx)
	if f == nil {
		return "", false
	}
	text, ok := f.Fields[name]
	return text, ok
}
