package service_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session/sessiontest"
)

// fold folds a range into a text. Most ranges can be folded.
func (w *checkedService) fold() {
	log := w.log()
	model := modelAt(log, log.Newest())
	before := w.view()
	start, after := w.foldRange(model, before)
	w.counts["fold asked for"]++
	stream := newMemoryStream(w.t.Context())
	err := w.service.Compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: checkedSession},
		Fold: &compactordv1.FoldRange{
			From: &compactordv1.FoldRange_Start{Start: start}, End: &after, Text: fmt.Sprintf("Done %d.", len(log.Items)),
		},
	}, stream)
	asked := model.Foldable(start, after)
	if err != nil {
		require.Equal(w.t, codes.Aborted, statusCode(err), err)
		require.Nil(w.t, asked, "%v", err)
		w.counts["fold refused"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	end := stream.events[len(stream.events)-1]
	done := end.GetCompleted()
	if done == nil {
		require.NotNil(w.t, end.GetSkipped())
		w.counts["fold skipped"]++
		requireSameBytes(w.t, before, w.view())
		return
	}
	edits := done.GetPrune().GetEdits()
	folded := model.Foldable(edits[0].GetFoldStart(), edits[0].GetFoldEnd())
	require.Len(w.t, edits, len(folded))
	if asked != nil {
		require.Equal(w.t, asked, folded)
	}
	if nested := w.foldedBefore(model, folded); nested {
		w.counts["fold over folds"]++
	}
	w.counts["fold"]++
	w.completed(done, before)
}

func (w *checkedService) foldedBefore(model *sessiontest.Model, folded []*sessiontest.Active) bool {
	for _, a := range folded {
		if model.Folded(a) {
			return true
		}
	}
	return false
}

// foldRange draws a range: of several the first that can be folded and of which the view shows two messages or more, or
// any.
func (w *checkedService) foldRange(model *sessiontest.Model, view []*compactordv1.ViewMessage) (start, end uint32) {
	last, first := int(w.row().GetNextIndex()), 0
	if kept := model.Kept(); len(kept) > 0 && w.draw(0, 9, "kept") > 0 {
		first = int(kept[0].Index)
	}
	for range 40 {
		start = uint32(w.draw(first, last, "start"))
		end = start + uint32(w.draw(1, 14, "messages"))
		if shownWithin(view, start, end) > 1 && model.Foldable(start, end) != nil {
			return start, min(end, uint32(last))
		}
	}
	return start, min(max(start+1, end), uint32(last))
}

// shownWithin counts the messages of a view that are, or begin with, messages of a range.
func shownWithin(view []*compactordv1.ViewMessage, start, end uint32) int {
	shown := 0
	for _, vm := range view {
		index := vm.GetFolded().GetStart()
		if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok {
			index = o.Index
		}
		if start <= index && index < end {
			shown++
		}
	}
	return shown
}

// The invariants hold over generated sessions with folds between everything else.
func TestInvariantsOverFolds(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.policy()
		for range between(t, 10, 80, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 62:
				w.message(t)
			case n < 78:
				w.fold()
			case n < 83:
				w.compact(func() { w.message(t) })
			case n < 86:
				w.prune()
			case n < 90:
				w.pin()
			case n < 93:
				w.unpin()
			case n < 96:
				w.undo()
			case n < 98:
				w.revert()
			default:
				w.policy()
			}
			w.check()
		}
		problems, err := sessionlog.Check(t.Context(), w.store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, class := range []string{
		"fold", "fold over folds", "fold refused", "fold skipped", "compaction", "pin", "undo", "revert",
		"rendered in openai_chat", "rendered in openai_responses", "rendered in anthropic", "rendered in gemini",
	} {
		require.GreaterOrEqual(t, counts[class], 5, "too rare to mean anything: %s", class)
	}
}

// 200 folds in one session, nested and side by side, with compactions, reverts, pins and undos between: every byte can be
// had back, and the tokens of the view are what the report says.
func TestTwoHundredFolds(t *testing.T) {
	t.Parallel()
	folds := 200
	if testing.Short() {
		folds = 30
	}
	random := rand.New(rand.NewPCG(1, 2))
	counts := make(map[string]int)
	w := newCheckedService(t, counts, func(low, high int, _ string) int { return low + random.IntN(high-low+1) })
	defer w.service.Close()
	for step := 0; counts["fold"] < folds; step++ {
		switch n := w.draw(0, 99, "step"); {
		case n < 18:
			w.workTurn(step)
		case n < 82:
			w.fold()
		case n < 84:
			w.compact(func() { w.workTurn(step) })
		case n < 86:
			w.pin()
		case n < 90:
			w.unpin()
		case n < 97:
			w.undo()
		default:
			w.takeBack(1)
		}
		if step%5 == 0 {
			w.check()
			w.checkReported()
		}
	}
	w.check()
	w.checkRecalled()
	t.Log(describe(counts))
	for _, class := range []string{"fold over folds", "pin", "undo"} {
		require.Positive(t, counts[class], class)
	}
}

// workTurn appends a turn with tool groups.
func (w *checkedService) workTurn(n int) {
	messages := []*compactordv1.Message{user(fmt.Sprintf("Please do step %d. %s", n, strings.Repeat("It matters. ", 10)))}
	for i := range w.draw(1, 4, "groups") {
		id := fmt.Sprintf("%d-%d", n, i)
		messages = append(messages, assistant("I look into it.", call(id, "read", fmt.Sprintf(`{"path":"pkg/%s.go"}`, id))),
			toolResult(id, strings.Repeat("läuft 🙂 ", w.draw(20, 90, "words"))))
	}
	messages = append(messages, assistant(fmt.Sprintf("Step %d is done. %s", n, strings.Repeat("All is well. ", 10))))
	_, err := w.service.AppendMessages(w.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: checkedSession, Messages: messages,
	})
	require.NoError(w.t, err)
}

// checkReported checks that the report has the tokens of the view.
func (w *checkedService) checkReported() {
	answer, err := w.service.GetSession(w.t.Context(), &compactordv1.GetSessionRequest{SessionId: checkedSession})
	require.NoError(w.t, err)
	require.Equal(w.t, tokensOf(w.view()), answer.GetReport().GetTokens())
}

// checkRecalled checks that each part of each message can be had back as it was appended.
func (w *checkedService) checkRecalled() {
	messages, err := w.service.ListMessages(w.t.Context(), &compactordv1.ListMessagesRequest{
		SessionId: checkedSession, PageSize: 1000, MaxBytes: 64 << 20,
	})
	require.NoError(w.t, err)
	for _, l := range messages.GetMessages() {
		for i, p := range l.GetMessage().GetParts() {
			answer, err := w.service.RecallContent(w.t.Context(), &compactordv1.RecallContentRequest{
				SessionId: checkedSession, What: &compactordv1.RecallContentRequest_Index{Index: l.GetIndex()},
				Part: proto.Uint32(uint32(i)), MaxBytes: 1 << 20,
			})
			require.NoError(w.t, err)
			said := p.GetText().GetText() + p.GetToolCall().GetArguments()
			for _, rp := range p.GetToolResult().GetParts() {
				said += rp.GetText().GetText()
			}
			require.Equal(w.t, said, answer.GetText())
			w.counts["recalled"]++
		}
	}
}
