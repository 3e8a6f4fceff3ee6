package readmodel

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
)

// Every fact of every kind is ignored by name or has its case, so that a new one can't be
// forgotten.
func TestEveryFactHasARule(t *testing.T) {
	t.Parallel()
	for _, kind := range all.Kinds {
		if slices.Contains(rowless, kind.Kind) {
			continue
		}
		for _, def := range kind.Facts {
			if slices.Contains(ignored[kind.Kind], def.Type) {
				continue
			}
			require.NotErrorIs(t, takeEmpty(engine.Ref{Kind: kind.Kind, Home: 1, ID: 1}, def.New()), errNoRule, def.Name)
		}
	}
}

// takeEmpty takes a fact without values, whose case may panic for want of them.
func takeEmpty(ref engine.Ref, f engine.Fact) error {
	defer func() { _ = recover() }()
	w := NewWriter()
	w.batch = &pgx.Batch{}
	return w.takeFact(ref, f, nil)
}
