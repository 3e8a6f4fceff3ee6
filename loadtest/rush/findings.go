package rush

import (
	"errors"
	"fmt"
	"io"

	"boxoffice/loadtest/report"
)

// ErrFindings is returned together with the report if the audit has found a fault.
var ErrFindings = errors.New("the audit found something")

// PrintChecks prints what an audit checked and found. It returns an error if there are findings.
func PrintChecks(out io.Writer, checks []report.Check) error {
	var found int64
	for _, c := range checks {
		fmt.Fprintf(out, "audit: %s: %d checked, %d found %s\n", c.Name, c.Checked, c.Failed, c.Note)
		for _, f := range c.Findings {
			fmt.Fprintln(out, "FOUND", f)
		}
		found += c.Failed
	}
	if found > 0 {
		return fmt.Errorf("%w: %d findings", ErrFindings, found)
	}
	return nil
}
