package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestThinking(t *testing.T) {
	t.Parallel()
	foreign := thinking("Hm", &compactordv1.Attachment{Dialect: chat, Key: "signature", Json: `"c2ln"`})
	redacted := &compactordv1.Part{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Redacted: true}},
		Attachments: []*compactordv1.Attachment{attachment("data", `"eA=="`)},
	}
	unsigned := thinking("Hm", attachment("signature", `""`))
	step := func(id string, parts ...*compactordv1.Part) []*compactordv1.Message {
		return []*compactordv1.Message{assistant(append(parts, call(id, "n", "{}"))...), tool(id, resultText("x"))}
	}
	join := func(lists ...[]*compactordv1.Message) (all []*compactordv1.Message) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	hi := []*compactordv1.Message{user(textPart("Hi"))}
	for _, c := range []struct {
		name     string
		messages []*compactordv1.Message
		// kept is how many blocks of thinking are kept in each ASSISTANT message.
		kept    []int
		dropped int
		disable bool
	}{
		{"the provider's own", join(hi, step("a", signed("A"), redacted), step("b", signed(""))), []int{2, 1}, 0, false},
		{"another provider's", join(hi, step("a", foreign), step("b")), []int{0, 0}, 1, true},
		{"not signed", join(hi, step("a", unsigned)), []int{0}, 1, true},
		{"a loop that begins with another's loses all", join(hi, step("a", foreign), step("b", signed("B"))), []int{0, 0}, 2, true},
		{"a loop that begins with its own goes on", join(hi, step("a", signed("A")), step("b", foreign), step("c", signed("C"))), []int{1, 0, 1}, 1, false},
		{"a loop that is over", join(hi, step("a", foreign), step("b", signed("B")), hi), []int{0, 0}, 2, false},
		{"each loop by itself", join(hi, step("a", foreign), hi, step("b", signed("B"))), []int{0, 1}, 1, false},
		{"the live loop alone counts", join(hi, step("a", signed("A")), hi, step("b", foreign)), []int{1, 0}, 1, true},
		{
			"a message of nothing else is left out",
			join(hi, []*compactordv1.Message{assistant(foreign)}, hi), nil, 1, false,
		},
		{
			"thinking that nothing follows",
			join(hi, []*compactordv1.Message{assistant(signed("A"), textPart("x"), signed("B"))}, hi),
			[]int{1},
			1, false,
		},
		{"thinking that the list ends with", join(hi, []*compactordv1.Message{assistant(signed("A"))}), nil, 1, false},
		{
			"thinking that leaves its place",
			join(hi, []*compactordv1.Message{assistant(signed("A"), call("a", "n", "{}"), call("b", "n", "{}")), tool("a")},
				[]*compactordv1.Message{assistant(signed("B"), textPart("x")), tool("b")}),
			[]int{1},
			1, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, c.messages...)
			var kept []int
			for _, raw := range r.Messages {
				if strings.HasPrefix(string(raw), `{"role":"assistant"`) {
					kept = append(kept, strings.Count(string(raw), `"type":"thinking"`)+strings.Count(string(raw), `"type":"redacted_thinking"`))
				}
			}
			require.Equal(t, c.kept, kept)
			require.Len(t, r.Dropped, c.dropped)
			require.Equal(t, c.disable, r.DisableThinking)
		})
	}
}

func TestThinkingStaysAsItWas(t *testing.T) {
	t.Parallel()
	r := request(t, user(textPart("Hi")), assistant(
		with(thinking(""), attachment("signature", `"c2ln"`), attachment("cache_control", `{"type":"ephemeral"}`)), textPart(" a\n")), user(textPart("Hi")))
	require.JSONEq(t, `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":" a\n"}]}`,
		string(r.Messages[1]))
	require.Equal(t, []string{"anthropic.cache-control-place"}, repairs(r))
}
