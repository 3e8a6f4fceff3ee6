package route

import (
	"strings"

	"boxoffice/engine"
)

// Issue is one violation in a request.
type Issue struct {
	Path    string `json:"path"`    // the value's place, e.g. items[0].quantity; empty for the whole body
	Code    string `json:"code"`    // one of the issue codes below
	Message string `json:"message"` // a sentence without the path
}

// These are the issue codes.
const (
	IssueJSON      = "json"       // not JSON: syntax, UTF-8, trailing data
	IssueDuplicate = "duplicate"  // given twice: a member, a parameter, or a value that must differ from the others
	IssueDepth     = "depth"      // nested too deeply
	IssueRequired  = "required"   // missing, or null
	IssueType      = "type"       // the wrong JSON type
	IssueNull      = "null"       // null for a value that cannot be cleared
	IssueMinLength = "min_length" // in characters
	IssueMaxLength = "max_length"
	IssueMinimum   = "minimum"
	IssueMaximum   = "maximum"
	IssueMinItems  = "min_items"
	IssueMaxItems  = "max_items"
	IssueEnum      = "enum"     // not one of the allowed values
	IssueFormat    = "format"   // not in the named format, or not storable text
	IssueDecimals  = "decimals" // more decimal places than money has

	IssueUnsupported = "unsupported" // not supported here
)

// CurrencyIssues returns an issue at path if code is none of the currencies in which this installation sells
// (sold), and nil if it is one of them.
func CurrencyIssues(path, code string, sold []engine.Currency) []Issue {
	codes := make([]string, len(sold))
	for i := range sold {
		if codes[i] = sold[i].Code; codes[i] == code {
			return nil
		}
	}
	return []Issue{{Path: path, Code: IssueEnum, Message: "must be one of " + strings.Join(codes, ", ")}}
}

// MaxIssues bounds the issues that are reported for one request.
const MaxIssues = 100

// ValidationDetails holds the details of a VALIDATION_ERROR.
type ValidationDetails struct {
	Issues []Issue `json:"issues"`
}

// Invalid makes the refusal of a request with the given issues. Handlers use it for rules that no tag of a field can
// express.
func Invalid(issues ...Issue) *engine.Refusal {
	return engine.Refuse(engine.Validation, ValidationDetails{Issues: issues})
}
