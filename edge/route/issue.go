package route

import "boxoffice/engine"

// Issue is one violation in a request.
type Issue struct {
	Path    string `json:"path"`    // items[0].quantity; empty for the whole body
	Code    string `json:"code"`    // one of the words below
	Message string `json:"message"` // a sentence without the path
}

// The issue codes.
const (
	IssueJSON      = "json"       // not JSON: syntax, UTF-8, trailing data
	IssueDuplicate = "duplicate"  // an object name or single parameter given twice
	IssueDepth     = "depth"      // nested too deeply
	IssueRequired  = "required"   // missing, or null
	IssueType      = "type"       // of another type
	IssueNull      = "null"       // null where that clears nothing
	IssueMinLength = "min_length" // in characters
	IssueMaxLength = "max_length"
	IssueMinimum   = "minimum"
	IssueMaximum   = "maximum"
	IssueMinItems  = "min_items"
	IssueMaxItems  = "max_items"
	IssueEnum      = "enum"     // none of the allowed values
	IssueFormat    = "format"   // not in the named format, or not storable text
	IssueDecimals  = "decimals" // more decimal places than money has

	IssueUnsupported = "unsupported" // not taken here, or not yet
)

// MaxIssues bounds the issues told about one request.
const MaxIssues = 100

// ValidationDetails are the details of a VALIDATION_ERROR.
type ValidationDetails struct {
	Issues []Issue `json:"issues"`
}

// Invalid is the refusal of a request with the given issues. Handlers use it
// for rules that span fields.
func Invalid(issues ...Issue) *engine.Refusal {
	return engine.Refuse(engine.Validation, ValidationDetails{Issues: issues})
}
