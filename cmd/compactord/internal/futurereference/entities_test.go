package futurereference_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
)

func TestEntities(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"just some words":                       "",
		"see pkg/parser.go, and ./cmd/main.go.": "path:cmd/main.go path:pkg/parser.go",
		"in /etc/hosts, not in /tmp":            "path:/etc/hosts",
		"> /dev/null 2>&1":                      "",
		"a/b.py/c and x/y.py-old":               "path:a/b.py path:x/y.py",
		"main.go main.nope go.mod/x":            "path:main.go",
		"https://example.org/a?b=c.":            "url:https://example.org/a?b=c",
		"http://a.b":                            "",
		"commit 1ccd8ca7, not deadbeef":         "hex:1ccd8ca7",
		"123e4567-e89b-12d3-a456-426614174000":  "hex:123e4567-e89b-12d3-a456-426614174000",
		"E1234, ENOENT, SIGKILL and 0xdeadbeef": "error:0xdeadbeef error:E1234 error:ENOENT error:SIGKILL",
		"CVE-2024-12345 and FER-118":            "error:CVE-2024-12345 error:FER-118",
		"parseLine parse_line parse __init__":   "identifier:__init__ identifier:parseLine identifier:parse_line",
		"4711 and 123":                          "number:4711",
		`he said "not like this" to "me" twice`: "quoted:not like this",
		"it's 'a quoted text' and isn't":        "quoted:a quoted text",
		"it's what they said' so":               "",
		"`parseLine()` is a name":               "identifier:parseLine",
		`escaped: \"with some words\"\nnext`:    "quoted:with some words",
	} {
		var have []string
		for _, e := range futurereference.Entities(text) {
			have = append(have, e.Kind+":"+e.Value)
		}
		require.Equal(t, want, strings.Join(have, " "), text)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`none`: "none", `a\nb\tc\rd`: "a\nb\nc\nd", `\"x\/y\"`: `"x/y"`, `\\\\n`: "\n", `\u00e9\u0041`: "éA", `\ud800`: `\ud800`,
		`\u12`: `\u12`, `C:\dir\`: `C:\dir\`, `\`: `\`,
	} {
		require.Equal(t, want, futurereference.Plain(text), text)
	}
}

// Entities occur in the plain text, are sorted, and each occurs once.
func FuzzEntities(f *testing.F) {
	f.Add(`see "pkg/parser.go:12" in /home/user/x.py\n and https://example.org`)
	f.Add("'a b c d e f' ~/x/../y CVE-2024-1 \\u00e9 __x__ 0xDEADBEEF `q q q q q`")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("texts of messages are valid UTF-8")
		}
		plain := futurereference.Plain(text)
		before := ""
		for _, e := range futurereference.Entities(text) {
			require.Contains(t, plain, e.Value)
			key := e.Kind + "\x00" + e.Value
			require.Less(t, before, key)
			before = key
		}
	})
}

// A name that stands alone is found, whatever stands around it.
func TestEntitiesAreFoundInAnyContext(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-z]{3,8}/[a-z]{3,8}\.(go|py|ts)|[a-z]{4}_[a-z]{4}|[1-9][0-9]{4}`).Draw(t, "value")
		around := rapid.StringMatching(`[ ,;:(){}=]{0,3}`)
		text := around.Draw(t, "before") + " " + value + " " + around.Draw(t, "after")
		var values []string
		for _, e := range futurereference.Entities(text) {
			values = append(values, e.Value)
		}
		require.Equal(t, []string{value}, values, text)
	})
}
