package e2e_test

import (
	"strings"
	"testing"

	"github.com/compactord/compactord/dialects/overflow"
)

// TestOverflowTable compares the table of docs/overflow.md with the rules. `go test ./e2e -run OverflowTable -update`
// writes it.
func TestOverflowTable(t *testing.T) {
	var rules [][]string
	for _, r := range overflow.Rules() {
		rules = append(rules, []string{
			"`" + r.ID + "`", strings.TrimPrefix(r.Class.String(), "ERROR_CLASS_"), r.Sentence, code(r.Pattern), r.Source,
		})
	}
	generated(t, "docs/overflow.md", "overflow rules",
		table([]string{"rule", "class", "holds where", "pattern", "source"}, rules))
}

// code formats an expression for a cell of a table.
func code(expression string) string {
	if expression == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(expression, "|", `\|`) + "`"
}
