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
		{"port 8080, year 42, 2025-03-02", []string{"8080", "2025-03-02"}},
		{"since 2025-03-02T10:15:30Z or 2025-03-02 10:15", []string{"2025-03-02"}},
		{"src/pager.go-41-return rows", []string{"src/pager.go"}},
		{"/srv/shop/pager.go-41- return rows, pager.go-1-", []string{"/srv/shop/pager.go", "pager.go"}},
		{"src/pager-41-rows.go, src/page-2/app.go", []string{"src/pager-41-rows.go", "src/page-2/app.go"}},
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

// namesCase is a text with the names in it.
type namesCase struct {
	text string
	want []string
}

func requireNames(t *testing.T, cases []namesCase) {
	t.Helper()
	for _, c := range cases {
		require.Equal(t, c.want, namesOf(c.text), c.text)
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"http://ab.cd is long enough", []string{"http://ab.cd"}},
		{"http://a.cd is not", nil},
	})
	const address = "https://shop.example.test/export"
	for _, mark := range ".,;:!?*_" {
		require.Equal(t, []string{address}, namesOf("see "+address+string(mark)+" twice"), "%q ends a sentence", mark)
	}
	for _, mark := range "\"'`<>()[]{}|\\^ \t\n" {
		require.Equal(t, []string{address}, namesOf("see "+address+string(mark)+"twice"), "%q ends a URL", mark)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"a.go is short, b2.go is not", []string{"b2.go"}},
		{"/" + strings.Repeat("ab/", 100) + "x", nil},
		{"././src/app.ts", []string{"src/app.ts"}},
		{"|----src/app.ts", []string{"src/app.ts"}},
		{"~/notes/todo and ../lib/run", []string{"~/notes/todo", "../lib/run"}},
		{"node_modules/@types/node.d.ts", []string{"node_modules/@types/node.d.ts"}},
		{"/home, /usr/ and ~/notes", nil},
		{"/dev/null, /bin/bash", nil},
		{"src//app.go, a/b/c.d1, /1.2/3.4", nil},
		{"src/app.9z, src/app.extension, src/app.a-b, src/app.é", nil},
		{"this.value, .json, version.next, config/.env", nil},
	})
	for _, sign := range ".-+@" {
		require.Equal(t, []string{"src/app.go"}, namesOf("src/app.go"+string(sign)), "%q ends no path", sign)
	}
	evidence.Names("in ./src/app.ts", func(n evidence.Name, at int) {
		require.Equal(t, evidence.Name{Kind: evidence.Path, Text: "src/app.ts"}, n)
		require.Equal(t, len("in ./"), at)
	})
}

func TestIDsAndCodes(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"not a UUID: 3f3f59a01-bc12-4d5e-8f90-1234567890a", []string{"3f3f59a01", "1234567890a"}},
		{"nor is 1b4e28bg-2fa1-11d2-883f-0016d3cca427", []string{"0016d3cca427"}},
		{"DEFACED, Deadbe12, " + strings.Repeat("0a", 33), nil},
		{"A-123, ABCDEFGHI-12, PROJ-1, PROJ-12ab", nil},
		{"PROJ-1234567", []string{"PROJ-1234567"}},
		{"AB12, XY1234567, ABCDXYZ123, 12E45", nil},
		{"SIGX, SIGNIFICANT, SIGHUP", []string{"SIGHUP"}},
		{"0xdeadgbeef, 0xdeadbeef", []string{"0xdeadbeef"}},
		{strings.Repeat("12", 10) + ", " + strings.Repeat("12", 11), []string{strings.Repeat("12", 10)}},
	})
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	requireNames(t, []namesCase{
		{"maxRow is short, maxRows is not, " + strings.Repeat("a_", 51) + " is too long", []string{"maxRows"}},
		{"page2Of", []string{"page2Of"}},
		{"_Private, trailing_, __private, _______, 2025_01_02", nil},
		{"größeDerSeite", []string{"größeDerSeite"}},
		{"fu\u0308nfZeilen", []string{"fu\u0308nfZeilen"}},
		{"“parseConfig”—then…maxRows", []string{"parseConfig", "maxRows"}},
		{"このparseConfigを, テストreadConfigテスト, 함수saveConfig를", []string{"parseConfig", "readConfig", "saveConfig"}},
		{strings.Repeat("x/", 200) + "keepRecent", []string{"keepRecent"}},
	})
}

func TestQuotations(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many words ", 10) + "in marks"
	requireNames(t, []namesCase{
		{`"ab cdef" and "ab cdefg"`, []string{"ab cdefg"}},
		{`"` + long + `" and "` + long + ` too"`, []string{long}},
		{"\"one line\nand another\"", nil},
		{`" and then", "and then "`, nil},
		{`"not a repository\"`, nil},
		{`"== -- != ++"`, nil},
		{`"pkg.module:name"`, nil},
		{`"parseRows()"`, []string{"parseRows"}},
		{`print("rows", maxPageRows, "pages")`, []string{"maxPageRows"}},
		{`"page_id":2734651359,"rows"`, []string{"page_id", "2734651359"}},
		{`don't say 'rows are missing'`, []string{"rows are missing"}},
		{`'the user's choice'`, nil},
		{`5" wide, 'rows are missing', ` + strings.Repeat("more words ", 60) + `7" wide`, []string{"rows are missing"}},
		{`"the 'rows are missing' of it"`, []string{"the 'rows are missing' of it"}},
	})
}

// anyText has parts of names, marks, and characters of several bytes.
func anyText() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"src/", "main.go", "keep_", "Recent", "https://", "x.test/a?b=c", "E0432", "\"", "'", "`", "\\n", "\n", " ", ", ", "é", "日本", "\xff", "0123456", "deadbeef",
		"PROJ-12", "/", "./", ".", "~", "word",
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
