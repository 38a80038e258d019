package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// "1 tokens", "from #1 to #1" and "0 messages put aside" were printed.
func TestOneIsNotCountedAsMany(t *testing.T) {
	temporaryFolder(t)
	path, store := file(t, "short.jsonl", `{"role":"user","content":"hi"}`+"\n"), filepath.Join(t.TempDir(), "s.db")
	r := ran(t, "view", path, "-q").ends(t, exitDone)
	contains(t, r.out, "  1 token   100 %\n")
	require.NotContains(t, r.out, "1 tokens")
	require.Equal(t, "1 message, #7", messageRange(&compactordv1.IndexRange{Start: 7, End: 8}))
	require.Equal(t, "2 messages, from #7 to #8", messageRange(&compactordv1.IndexRange{Start: 7, End: 9}))

	on := func(args ...string) answer { return ran(t, append(args, "--session", "s", "--store", store)...) }
	on("import", path, "-q").ends(t, exitDone)
	contains(t, on("revert", "--turns", "1").ends(t, exitDone).out, ": 1 message put aside, 0 tokens in the context now.\n")
	contains(t, on("undo").ends(t, exitDone).out, "to point 1: 1 token in the context now.\n")
	on("revert", "--to-checkpoint", "1").ends(t, exitFailed).says(t, "there is no checkpoint 1; the session has none")
	ran(t, "view", file(t, "x.json", "{}")).ends(t, exitFailed).says(t, "its first object is empty;")
}

// figuresOf prints the figures of a view of one message of 100 tokens in a session that counts by an estimator.
func figuresOf(t *testing.T, e compactordv1.Estimator, report *compactordv1.ContextReport) string {
	t.Helper()
	v := &llmView{report: report, messages: []*compactordv1.ViewMessage{{
		Tokens: 100, Origin: &compactordv1.ViewMessage_Index{},
		Message: &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "hello"}},
		}}},
	}}}
	f, err := newFigures(v, e)
	require.NoError(t, err)
	f.logged(&compactordv1.LoggedMessage{Index: 7, Tokens: 10, State: compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE})
	var out strings.Builder
	f.print(&out, &conversation{session: "s"}, painter{}, ".")
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
	require.Contains(t, out, "Of these 10 are not in the conversation", "also where the window is not known")
	out = figuresOf(t, compactordv1.Estimator_ESTIMATOR_O200K_BASE, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_EXACT,
	})
	require.Contains(t, out, "100 tokens by o200k_base.")
	require.Contains(t, out, "(counted)")
}

// The figures of a calibrated session are those of its report: scaled.
func TestFiguresOfACalibratedSession(t *testing.T) {
	out := figuresOf(t, compactordv1.Estimator_ESTIMATOR_CALIBRATED, &compactordv1.ContextReport{
		Source: compactordv1.TokenSource_TOKEN_SOURCE_CALIBRATED, CalibrationPermille: proto.Uint32(1500),
		Tokens: 160, OverheadTokens: 10, ContextWindow: proto.Uint32(1000),
	})
	require.Contains(t, out, "an estimated 150 tokens.")
	require.Contains(t, out, "15 tokens\n", "what is not shown too")
	require.Contains(t, out, "estimated by what the provider has reported so far")
	require.Contains(t, out, "Of these 10 are not in the conversation")
}
