package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/agenttools"
	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// checkpoints is the default number of checkpoints in an answer.
const checkpoints = 20

// points are the tools that read and change the points of a session.
type points struct {
	client  *api.Client
	session string
}

func (p *points) list(ctx context.Context, given agenttools.Arguments) (string, error) {
	all, err := p.client.Records(ctx, &compactordv1.ListRecordsRequest{
		SessionId: p.session, Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT},
	})
	if err != nil {
		return "", err
	}
	slices.Reverse(all)
	skip, limit := int(given.Number("skip", 0)), int(given.Number("limit", checkpoints))
	rest := all[min(skip, len(all)):]
	lines := make([]string, 0, min(limit, len(rest))+1)
	for _, record := range rest[:min(limit, len(rest))] {
		lines = append(lines, checkpointLine(record))
	}
	switch {
	case len(all) == 0:
		return "This conversation has no checkpoints.", nil
	case len(lines) == 0:
		return "There are no further checkpoints.", nil
	case len(rest) > limit:
		lines = append(lines, fmt.Sprintf("[There are more: list again with skip %d.]", skip+limit))
	}
	return strings.Join(lines, "\n"), nil
}

func checkpointLine(record *compactordv1.Record) string {
	line := fmt.Sprintf("Checkpoint %d, before message #%d", record.GetCheckpoint().GetId(), record.GetNextIndex())
	if record.GetPutAside() {
		line += ", put aside"
	}
	if title := record.GetCheckpoint().GetTitle(); title != "" {
		line += ": " + strings.Join(strings.Fields(title), " ")
	}
	return line
}

func (p *points) create(ctx context.Context, given agenttools.Arguments) (string, error) {
	answer, err := p.client.Sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{
		SessionId: p.session, Title: given.Text("title"),
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("This is checkpoint %d.", answer.GetCheckpoint().GetId()), nil
}

func (p *points) revert(ctx context.Context, given agenttools.Arguments) (string, error) {
	id := given.Number("checkpoint_id", 0)
	answer, err := p.client.Sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
		SessionId: p.session, Target: &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: id},
		MessageFromFuture: given.Text("message"),
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The conversation is back at checkpoint %d: %s put aside.",
		id, terminal.Count(answer.GetMessagesPutAside(), "message")), nil
}

func (p *points) pin(ctx context.Context, given agenttools.Arguments) (string, error) {
	named, err := recall.ParseReference(given.Text("reference"))
	if err != nil || named.Part != nil {
		return "", agenttools.NewArgumentError("reference must name a whole message, such as #12.")
	}
	indexes := []uint32{named.Index}
	if given.Flag("remove") {
		answer, err := p.client.Sessions.UnpinMessages(ctx, &compactordv1.UnpinMessagesRequest{SessionId: p.session, Indexes: indexes})
		if err != nil {
			return "", err
		}
		return pinned("No longer pinned", "It was not pinned.", answer.GetRecord().GetUnpin().GetMembers()), nil
	}
	answer, err := p.client.Sessions.PinMessages(ctx, &compactordv1.PinMessagesRequest{SessionId: p.session, Indexes: indexes})
	if err != nil {
		return "", err
	}
	return pinned("Pinned", "It is pinned already.", answer.GetRecord().GetPin().GetMembers()), nil
}

// pinned names the messages whose pins changed; without any, it is the text nothing.
func pinned(done, nothing string, members []uint32) string {
	if len(members) == 0 {
		return nothing
	}
	references := make([]string, len(members))
	for i, index := range members {
		references[i] = fmt.Sprintf("#%d", index)
	}
	return done + ": " + strings.Join(references, ", ") + "."
}
