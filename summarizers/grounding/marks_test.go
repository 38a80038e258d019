package grounding_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/grounding"
)

// marks are the cases of these tests: ‹› is a mark that stands directly after its name, and ‹a, b› one that lists names.
var marks = strings.NewReplacer("‹›", grounding.Mark, "‹", "(not in the conversation: ", "›", ")")

// A mark stands after what it would break, and lists the names that it means.
func TestMarksBreakNothing(t *testing.T) {
	t.Parallel()
	const source = "parse_header is in src/main.go"
	for name, want := range map[string]string{
		"a block of code":             "Look:\n```go\nread_header(parse_header)\nother_header()\n```\n‹read_header, other_header›\nDone.",
		"a block in a list":           "- it:\n  ```\n  read_header()\n  ```\n  ‹read_header›\n- done",
		"a quoted block":              "> ```\n> read_header()\n> ```\n> ‹read_header›\n> done",
		"the end of a block":          "~~~\nread_header()\n~~~\n‹read_header›",
		"the first line of a block":   "```go src/b_two.go\nreturn\n```\n‹src/b_two.go›",
		"two blocks":                  "```\nread_header()\n```\n‹read_header›\n```\nother_header()\n```\n‹other_header›",
		"strings in a block":          "```\nsay(\"drop every new import\")\n```",
		"a heading":                   "## Mend read_header\n‹read_header›\nDone.",
		"an underlined heading":       "Mend read_header\n================\n‹read_header›\nDone.",
		"a short underline":           "Mend read_header\n==\n‹read_header›\nDone.",
		"a link's target":             "See [the page](https://example.org/b_two) ‹https://example.org/b_two›.",
		"a link's text":               "See [src/b_two.go](main) ‹src/b_two.go› and src/c_three.go‹›.",
		"an image":                    "See ![x](img/b_two.png) ‹img/b_two.png›.",
		"a URL in brackets":           "See <https://example.org/b_two>‹›.",
		"a tag":                       "See <file path=\"src/b_two.go\"> ‹src/b_two.go›.",
		"code alone":                  "Call `read_header()`‹›.",
		"a path alone in code":        "See `./src/b_two.go:12`‹›.",
		"two backquotes":              "Call ``read_header``‹›.",
		"code with more":              "Call `read_header(parse_header)` ‹read_header› now.",
		"code with two":               "Call `read_header(other_header)` ‹read_header, other_header› now.",
		"a backquote alone":           "A ` before read_header‹› is text.",
		"a link after a backquote":    "A `[page](src/b_two.go) ‹src/b_two.go› is text.",
		"dashes after nothing":        "\n----\nCall read_header‹› now.\n\n--\nCall other_header‹› now.",
		"a rule of one sign":          "Call read_header‹› now.\n-",
		"an escaped backquote":        "A \\`read_header‹› and \\`other_header‹›.",
		"a longer name":               "Call read_header.parse_header ‹read_header› now.",
		"two in a name":               "Call read_header/other_header ‹read_header, other_header› now.",
		"arguments":                   "Call read_header(parse_header) ‹read_header› and read_footer‹› (twice).",
		"a number after a code":       "It is CVE-2031-4711‹›.",
		"an apostrophe":               "It is read_header's‹› fault, or read_footer’s‹›.",
		"the last of a quotation":     `They said "parse_header is read_header‹›".`,
		"a quotation in a heading":    `## They said "drop every new import"`,
		"a quotation in a link":       `[They said "drop every new import"](a)`,
		"a number sign in the middle": "See #12 and read_header‹›.",
		"a bracket without target":    "See [read_header‹›] (twice).",
		"a path in quotation marks":   `It is "src/b_two.go"‹› here.`,
		"less than":                   "If a<read_header‹› and b>1.",
		"a fence that does not end":   "Look:\n```\nread_header‹›\n\n## Next\nother_header‹›",
	} {
		want = marks.Replace(want)
		summary := grounding.WithoutMarks(want)
		got := marked(summary, source)
		require.Equal(t, want, got, name)
		require.Equal(t, want, marked(got, source), "%s: a mark is not marked", name)
		require.Equal(t, want, marked(summary, source, grounding.WithoutMarked(got)), "%s: a marked name is no source", name)
		require.Equal(t, summary, marked(got, source, summary), "%s: the conversation has it now", name)
	}
}

// A mark says of no other name that it is missing: what stands beside it remains a source.
func TestMarkMeansItsNamesOnly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"`read_header(parse_header)` ‹read_header›", "[src/main.go](src/b_two.go) ‹src/b_two.go›", "read_header.parse_header ‹read_header›",
		"```\nread_header(parse_header)\n```\n‹read_header›", `"parse_header is in read_header‹›"`,
	} {
		source := grounding.WithoutMarked(marks.Replace(line))
		require.Equal(t, "parse_header and src/main.go, not read_header"+grounding.Mark+" or src/b_two.go"+grounding.Mark,
			marked("parse_header and src/main.go, not read_header or src/b_two.go", source, "parse_header in src/main.go"), line)
		require.NotContains(t, source, "not in the conversation")
		for _, name := range []string{"parse_header", "src/main.go"} {
			require.Equal(t, strings.Contains(line, name), strings.Contains(source, name), line)
		}
	}
}

// What is not marked counts nevertheless.
func TestNamesWithoutAPlaceForAMarkCount(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, grounding.New(`## They said "drop every new import"`).Unsupported())
	require.Equal(t, 2, grounding.New("```\nread_header(other_header)\n```").Unsupported())
}
