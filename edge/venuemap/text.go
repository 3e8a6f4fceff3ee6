package venuemap

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"boxoffice/edge/route"
	"boxoffice/engine/seatmap"
)

// Text returns the document as JSON, in the form in which it is stored.
func (d *Document) Text() ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("venue map: %w", err)
	}
	return text, nil
}

// Parse reads a document that Text has written.
func Parse(text []byte) (*Document, error) {
	d := new(Document)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("venue map: %w", err)
	}
	return d, nil
}

// Publishable returns the layout of a document that Text has written, and its elements as JSON. It
// refuses a document without seats, and a document in which Expand finds faults.
func Publishable(text []byte) (*seatmap.Layout, []byte, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, nil, err
	}
	layout, issues := d.Expand()
	if len(issues) == 0 && layout.Len() == 0 {
		issues = []route.Issue{{Path: "sections", Code: route.IssueMinItems, Message: "must have a section before the map is published"}}
	}
	if len(issues) > 0 {
		return nil, nil, route.Invalid(issues...)
	}
	elements, err := json.Marshal(d.Elements)
	if err != nil {
		return nil, nil, fmt.Errorf("venue map: %w", err)
	}
	return layout, elements, nil
}
