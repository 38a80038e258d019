package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
)

// A new kind of what a store keeps of a session must be exported too.
func TestEachKindIsExported(t *testing.T) {
	t.Parallel()
	exporters := (&Service{}).exporters()
	require.Len(t, exporters, len(storage.Kinds()))
	for _, kind := range storage.Kinds() {
		require.NotNil(t, exporters[kind], kind)
	}
}
