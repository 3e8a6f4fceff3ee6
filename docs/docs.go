// Package docs has the page of these that a node serves. Its tests hold all of them to the
// tree.
package docs

import _ "embed" // the page

// SeatedSale is seated-sale.md.
//
//go:embed seated-sale.md
var SeatedSale string
