package rig_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rig"
)

func TestStartNodeSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	_, err := rig.StartNode(t.Context(), rig.NodeConfig{Binary: "/nonexistent", Dir: t.TempDir()})
	require.ErrorIs(t, err, os.ErrNotExist)
}
