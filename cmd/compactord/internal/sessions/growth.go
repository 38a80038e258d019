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

// growth is what a revert does that people do not expect of it: compactions and prunes are undone by it, and the context
// is fuller than before.
type growth struct {
	// undone are their records, the newest first.
	undone        []*compactordv1.Record
	before, after *compactordv1.ContextReport
}

// foresee says what a revert does; nil where it undoes no compaction, or the context does not grow by that.
func foresee(ctx context.Context, c *conversation.Conversation, request *compactordv1.RevertToCheckpointRequest) (*growth, error) {
	tried := proto.CloneOf(request)
	tried.DryRun = true
	answer, err := c.Sessions.RevertToCheckpoint(ctx, tried)
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
	records, err := c.Records(ctx, &compactordv1.ListRecordsRequest{})
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

// rewritesInForce are the compactions and prunes that are in force at a point, the newest first.
func rewritesInForce(records []*compactordv1.Record, point uint32) []*compactordv1.Record {
	var found []*compactordv1.Record
	for _, r := range slices.Backward(records) {
		if r.GetSequence() > point {
			continue
		}
		switch kind := r.GetKind().(type) {
		case *compactordv1.Record_Revert:
			// All is as it was then.
			point = kind.Revert.GetPoint()
		case *compactordv1.Record_Compaction, *compactordv1.Record_Prune:
			found = append(found, r)
		default:
		}
	}
	return found
}

// mostUndone is how many undone compactions are told one by one.
const mostUndone = 5

// tell says on stderr what the revert does to the context.
func (g *growth) tell(a *api.App) {
	fmt.Fprintln(a.Stderr, "This undoes:")
	for i, r := range g.undone {
		if i == mostUndone {
			fmt.Fprintf(a.Stderr, "  and %s more\n", terminal.Number(len(g.undone)-i))
			break
		}
		fmt.Fprintf(a.Stderr, "  %s\n", terminal.InLine(recordText(r)))
	}
	fmt.Fprintf(a.Stderr, "The context grows from %s to %s.\n", terminal.Number(g.before.GetTokens()), contextText(g.after))
}
