package docs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/docs"
)

func TestEveryPageHasATitle(t *testing.T) {
	names := docs.Names()
	require.Contains(t, names, "dialects")
	require.NotContains(t, names, "README", "it lists the others by their files, which a binary has not")
	for _, name := range names {
		text, known := docs.Page(name)
		require.True(t, known, name)
		require.True(t, strings.HasPrefix(text, "# "+docs.Title(name)+"\n"), name)
	}
}

func TestNoPageOfAnotherName(t *testing.T) {
	for _, name := range []string{"", "nope", "README", "seed-cases", "../README", "dialects.md", "./dialects"} {
		_, known := docs.Page(name)
		require.False(t, known, name)
	}
}
