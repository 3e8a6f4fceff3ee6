package keeper

import "boxoffice/engine"

// MaxExtensions is how often a buyer may ask for more time, for an order or for held seats. WCAG 2.2
// asks of a time limit that it can be extended at least ten times (success criterion 2.2.1).
const MaxExtensions = 10

// These are the reasons why there is no more time.
const (
	ExtensionsOff  = "off"  // the event gives none
	ExtensionsUsed = "last" // all were used, or the sale has ended
	ExtensionOver  = "over" // the order or the hold has ended
)

// NotExtendable is the detail of EXTENSION_NOT_POSSIBLE.
type NotExtendable struct {
	Reason string `json:"reason"`
}

// RefuseExtension refuses more time for one of the reasons.
func RefuseExtension(reason string) *engine.Refusal {
	return engine.Refuse(engine.NotExtendable, NotExtendable{Reason: reason})
}
