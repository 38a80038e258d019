package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func extraBlock(name, text string) *compactordv1.ContextBlock {
	return &compactordv1.ContextBlock{Name: name, Parts: []*compactordv1.Part{textPart(text)}}
}

func viewWith(token string, extra ...*compactordv1.ContextBlock) *compactordv1.GetLLMViewRequest {
	return &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: token, ExtraBlocks: extra,
	}
}

// Extra blocks are the end of one view in each dialect. The next request has all before them, and nothing is stored.
func TestExtraBlocksAreForOneRequest(t *testing.T) {
	t.Parallel()
	for _, shape := range dialects.All() {
		t.Run(shape.Name(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			d.append("s", system("Be careful."), user("One."), assistant("Two."), user("What time is it?"))
			get := func(token string, extra ...*compactordv1.ContextBlock) *compactordv1.GetLLMViewResponse {
				req := viewWith(token, extra...)
				req.Dialect = shape.Kind()
				answer, err := d.compactions.GetLLMView(t.Context(), req)
				require.NoError(t, err)
				return answer
			}
			plain := get("")
			with := get("", extraBlock("clock", "It is noon."))
			all := with.GetMessagesJson()
			require.Contains(t, all[len(all)-1], "It is noon.")
			require.Equal(t, plain.GetReport(), with.GetReport(), "the context report does not count them")
			require.Equal(t, plain.GetViewReport().GetTokens()+with.GetViewReport().GetExtraBlockTokens(), with.GetViewReport().GetTokens())

			d.append("s", assistant("Noon."))
			next := get(with.GetViewToken())
			require.NotContains(t, strings.Join(next.GetMessagesJson(), ""), "It is noon.")
			held := append(all[:next.GetUnchangedPrefix():next.GetUnchangedPrefix()], next.GetMessagesJson()...)
			require.Equal(t, get("").GetMessagesJson(), held)
			require.GreaterOrEqual(t, int(next.GetUnchangedPrefix()), len(plain.GetMessagesJson())-1)
		})
	}
}

// A report of usage counts the extra blocks of the view that it is for. The context of the next request lacks them.
func TestUsageOfExtraBlocksIsNoPartOfTheContext(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("What does the document say?"))
	answer, err := d.compactions.GetLLMView(t.Context(), viewWith("", extraBlock("document", strings.Repeat("words ", 400))))
	require.NoError(t, err)
	extra := answer.GetViewReport().GetExtraBlockTokens()
	require.Greater(t, extra, uint32(400))
	said := assistant("Words.")
	said.Usage = &compactordv1.Usage{InputTokens: 100 + extra, OutputTokens: 10}
	appended, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{said}, ViewToken: answer.GetViewToken(),
	})
	require.NoError(t, err)
	require.Equal(t, compactordv1.TokenSource_TOKEN_SOURCE_REPORTED, appended.GetReport().GetSource())
	require.Equal(t, uint32(110), appended.GetReport().GetTokens())
	require.Equal(t, 100-answer.GetViewReport().GetTokens()+extra, appended.GetReport().GetOverheadTokens())
}

// What an extra block cannot be is refused, and the error names the field.
func TestExtraBlocksThatAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("Go."))
	d.setBlock("s", extraBlock("plan", "First this."))
	for field, b := range map[string]*compactordv1.ContextBlock{
		"extra_blocks[0].name": extraBlock("plan", "Then that."),
		"extra_blocks[0].place": {
			Name: "a", Parts: []*compactordv1.Part{textPart("x")}, Place: compactordv1.BlockPlace_BLOCK_PLACE_LEADING,
		},
		"extra_blocks[0].turns":    {Name: "a", Parts: []*compactordv1.Part{textPart("x")}, Turns: 1},
		"extra_blocks[0].operator": {Name: "a", Parts: []*compactordv1.Part{textPart("x")}, Operator: true},
		"extra_blocks[0].parts[0]": {Name: "a", Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "x"}},
		}}},
	} {
		_, err := d.compactions.GetLLMView(t.Context(), viewWith("", b))
		requireInvalid(t, err, field, "")
	}
	_, err := d.compactions.GetLLMView(t.Context(), viewWith("", extraBlock("a", "x"), extraBlock("a", "y")))
	requireInvalid(t, err, "extra_blocks[1].name", "twice")
	_, err = d.compactions.GetLLMView(t.Context(), viewWith("", extraBlock("a", strings.Repeat("x", 256<<10))))
	requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
}

// A rendered view of more than 8 MiB is rendered stretch by stretch. Its pages end with the extra blocks, which are not
// there in the next view.
func TestExtraBlocksOfALargeView(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", system("Be careful."))
	for range 12 {
		d.append("s", user(strings.Repeat("tide ", 200_000)), assistant("Noted."))
	}
	d.append("s", user("What time is it?"))
	for _, kind := range allKinds() {
		held, token := []string(nil), ""
		pages := func(extra ...*compactordv1.ContextBlock) (n int) {
			for {
				req := viewWith(token, extra...)
				req.Dialect = kind
				answer, err := d.compactions.GetLLMView(t.Context(), req)
				require.NoError(t, err)
				held = append(held[:answer.GetUnchangedPrefix()], answer.GetMessagesJson()...)
				n, token = n+1, answer.GetViewToken()
				if !answer.GetHasMore() {
					return n
				}
			}
		}
		require.Greater(t, pages(extraBlock("clock", "It is noon.")), 3)
		require.Contains(t, held[len(held)-1], "It is noon.", kind)
		require.Equal(t, 1, strings.Count(strings.Join(held, ""), "It is noon."))
		pages()
		require.NotContains(t, held[len(held)-1], "It is noon.", kind)
		require.Contains(t, held[len(held)-1], "What time is it?", kind)
	}
}

// The view of an inline history ends with the extra blocks too.
func TestExtraBlocksOfAnInlineHistory(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, kind := range append(allKinds(), compactordv1.Dialect_DIALECT_UNSPECIFIED) {
		req := &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_History{History: &compactordv1.InlineHistory{
				Messages: []*compactordv1.Message{system("Be careful."), user("What time is it?")},
			}},
			Dialect: kind, ExtraBlocks: []*compactordv1.ContextBlock{extraBlock("clock", "It is noon.")},
		}
		answer, err := d.compactions.GetLLMView(t.Context(), req)
		require.NoError(t, err)
		if kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
			shown := answer.GetMessages()[len(answer.GetMessages())-1]
			require.True(t, shown.GetContextBlock().GetExtra())
			require.Equal(t, tokensOf(answer.GetMessages()), answer.GetViewReport().GetTokens())
			continue
		}
		all := answer.GetMessagesJson()
		require.Contains(t, all[len(all)-1], "It is noon.", kind)
		require.Positive(t, answer.GetViewReport().GetExtraBlockTokens())
	}
}
