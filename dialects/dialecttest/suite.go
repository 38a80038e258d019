package dialecttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

// Run tests a dialect.
func Run(t *testing.T, d dialect.Dialect) {
	t.Helper()
	t.Run("rules", func(t *testing.T) { t.Parallel(); rules(t, d) })
	t.Run("keys in other letters", func(t *testing.T) { t.Parallel(); keysInOtherLetters(t, d) })
	for _, p := range []struct {
		name string
		// One round is as many checks as the flag -rapid.checks says. With -short there is one.
		rounds int
		check  func(*rapid.T, dialect.Dialect)
	}{
		{"parsed and written", 5, parsedAndWritten},
		{"parsed and rendered", 5, parsedAndRendered},
		{"rendered", 5, rendered},
		{"rendered as written", 2, renderedAsWritten},
		{"prefixes", 3, prefixes},
		{"rendered and parsed", 5, renderedAndParsed},
		{"breakpoints", 2, breakpoints},
		{"in parts", 5, inParts},
		{"hostile attachments", 3, hostile},
		{"arbitrary JSON", 3, arbitraryJSON},
		{"streamed", 5, streamed},
		{"streams mutated", 3, streamsMutated},
		{"asked", 2, asked},
		{"answered", 5, answered},
		{"mutated", 10, mutated},
		{"arbitrary bytes", 3, arbitraryBytes},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			rounds := p.rounds
			if testing.Short() {
				rounds = 1
			}
			for range rounds {
				rapid.Check(t, func(t *rapid.T) { p.check(t, d) })
			}
		})
	}
}

func rules(t *testing.T, d dialect.Dialect) {
	t.Helper()
	require.NotEmpty(t, d.Name())
	require.NotZero(t, d.Kind())
	require.NotEmpty(t, d.Rules())
	seen := make(map[string]bool)
	for _, r := range d.Rules() {
		require.False(t, seen[r.ID], "two rules %s", r.ID)
		seen[r.ID] = true
		require.Regexp(t, `^[a-z_]+\.[a-z0-9]+(-[a-z0-9]+)*$`, r.ID)
		require.True(t, strings.HasSuffix(r.Sentence, "."), "the sentence of %s has no end", r.ID)
		require.NotEmpty(t, r.Source, "%s has no source", r.ID)
	}
}

func history(t *rapid.T) []*compactordv1.Message {
	return NewGenerator(sessiontest.Counts{}).History(t)
}

func rendered(t *rapid.T, d dialect.Dialect) { RequireRendered(t, d, history(t)) }

// renderedAsWritten checks that an export of messages from other dialects is JSON, and the same each time.
func renderedAsWritten(t *rapid.T, d dialect.Dialect) {
	messages := history(t)
	before := clones(messages)
	r, err := d.Render(messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	again, err := d.Render(before, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Equal(t, r, again)
	requireReport(t, d, messages, r)
	_, err = d.Split(d.Document(&r.List))
	require.NoError(t, err)
}

// prefixes checks that a list that grows keeps its elements. Only the last one can get more content.
func prefixes(t *rapid.T, d dialect.Dialect) {
	messages := history(t)
	lead := dialect.LeadingInstructions(messages)
	whole, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	closed := ClosedPrefixes(messages)
	for range min(4, len(closed)) {
		n := oneOf(t, closed)
		if n <= lead {
			continue
		}
		part, err := d.Render(messages[:n], dialect.RenderOptions{})
		require.NoError(t, err)
		stable := part.Messages[:max(0, len(part.Messages)-1)]
		require.GreaterOrEqual(t, len(whole.Messages), len(stable), "the first %d of %d messages", n, len(messages))
		for i, element := range stable {
			require.Equal(t, string(element), string(whole.Messages[i]),
				"element %d of the first %d of %d messages\n%s", i, n, len(messages), Describe(messages))
		}
		require.Equal(t, part.System, whole.System, "the system prompt of the first %d of %d messages", n, len(messages))
	}
}

// renderedAndParsed checks that a client can send back what was rendered.
func renderedAndParsed(t *rapid.T, d dialect.Dialect) {
	messages := history(t)
	first, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	if len(first.Messages) == 0 {
		return
	}
	parsed, err := d.Parse(d.Document(&first.List))
	require.NoError(t, err)
	requireMessages(t, parsed.Messages)
	require.Empty(t, parsed.Findings)
	written, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	RequireSame(t, d, &first.List, &written.List)
	second, err := d.Render(parsed.Messages, dialect.RenderOptions{})
	require.NoError(t, err)
	RequireSame(t, d, &first.List, &second.List)
}

// breakpoints checks that setting breakpoints breaks no rule, even with breakpoints of the client, and changes nothing
// else.
func breakpoints(t *rapid.T, d dialect.Dialect) {
	messages := history(t)
	var at []int
	for range dice(t, 4) {
		if len(messages) > 0 {
			at = append(at, dice(t, len(messages)))
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	marked, err := d.Render(messages, dialect.RenderOptions{Breakpoints: append([]int{}, at...)})
	require.NoError(t, err)
	RequireValid(t, d, messages, &marked.List)
	requireReport(t, d, messages, marked)
	plain, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	require.Equal(t, plain.From, marked.From)
}
