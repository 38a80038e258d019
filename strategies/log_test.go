package strategies_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// testLog is a log in memory, with the head after each sequence.
type testLog struct {
	counter  session.Counter
	known    *session.Known
	policy   *compactordv1.Policy
	messages []*compactordv1.LoggedMessage
	records  map[uint32]*compactordv1.Record
	heads    []*storagev1.Head
}

func newLog() *testLog {
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	if err != nil {
		panic(err)
	}
	l := &testLog{
		counter: counter, known: &session.Known{}, policy: &compactordv1.Policy{}, records: make(map[uint32]*compactordv1.Record),
	}
	first := &compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{PolicyChange: &compactordv1.PolicyChange{}}}
	h, err := session.Apply(session.NewHead(compactordv1.Estimator_ESTIMATOR_CHARS4), nil, first, nil)
	if err != nil {
		panic(err)
	}
	l.records[0], l.heads = first, []*storagev1.Head{h}
	return l
}

func (l *testLog) head() *storagev1.Head { return l.heads[len(l.heads)-1] }

// add appends a message.
func (l *testLog) add(m *compactordv1.Message) {
	h := proto.CloneOf(l.head())
	logged := session.Link(h, l.counter, m, nil)
	session.Advance(h, l.counter, l.policy, logged)
	l.messages = append(l.messages, logged)
	l.heads = append(l.heads, h)
}

// record writes a record; point is that of a Revert.
func (l *testLog) record(r *compactordv1.Record, point uint32) {
	written, err := session.Write(l.state(), r, l.heads[point], func(h *storagev1.Head) (*session.State, error) {
		return l.stateOf(h), nil
	})
	if err != nil {
		panic(err)
	}
	l.records[written.Record.GetSequence()] = written.Record
	l.heads = append(l.heads, written.State.Head)
}

// state returns the newest state.
func (l *testLog) state() *session.State { return l.stateOf(l.head()) }

func (l *testLog) stateOf(h *storagev1.Head) *session.State {
	s := &session.State{
		Head: h, Policy: l.policy, Counter: l.counter, Edits: make(map[uint32][]*compactordv1.Edit), Known: l.known,
	}
	if c := h.GetCompaction(); c != nil {
		s.Entry = l.records[c.GetSequence()].GetCompaction()
	}
	outOfPlace := session.OutOfPlaceIndexes(h)
	for _, m := range l.messages[:h.GetNextIndex()] {
		switch {
		case !session.ActiveIndex(h, m.GetIndex()):
		case m.GetIndex() < h.GetLeadEnd():
			s.Lead = append(s.Lead, m)
		case m.GetIndex() >= session.KeptFrom(h):
			s.Kept = append(s.Kept, m)
		case slices.Contains(outOfPlace, m.GetIndex()):
			s.OutOfPlace = append(s.OutOfPlace, m)
		}
	}
	for sequence := range h.GetNextSequence() {
		if r, ok := l.records[sequence]; ok && session.InForce(h, sequence) {
			for _, e := range r.GetPrune().GetEdits() {
				s.Edits[e.GetIndex()] = append(s.Edits[e.GetIndex()], e)
			}
		}
	}
	return s
}

// commit carries a plan out like the service.
func (l *testLog) commit(plan *compactordv1.CompactionPlan, summary string) {
	if len(plan.GetEdits()) > 0 {
		l.record(&compactordv1.Record{Kind: &compactordv1.Record_Prune{
			Prune: &compactordv1.PruneEntry{Edits: written(plan.GetEdits())},
		}}, 0)
	}
	if c := plan.GetCut(); c != nil {
		l.record(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{
			Compaction: &compactordv1.CompactionEntry{
				Id:             fmt.Sprintf("c%d", l.head().GetNextSequence()),
				FirstKeptIndex: c.GetFirstKeptIndex(), Summary: summary,
			},
		}}, 0)
	}
}

// written returns edits as they are stored, with the summarizer's texts.
func written(edits []*compactordv1.Edit) []*compactordv1.Edit {
	all := make([]*compactordv1.Edit, len(edits))
	for i, e := range edits {
		all[i] = proto.CloneOf(e)
		if e.GetBySummarizer() {
			all[i].BySummarizer, all[i].Replacement = false, "shorter"
		}
	}
	return all
}

// pin pins a message and its group.
func (l *testLog) pin(index uint32) {
	lead := index
	if m := l.messages[index]; m.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		lead = m.GetAnswers().GetIndex()
	}
	pinned := []uint32{lead}
	for _, m := range l.messages {
		if m.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && m.GetAnswers().GetIndex() == lead {
			pinned = append(pinned, m.GetIndex())
		}
	}
	l.record(&compactordv1.Record{Kind: &compactordv1.Record_Pin{
		Pin: &compactordv1.PinChange{Indexes: []uint32{index}, Members: pinned},
	}}, 0)
}

// revert goes back to a point.
func (l *testLog) revert(point uint32) {
	l.record(&compactordv1.Record{Kind: &compactordv1.Record_Revert{
		Revert: &compactordv1.Revert{Point: point},
	}}, point)
}

// script appends messages given as words: a letter, tokens, and after a colon the ids of calls or of the call that is
// answered. S, D: system, developer. U, I, C, F, M: user of origin client, import, continue, future, marker. A, T:
// assistant with text, with calls. X: assistant that was aborted. R: result of the oldest open call; E: the same, an
// error. L: assistant that writes a to-do list, with a sign for the status of each item after the colon: `.` pending, `>`
// in progress, `v` completed, `x` cancelled, `-` left out. H: assistant with this much thinking, and one word. P: user
// with an image. V: like R, with two images. The default is 10 tokens.
func (l *testLog) script(words string) *testLog {
	for _, word := range strings.Fields(words) {
		rest, ids, _ := strings.Cut(word[1:], ":")
		tokens := 10
		if rest != "" {
			n, err := strconv.Atoi(rest)
			if err != nil {
				panic(err)
			}
			tokens = n
		}
		l.add(l.message(word[:1], tokens, ids))
	}
	return l
}

var origins = map[string]compactordv1.Origin{
	"U": compactordv1.Origin_ORIGIN_CLIENT, "I": compactordv1.Origin_ORIGIN_IMPORT,
	"C": compactordv1.Origin_ORIGIN_CONTINUE, "F": compactordv1.Origin_ORIGIN_FUTURE,
	"M": compactordv1.Origin_ORIGIN_MARKER,
}

func (l *testLog) message(letter string, tokens int, ids string) *compactordv1.Message {
	m := &compactordv1.Message{Parts: []*compactordv1.Part{session.TextPart(textOf(tokens))}}
	switch letter {
	case "S":
		m.Role = compactordv1.Role_ROLE_SYSTEM
	case "D":
		m.Role = compactordv1.Role_ROLE_DEVELOPER
	case "U", "I", "C", "F", "M":
		m.Role, m.Origin = compactordv1.Role_ROLE_USER, origins[letter]
	case "P":
		m.Role, m.Origin = compactordv1.Role_ROLE_USER, origins["U"]
		m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: image("plan.png")}})
	case "H":
		m.Role, m.Parts = compactordv1.Role_ROLE_ASSISTANT, []*compactordv1.Part{
			{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: textOf(tokens)}}}, session.TextPart("word"),
		}
	case "A":
		m.Role = compactordv1.Role_ROLE_ASSISTANT
	case "T":
		m.Role, m.Parts = compactordv1.Role_ROLE_ASSISTANT, l.calls(tokens, ids)
	case "L":
		m.Role, m.Parts = compactordv1.Role_ROLE_ASSISTANT, []*compactordv1.Part{todoCall(listing("item %d", ids)...)}
	case "X":
		m.Role, m.StopReason = compactordv1.Role_ROLE_ASSISTANT, compactordv1.StopReason_STOP_REASON_ABORTED
		if ids != "" {
			m.Parts = l.calls(tokens, ids)
		}
	case "R", "E", "V":
		if open := l.head().GetOpenCalls(); ids == "" && len(open) > 0 {
			ids = open[0].GetId()
		}
		m.Role, m.Parts = compactordv1.Role_ROLE_TOOL, []*compactordv1.Part{resultPart(ids, textOf(tokens))}
		r := m.GetParts()[0].GetToolResult()
		r.IsError = letter == "E"
		if letter == "V" {
			r.Parts = append(r.Parts, imagePiece("a.png"), imagePiece(""))
		}
	default:
		panic("no such letter: " + letter)
	}
	return m
}

// calls returns calls of `bash`, or of the tool whose name precedes an id with a slash. The first call has all the
// tokens.
func (l *testLog) calls(tokens int, ids string) []*compactordv1.Part {
	if ids == "" {
		ids = fmt.Sprintf("call%d", l.head().GetNextIndex())
	}
	var parts []*compactordv1.Part
	for i, id := range strings.Split(ids, ",") {
		tool := "bash"
		if name, after, ok := strings.Cut(id, "/"); ok {
			tool, id = name, after
		}
		arguments := "{}"
		if i == 0 {
			if fill := 4*tokens - len(tool) - len(`{"":0}`); fill > 0 {
				arguments = `{"` + strings.Repeat("a", fill) + `":0}`
			}
		}
		parts = append(parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: id, Name: tool, Arguments: arguments},
		}})
	}
	return parts
}

// todoItem is an item of a to-do list.
type todoItem struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// listing returns a list with a sign for each item's status. An item's text has its number.
func listing(text, signs string) (items []todoItem) {
	states := map[rune]string{'.': "pending", '>': "in_progress", 'v': "completed", 'x': "cancelled"}
	for i, sign := range signs {
		if status, written := states[sign]; written {
			items = append(items, todoItem{fmt.Sprintf(text, i), status})
		}
	}
	return items
}

func todoCall(items ...todoItem) *compactordv1.Part {
	arguments, err := json.Marshal(map[string]any{"todos": items})
	if err != nil {
		panic(err)
	}
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Id: "todo", Name: "todo_write", Arguments: string(arguments)},
	}}
}

// checkpoint sets a checkpoint.
func (l *testLog) checkpoint() {
	l.record(&compactordv1.Record{Kind: &compactordv1.Record_Checkpoint{
		Checkpoint: session.NextCheckpoint(l.head(), ""),
	}}, 0)
}

// input returns the input of a strategy, with the checkpoints in force and the to-do list before the kept part.
func (l *testLog) input() *strategies.Input {
	in := &strategies.Input{State: l.state(), Policy: l.policy}
	for sequence := range l.head().GetNextSequence() {
		if l.records[sequence].GetCheckpoint() != nil && session.InForce(l.head(), sequence) {
			in.Checkpoints = append(in.Checkpoints, l.heads[sequence].GetNextIndex())
		}
	}
	for _, m := range l.messages[:session.KeptFrom(l.head())] {
		writes, whole := strategies.WritesTodos(m)
		switch {
		case !writes || !session.ActiveIndex(l.head(), m.GetIndex()):
		case whole:
			in.TodosBefore = []*compactordv1.LoggedMessage{m}
		default:
			in.TodosBefore = append(in.TodosBefore, m)
		}
	}
	return in
}

func resultPart(id, text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
		CallId: id,
		Parts: []*compactordv1.ResultPart{
			{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}},
		},
	}}}
}

func image(name string) *compactordv1.MediaPart {
	return &compactordv1.MediaPart{
		MimeType: "image/png", Name: name, Source: &compactordv1.MediaPart_Uri{Uri: "https://host.example/" + name},
	}
}

func imagePiece(name string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: image(name)}}
}

// textOf returns a text of n tokens.
func textOf(tokens int) string { return strings.Repeat("word", tokens) }

func TestScriptCountsTokensAsWritten(t *testing.T) {
	t.Parallel()
	l := newLog().script("S3 U U7 T5:a,b R100:b E20:a A1 X9 X9:c")
	var tokens []uint32
	for _, m := range l.messages {
		tokens = append(tokens, m.GetTokens())
	}
	// The second call takes its name and `{}`: 6 of 4 characters a token.
	require.Equal(t, []uint32{3, 10, 7, 7, 100, 20, 1, 9, 9}, tokens)
	require.Equal(t, compactordv1.ResultPlace_RESULT_PLACE_ANSWER, l.messages[5].GetResultPlace())
}
