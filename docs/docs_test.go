package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// The map of the code names files and folders. Those of the parts of the service it names without that.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("architecture.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z_/]+/[a-z_/]*|[a-z_/]+/[a-z_]+\\.go|[a-z_]+/[a-z]+)`").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		if strings.Contains(name[1], "/NAME") {
			continue
		}
		found := slices.ContainsFunc([]string{"..", "../service"}, func(root string) bool {
			_, err := os.Stat(filepath.Join(root, name[1]))
			return err == nil
		})
		require.True(t, found, "%s is not there", name[1])
	}
}
