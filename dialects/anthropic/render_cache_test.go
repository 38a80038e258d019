package anthropic_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var markedText = regexp.MustCompile(`"text":"([^"]*)","cache_control"|"cache_control":\{[^}]*\},"text":"([^"]*)"`)

// marks returns the texts that have a cache breakpoint.
func marks(r *dialect.Rendered) string {
	var texts []string
	for _, raw := range slices.Concat(r.System, r.Messages) {
		for _, found := range markedText.FindAllStringSubmatch(string(raw), -1) {
			texts = append(texts, found[1]+found[2])
		}
	}
	return strings.Join(texts, " ")
}

func markedPart(text string) *compactordv1.Part {
	return with(textPart(text), attachment("cache_control", `{"type":"ephemeral"}`))
}

func TestMarksOfTheClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		messages []*compactordv1.Message
		want     string
		repairs  int
	}{
		{"few", []*compactordv1.Message{user(markedPart("a")), assistant(textPart("x")), user(markedPart("b"))}, "a b", 0},
		{"four", []*compactordv1.Message{
			message(compactordv1.Role_ROLE_SYSTEM, markedPart("s")), user(markedPart("a"), markedPart("b")), assistant(textPart("x")), user(markedPart("c")),
		}, "s a b c", 0},
		{"six", []*compactordv1.Message{
			user(markedPart("a"), markedPart("b")), assistant(markedPart("c")), user(markedPart("d")), assistant(markedPart("e")), user(markedPart("f"), textPart("g")),
		}, "a b c f", 2},
		{"six, and none at the end", []*compactordv1.Message{
			user(markedPart("a"), markedPart("b")), assistant(markedPart("c")), user(markedPart("d")), assistant(markedPart("e")), user(textPart("g")),
		}, "a b c", 2},
		{"no object", []*compactordv1.Message{user(opaque(kind, `{"type":"hologram","cache_control":7}`), markedPart("a"))}, "a", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, c.messages...)
			require.Equal(t, c.want, marks(r))
			require.Len(t, r.Repairs, c.repairs)
		})
	}
}

func TestMarksWithinBlocksCount(t *testing.T) {
	t.Parallel()
	inner := `{"type":"text","text":"i","cache_control":{"type":"ephemeral"}}`
	r := request(t, parse(t, `[`+hi+`,`+use+`,`+says("user", `{"type":"tool_result","tool_use_id":"t","content":[`+inner+`,`+inner+`]},
		{"type":"document","source":{"type":"content","content":[`+inner+`,`+inner+`]}},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`)+`]`).Messages...)
	require.Equal(t, "i i i a", marks(r))
	require.Equal(t, []string{"anthropic.cache-control-count"}, repairs(r))
}

func TestMarksForAnHourComeFirst(t *testing.T) {
	t.Parallel()
	long := func(text string) *compactordv1.Part {
		return with(textPart(text), attachment("cache_control", `{"type":"ephemeral","ttl":"1h"}`))
	}
	r := request(t, user(long("a"), markedPart("b"), long("c")))
	require.JSONEq(t, `{"messages":[{"role":"user","content":[
		{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"type":"text","text":"b","cache_control":{"type":"ephemeral"}},
		{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]}`, list(r))
	require.Equal(t, []string{"anthropic.cache-control-order"}, repairs(r))
}

func TestBreakpoints(t *testing.T) {
	t.Parallel()
	messages := []*compactordv1.Message{
		message(compactordv1.Role_ROLE_SYSTEM, textPart("s1"), markedPart("s2")), // 0
		user(textPart("summary")),            // 1
		user(textPart("u"), markedPart("v")), // 2
		assistant(signed("A"), textPart("said"), opaque(kind, `{"type":"fallback","from":{},"to":{}}`)), // 3
		user(mediaPart(media("image/png", []byte{1}, 0)), textPart("last")),                             // 4
		assistant(thinking("foreign")), // 5
	}
	for _, c := range []struct {
		name string
		at   []int
		want string
	}{
		{"none", []int{}, ""},
		{"the system prompt", []int{0}, "s2"},
		{"a message that others joined", []int{1}, "summary"},
		{"the last block that can be marked", []int{3}, "said"},
		{"several", []int{0, 1, 4}, "s2 summary last"},
		{"a message that is left out", []int{5}, "last"},
		{"twice the same place", []int{4, 5}, "last"},
		{"more than there can be", []int{0, 1, 2, 3, 4}, "s2 summary v said"},
		{"none that is there", []int{17}, "last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := anthropic.New().Render(messages, dialect.RenderOptions{Breakpoints: c.at})
			require.NoError(t, err)
			require.Equal(t, c.want, marks(r))
			require.Empty(t, anthropic.New().Validate(&r.List, dialect.History))
		})
	}
}

// The system prompt has one breakpoint, even if it was made from several messages.
func TestBreakpointsInTheLeadingRun(t *testing.T) {
	t.Parallel()
	r, err := anthropic.New().Render([]*compactordv1.Message{system("a"), system("b"), user(textPart("c"))}, dialect.RenderOptions{Breakpoints: []int{0}})
	require.NoError(t, err)
	require.Equal(t, "b", marks(r))
}

// A string has no field for a breakpoint.
func TestBreakpointsTurnStringsIntoBlocks(t *testing.T) {
	t.Parallel()
	parsed := parse(t, `{"system":"Be brief.","messages":[`+hi+`]}`)
	r, err := anthropic.New().Render(parsed.Messages, dialect.RenderOptions{Breakpoints: []int{0, 1}})
	require.NoError(t, err)
	require.JSONEq(t, `{"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}`, list(r))
}
