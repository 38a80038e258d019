package service_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
)

// leftOut returns the messages of the log that a view does not show word for word.
func leftOut(t *testing.T, log []*compactordv1.LoggedMessage, view []*compactordv1.ViewMessage) []*compactordv1.LoggedMessage {
	t.Helper()
	shown := shownIndexes(view)
	var missing []*compactordv1.LoggedMessage
	for _, l := range log {
		if vm := shown[l.GetIndex()]; vm == nil || !proto.Equal(vm.GetMessage(), l.GetMessage()) {
			missing = append(missing, l)
		}
	}
	return missing
}

// requireRecalled recalls all content of a message in pieces of maxBytes, and compares it with the log.
func (d *daemon) requireRecalled(t *testing.T, l *compactordv1.LoggedMessage, maxBytes uint32) {
	t.Helper()
	for i, p := range l.GetMessage().GetParts() {
		part := uint32(i)
		if r := p.GetToolResult(); r != nil {
			for j, rp := range r.GetParts() {
				piece := uint32(j)
				text, data := rp.GetText().GetText()+rp.GetOpaque().GetJson(), rp.GetMedia().GetData()
				text += rp.GetMedia().GetUri() + rp.GetMedia().GetFileId()
				d.requireContent(t, l.GetIndex(), part, &piece, maxBytes, text, data, rp.GetAttachments())
			}
			continue
		}
		text := p.GetText().GetText() + p.GetThinking().GetText() + p.GetToolCall().GetArguments() + p.GetOpaque().GetJson()
		text += p.GetMedia().GetUri() + p.GetMedia().GetFileId()
		d.requireContent(t, l.GetIndex(), part, nil, maxBytes, text, p.GetMedia().GetData(), p.GetAttachments())
	}
}

func (d *daemon) requireContent(
	t *testing.T, index, part uint32, piece *uint32, maxBytes uint32,
	text string, data []byte, attachments []*compactordv1.Attachment,
) {
	t.Helper()
	req := recallOf(index)
	req.Part, req.ResultPart, req.MaxBytes = &part, piece, maxBytes
	var gotText, gotData bytes.Buffer
	for first := true; ; first = false {
		answer := d.recall(req)
		gotText.WriteString(answer.GetText())
		gotData.Write(answer.GetData())
		size := len(answer.GetText()) + len(answer.GetData())
		for _, a := range attachments {
			size += proto.Size(a)
		}
		if first && size <= int(maxBytes) {
			require.Len(t, answer.GetAttachments(), len(attachments))
			for i, a := range attachments {
				require.True(t, proto.Equal(a, answer.GetAttachments()[i]))
			}
		}
		if !answer.GetHasMore() {
			break
		}
		req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: answer.GetNextOffset()}}
	}
	require.True(t, bytes.Equal([]byte(text), gotText.Bytes()), "the text of message %d, part %d", index, part)
	require.True(t, bytes.Equal(data, gotData.Bytes()), "the data of message %d, part %d", index, part)
}

// I11 over recorded conversations: everything that prunes and compactions of each preset leave out can be recalled byte
// for byte. A short run uses some of the recordings, each with a third of the presets.
func TestRecallGivesBackWhatViewsLeaveOut(t *testing.T) {
	t.Parallel()
	recalled := 0
	for i, path := range corpusFiles(t) {
		if !sampled(i) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			messages := readTranscript(t, path)
			d := start(t, withStore(memory.New()))
			for n, preset := range strategies.PresetNames() {
				if testing.Short() && n%3 != i/sampling%3 {
					continue
				}
				d.create("s", &compactordv1.Policy{
					Preset: &preset, ContextWindow: proto.Uint32(32_000),
					// Redaction takes a third of the time, and does not affect recalls.
					Summary: &compactordv1.SummaryPolicy{Redact: proto.Bool(false)},
				})
				recalled += d.recallAll(t, messages)
				_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
				require.NoError(t, err)
			}
		})
	}
	t.Log(recalled, "messages recalled")
	least := 1000
	if testing.Short() {
		least = 100
	}
	require.Greater(t, recalled, least)
}

// recallAll appends a conversation in pieces, prunes and compacts after each, and recalls what the views leave out.
func (d *daemon) recallAll(t *testing.T, messages []*compactordv1.Message) int {
	t.Helper()
	var log []*compactordv1.LoggedMessage
	missing := make(map[uint32]*compactordv1.LoggedMessage)
	for i := range 3 {
		next := messages[i*len(messages)/3 : (i+1)*len(messages)/3]
		if len(next) > 0 {
			d.append("s", next...)
		}
		log = d.listed()
		d.prune(nil)
		if i > 0 {
			d.prune(hideAll())
		}
		_, err := d.compact(compactRequest("s", &compactordv1.Policy{Strategy: small(tokensOf(d.view("s"))/3 + 1).GetStrategy()}))
		require.NoError(t, err)
		for _, l := range leftOut(t, log, d.view("s")) {
			missing[l.GetIndex()] = l
		}
	}
	for _, l := range missing {
		// Sometimes only a few bytes at a time.
		maxBytes := uint32(1 << 20)
		if l.GetIndex()%7 == 0 && proto.Size(l) < 4000 {
			maxBytes = 97
		}
		d.requireRecalled(t, l, maxBytes)
	}
	return len(missing)
}

// listed returns the whole log.
func (d *daemon) listed() []*compactordv1.LoggedMessage {
	d.t.Helper()
	var log []*compactordv1.LoggedMessage
	for req := (&compactordv1.ListMessagesRequest{SessionId: "s", PageSize: 1000}); ; {
		answer, err := d.sessions.ListMessages(d.t.Context(), req)
		require.NoError(d.t, err)
		log = append(log, answer.GetMessages()...)
		if req.PageToken = answer.GetNextPageToken(); req.GetPageToken() == "" {
			return log
		}
	}
}
