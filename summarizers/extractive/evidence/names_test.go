package evidence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

func namesOf(text string) (names []string) {
	evidence.Names(text, func(n evidence.Name, _ int) { names = append(names, n.Text) })
	return names
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{"See https://shop.example.test/export?page=3.", []string{"https://shop.example.test/export?page=3"}},
		{"open ./src/app.ts, then /etc/hosts and pager.go.", []string{"src/app.ts", "/etc/hosts", "pager.go"}},
		{"and/or, 1/2, /tmp, e.g. this, v1.2", nil},
		{"commit 3f3f59a of 1b4e28ba-2fa1-11d2-883f-0016d3cca427", []string{"3f3f59a", "1b4e28ba-2fa1-11d2-883f-0016d3cca427"}},
		{"ENOENT, E0432, SIGKILL, 0xdeadbeef, PROJ-123", []string{"ENOENT", "E0432", "SIGKILL", "0xdeadbeef", "PROJ-123"}},
		{"maxPage keepRecent keep_recent __init__ HTTPServer", []string{"maxPage", "keepRecent", "keep_recent", "__init__", "HTTPServer"}},
		{"port 8080, year 42, 2025-03-02", []string{"8080", "2025"}},
		{`it said "not a git repository" twice`, []string{"not a git repository"}},
		{"a call of `git status` and 'rows are missing'", []string{"git status", "rows are missing"}},
		{`it's "short" and "one_plain_name"`, []string{"one_plain_name"}},
		{`{"title":"The Long Winter","id":7}`, []string{"The Long Winter"}},
		{`"read src/a.go again" now`, []string{"read src/a.go again", "src/a.go"}},
		{`func\n\tmaxDepthOf`, []string{"maxDepthOf"}},
		{"in ./cmd/tool and ./app.go", []string{"./cmd/tool", "app.go"}},
		{"请修改parseConfig函数，然后看src/main.go文件。", []string{"parseConfig", "src/main.go"}},
		{"data:" + strings.Repeat("aB3dE5gH/kL+", 100), nil},
		{"see https://x.test/" + strings.Repeat("signed", 90), nil},
		{"plain words of a sentence, in 日本語 too", nil},
	} {
		require.Equal(t, c.want, namesOf(c.text), c.text)
	}
}

// anyText has parts of names, marks, and characters of several bytes.
func anyText() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"src/", "main.go", "keep_", "Recent", "https://", "x.test/a?b=c", "E0432", "\"", "'", "`", "\\n", "\n", " ", ", ", "é", "日本", "\xff", "0123456", "deadbeef",
		"PROJ-12", "/", ".", "~", "word",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 60).Draw(t, "parts"), "")
	})
}

// Each name stands in the text where it is said to, in order, and within no longer word.
func TestNamesStandInTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := anyText().Draw(rt, "text")
		last := 0
		evidence.Names(text, func(n evidence.Name, at int) {
			require.Equal(rt, n.Text, text[at:at+len(n.Text)])
			require.GreaterOrEqual(rt, at, last)
			require.NotContains(rt, n.Text, "\n")
			last = at
		})
	})
}

func FuzzNames(f *testing.F) {
	f.Add(`{"path":"src/a.go","text":"a \"b\" c"}`)
	f.Add("'a' `b` https://x.test/\\nE0432")
	f.Fuzz(func(t *testing.T, text string) {
		evidence.Names(text, func(n evidence.Name, at int) { require.Equal(t, n.Text, text[at:at+len(n.Text)]) })
	})
}
