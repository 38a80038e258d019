package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mixed is a transcript with content of every kind that a file can hold.
const mixed = `{"role":"system","content":"You are a careful engineer."}
{"role":"user","content":[{"type":"text","text":"What is on this picture?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}
{"role":"assistant","reasoning_content":"I should look at it closely first.","content":"Let me look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"A cat sits on a mat."}
{"role":"assistant","content":"It is a cat."}
`

// A medium reads for people as it reads for the model.
func TestMediaReadAsInTheView(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "mixed.jsonl", mixed)
	r := ran(t, "compact", path, "--context-window", "10000", "--view")
	require.Contains(t, r.out, "[Attached image/png: file]")
}

func TestViewShowsEveryKind(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "mixed.jsonl", mixed)
	r := ran(t, "view", path, "--context-window", "10000").ends(t, exitDone)
	require.NotContains(t, r.out, "\x1b")
	require.Contains(t, r.out, "#")
	require.Contains(t, r.out, "The window is of 10,000 tokens")
	doc := document(t, ran(t, "view", path, "--json").ends(t, exitDone).out)
	var sum float64
	shares, ok := at(t, doc, "in_view").([]any)
	require.True(t, ok)
	for _, share := range shares {
		kind, ok := at(t, share, "kind").(string)
		require.True(t, ok)
		tokens, ok := at(t, share, "tokens").(float64)
		require.True(t, ok)
		sum += tokens
		if kind == "summary" {
			require.Zero(t, tokens)
		} else {
			require.Positive(t, tokens, kind)
		}
		require.Contains(t, r.out, strings.ReplaceAll(kind, "_", " "))
	}
	require.InDelta(t, at(t, doc, "tokens"), sum, 0, "the kinds are all of the view")
	require.InDelta(t, 5, at(t, doc, "messages"), 0)
	require.NotContains(t, doc, "view")
	require.Contains(t, document(t, ran(t, "view", path, "--json", "--messages").ends(t, exitDone).out), "view")
}

// Each figure that is printed, and not that one is.
func TestViewPrintsItsFigures(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "mixed.jsonl", mixed)
	r := ran(t, "view", path, "--context-window", "10000", "-q").ends(t, exitDone)
	require.Equal(t, "What the model sees of "+path+`: 5 messages, an estimated 1,234 tokens.

  system        #...................................            7 tokens   <1 %
  summary       ....................................            0 tokens    0 %
  user          #...................................            6 tokens   <1 %
  assistant     #...................................            6 tokens   <1 %
  thinking      #...................................            9 tokens   <1 %
  tool calls    #...................................            1 token    <1 %
  tool results  #...................................            5 tokens   <1 %
  media         ###################################.        1,200 tokens   97 %

  window        ####................................        1,234 tokens   12 %

The window is of 10,000 tokens; the context holds 1,234 (estimated).
Compaction is due at 7,500.
`, r.out)
}

func TestViewAfterCompacting(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	r := ran(t, "view", path, "--compact", "-q").ends(t, exitDone)
	require.Contains(t, r.out, "covered by the summary")
	require.Contains(t, r.out, "The window is not known")
	short := file(t, "short.jsonl", talk(2))
	ran(t, "view", short, "--compact").ends(t, exitDone).says(t, "not compacted: ")
	require.Contains(t, ran(t, "view", short, "--messages").ends(t, exitDone).out, "#0 user  ")
}

func TestViewInColour(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "mixed.jsonl", mixed)
	colourful := runWith(t.Context(), &app{terminal: terminal{outTerminal: true}}, "view", path).ends(t, exitDone)
	require.Contains(t, colourful.out, "\x1b[32m█")
	t.Setenv("NO_COLOR", "1")
	plain := runWith(t.Context(), &app{terminal: terminal{outTerminal: true}}, "view", path).ends(t, exitDone)
	require.NotContains(t, plain.out, "\x1b")
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
	f, err := newFigures(
		&llmView{messages: []*compactordv1.ViewMessage{shown, thoughtless}}, compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
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
	// A result of a group that is collapsed.
	f.logged(&compactordv1.LoggedMessage{
		Index: 6, Tokens: 100, Message: text, ResultPlace: compactordv1.ResultPlace_RESULT_PLACE_ANSWER,
	})
	require.EqualValues(t, 10, f.notShown[isCovered].Tokens)
	require.EqualValues(t, 28+100, f.notShown[isHidden].Tokens)
	require.EqualValues(t, 40+3, f.notShown[isVoid].Tokens)
	require.EqualValues(t, 50, f.notShown[isPutAside].Tokens)
	require.EqualValues(t, 2, f.notShown[isThinking].Tokens)
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		require.Equal(t, want, number(n))
	}
	require.Equal(t, "1 message", count(1, "message"))
	require.Equal(t, "0 messages", count(0, "message"))
	require.Equal(t, "<1 %", percent(1, 1000))
	require.Equal(t, "99 %", percent(999, 1000))
	require.Equal(t, "0 %", percent(0, 0))
}
