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

// BatchMessages and batchBytes are the limits of a batch. A single message may be larger.
const (
	BatchMessages = 500
	batchBytes    = 8 << 20
)

// Uploaded holds the findings of an upload.
type Uploaded struct {
	// findings counts the malformed messages that were accepted, by rule. examples holds the first text of each rule.
	findings map[string]int
	examples map[string]string
}

// notes describes the findings, sorted by rule.
func (u *Uploaded) notes() []string {
	notes := make([]string, 0, len(u.findings))
	for _, rule := range slices.Sorted(maps.Keys(u.findings)) {
		notes = append(notes, fmt.Sprintf("%s (%s): %s", rule, terminal.Count(u.findings[rule], "time"), u.examples[rule]))
	}
	return notes
}

// AddFindings adds the findings of an upload to the notes.
func (t *Transcript) AddFindings(uploaded *Uploaded, p *terminal.Progress) {
	for _, note := range uploaded.notes() {
		t.Notes = append(t.Notes, note)
		p.Say("  %s", note)
	}
}

// Upload appends the messages of a file to an empty session, or those that a session lacks: the file has grown since an earlier
// upload, or that was interrupted. has is how many messages the session has. A DiffersError says that the session has other
// messages. Upload releases each stored message from memory.
func Upload(
	ctx context.Context, c *api.Client, session string, has uint32, file *Transcript, p *terminal.Progress,
) (*Uploaded, error) {
	p.Stage(uploading(file.Count(), int(has)), "messages", int64(file.Count()))
	uploaded := &Uploaded{findings: make(map[string]int), examples: make(map[string]string)}
	first, atEnd := uint32(0), []*compactordv1.ImportedRecord(nil)
	if has > 0 {
		var err error
		if first, err = compareStored(ctx, c, session, has, file, p); err != nil {
			return nil, err
		}
		if atEnd, err = recordsAtEnd(ctx, c, session, file, first); err != nil {
			return nil, err
		}
	}
	most := BatchMessages
	for start := int(first); start < file.Count(); {
		messages, err := file.from(start)
		if err != nil {
			return nil, err
		}
		batch := NextBatch(messages, most)
		request := &compactordv1.AppendMessagesRequest{
			SessionId: session, Messages: batch, ExpectedNextIndex: proto.Uint32(uint32(start)), Strict: file.strict,
			ImportedRecords: slices.Concat(atEnd, recordsBetween(file.records, uint32(start), uint32(start+len(batch)))),
		}
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
			uploaded.findings[f.GetRule()]++
			if uploaded.examples[f.GetRule()] == "" {
				uploaded.examples[f.GetRule()] = f.GetText()
			}
		}
		start, atEnd = start+len(batch), nil
		// Release the messages, which the store has now.
		clear(batch)
		p.Update(int64(start))
	}
	return uploaded, nil
}

// uploading says what an upload does of so many messages to a session that has some.
func uploading(messages, has int) string {
	switch {
	case has == 0:
		return "storing " + terminal.Count(messages, "message")
	case has < messages:
		return fmt.Sprintf("storing %s of %s", terminal.Number(messages-has), terminal.Count(messages, "message"))
	default:
		return "comparing " + terminal.Count(messages, "message") + " with those of the session"
	}
}

// recordsBetween returns the records after the messages from start to end, with positions relative to start.
func recordsBetween(records []*compactordv1.ImportedRecord, start, end uint32) []*compactordv1.ImportedRecord {
	var between []*compactordv1.ImportedRecord
	for _, r := range records {
		after := r.GetAfterMessages()
		// A record between two batches belongs to the first.
		if after > end || after <= start && start > 0 {
			continue
		}
		within := proto.CloneOf(r)
		within.AfterMessages = after - start
		between = append(between, within)
	}
	return between
}

// NextBatch returns the messages of the next batch, at most n.
func NextBatch(messages []*compactordv1.Message, n int) []*compactordv1.Message {
	size := 0
	for i, m := range messages {
		size += proto.Size(m)
		if i > 0 && (i == n || size > batchBytes) {
			return messages[:i]
		}
	}
	return messages
}

// batchID returns an id of the content and position of a batch.
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
