// Package route owns the words of the route table: a row (Op), the request as a
// handler sees it (Call), and the plan that reads a typed request from path,
// query, headers and body and checks it (Handle).
//
// One row, together with its Group, says everything about an operation; registration, binding,
// validation, the OpenAPI document and the security tests are derived from it. Plans are compiled
// once, when the table is built; a mistake in a tag panics there. Package edge calls the handlers,
// once per request. This package starts no goroutine, so nothing has to be stopped.
package route

import (
	"bytes"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"boxoffice/edge/sse"
	"boxoffice/engine"
)

// Auth is a set of credential kinds.
type Auth uint8

// These are the kinds of credentials. Public in a row's set means that a request without
// credentials is served too. A user's JWT counts as User, and also as Member and Admin if the user
// is one.
const (
	Public     Auth = 1 << iota // none
	User                        // a user's JWT
	Member                      // of a user who belongs to an organization
	Key                         // an organization's API key
	OrderToken                  // the access token of one order
	Admin                       // of an administrator of the platform
	LiveToken                   // opens the live numbers of one event's gates, only once
)

// QueryToken are the credentials that are sent as the query parameter token.
const QueryToken = OrderToken | LiveToken

// Has reports whether the set contains any of the given kinds.
func (a Auth) Has(kinds Auth) bool { return a&kinds != 0 }

// String lists the kinds for people.
func (a Auth) String() string {
	var names []string
	for _, k := range []struct {
		kind Auth
		name string
	}{{Public, "public"}, {User, "user"}, {Member, "member"}, {Key, "api key"}, {OrderToken, "order token"}, {Admin, "admin"}, {LiveToken, "live token"}} {
		if a.Has(k.kind) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// Tier names a group of operations that share a rate limit (docs/rules.md,
// Rate limits).
type Tier string

// The tiers of the specification.
const (
	TierPublic   Tier = "public"   // public reads
	TierAuth     Tier = "auth"     // login, register, code requests
	TierStrict   Tier = "strict"   // orders, payments and the like
	TierCheckin  Tier = "checkin"  // scans
	TierProvider Tier = "provider" // inbound webhooks of payment providers
	TierAdmin    Tier = "admin"    // organizers' work
)

// Idempotency says what answers a repeat with the same Idempotency-Key (docs/rules.md,
// Idempotency).
type Idempotency string

// These are the ways to recognize a repeat. GET has none.
const (
	Replay  Idempotency = "replay" // the stored answer, byte for byte, for 24 h
	ByActor Idempotency = "actor"  // the actor's own facts: no write to the database
	// BySender recognizes a repeat by the contents of its body, and reads no Idempotency-Key.
	BySender Idempotency = "sender"
)

// Limit is what a tier allows.
type Limit struct {
	PerMinute  int
	CountedPer string // whom it counts, as people read it
}

// Limits are the tiers with their limits (docs/rules.md, Rate limits).
var Limits = map[Tier]Limit{
	TierPublic:   {120, "credential, else client address"},
	TierAuth:     {20, "client address; ten times as many for an e-mail address from all of them"},
	TierStrict:   {30, "credential or order token, else client address"},
	TierCheckin:  {120, "credential and device"},
	TierProvider: {300, "payment provider"},
	TierAdmin:    {600, "credential"},
}

// DefaultTimeout bounds an operation whose row names no Timeout.
const DefaultTimeout = 5 * time.Second

// DefaultBody bounds the body of an operation whose row names no MaxBody, in
// bytes. The largest order (20 lines of 100 seats) is 80 KB.
const DefaultBody = 128 << 10

// BodyLimit is the most bytes that the operation's body may have.
func (op *Op) BodyLimit() int {
	if op.MaxBody > 0 {
		return op.MaxBody
	}
	return DefaultBody
}

// Op is one row of the route table: an operation.
type Op struct {
	Method  string // GET, POST, PUT, PATCH or DELETE; HEAD follows GET
	Path    string // e.g. /api/v1/orders/{id}
	ID      string // operation id, e.g. getOrder
	Summary string // one line for the document
	Spends  bool   // it gives away or takes money or tickets, so agents ask their user first
	// Description is what a caller has to know beyond the Summary, in one or two sentences for the
	// document. Most rows need none.
	Description string
	Tag         string // the document's group
	Auth        Auth   // credentials that may use it
	Scope       Scopes // all of these an API key or a member needs
	Tier        Tier
	Status      int           // of success; 204 answers without a body
	Errors      []engine.Code // refusals of its own; see AllErrors
	// Idempotency says how a write honours an Idempotency-Key.
	Idempotency Idempotency
	Timeout     time.Duration // of the handler, from the request's start; 0: DefaultTimeout
	// Versioned answers always carry an entity tag, even to callers with credentials, and are
	// compressed.
	Versioned bool
	// Follows says that what is answered is written by followers of the journal, so that the
	// operation first waits for what its caller has written. Of lists it need not be said.
	Follows bool
	MaxBody int // bytes, up to 8 MiB; 0: DefaultBody
	// AtGates says that the key of a gate may use the row, for the events that it is bound to. The path
	// names the event as {id}, or the request is EventNamed.
	AtGates bool
	Handler Handler
}

// Tagged reports whether the operation's answers carry an entity tag, at least those to the public.
func (op *Op) Tagged() bool {
	return op.Versioned || !op.Writes() && op.Tier == TierPublic && op.Auth.Has(Public) && !op.Auth.Has(OrderToken) && !op.Streams()
}

// ShowsOwn reports whether the operation waits until its lists have what its caller has written.
// Pages that everybody reads are refreshed by their writers, so that no reader has to wait.
func (op *Op) ShowsOwn() bool {
	list := op.Handler.Out != nil && op.Handler.Out.Implements(reflect.TypeFor[stales]())
	return !op.Writes() && !op.Auth.Has(Public) && (list || op.Follows)
}

// stales is an answer that can tell that it is stale.
type stales interface{ MarkStale() }

// Freshness is embedded in a list's answer, and tells whether the list is stale.
type Freshness struct {
	Stale bool `json:"stale,omitzero" description:"True if what the caller has written last may be missing, because the list is behind; Retry-After says when to ask again. Left out otherwise."`
}

// MarkStale tells that the list is stale.
func (f *Freshness) MarkStale() { f.Stale = true }

// Streams reports whether the operation answers with a stream of events.
func (op *Op) Streams() bool { return op.Handler.Out == reflect.TypeFor[Events]() }

// RefusesUnknown reports whether the operation refuses parameters of the query that it does not know:
// a filter that is silently left out shows more than was asked for. Three kinds of reads ignore them:
// those without parameters, which have nothing to mistake; links that people open, because mail programs
// and networks lengthen these; and streams, because readers of them add parameters of their own.
func (op *Op) RefusesUnknown() bool {
	isLink := op.Auth.Has(QueryToken) || op.Auth.Has(Public) && op.Handler.Types() != nil
	return !op.Writes() && !isLink && !op.Streams() && op.Handler.plan != nil && op.Handler.plan.query != ""
}

// Writes reports whether the operation may change something.
func (op *Op) Writes() bool { return op.Method != "GET" }

// Organizes reports whether the operation writes what an organization works with. Acts of buyers
// and at the doors are none of that: they have bounds of their own, and must never wait for a quota.
func (op *Op) Organizes() bool {
	return op.Writes() && op.Scope != 0 && !op.Auth.Has(Public) && op.Tier != TierCheckin
}

// AllErrors returns the row's own codes and those that its shape implies, each once.
func (op *Op) AllErrors() []engine.Code {
	all := slices.Clone(op.Errors)
	add := func(when bool, codes ...engine.Code) {
		for _, c := range codes {
			if when && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	add(op.Handler.plan != nil && op.Handler.plan.canRefuse() || op.Writes(), engine.Validation)
	add(op.Auth != Public, engine.Unauthorized)
	add(true, engine.Forbidden, engine.WrongEnv) // a gate's key is forbidden what is public, too
	add(op.Idempotency == Replay, engine.IdempotencyReused, engine.IdempotencyInFlight)
	add(op.Idempotency == ByActor, engine.IdempotencyReused)
	add(strings.Contains(op.Path, "{") || op.Handler.plan != nil && op.Handler.plan.namesOrganization(), engine.NotFound)
	add(op.Handler.HasBody() || op.Handler.TakesFile(), engine.UnsupportedMedia)
	add(op.Handler.HasBody() || op.Handler.Raw != "", engine.PayloadTooLarge)
	add(op.Handler.TakesFile(), engine.FileTooLarge)
	add(op.Organizes(), engine.QuotaExceeded)
	add(true, engine.RateLimited, engine.Overloaded, engine.Unavailable, engine.Internal)
	return all
}

// None is the request or answer type of an operation that has none.
type None struct{}

// Appender is an answer that encodes itself: it appends its JSON to b. It is meant for hot routes.
type Appender interface {
	AppendJSON(b []byte) []byte
}

// Handler is an operation's code together with the types of its request and
// answer. Handle makes one.
type Handler struct {
	In, Out reflect.Type
	Raw     string // media type of a body that the handler reads unparsed, from Call.Body
	plan    *plan
	serve   func(*Call, Source, *bytes.Buffer) error

	Judge Judge    // of the file of an Upload; nil: it takes none
	types []string // see Bytes
}

// Handle makes a Handler of f. In is a struct whose fields carry a path, query, header or json tag
// and constraint tags (see plan.go); Out is what appears under "data" in the answer. Handle panics
// on a type or tag that cannot be served.
func Handle[In, Out any](f func(*Call, *In) (Out, error)) Handler {
	p := compilePlan(reflect.TypeFor[In]())
	return Handler{
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](), plan: p,
		serve: func(c *Call, src Source, buf *bytes.Buffer) error {
			in := new(In)
			if issues := p.read(reflect.ValueOf(in).Elem(), c, src); len(issues) > 0 {
				return Invalid(issues...)
			}
			if err := refuseOtherEvent(c, src, in); err != nil {
				return err
			}
			if c.Gate != nil {
				if err := c.Gate.Admit(c, in); err != nil {
					return err
				}
			}
			out, err := f(c, in)
			if err != nil || c.Op.Status == 204 {
				return err
			}
			if list, ok := any(out).(stales); ok && c.Stale {
				list.MarkStale()
			}
			return appendData(buf, out)
		},
	}
}

// HandleRaw makes a Handler of f, which reads the unparsed body from Call.Body, because the body's
// bytes are signed. In has no fields of the body. The media type is for the document; the type that
// the client declares is ignored.
func HandleRaw[In, Out any](media string, f func(*Call, *In) (Out, error)) Handler {
	h := Handle(f)
	if h.HasBody() {
		panic("route: a raw body has no fields")
	}
	h.Raw = media
	return h
}

// Events is the answer of an operation that streams Server-Sent Events.
type Events struct{}

// Stream makes a Handler of f, which returns the topic to show. The edge serves the stream.
func Stream[In any](f func(*Call, *In) (sse.Topic, error)) Handler {
	return Handle(func(c *Call, in *In) (Events, error) {
		topic, err := f(c, in)
		c.Topic = &topic
		return Events{}, err
	})
}

// Serve reads the request from src and c.Body, checks it, runs the handler and, on success, appends
// the body to buf. Its error is the one that the handler returned, or a VALIDATION_ERROR refusal
// with every issue found.
func (h Handler) Serve(c *Call, src Source, buf *bytes.Buffer) error { return h.serve(c, src, buf) }

// HasBody reports whether the operation reads a JSON body.
func (h Handler) HasBody() bool { return h.plan != nil && h.plan.body != nil }

// NeedsBody reports whether a request without a body is always invalid.
func (h Handler) NeedsBody() bool { return h.HasBody() && h.plan.body.required != 0 }

// PathParam is a parameter of the path. If it is Text, it may be any UTF-8 text without NUL,
// percent-encoded. All others consist of letters, digits, '_', '.' and '-', and nothing in them is
// encoded. Any other path is answered with NOT_FOUND.
type PathParam struct {
	Name      string
	MaxLength int // characters; -1: its format bounds it
	Text      bool
}

// PathParams lists the parameters that the request type takes from the path.
func (h Handler) PathParams() []PathParam {
	var all []PathParam
	for _, p := range h.plan.params {
		if p.in == inPath {
			all = append(all, PathParam{Name: p.name, MaxLength: p.max, Text: p.text})
		}
	}
	return all
}

// Source is where a request's parameters come from: an HTTP request or a tool call. Strings and
// slices are valid until the handler returns; the plan copies what it keeps.
type Source interface {
	Param(name string) (string, bool)
	Query(name string) [][]byte
	QueryNames() iter.Seq[string] // of what the query gives a value
	Header(name string) []byte
	Part(name string) (string, bool) // a text field beside a file
}
