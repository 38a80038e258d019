package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A term that stands twice has two meanings, and one that is out of order is not found.
func TestGlossaryHasEachTermOnceInOrder(t *testing.T) {
	page, err := os.ReadFile("glossary.md")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		var terms []string
		for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|`).FindAllStringSubmatch(body, -1) {
			if row[1] == "term" {
				continue
			}
			terms = append(terms, row[1])
			for _, term := range strings.Split(row[1], ", ") {
				require.Empty(t, seen[term], "%q stands under %q and %q", term, seen[term], title)
				seen[term] = title
			}
		}
		require.NotEmpty(t, terms, title)
		require.True(t, slices.IsSortedFunc(terms, func(a, b string) int {
			return strings.Compare(strings.ToLower(a), strings.ToLower(b))
		}), "the terms under %q are not in alphabetical order", title)
	}
}
