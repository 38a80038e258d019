package dialects_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestEveryDialectOfTheContractIsFound(t *testing.T) {
	t.Parallel()
	for number := range compactordv1.Dialect_name {
		kind := compactordv1.Dialect(number)
		if kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
			continue
		}
		byKind, found := dialects.For(kind)
		require.True(t, found, kind)
		require.Equal(t, kind, byKind.Kind())
		name := strings.ToLower(strings.TrimPrefix(kind.String(), "DIALECT_"))
		require.Equal(t, name, byKind.Name())
		byName, found := dialects.Named(name)
		require.True(t, found, name)
		require.Equal(t, kind, byName.Kind())
	}
	require.Len(t, dialects.All(), len(compactordv1.Dialect_name)-1)
}

func TestWhatIsNoDialectIsNotFound(t *testing.T) {
	t.Parallel()
	for _, kind := range []compactordv1.Dialect{compactordv1.Dialect_DIALECT_UNSPECIFIED, 99, -1} {
		d, found := dialects.For(kind)
		require.False(t, found)
		require.Nil(t, d)
	}
	for _, name := range []string{"", "openai", "ANTHROPIC", "unspecified"} {
		d, found := dialects.Named(name)
		require.False(t, found)
		require.Nil(t, d)
	}
}

func TestRulesOfAllDialectsHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, d := range dialects.All() {
		for _, r := range d.Rules() {
			require.False(t, seen[r.ID], "two rules %s", r.ID)
			seen[r.ID] = true
		}
	}
}
