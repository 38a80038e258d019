package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/transcript"
)

var update = flag.Bool("update", false, "write the generated tables of the documents")

// TestDialectTables compares the tables of docs/dialects.md with the code. `go test ./e2e -run DialectTables -update`
// writes them.
func TestDialectTables(t *testing.T) {
	const path = "docs/dialects.md"
	generated(t, path, "rules: input", table([]string{"rule", "what it asks"}, inputRows()))
	for _, d := range dialects.All() {
		generated(t, path, "rules: "+d.Name(), table([]string{"rule", "what it demands", "when", "source"}, ruleRows(d)))
	}
	var formats [][]string
	for _, f := range transcript.Formats() {
		formats = append(formats, []string{"`" + string(f) + "`", f.String()})
	}
	generated(t, path, "formats", table([]string{"format", "what it is"}, formats))
}

func inputRows() [][]string {
	var rows [][]string
	for _, r := range dialect.InputRules() {
		rows = append(rows, []string{"`" + r.ID + "`", r.Sentence})
	}
	return rows
}

func ruleRows(d dialect.Dialect) [][]string {
	var rows [][]string
	for _, r := range d.Rules() {
		when := "always"
		if r.RequestOnly {
			when = "request"
		}
		rows = append(rows, []string{"`" + r.ID + "`", r.Sentence, when, r.Source})
	}
	return rows
}

// table formats a Markdown table.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(cells, " | "), "\n", " "))
	}
	line(header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// generated compares the text between `<!-- NAME -->` and `<!-- end -->`, or writes it with -update.
func generated(t *testing.T, path, name, want string) {
	t.Helper()
	text := document(t, path)
	begin, end := "<!-- "+name+" -->\n", "<!-- end -->\n"
	head, rest, found := strings.Cut(text, begin)
	require.True(t, found, "%s has no part %q", path, name)
	have, tail, found := strings.Cut(rest, end)
	require.True(t, found, "the part %q of %s has no end", name, path)
	if !*update {
		require.Equal(t, "\n"+want+"\n", have, "`go test ./e2e -run %s -update` writes it", t.Name())
		return
	}
	text = head + begin + "\n" + want + "\n" + end + tail
	require.NoError(t, os.WriteFile(filepath.Join(repo, path), []byte(text), 0o600))
}
