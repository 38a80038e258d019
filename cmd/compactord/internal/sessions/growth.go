package sessions

import (
	"context"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// growth is what people may not expect of a revert: it undoes compactions and prunes, so that the context grows.
type growth struct {
	// undone are the records of the undone compactions and prunes, newest first.
	undone        []*compactordv1.Record
	before, after *compactordv1.ContextReport
}

// growthBy returns the growth that a revert causes; nil where it undoes no compaction or prune, or the context does not
// grow.
func growthBy(ctx context.Context, c *conversation.Conversation, request *compactordv1.RevertToCheckpointRequest) (*growth, error) {
	dryRun := proto.CloneOf(request)
	dryRun.DryRun = true
	answer, err := c.Sessions.RevertToCheckpoint(ctx, dryRun)
	if err != nil || answer.GetRecord() == nil {
		return nil, err
	}
	now, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	if err != nil {
		return nil, err
	}
	g := &growth{before: now.GetReport(), after: answer.GetReport()}
	if g.after.GetTokens() <= g.before.GetTokens() {
		return nil, nil
	}
	records, err := c.Records(ctx, &compactordv1.ListRecordsRequest{Kinds: []compactordv1.RecordKind{
		compactordv1.RecordKind_RECORD_KIND_COMPACTION, compactordv1.RecordKind_RECORD_KIND_PRUNE,
		compactordv1.RecordKind_RECORD_KIND_REVERT,
	}})
	if err != nil {
		return nil, err
	}
	then := rewritesInForce(records, answer.GetRecord().GetRevert().GetPoint())
	for _, r := range rewritesInForce(records, math.MaxUint32) {
		if !slices.Contains(then, r) {
			g.undone = append(g.undone, r)
		}
	}
	if len(g.undone) == 0 {
		return nil, nil
	}
	return g, nil
}

// rewritesInForce returns the compactions and prunes that are in force at a point, newest first.
func rewritesInForce(records []*compactordv1.Record, point uint32) []*compactordv1.Record {
	var found []*compactordv1.Record
	for _, r := range slices.Backward(records) {
		if r.GetSequence() > point {
			continue
		}
		switch kind := r.GetKind().(type) {
		case *compactordv1.Record_Revert:
			// After a revert, only the records up to its point are in force.
			point = kind.Revert.GetPoint()
		case *compactordv1.Record_Compaction, *compactordv1.Record_Prune:
			found = append(found, r)
		default:
		}
	}
	return found
}

// maxUndone is how many undone compactions and prunes are listed.
const maxUndone = 5

// print prints on stderr what the revert undoes and how the context grows.
func (g *growth) print(a *api.App) {
	fmt.Fprintln(a.Stderr, "This undoes:")
	for i, r := range g.undone {
		if i == maxUndone {
			fmt.Fprintf(a.Stderr, "  and %s more\n", terminal.Number(len(g.undone)-i))
			break
		}
		fmt.Fprintf(a.Stderr, "  %s\n", terminal.InLine(recordText(r)))
	}
	fmt.Fprintf(a.Stderr, "The context grows from %s to %s.\n", terminal.Number(g.before.GetTokens()), contextText(g.after))
}
