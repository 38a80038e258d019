package conversation

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// DiffersError is the first message of a file that differs from the session's message at its place.
type DiffersError struct {
	index uint32
	place string
	what  string
	// Incomplete reports that it is the session's last message, and that the file has added parts to it.
	Incomplete bool
}

func (e *DiffersError) Error() string {
	if e.Incomplete {
		return fmt.Sprintf("#%d was not complete when it was imported: it has %s", e.index, e.what)
	}
	return fmt.Sprintf("#%d differs from the message at %s of the file: %s", e.index, e.place, e.what)
}

// compareStored compares the file with the messages that the session holds already, and releases those from memory. It
// returns how many of the file's messages the session holds: the others are still to be stored.
func compareStored(
	ctx context.Context, c *api.Client, session string, has uint32, file *Transcript, p *terminal.Progress,
) (uint32, error) {
	request := &compactordv1.ListMessagesRequest{SessionId: session, PageSize: 1000, MaxBytes: c.PageBytes}
	compared, aside := 0, 0
	for {
		page, err := c.Sessions.ListMessages(ctx, request)
		if err != nil {
			return 0, err
		}
		for _, stored := range page.GetMessages() {
			if compared == file.Count() {
				return uint32(compared), nil
			}
			m, err := file.take(compared)
			if err != nil {
				return 0, err
			}
			if what, grown := difference(stored.GetMessage(), m); what != "" {
				last := stored.GetIndex()+1 == has
				return 0, &DiffersError{stored.GetIndex(), file.Place(m.GetSourcePosition()), what, grown && last}
			}
			if stored.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE {
				aside++
			}
			compared++
		}
		p.Update(int64(compared))
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if aside > 0 && compared < file.Count() {
		p.Say("  a revert has put aside %s of the session: what is new follows the others", terminal.Count(aside, "message"))
	}
	return uint32(compared), nil
}

// difference says how the content of two messages differs: who speaks, and what. It is empty where they are the same. What
// tools add to a message later, such as its usage, is no content. grown reports that the file's message begins as the
// stored one.
func difference(stored, file *compactordv1.Message) (what string, grown bool) {
	inSession, inFile := stored.GetParts(), file.GetParts()
	switch {
	case stored.GetRole() != file.GetRole():
		return fmt.Sprintf("%s in the session, %s in the file", terminal.EnumName(stored.GetRole(), "ROLE_"),
			terminal.EnumName(file.GetRole(), "ROLE_")), false
	case stored.GetName() != file.GetName():
		return "the participant's name", false
	case stored.GetErrorText() != file.GetErrorText():
		return "the provider's error", false
	}
	for i := range min(len(inSession), len(inFile)) {
		if !proto.Equal(inSession[i], inFile[i]) {
			return fmt.Sprintf("part %d, %s", i, partKind(inFile[i])), false
		}
	}
	if len(inSession) != len(inFile) {
		return fmt.Sprintf("%s in the session, %s in the file", terminal.Count(len(inSession), "part"),
			terminal.Number(len(inFile))), len(inFile) > len(inSession)
	}
	return "", false
}

func partKind(p *compactordv1.Part) string {
	switch p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return "a text"
	case *compactordv1.Part_Thinking:
		return "thinking"
	case *compactordv1.Part_ToolCall:
		return "a call of the tool " + p.GetToolCall().GetName()
	case *compactordv1.Part_ToolResult:
		return "the result of a tool"
	case *compactordv1.Part_Media:
		return "media"
	default:
		return "a provider's item"
	}
}

// recordsAtEnd returns the records of the file after its first messages, so many as the session has, that the session lacks:
// the file got them after it was imported. They come before the next message.
func recordsAtEnd(ctx context.Context, c *api.Client, session string, file *Transcript, has uint32) ([]*compactordv1.ImportedRecord, error) {
	var after []*compactordv1.ImportedRecord
	for _, r := range file.records {
		if r.GetAfterMessages() == has {
			after = append(after, r)
		}
	}
	if len(after) == 0 {
		return nil, nil
	}
	stored, err := c.Records(ctx, &compactordv1.ListRecordsRequest{SessionId: session, Kinds: []compactordv1.RecordKind{
		compactordv1.RecordKind_RECORD_KIND_COMPACTION, compactordv1.RecordKind_RECORD_KIND_CHECKPOINT,
	}})
	if err != nil {
		return nil, err
	}
	var lacking []*compactordv1.ImportedRecord
	for _, r := range after {
		if !holds(stored, has, r) {
			first := proto.CloneOf(r)
			first.AfterMessages = 0
			lacking = append(lacking, first)
		}
	}
	return lacking, nil
}

// holds says whether a session holds a record of a file after so many messages.
func holds(stored []*compactordv1.Record, messages uint32, imported *compactordv1.ImportedRecord) bool {
	for _, r := range stored {
		if r.GetNextIndex() != messages {
			continue
		}
		if c := r.GetCompaction(); c != nil && c.GetImportedFrom() == imported.GetCompaction().GetTool() {
			return true
		}
		if c := r.GetCheckpoint(); c != nil && imported.GetCheckpoint() != nil && c.GetTitle() == imported.GetCheckpoint().GetTitle() {
			return true
		}
	}
	return false
}
