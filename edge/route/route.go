// Package route defines what the route table consists of: a row (Op), the request as a handler sees it
// (Call), and the plan that reads a typed request from path, query, headers and body and checks it
// (Handle).
//
// One row, together with its Group, says everything about an operation; registration, binding,
// validation, the OpenAPI document and the security tests are derived from it. Plans are compiled
// once, when the table is built; a mistake in a tag panics there. Package edge/server calls the
// handlers. This package starts no goroutine, so nothing has to be stopped.
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
	Public     Auth = 1 << iota // no credentials
	User                        // a user's JWT
	Member                      // the JWT of a user who belongs to an organization
	Key                         // an organization's API key
	OrderToken                  // the access token of one order
	Admin                       // the JWT of an administrator of the platform
	LiveToken                   // opens the live numbers of one event's gates, only once
)

// QueryToken are the credentials that are sent as the query parameter token.
const QueryToken = OrderToken | LiveToken

// Has reports whether the set contains any of the given kinds.
func (a Auth) Has(kinds Auth) bool { return a&kinds != 0 }

// String lists the names of the kinds in the set, separated by commas, for people to read.
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

// These are the tiers.
const (
	TierPublic   Tier = "public"   // public reads
	TierAuth     Tier = "auth"     // login, register, code requests
	TierStrict   Tier = "strict"   // orders, payments and the like
	TierCheckin  Tier = "checkin"  // scans
	TierProvider Tier = "provider" // inbound webhooks of payment providers
	TierAdmin    Tier = "admin"    // organizers' work
)

// Idempotency says how a write recognizes a repeated request and how the repeat is answered (docs/rules.md,
// Idempotency).
type Idempotency string

// These are the ways to recognize a repeat. GET has none.
const (
	// Replay stores the answer with the Idempotency-Key and gives it again, byte for byte, for 24 hours. It does not
	// store a refusal that a repeat may not get, such as a conflict or an outage.
	Replay Idempotency = "replay"
	// ByActor leaves it to the actor, whose state shows what was done under the Idempotency-Key. So no answer
	// has to be stored in the database.
	ByActor Idempotency = "actor"
	// BySender recognizes a repeat by the contents of its body, and reads no Idempotency-Key.
	BySender Idempotency = "sender"
)

// Limit is what a tier allows.
type Limit struct {
	PerMinute  int    // requests in a minute
	CountedPer string // what has a count of its own, in words for the document
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
	// Spends marks an operation that moves money or tickets, so that AI clients are told that it is destructive. Only
	// a row with the status 201 needs it: they are told so of all other writes (mcp.annotateTool).
	Spends bool
	// Description is what a caller has to know beyond the Summary, in one or two sentences for the document.
	Description string
	Tag         string // the operation's group in the document
	Auth        Auth   // the kinds of credentials that may use it
	Scope       Scopes // an API key or a member needs all of these
	Tier        Tier
	Status      int           // the HTTP status of success; 204 answers without a body
	Errors      []engine.Code // the operation's own refusals; AllErrors adds the others
	// Idempotency says how a write recognizes a repeated request; a read has none.
	Idempotency Idempotency
	Timeout     time.Duration // how long a call may take, from its start or its last Restart; 0: DefaultTimeout
	// Versioned says that successful answers to callers with credentials also carry an entity tag, and are
	// compressed if they are long and the client accepts that.
	Versioned bool
	// Follows says that followers of the journal write the tables that the operation reads, so that a read
	// with credentials first waits until they have what its caller has written. Lists need not set it.
	Follows bool
	MaxBody int // bytes, up to 8 MiB; 0: DefaultBody
	// AtGates says that the key of a gate may use the row, for the events that it is bound to. The path
	// names the event as {id}, or the request is EventNamed.
	AtGates bool
	Handler Handler
}

// Tagged reports whether the operation has answers with an entity tag. These are the successful ones to callers
// who are no user and no API key, and those to all other callers too if the row is Versioned.
func (op *Op) Tagged() bool {
	return op.Versioned || !op.Writes() && op.Tier == TierPublic && op.Auth.Has(Public) && !op.Auth.Has(OrderToken) && !op.Streams()
}

// ShowsOwn reports whether the operation first waits until followers have processed what its caller has
// written, so that the caller sees it. No public read waits, because whoever changes a public page
// also refreshes it.
func (op *Op) ShowsOwn() bool {
	list := op.Handler.Out != nil && op.Handler.Out.Implements(reflect.TypeFor[stales]())
	return !op.Writes() && !op.Auth.Has(Public) && (list || op.Follows)
}

// stales is implemented by an answer that has a member to say that it is stale (Freshness).
type stales interface{ MarkStale() }

// Freshness is embedded in a list's answer. It tells whether the list may lack what the caller wrote last.
type Freshness struct {
	Stale bool `json:"stale,omitzero" description:"True if what the caller has written last may be missing, because the list is behind; Retry-After says when to ask again. Left out otherwise."`
}

// MarkStale notes in the answer that the list is stale. Handle calls it if Call.Stale is set.
func (f *Freshness) MarkStale() { f.Stale = true }

// Streams reports whether the operation answers with a stream of events.
func (op *Op) Streams() bool { return op.Handler.Out == reflect.TypeFor[Events]() }

// RefusesUnknown reports whether the operation refuses parameters of the query that it does not know:
// a filter that is silently left out shows more than was asked for. Three kinds of reads ignore them:
// those without parameters, which have nothing to mistake; links that people open, because mail programs
// and networks lengthen these; and streams, because readers of them add parameters of their own. Writes always ignore
// them.
func (op *Op) RefusesUnknown() bool {
	isLink := op.Auth.Has(QueryToken) || op.Auth.Has(Public) && op.Handler.Types() != nil
	return !op.Writes() && !isLink && !op.Streams() && op.Handler.plan != nil && op.Handler.plan.query != ""
}

// Writes reports whether the operation may change something.
func (op *Op) Writes() bool { return op.Method != "GET" }

// Organizes reports whether the operation is a write by an organization's members or keys, which is charged
// to the organization's quota. Writes by buyers and scans at the gates have other limits, and must never be
// refused because of the quota.
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
	add(true, engine.Forbidden, engine.WrongEnv) // even a public row is forbidden to the key of a gate
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

	Judge Judge    // judges the file of an Upload; nil: the operation takes no file
	types []string // the media types of a handler that Bytes made; nil: the answer is JSON
}

// Handle makes a Handler of f. In is a struct whose fields carry a path, query, header, part or json tag
// and constraint tags (see plan.go); Out is what appears under "data" in the answer. Handle panics
// on a type or tag that cannot be served.
func Handle[In, Out any](f func(*Call, *In) (Out, error)) Handler {
	p := compilePlan(reflect.TypeFor[In]())
	return Handler{
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](), plan: p,
		serve: func(c *Call, src Source, buf *bytes.Buffer) error {
			in, err := admitRequest[In](p, c, src)
			if err != nil {
				return err
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

// admitRequest reads and checks a request, and refuses one that names another event than its key is bound to. Then the
// gate counts it in or refuses it.
func admitRequest[In any](p *plan, c *Call, src Source) (*In, error) {
	in := new(In)
	if issues := p.read(reflect.ValueOf(in).Elem(), c, src); len(issues) > 0 {
		return nil, Invalid(issues...)
	}
	if err := refuseOtherEvent(c, src, in); err != nil {
		return nil, err
	}
	if c.Gate != nil {
		if err := c.Gate.Admit(c, in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// HandleRaw makes a Handler of f, which reads the unparsed body from Call.Body. In has no fields of the body.
// The media type is for the document; the type that the client declares is ignored.
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

// Stream makes a Handler of f, which returns the topic to show. Package edge/server then sends the topic's
// events until the client leaves.
func Stream[In any](f func(*Call, *In) (sse.Topic, error)) Handler {
	return Handle(func(c *Call, in *In) (Events, error) {
		topic, err := f(c, in)
		c.Topic = &topic
		return Events{}, err
	})
}

// Serve reads the request from src and c.Body, checks it, runs the handler and, on success, appends the body to
// buf. It appends nothing if the status is 204 or the answer is a Content, which it sets in c. Its error is the
// handler's, a VALIDATION_ERROR with the issues found, a refusal of the Gate, or the refusal of what the key of
// a gate may not do. It may also say that the answer could not be encoded.
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
	MaxLength int // characters; -1: the parameter's format limits its length
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
	QueryNames() iter.Seq[string] // names of the parameters to which the query gives a value
	Header(name string) []byte
	Part(name string) (string, bool) // a text field beside a file
}
