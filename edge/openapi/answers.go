package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// failure is the body of every error, as a type that the reflector can read. The document calls it
// Error. The server writes the same shape from another type.
type failure struct {
	Error struct {
		Code    string         `json:"code" required:"true" description:"What went wrong, for programs: a code of the list under Error codes, whose meaning never changes."`
		Message string         `json:"message" required:"true" description:"What went wrong, for people, in a sentence."`
		Details map[string]any `json:"details" required:"true" nullable:"true" description:"What belongs to the code, such as how much is left; null if it has nothing."`
	} `json:"error" required:"true"`
	Meta struct {
		RequestID string `json:"request_id" required:"true" description:"Names the request in logs; also the header X-Request-Id."`
	} `json:"meta" required:"true"`
}

// refusal is what an operation may be refused with under one HTTP status.
type refusal struct {
	status int
	codes  []engine.Code // sorted
}

// refusalsOf returns an operation's refusals by status: the codes of its row, the codes
// that its shape implies, and the codes that the transport may find wrong with any request.
// Statuses and codes are sorted, so that the same table prints the same document.
func refusalsOf(op *route.Op) []refusal {
	byStatus := map[int][]engine.Code{}
	for _, code := range append(op.AllErrors(), engine.Validation, engine.PayloadTooLarge) {
		status := engine.StatusOf(code, !op.Writes())
		if !slices.Contains(byStatus[status], code) {
			byStatus[status] = append(byStatus[status], code)
		}
	}
	var all []refusal
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		slices.Sort(byStatus[status])
		all = append(all, refusal{status, byStatus[status]})
	}
	return all
}

// componentName returns the name under which the refusal stands among the document's
// components, such as EventNotFoundOrNotFound. It consists of the codes, so two operations
// with the same codes share a component.
func (r refusal) componentName() string {
	var words []string
	for _, code := range r.codes {
		var word strings.Builder
		for part := range strings.SplitSeq(strings.ToLower(string(code)), "_") {
			word.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
		words = append(words, word.String())
	}
	return strings.Join(words, "Or")
}

// maxShared is the largest number of codes with which a refusal becomes a component. With more
// codes, the component's name would be too long to read.
const maxShared = 2

// sharedRefusals returns a map that is true for the names of refusals that more than one operation
// has. Only these refusals become components. Refusals with more than maxShared codes are not in
// the map.
func sharedRefusals(ops []route.Op) map[string]bool {
	seen := map[string]bool{}
	for i := range ops {
		for _, r := range refusalsOf(&ops[i]) {
			if name := r.componentName(); len(r.codes) <= maxShared {
				// The name is false in the map after the first operation that has it, and
				// true from the second on.
				_, again := seen[name]
				seen[name] = again
			}
		}
	}
	return seen
}

// serverSentEvent describes the events of a stream in words. A schema of an object would be right
// for a parsed event, but generators of clients would take it for the whole body.
var serverSentEvent = map[string]any{
	"description": "Each event of the stream has an `event`, which says what it tells, and `data`, which is JSON as the " +
		"operation describes it. An `id` is its place in the stream, to go on from with `Last-Event-ID`.",
}

// addAnswers completes the answer of success that the reflector has written: with its headers, and for
// streams and bytes with their media types. It adds the answers 206 and 416 for operations that answer with
// bytes, 304 for those with an ETag, all refusals of the operation, and 408 and 431, which every operation has.
// Refusals that several operations share become components.
func (p *printer) addAnswers(op *route.Op, o *openapi31.Operation) {
	all := o.ResponsesEns()
	ok := all.MapOfResponseOrReferenceValues[strconv.Itoa(op.Status)].Response
	addCommonHeaders(ok)
	if op.Streams() {
		ok.Content = map[string]openapi31.MediaType{"text/event-stream": {Schema: serverSentEvent}}
	}
	// The operation answers with bytes of these media types instead of JSON.
	if types := op.Handler.Types(); types != nil {
		ok.Content = map[string]openapi31.MediaType{}
		for _, t := range types {
			schema := map[string]any{"type": "string"}
			if !strings.HasPrefix(t, "text/") {
				schema["format"] = "binary"
			}
			ok.Content[t] = openapi31.MediaType{Schema: schema}
		}
		// The server answers ranges of every content whose size is known. We list 206 and 416 for
		// all operations that answer with bytes, because the row does not tell whether the size is
		// known.
		all.WithMapOfResponseOrReferenceValuesItem("206", openapi31.ResponseOrReference{Response: (&openapi31.Response{Content: ok.Content}).WithDescription("The range that was asked for.")})
		all.WithMapOfResponseOrReferenceValuesItem("416", openapi31.ResponseOrReference{Response: (&openapi31.Response{}).WithDescription("The range lies outside of the file.")})
	}
	if op.Idempotency == route.Replay {
		addHeader(ok, headerReplayed)
	}
	if op.Tagged() {
		addHeader(ok, headerETag)
		all.WithMapOfResponseOrReferenceValuesItem("304", referToResponse(notModified))
	}
	for _, r := range refusalsOf(op) {
		answer := openapi31.ResponseOrReference{Response: r.describeResponse()}
		if name := r.componentName(); p.shared[name] {
			p.spec.ComponentsEns().WithResponsesItem(name, answer)
			answer = referToResponse(name)
		}
		all.WithMapOfResponseOrReferenceValuesItem(strconv.Itoa(r.status), answer)
	}
	// The server can give these two answers before it has found the operation.
	all.WithMapOfResponseOrReferenceValuesItem("408", referToResponse(requestTimeout))
	all.WithMapOfResponseOrReferenceValuesItem("431", referToResponse(headersTooLarge))
}

// referToResponse returns a reference to an answer among the components.
func referToResponse(name string) openapi31.ResponseOrReference {
	return openapi31.ResponseOrReference{Reference: reference("responses", name)}
}

// describeResponse describes a refusal, with an example for each of its codes.
func (r refusal) describeResponse() *openapi31.Response {
	var lines []string
	// waits becomes true if an answer with one of the codes can have the header Retry-After. The
	// rules are the rules of writeRefusal in edge/server.
	content, waits := errorContent(), r.status == http.StatusTooManyRequests
	for _, code := range r.codes {
		def := engine.CodeTable[code]
		lines = append(lines, fmt.Sprintf("- `%s`: %s", code, def.Sentence))
		content.WithExamplesItem(string(code), openapi31.ExampleOrReference{Reference: reference("examples", string(code))})
		waits = waits || code == engine.IdempotencyInFlight || def.Retryable && r.status == http.StatusServiceUnavailable
	}
	answer := (&openapi31.Response{}).WithDescription(strings.Join(lines, "\n")).WithContentItem(jsonType, content)
	answer.WithMapOfAnythingItem("x-error-codes", r.codes)
	addCommonHeaders(answer)
	if r.status == http.StatusUnauthorized {
		addHeader(answer, headerAuthenticate)
	}
	if waits {
		addHeader(answer, headerRetryAfter)
	}
	return answer
}

// errorContent returns the JSON content of an error, without examples.
func errorContent() openapi31.MediaType {
	return openapi31.MediaType{Schema: map[string]any{"$ref": "#/components/schemas/Error"}}
}

// exampleEnvelope returns an example of an error's body, in the shape in which the server writes
// errors.
func exampleEnvelope(code engine.Code, message string, details any) any {
	return map[string]any{
		"error": map[string]any{"code": code, "message": message, "details": details},
		"meta":  map[string]any{"request_id": "req_5f0c9a1be4d27c38-1z"},
	}
}

// describeErrors adds to the document the schema of an error, and an example of each code that some operation
// uses. As x-error-codes it adds the catalogue of all codes: their status, their message, and whether a retry
// makes sense.
func (p *printer) describeErrors(ops []route.Op) error {
	schema, err := p.reflector.Reflect(failure{})
	if err != nil {
		return err
	}
	simple, err := schema.ToSchemaOrBool().ToSimpleMap()
	if err != nil {
		return err
	}
	p.spec.ComponentsEns().WithSchemasItem("Error", simple)
	for code := range usedCodes(ops) {
		var details any
		if code == engine.Validation {
			details = route.ValidationDetails{Issues: []route.Issue{
				{Path: "items[0].quantity", Code: route.IssueMinimum, Message: "must be at least 1"},
			}}
		}
		def := engine.CodeTable[code]
		p.spec.ComponentsEns().WithExamplesItem(string(code), openapi31.ExampleOrReference{
			Example: (&openapi31.Example{}).WithSummary(string(code)).WithValue(exampleEnvelope(code, def.Sentence, details)),
		})
	}
	rows := map[string]any{}
	for code, def := range engine.CodeTable {
		rows[string(code)] = map[string]any{"status": def.Status, "retryable": def.Retryable, "message": def.Sentence}
	}
	p.spec.WithMapOfAnythingItem("x-error-codes", rows)
	return nil
}

// usedCodes returns the codes that at least one operation may answer with.
func usedCodes(ops []route.Op) map[engine.Code]bool {
	codes := map[engine.Code]bool{}
	for i := range ops {
		for _, r := range refusalsOf(&ops[i]) {
			for _, code := range r.codes {
				codes[code] = true
			}
		}
	}
	return codes
}

// errorTable returns the table of all error codes in Markdown, sorted by status and code.
func errorTable() string {
	codes := slices.SortedFunc(maps.Keys(engine.CodeTable), func(a, b engine.Code) int {
		return cmp.Or(engine.CodeTable[a].Status-engine.CodeTable[b].Status, strings.Compare(string(a), string(b)))
	})
	var b strings.Builder
	b.WriteString("\n## Error codes\n\n| Code | Status | Meaning | Retry |\n|---|---|---|---|\n")
	for _, code := range codes {
		def, retry := engine.CodeTable[code], "no"
		if def.Retryable {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", code, def.Status, def.Sentence, retry)
	}
	return b.String()
}
