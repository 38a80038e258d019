package service_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
)

func (d *daemon) recall(req *compactordv1.RecallContentRequest) *compactordv1.RecallContentResponse {
	d.t.Helper()
	answer, err := d.sessions.RecallContent(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func recallOf(index uint32) *compactordv1.RecallContentRequest {
	return &compactordv1.RecallContentRequest{
		SessionId: "s", What: &compactordv1.RecallContentRequest_Index{Index: index},
	}
}

func recallBy(reference string) *compactordv1.RecallContentRequest {
	return &compactordv1.RecallContentRequest{
		SessionId: "s", What: &compactordv1.RecallContentRequest_Reference{Reference: reference},
	}
}

// requireInvalid asserts the field and the text of an error.
func requireInvalid(t testing.TB, err error, field, text string) {
	t.Helper()
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, text)
	for _, detail := range status.Convert(err).Details() {
		if bad, ok := detail.(*errdetails.BadRequest); ok {
			require.Equal(t, field, bad.GetFieldViolations()[0].GetField(), err)
			return
		}
	}
	require.Fail(t, "no field named", err)
}

const (
	recalled = "line one\nline two\nline three\nline four\n"
	// arguments are as a model wrote them, and not JSON.
	arguments = "path=a"
)

// recallDaemon returns a daemon with a session whose message 2, a result, is hidden.
func recallDaemon(t *testing.T, options ...option) *daemon {
	t.Helper()
	d := start(t, options...)
	d.create("s", nil)
	d.append("s", user("go"), assistant("reading", call("a", "read", arguments)),
		toolResult("a", strings.Repeat(recalled, 30)), user("next"), assistant("done"))
	require.Len(t, d.prune(hideAll()).GetEdits(), 1)
	return d
}

// A placeholder, or the reference in it, recalls what was hidden.
func TestRecallByWhatAPlaceholderShows(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	placeholder := d.view("s")[2].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
	require.Contains(t, placeholder, "hidden")
	for _, req := range []*compactordv1.RecallContentRequest{
		recallBy(placeholder), recallBy("#2"), recallBy("[#2.0]"), recallBy("#2.0.0"), recallBy("index 2, part 0"), recallOf(2),
	} {
		answer := d.recall(req)
		require.Equal(t, strings.Repeat(recalled, 30), answer.GetText())
		require.Equal(t, compactordv1.ContentKind_CONTENT_KIND_RESULT, answer.GetKind())
		require.Equal(t, compactordv1.Role_ROLE_TOOL, answer.GetRole())
		require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, answer.GetState())
		require.Equal(t, "read", answer.GetTool())
		require.Equal(t, uint32(0), answer.GetPart())
		require.Equal(t, uint32(120), answer.GetTotalLines())
		require.Equal(t, uint32(30*len(recalled)), answer.GetTotalBytes())
		require.Equal(t, answer.GetTotalBytes(), answer.GetNextOffset())
		require.Equal(t, uint32(121), answer.GetNextLine())
		require.Equal(t, uint32(1), answer.GetFirstLine())
		require.False(t, answer.GetHasMore())
	}
	part := recallBy("#1")
	part.Part = proto.Uint32(1)
	require.Equal(t, arguments, d.recall(part).GetText(), "a reference without a part takes one")
	piece := recallBy("#2.0")
	piece.ResultPart = proto.Uint32(0)
	require.Equal(t, uint32(0), d.recall(piece).GetResultPart())
	require.Equal(t, "reading", d.recall(recallOf(1)).GetText(), "all text of a message with a call")
	require.Nil(t, d.recall(recallOf(1)).Part)
}

func TestRecallRanges(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	lines := recallOf(2)
	lines.Range = &compactordv1.RecallContentRequest_Lines{Lines: &compactordv1.LineRange{First: 2, Count: 2}}
	answer := d.recall(lines)
	require.Equal(t, "line two\nline three\n", answer.GetText())
	require.Equal(t, uint32(9), answer.GetOffset())
	require.Equal(t, uint32(2), answer.GetFirstLine())
	require.Equal(t, uint32(4), answer.GetNextLine())
	require.False(t, answer.GetHasMore())
	lines.MaxBytes = 10
	answer = d.recall(lines)
	require.Equal(t, "line two\n", answer.GetText())
	require.True(t, answer.GetHasMore())
	require.Equal(t, uint32(3), answer.GetNextLine())
	lines.MaxBytes = 6
	answer = d.recall(lines)
	require.Equal(t, "line t", answer.GetText())
	require.Zero(t, answer.GetNextLine(), "the answer ends within a line")
	require.Equal(t, uint32(15), answer.GetNextOffset())

	bytes := recallOf(2)
	bytes.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: 5, Length: 3}}
	answer = d.recall(bytes)
	require.Equal(t, "one", answer.GetText())
	require.Equal(t, uint32(8), answer.GetNextOffset())
	require.False(t, answer.GetHasMore())
	bytes.MaxBytes = 2
	answer = d.recall(bytes)
	require.Equal(t, "on", answer.GetText())
	require.True(t, answer.GetHasMore())

	match := recallOf(2)
	match.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{
		Pattern: "THREE$", IgnoreCase: true, ContextLines: 1, FirstLine: 113,
	}}
	answer = d.recall(match)
	require.Empty(t, answer.GetText())
	require.Len(t, answer.GetBlocks(), 2)
	require.Equal(t, "line two\nline three\nline four\n", answer.GetBlocks()[0].GetText())
	require.Equal(t, uint32(114), answer.GetBlocks()[0].GetFirstLine())
	require.Equal(t, []uint32{115}, answer.GetBlocks()[0].GetMatchingLines())
	require.Equal(t, uint32(114), answer.GetFirstLine())
	require.False(t, answer.GetHasMore())
	match.MaxBytes = 60
	answer = d.recall(match)
	require.Len(t, answer.GetBlocks(), 1)
	require.True(t, answer.GetHasMore())
	require.Equal(t, uint32(119), answer.GetNextLine())
	match.GetMatch().FirstLine = answer.GetNextLine()
	answer = d.recall(match)
	require.Equal(t, []uint32{119}, answer.GetBlocks()[0].GetMatchingLines())
	require.False(t, answer.GetHasMore())
	match.GetMatch().IgnoreCase = false
	require.Empty(t, d.recall(match).GetBlocks())
}

// Media are returned as bytes, their addresses as text.
func TestRecallMedia(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	data := []byte{0, 255, 10, 200, 10}
	with := func(m *compactordv1.MediaPart) *compactordv1.Part {
		m.MimeType, m.Name = "image/png", "a.png"
		return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: m}}
	}
	d.append("s", &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		with(&compactordv1.MediaPart{Source: &compactordv1.MediaPart_Data{Data: data}}),
		with(&compactordv1.MediaPart{Source: &compactordv1.MediaPart_Uri{Uri: "https://example.org/a.png"}}),
	}})
	req := recallBy("#0.0")
	answer := d.recall(req)
	require.Equal(t, data, answer.GetData())
	require.Equal(t, compactordv1.ContentKind_CONTENT_KIND_MEDIA, answer.GetKind())
	require.Equal(t, "image/png", answer.GetMimeType())
	require.Equal(t, "a.png", answer.GetName())
	require.Zero(t, answer.GetTotalLines())
	require.Zero(t, answer.GetFirstLine())
	require.Zero(t, answer.GetNextLine())
	req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: 1, Length: 3}}
	req.MaxBytes = 2
	answer = d.recall(req)
	require.Equal(t, data[1:3], answer.GetData())
	require.Equal(t, uint32(3), answer.GetNextOffset())
	require.True(t, answer.GetHasMore())
	require.Equal(t, "https://example.org/a.png", d.recall(recallBy("#0.1")).GetText())

	req.Range = &compactordv1.RecallContentRequest_Lines{Lines: &compactordv1.LineRange{First: 1}}
	_, err := d.sessions.RecallContent(t.Context(), req)
	requireInvalid(t, err, "lines", "bytes")
	req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "x"}}
	_, err = d.sessions.RecallContent(t.Context(), req)
	requireInvalid(t, err, "match", "bytes")
	_, err = d.sessions.RecallContent(t.Context(), recallOf(0))
	requireInvalid(t, err, "part", "0: medium, 1: medium")
}

// Attachments are returned with the first byte, where they fit.
func TestRecallAttachments(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	signature := &compactordv1.Attachment{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: `"` + strings.Repeat("s", 100) + `"`,
	}
	thinking := assistant("")
	thinking.Parts = []*compactordv1.Part{{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: "hm hm"}},
		Attachments: []*compactordv1.Attachment{signature},
	}}
	d.append("s", thinking)
	req := recallOf(0)
	require.True(t, proto.Equal(signature, d.recall(req).GetAttachments()[0]))
	req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: 1}}
	require.Empty(t, d.recall(req).GetAttachments())
	req.Range, req.MaxBytes = nil, uint32(proto.Size(signature))+5
	require.NotEmpty(t, d.recall(req).GetAttachments())
	req.MaxBytes--
	require.Empty(t, d.recall(req).GetAttachments())
}

// Errors of a recall name the field and the figures, and no content is returned. Seed case 222: they replace a warning
// in the text, or a silent correction.
func TestCase222RecallBeyondTheEnd(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	d.append("s", user(""))
	ask := func(change func(req *compactordv1.RecallContentRequest)) error {
		req := recallOf(2)
		change(req)
		answer, err := d.sessions.RecallContent(t.Context(), req)
		require.Nil(t, answer)
		return err
	}
	bytes := func(offset uint32) func(req *compactordv1.RecallContentRequest) {
		return func(req *compactordv1.RecallContentRequest) {
			req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: offset}}
		}
	}
	for _, offset := range []uint32{1170, 1171, 4294967295} {
		requireInvalid(t, ask(bytes(offset)), "bytes.offset", "1170")
	}
	require.NoError(t, func() error { _, err := d.sessions.RecallContent(t.Context(), recallOf(5)); return err }(), "empty content")
	for _, line := range []uint32{121, 4294967295} {
		requireInvalid(t, ask(func(req *compactordv1.RecallContentRequest) {
			req.Range = &compactordv1.RecallContentRequest_Lines{Lines: &compactordv1.LineRange{First: line}}
		}), "lines.first", "120 lines")
		requireInvalid(t, ask(func(req *compactordv1.RecallContentRequest) {
			req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "x", FirstLine: line}}
		}), "match.first_line", "120 lines")
	}
	requireInvalid(t, ask(func(req *compactordv1.RecallContentRequest) {
		req.Range = &compactordv1.RecallContentRequest_Lines{Lines: &compactordv1.LineRange{First: 0}}
	}), "lines.first", "1")
	requireInvalid(t, ask(func(req *compactordv1.RecallContentRequest) { req.MaxBytes = 3145729 }), "max_bytes", "3,145,728")
	requireInvalid(t, ask(func(req *compactordv1.RecallContentRequest) { req.ResultPart = proto.Uint32(0) }), "result_part", "part")
	pattern := func(pattern string) error {
		return ask(func(req *compactordv1.RecallContentRequest) {
			req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: pattern}}
		})
	}
	requireInvalid(t, pattern("a("), "match.pattern", "missing closing )")
	requireInvalid(t, pattern("a{1000}b{1000}c{1000}"), "match.pattern", "steps")
}

// Seed case 221: an invalid reference is refused and quoted in the error.
func TestCase221ReferencesThatAreNone(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	for reference, text := range map[string]string{
		"../x": "write #12", "a/b": "write #12", "-1": "write #12", "#-1": "write #12", "../s#2": "write #12", "other/#2": "write #12",
		"#4294967296": "4294967295", "#1 #2": "several",
	} {
		_, err := d.sessions.RecallContent(t.Context(), recallBy(reference))
		requireInvalid(t, err, "reference", text)
		require.NotContains(t, status.Convert(err).Message(), reference)
	}
	_, err := d.sessions.RecallContent(t.Context(), recallBy(""))
	requireInvalid(t, err, "reference", "")
	_, err = d.sessions.RecallContent(t.Context(), recallBy("#"+strings.Repeat("1", 1<<20)))
	requireInvalid(t, err, "reference", "1,048,576")
	_, err = d.sessions.RecallContent(t.Context(), &compactordv1.RecallContentRequest{SessionId: "s"})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	req := recallBy("#2.0")
	req.Part = proto.Uint32(0)
	_, err = d.sessions.RecallContent(t.Context(), req)
	requireInvalid(t, err, "part", "reference")
	req = recallBy("#2.0.0")
	req.ResultPart = proto.Uint32(0)
	_, err = d.sessions.RecallContent(t.Context(), req)
	requireInvalid(t, err, "result_part", "reference")

	for reference, metadata := range map[string]map[string]string{
		"#5":          {"index": "5", "next_index": "5"},
		"#4294967295": {"index": "4294967295", "next_index": "5"},
		"#2.1":        {"index": "2", "next_index": "5", "part": "1"},
		"#2.0.1":      {"index": "2", "next_index": "5", "part": "0"},
		"#0.0.0":      {"index": "0", "next_index": "5", "part": "0"},
	} {
		_, err := d.sessions.RecallContent(t.Context(), recallBy(reference))
		info := requireReason(t, err, codes.NotFound, "CONTENT_NOT_FOUND")
		require.Equal(t, metadata, info.GetMetadata(), reference)
	}
}

// Seed case 220: a recall only returns content of its own session, even if another one has the same reference.
func TestCase220OtherSessionsAreNotAnswered(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	d.create("other", nil)
	d.append("other", user("secret zero"), user("secret one"), user("secret two"), user("secret three"),
		user("secret four"), user("secret five"))
	for index := range uint32(5) {
		answer, err := d.sessions.RecallContent(t.Context(), recallOf(index))
		require.NoError(t, err)
		require.NotContains(t, answer.GetText(), "secret")
	}
	for _, reference := range []string{"#5", "[#5.0]"} {
		_, err := d.sessions.RecallContent(t.Context(), recallBy(reference))
		requireReason(t, err, codes.NotFound, "CONTENT_NOT_FOUND")
	}
	_, err := d.sessions.RecallContent(t.Context(), &compactordv1.RecallContentRequest{
		SessionId: "nobody", What: &compactordv1.RecallContentRequest_Index{Index: 5},
	})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	hits, err := d.sessions.SearchMessages(t.Context(), searchWords("secret"))
	require.NoError(t, err)
	require.Empty(t, hits.GetHits())
	require.Empty(t, hits.GetNextPageToken())
}

// Seed case 218: recalled content is not hidden again, and does not count as something that could be.
func TestCase218RecalledContentIsNotHiddenAgain(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"recall_content", "search_messages", "recall"} {
		d := recallDaemon(t)
		content := d.recall(recallOf(2)).GetText()
		d.append("s", user("again"), assistant("", call("r", tool, `{"reference":"#2"}`)), toolResult("r", content),
			user("next"), assistant("done"))
		require.Nil(t, d.prune(hideAll()))
		d.append("s", user("more"), assistant("", call("x", "read", `{}`)), toolResult("x", content), user("next"))
		edits := d.prune(hideAll()).GetEdits()
		require.Len(t, edits, 1)
		require.Equal(t, uint32(12), edits[0].GetIndex())
	}
}

// Seed case 225: recall keeps nothing in memory. Seed case 224: hidden content can be recalled after a compaction,
// where its message is kept and where it is covered, and after a revert.
func TestCase224And225RecallAfterCompactionRevertAndRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := recallDaemon(t, withStore(openStore(t, path)))
	d.append("s", working(8, 2000)[1:]...)
	require.NotNil(t, d.prune(hideAll()))
	entry := d.completed(small(1500))
	var hidden []uint32
	for index, vm := range shownIndexes(d.view("s")) {
		if len(vm.GetEdits()) > 0 {
			hidden = append(hidden, index)
		}
	}
	require.NotEmpty(t, hidden, "placeholders remain in the kept part")
	logged := d.messages("s")
	contents := make(map[uint32]string)
	for _, index := range append(hidden, 2) {
		contents[index] = logged[index].GetMessage().GetParts()[0].GetToolResult().GetParts()[0].GetText().GetText()
		require.Greater(t, len(contents[index]), 1000)
		require.Equal(t, contents[index], d.recall(recallOf(index)).GetText())
	}
	require.Less(t, uint32(2), entry.GetFirstKeptIndex())
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_COVERED, d.recall(recallOf(2)).GetState())
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 0},
	})
	require.NoError(t, err)
	d.stop()

	d = start(t, withStore(openStore(t, path)))
	for index, content := range contents {
		answer := d.recall(recallOf(index))
		require.Equal(t, content, answer.GetText())
		require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE, answer.GetState())
	}
}

// A response ends where clients with gRPC's usual limit can receive it, however large the content is.
func TestRecallOfLargeContentIsBounded(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(memory.New()))
	d.create("s", nil)
	d.append("s", user(strings.Repeat("\n", 8<<20)))
	const most = 3 << 20
	req := recallOf(0)
	require.Len(t, d.recall(req).GetText(), 64<<10)
	req.MaxBytes = most
	require.Len(t, d.recall(req).GetText(), most)
	req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "^$"}}
	answer := d.recall(req)
	require.Less(t, proto.Size(answer), 4<<20)
	require.True(t, answer.GetHasMore())
}
