package summaries_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// working sets a state in which an agent with a request has read three files.
func working(op *summaries.Operation) {
	kept := talk(1, "Mend the parser.")
	for i, path := range []string{"a.go", "b.go", "c.go"} {
		index := uint32(2 + 2*i)
		kept = append(kept,
			&compactordv1.LoggedMessage{Index: index, Tokens: 10, Message: &compactordv1.Message{
				Role: compactordv1.Role_ROLE_ASSISTANT,
				Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
					Id: path, Name: "read", Arguments: `{"path":"` + path + `"}`,
				}}}},
			}},
			&compactordv1.LoggedMessage{
				Index: index + 1, Tokens: 400, Answers: &compactordv1.CallRef{Index: index, Name: "read"},
				Message: &compactordv1.Message{
					Role: compactordv1.Role_ROLE_TOOL,
					Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
						CallId: path, Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{
							Text: &compactordv1.TextPart{Text: path + strings.Repeat(" line of code", 120)},
						}}},
					}}}},
				},
			})
	}
	op.State.Kept = kept
	op.ToRead = 1200
	op.Policy.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{
			{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{}}},
			{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_CompressObservations{
				CompressObservations: &compactordv1.CompressObservationsStrategy{Guidelines: proto.String("Keep names.")},
			}}},
		},
	}}}
}

// edits returns edits that shorten the results at these indexes, each to a quarter.
func edits(indexes ...uint32) []*compactordv1.Edit {
	all := make([]*compactordv1.Edit, len(indexes))
	for i, index := range indexes {
		all[i] = &compactordv1.Edit{
			Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, TokensFreed: 300, BySummarizer: true,
		}
	}
	return all
}

// answering returns a summarizer that writes for each result what do returns for its path, and faithful summaries.
func answering(do func(ctx context.Context, path string) (string, error)) *scripted {
	return &scripted{name: "writer", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind != summarizers.Observation {
			return extractive.New().Summarize(ctx, req, p)
		}
		text, err := do(ctx, req.Result.Argument)
		p.Text(text)
		return &summarizers.Summary{Text: text, Model: "small", Calls: 1, CostUSD: proto.Float64(0.5)}, err
	}}
}

func TestShortenRequestHasTheResult(t *testing.T) {
	w := newWriter(t, says(""), working, func(op *summaries.Operation) {
		op.Focus, op.Policy.Summary.PromptOverride = "names", proto.String("is for summaries")
	})
	req, err := w.EditRequest(edits(5)[0])
	require.NoError(t, err)
	require.Equal(t, summarizers.Observation, req.Kind)
	require.Equal(t, []uint32{400, 100}, []uint32{req.Replaces, req.MaxTokens})
	require.Equal(t, "names", req.Focus)
	require.Empty(t, req.PromptOverride)
	require.True(t, strings.HasPrefix(req.Result.Text, "b.go line of code"))
	req.Result.Text = ""
	require.Equal(t, &summarizers.ToolResult{
		Index: 5, Tool: "read", Argument: "b.go", Task: "Mend the parser.", Guidelines: "Keep names.",
	}, req.Result)

	w.op.State.Kept = w.op.State.Kept[4:]
	w.op.State.Entry = &compactordv1.CompactionEntry{Slots: &compactordv1.Slots{
		LastUserRequest: &compactordv1.UserRequest{Text: "Mend it."},
	}}
	req, err = w.EditRequest(edits(5)[0])
	require.NoError(t, err)
	require.Empty(t, req.Result.Argument, "the call is covered")
	require.Equal(t, "Mend it.", req.Result.Task)
}

// Texts are returned in the order of the edits, whichever is written first. A result without a shorter text has none.
func TestResultsAreMadeShorter(t *testing.T) {
	for name, atATime := range map[string]int{"in order": 1, "at a time": 3} {
		t.Run(name, func(t *testing.T) {
			last := make(chan struct{})
			model := answering(func(ctx context.Context, path string) (string, error) {
				switch path {
				case "a.go":
					if atATime > 1 {
						select {
						case <-last:
						case <-ctx.Done():
						}
					}
				case "b.go":
					return strings.Repeat("no shorter ", 200), nil
				default:
					close(last)
				}
				return "short " + path, nil
			})
			w := newWriter(t, concurrent{model, atATime}, working, falling, func(op *summaries.Operation) {
				op.State.Kept[4].Tokens = 8
			})
			short := edits(3, 5, 7)
			short[1].TokensFreed = 0
			texts, err := w.WriteEdits(t.Context(), short)
			require.NoError(t, err)
			require.Len(t, texts, 3)
			require.True(t, strings.HasPrefix(texts[0].Text, "short a.go\n[A shortened result."), texts[0].Text)
			require.Nil(t, texts[1], "nobody can write it in 8 tokens")
			require.Contains(t, texts[2].Text, "recall index 7, part 0")
			require.Equal(t, "small", texts[2].Model)
			require.Equal(t, summaries.Spent{Calls: 4, CostUSD: proto.Float64(2)}, w.Spent(), "two of them were refused")
			require.True(t, slices.IsSorted(w.listener.reads))
			require.Equal(t, uint32(0), w.listener.reads[0])
			require.Equal(t, uint32(808), w.listener.reads[3])
			require.Empty(t, w.listener.deltas, "what is written is no text of the summary")
			require.Zero(t, w.listener.checked)

			w.listener.reads = nil
			_, err = w.Write(t.Context(), conversation())
			require.NoError(t, err)
			require.Equal(t, uint32(808), w.listener.reads[0], "the summary goes on from there")
		})
	}
}

// The first failure ends the call, and the costs so far are reported.
func TestResultThatFails(t *testing.T) {
	model := answering(func(ctx context.Context, path string) (string, error) {
		if path == "b.go" {
			return "", &summarizers.ProviderError{Status: 400}
		}
		return "short", nil
	})
	w := newWriter(t, model, working)
	texts, err := w.WriteEdits(t.Context(), edits(3, 5, 7))
	require.Nil(t, texts)
	require.True(t, apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED))
	require.Len(t, model.requests, 2)
	require.Equal(t, uint32(2), w.Spent().Calls)
}

// A panic of a summarizer, in whatever goroutine, fails the operation.
func TestPanicAmongTextsAtATime(t *testing.T) {
	w := newWriter(t, concurrent{answering(func(context.Context, string) (string, error) { panic("a secret") }), 3}, working)
	_, err := w.WriteEdits(t.Context(), edits(3, 5, 7))
	require.True(t, apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_INTERNAL))
	require.NotContains(t, w.log.String(), "a secret")
}

// The client's texts are used in order, results before the summary.
func TestTextsOfTheClient(t *testing.T) {
	client := &summaries.ClientTexts{
		Texts: []string{"short a", " ", "Here is the summary:\n" + goal("Mend it.")}, Model: "large", Prompted: true, CachedPrefix: true,
	}
	w := newWriter(t, client, working)
	texts, err := w.WriteEdits(t.Context(), edits(3, 5))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(texts[0].Text, "short a\n"))
	require.False(t, texts[0].CachedPrefix, "that one had a prompt of its own")
	require.Nil(t, texts[1], "the client leaves it as it is")
	require.Equal(t, 2, client.Used())
	written, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.True(t, written.CachedPrefix)
	require.Positive(t, written.PromptVersion)
	require.Contains(t, written.Text, goal("Mend it."))

	_, err = w.Write(t.Context(), conversation())
	require.True(t, apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_UNAVAILABLE), "there are no more")
	require.Equal(t, 3, client.Used())
}

// A result that the client leaves as it is needs no fallback either.
func TestResultThatTheClientLeavesNeedsNoFallback(t *testing.T) {
	w := newWriter(t, &summaries.ClientTexts{Texts: []string{""}}, working, falling)
	texts, err := w.WriteEdits(t.Context(), edits(3))
	require.NoError(t, err)
	require.Equal(t, []*summaries.Written{nil}, texts)
	require.Empty(t, w.counted(t))
}

// Beside the item of the client's model, `extractive` writes.
func TestSummaryBesideAModel(t *testing.T) {
	by := summaries.BesideModel(&scripted{name: summaries.Fallback, do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return &summarizers.Summary{Text: goal("Mend it.")}, nil
	}}, "large")
	w := newWriter(t, by, func(op *summaries.Operation) { op.Client, op.Spent.Calls = by, 2 })
	written, err := w.Write(t.Context(), conversation())
	require.NoError(t, err)
	require.Equal(t, []string{summaries.Fallback, "large"}, []string{written.Summarizer, written.Model})
	require.Empty(t, written.Fallback)
	w.Finish()
	require.Equal(t, map[string]int{"summarizer_calls_total client": 200}, w.counted(t), "the client has paid")
}
