package edge

import (
	"boxoffice/edge/view"
)

// What several resources show in the same way; see package view.
var (
	optional = view.Optional
	moment   = view.Moment
	decimal  = view.Decimal
)
