package conversation

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A batch of messages has at most so many, and at most so many bytes unless one message alone has more.
const (
	BatchMessages = 500
	batchBytes    = 8 << 20
)

// Uploaded tells what there is to say of an upload.
type Uploaded struct {
	// findings count what was malformed and taken all the same, by rule; examples hold the first text of each.
	findings map[string]int
	examples map[string]string
}

// Notes are the findings in words, the rules in order.
func (u *Uploaded) notes() []string {
	notes := make([]string, 0, len(u.findings))
	for _, rule := range slices.Sorted(maps.Keys(u.findings)) {
		notes = append(notes, fmt.Sprintf("%s (%s): %s", rule, terminal.Count(u.findings[rule], "time"), u.examples[rule]))
	}
	return notes
}

// Tell adds what the upload found to the notes.
func (t *Transcript) Tell(told *Uploaded, p *terminal.Progress) {
	for _, note := range told.notes() {
		t.Notes = append(t.Notes, note)
		p.Say("  %s", note)
	}
}

// Upload appends messages to an empty session, or goes on where an earlier upload of the same messages broke off: each
// batch says where it belongs, and is known by what is in it. The messages are gone from the file afterwards.
func Upload(ctx context.Context, c *api.Client, session string, file *Transcript, p *terminal.Progress) (*Uploaded, error) {
	messages := file.Messages
	p.Stage("storing "+terminal.Count(len(messages), "message"), "messages", int64(len(messages)))
	told := &Uploaded{findings: make(map[string]int), examples: make(map[string]string)}
	most := BatchMessages
	for start := 0; start < len(messages); {
		batch := NextBatch(messages[start:], most)
		request := &compactordv1.AppendMessagesRequest{
			SessionId: session, Messages: batch, ExpectedNextIndex: proto.Uint32(uint32(start)), Strict: file.strict,
			ImportedRecords: recordsBetween(file.records, uint32(start), uint32(start+len(batch))),
		}
		var err error
		if request.RequestId, err = batchID(request); err != nil {
			return nil, err
		}
		answer, err := c.Sessions.AppendMessages(ctx, request)
		if api.TooLarge(err) && len(batch) > 1 {
			most = len(batch) / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range answer.GetFindings() {
			told.findings[f.GetRule()]++
			if told.examples[f.GetRule()] == "" {
				told.examples[f.GetRule()] = f.GetText()
			}
		}
		start += len(batch)
		// The store has them now; there is no need to hold them twice.
		clear(batch)
		p.Update(int64(start))
	}
	return told, nil
}

// recordsBetween are the records behind the messages from start to end, counted within these.
func recordsBetween(records []*compactordv1.ImportedRecord, start, end uint32) []*compactordv1.ImportedRecord {
	var between []*compactordv1.ImportedRecord
	for _, r := range records {
		after := r.GetAfterMessages()
		// What stands between two batches goes with the first.
		if after > end || after <= start && (start > 0 || after > 0) {
			continue
		}
		within := proto.CloneOf(r)
		within.AfterMessages = after - start
		between = append(between, within)
	}
	return between
}

// NextBatch cuts off the next batch, of at most so many messages.
func NextBatch(messages []*compactordv1.Message, most int) []*compactordv1.Message {
	size := 0
	for i, m := range messages {
		size += proto.Size(m)
		if i > 0 && (i == most || size > batchBytes) {
			return messages[:i]
		}
	}
	return messages
}

// batchID is the same for the same messages and records in the same place, whoever sends them.
func batchID(request *compactordv1.AppendMessagesRequest) (string, error) {
	content := &compactordv1.AppendMessagesRequest{
		Messages: request.GetMessages(), ImportedRecords: request.GetImportedRecords(),
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(content)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(encoded)
	return fmt.Sprintf("import-%d-%x", request.GetExpectedNextIndex(), hash[:16]), nil
}
