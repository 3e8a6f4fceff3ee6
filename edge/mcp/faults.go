package mcp

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// fault is an error of the protocol (JSON-RPC 2.0, 5.1). Its data has our own code and details, as
// in the API's error envelope.
type fault struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code    engine.Code `json:"code"`
		Details any         `json:"details"`
	} `json:"data"`
}

// newFault makes a fault with a code of JSON-RPC. For our own code it is a VALIDATION_ERROR
// with one issue.
func newFault(code int64, issue route.Issue) *fault {
	f := &fault{Code: code, Message: issue.Message}
	refusal := route.Invalid(issue)
	f.Data.Code = engine.Validation
	if r, ok := errors.AsType[*engine.Refusal](refusal); ok {
		f.Data.Details = r.Details
	}
	return f
}

// reply answers the message that has the id. JSON-RPC asks for the id null if the message
// has none that can be read.
func (f *fault) reply(id jsontext.Value) (*Reply, error) {
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	body, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   *fault         `json:"error"`
	}{"2.0", id, f}, route.Encoding)
	return &Reply{Status: http.StatusBadRequest, Body: body, header: http.Header{}}, err
}

// message is what readMessage keeps of a client's message. The SDK reads the whole message again.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
}

const notAMessage = "the body must be one message of JSON-RPC 2.0 in UTF-8, with no name given twice"

// readMessage reads a message as strictly as the bodies of the API are read. The SDK alone would
// accept batches, and objects with the same name twice, which two readers may understand
// differently.
func readMessage(body []byte) (m message, f *fault) {
	var raw map[string]jsontext.Value
	switch err := json.Unmarshal(body, &raw); {
	case err == nil:
	case errors.Is(err, jsontext.ErrDuplicateName), jsontext.Value(bytes.Clone(body)).IsValid(jsontext.AllowDuplicateNames(true)):
		return m, newFault(jsonrpc.CodeInvalidRequest, route.Issue{Code: route.IssueJSON, Message: notAMessage})
	default:
		return m, newFault(jsonrpc.CodeParseError, route.Issue{Code: route.IssueJSON, Message: notAMessage})
	}
	// An id of another type is refused below, and the answer then has the id null.
	if id := raw["id"]; id.Kind() == '"' || id.Kind() == '0' {
		m.ID = id
	}
	// A message with a result or an error is a client's answer to the server, and needs no method.
	_, answers := raw["result"]
	if raw["error"] != nil {
		answers = true
	}
	switch {
	case json.Unmarshal(raw["jsonrpc"], &m.Version) != nil || m.Version != "2.0":
		return m, newFault(jsonrpc.CodeInvalidRequest, route.Issue{Path: "jsonrpc", Code: route.IssueEnum, Message: "must be 2.0"})
	case raw["id"] != nil && m.ID == nil:
		return m, newFault(jsonrpc.CodeInvalidRequest, route.Issue{Path: "id", Code: route.IssueType, Message: "must be a string or a number"})
	case !answers && (json.Unmarshal(raw["method"], &m.Method) != nil || m.Method == ""):
		return m, newFault(jsonrpc.CodeInvalidRequest, route.Issue{Path: "method", Code: route.IssueType, Message: "must be a string"})
	}
	return m, nil
}

// methods are the methods that the SDK answers. By them, faultOf distinguishes an unknown method
// from wrong parameters.
var methods = map[string]bool{
	"initialize": true, "server/discover": true, "ping": true, callMethod: true, "tools/list": true, "prompts/list": true, "prompts/get": true,
	"resources/list": true, "resources/read": true, "resources/templates/list": true,
}

// refuseEndless refuses subscriptions/listen, whose answer would be a stream without end. The
// server answers each message with one JSON body. For all other methods it returns nil.
func refuseEndless(m *message) *fault {
	if m.Method != "subscriptions/listen" {
		return nil
	}
	return newFault(jsonrpc.CodeMethodNotFound, route.Issue{
		Path: "method", Code: route.IssueUnsupported, Message: "nothing is told of by streams: webhooks and the feed tell what happens",
	})
}

// faultOf makes a fault for a message that the SDK refused in plain text. The text does not say
// which kind of error it is, so faultOf derives the kind from the message.
func faultOf(m *message, words string) *fault {
	issue := route.Issue{Code: route.IssueFormat, Message: words}
	switch {
	case m.ID == nil: // a message without an id: a request that was sent as a notification
		return newFault(jsonrpc.CodeInvalidRequest, issue)
	case !methods[m.Method]:
		return newFault(jsonrpc.CodeMethodNotFound, issue)
	}
	return newFault(jsonrpc.CodeInvalidParams, issue)
}
