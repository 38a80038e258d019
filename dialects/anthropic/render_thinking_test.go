package anthropic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestThinking(t *testing.T) {
	t.Parallel()
	foreign := foreignThinking()
	redacted := &compactordv1.Part{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Redacted: true}},
		Attachments: []*compactordv1.Attachment{attachment("data", `"eA=="`)},
	}
	unsigned := thinking("Hm", attachment("signature", `""`))
	hi := []*compactordv1.Message{user(textPart("Hi"))}
	for _, c := range []struct {
		name     string
		messages []*compactordv1.Message
		// kept is how many blocks of thinking are kept in each ASSISTANT message.
		kept    []int
		dropped int
		disable bool
	}{
		{"the provider's own", slices.Concat(hi, step("a", signed("A"), redacted), step("b", signed(""))), []int{2, 1}, 0, false},
		{"another provider's", slices.Concat(hi, step("a", foreign), step("b")), []int{0, 0}, 1, true},
		{"not signed", slices.Concat(hi, step("a", unsigned)), []int{0}, 1, true},
		{"a loop that begins with another's loses all", slices.Concat(hi, step("a", foreign), step("b", signed("B"))), []int{0, 0}, 2, true},
		{"a loop that begins with its own goes on", slices.Concat(hi, step("a", signed("A")), step("b", foreign), step("c", signed("C"))), []int{1, 0, 1}, 1, false},
		{"a loop that is over", slices.Concat(hi, step("a", foreign), step("b", signed("B")), hi), []int{0, 0}, 2, false},
		{"each loop by itself", slices.Concat(hi, step("a", foreign), hi, step("b", signed("B"))), []int{0, 1}, 1, false},
		{"the live loop alone counts", slices.Concat(hi, step("a", signed("A")), hi, step("b", foreign)), []int{1, 0}, 1, true},
		{
			"a message of nothing else is left out",
			slices.Concat(hi, []*compactordv1.Message{assistant(foreign)}, hi), nil, 1, false,
		},
		{
			"thinking that nothing follows",
			slices.Concat(hi, []*compactordv1.Message{assistant(signed("A"), textPart("x"), signed("B"))}, hi),
			[]int{1},
			1, false,
		},
		{"thinking that the list ends with", slices.Concat(hi, []*compactordv1.Message{assistant(signed("A"))}), nil, 1, false},
		{
			"thinking that leaves its place",
			slices.Concat(hi, []*compactordv1.Message{assistant(signed("A"), call("a", "n", "{}"), call("b", "n", "{}")), tool("a")},
				[]*compactordv1.Message{assistant(signed("B"), textPart("x")), tool("b")}),
			[]int{1},
			1, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, c.messages...)
			require.Equal(t, c.kept, thinkingIn(r))
			require.Len(t, r.Dropped, c.dropped)
			require.Equal(t, c.disable, r.DisableThinking)
		})
	}
}

// Where the model decides before each answer whether it thinks, the provider takes a tool loop that began without.
func TestAdaptiveThinking(t *testing.T) {
	t.Parallel()
	foreign := foreignThinking()
	hi := []*compactordv1.Message{user(textPart("Hi"))}
	for _, c := range []struct {
		name     string
		messages []*compactordv1.Message
		kept     []int
		dropped  int
	}{
		{"a loop that begins with another's keeps its own", slices.Concat(hi, step("a", foreign), step("b", signed("B"))), []int{0, 1}, 1},
		{"another's within a message", slices.Concat(hi, step("a", foreign, signed("A"))), []int{1}, 1},
		{"a loop that begins without", slices.Concat(hi, step("a"), step("b", signed("B")), step("c")), []int{0, 1, 0}, 0},
		{"a loop that is over", slices.Concat(hi, step("a", foreign), step("b", signed("B")), hi), []int{0, 1}, 1},
		{
			"thinking that nothing follows",
			slices.Concat(hi, []*compactordv1.Message{assistant(textPart("x"), signed("A"))}, hi),
			[]int{0},
			1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := anthropic.New().Render(c.messages, dialect.RenderOptions{Adaptive: true})
			require.NoError(t, err)
			dialecttest.RequireValid(t, anthropic.New(), c.messages, &r.List)
			require.Equal(t, c.kept, thinkingIn(r))
			require.Len(t, r.Dropped, c.dropped)
			require.False(t, r.DisableThinking)
		})
	}
}

func foreignThinking() *compactordv1.Part {
	return thinking("Hm", &compactordv1.Attachment{Dialect: chat, Key: "signature", Json: `"c2ln"`})
}

// step returns a call with what comes before it in its message, and its result.
func step(id string, before ...*compactordv1.Part) []*compactordv1.Message {
	return []*compactordv1.Message{assistant(append(before, call(id, "n", "{}"))...), tool(id, resultText("x"))}
}

// thinkingIn returns how many blocks of thinking are in each message of the assistant.
func thinkingIn(r *dialect.Rendered) (found []int) {
	for _, raw := range r.Messages {
		if strings.HasPrefix(string(raw), `{"role":"assistant"`) {
			found = append(found, strings.Count(string(raw), `"type":"thinking"`)+strings.Count(string(raw), `"type":"redacted_thinking"`))
		}
	}
	return found
}

func TestThinkingStaysAsItWas(t *testing.T) {
	t.Parallel()
	r := request(t, user(textPart("Hi")), assistant(
		with(thinking(""), attachment("signature", `"c2ln"`), attachment("cache_control", `{"type":"ephemeral"}`)), textPart(" a\n")), user(textPart("Hi")))
	require.JSONEq(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":" a\n"}]}`,
		string(r.Messages[1]))
	require.Equal(t, []string{"anthropic.cache-control-place"}, repairs(r))
}
