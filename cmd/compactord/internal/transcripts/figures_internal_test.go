package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// figuresOf prints the figures of a view with one message of 100 tokens, counted by an estimator.
func figuresOf(t *testing.T, e compactordv1.Estimator, report *compactordv1.ContextReport) string {
	t.Helper()
	f, err := newFigures(e)
	require.NoError(t, err)
	f.Begin(report)
	f.Add([]*compactordv1.ViewMessage{{
		Tokens: 100, Origin: &compactordv1.ViewMessage_Index{},
		Message: &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "hello"}},
		}}},
	}})
	f.logged(&compactordv1.LoggedMessage{Index: 7, Tokens: 10, State: compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE})
	var out strings.Builder
	f.print(&out, &conversation.Conversation{Session: "s"}, painter{}, ".")
	return out.String()
}

func TestFiguresSayHowTheyWereCounted(t *testing.T) {
	out := figuresOf(t, compactordv1.Estimator_ESTIMATOR_CHARS4, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED,
	})
	require.Contains(t, out, "an estimated 100 tokens.")
	require.NotContains(t, out, "not in the conversation")
	out = figuresOf(t, compactordv1.Estimator_ESTIMATOR_CHARS4, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_ESTIMATED, Tokens: 110, OverheadTokens: 10,
	})
	require.Contains(t, out, "10 of them are overhead, which is not in the conversation", "also where the window is not known")
	out = figuresOf(t, compactordv1.Estimator_ESTIMATOR_O200K_BASE, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_EXACT,
	})
	require.Contains(t, out, "100 tokens by o200k_base.")
	require.Contains(t, out, "(counted)")
}

// The figures of a calibrated session are multiplied by its calibration factor.
func TestFiguresOfACalibratedSession(t *testing.T) {
	out := figuresOf(t, compactordv1.Estimator_ESTIMATOR_CALIBRATED, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED, CalibrationPermille: proto.Uint32(1500),
		Tokens: 160, OverheadTokens: 10, ContextWindow: proto.Uint32(1000),
	})
	require.Contains(t, out, "an estimated 150 tokens.")
	require.Contains(t, out, "15 tokens\n", "what is not shown too")
	require.Contains(t, out, "estimated, and corrected by the provider's usage reports")
	require.Contains(t, out, "10 of them are overhead, which is not in the conversation")
}

func TestDivideLosesNoToken(t *testing.T) {
	for tokens := range uint32(50) {
		shares := divide(tokens, [kinds]uint32{ofUser: 1, ofCalls: 7, ofResults: 3, ofMedia: 4800})
		var sum uint32
		for _, s := range shares {
			sum += s
		}
		require.Equal(t, tokens, sum)
	}
	require.Zero(t, divide(5, [kinds]uint32{}))
}

func TestWhatIsNotShown(t *testing.T) {
	shown := &compactordv1.ViewMessage{
		Origin: &compactordv1.ViewMessage_Index{Index: 1}, Tokens: 2,
		Edits: []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT},
	}
	thoughtless := &compactordv1.ViewMessage{Origin: &compactordv1.ViewMessage_Index{Index: 4}, Tokens: 7}
	f, err := newFigures(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	f.Add([]*compactordv1.ViewMessage{shown, thoughtless})
	text := &compactordv1.Message{Parts: []*compactordv1.Part{{}}}
	f.logged(&compactordv1.LoggedMessage{
		Index: 0, Tokens: 10, Message: text, State: compactordv1.MessageState_MESSAGE_STATE_COVERED,
	})
	f.logged(&compactordv1.LoggedMessage{Index: 1, Tokens: 30, Message: text})
	failed := &compactordv1.Message{Parts: text.GetParts(), StopReason: compactordv1.StopReason_STOP_REASON_ABORTED}
	f.logged(&compactordv1.LoggedMessage{Index: 2, Tokens: 40, Message: failed})
	f.logged(&compactordv1.LoggedMessage{
		Index: 3, Tokens: 50, Message: text, State: compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE,
	})
	f.logged(&compactordv1.LoggedMessage{Index: 4, Tokens: 9, Message: text})
	f.logged(&compactordv1.LoggedMessage{
		Index: 5, Tokens: 3, Message: text, ResultPlace: compactordv1.ResultPlace_RESULT_PLACE_VOID,
	})
	// A result of a collapsed tool group.
	f.logged(&compactordv1.LoggedMessage{
		Index: 6, Tokens: 100, Message: text, ResultPlace: compactordv1.ResultPlace_RESULT_PLACE_ANSWER,
	})
	require.EqualValues(t, 10, f.notShown[isCovered].Tokens)
	require.EqualValues(t, 28+100, f.notShown[isHidden].Tokens)
	require.EqualValues(t, 40+3, f.notShown[isVoid].Tokens)
	require.EqualValues(t, 50, f.notShown[isPutAside].Tokens)
	require.EqualValues(t, 2, f.notShown[isThinking].Tokens)
}
