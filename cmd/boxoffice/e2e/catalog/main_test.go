// Package catalog tests what organizers offer and how buyers find it: events, ticket types, programmes, uploaded
// files, lists and searches.
package catalog

import (
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, nodetest.MostlyWaiting) }
