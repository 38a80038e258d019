package sessions

import (
	"context"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// notExported says what the model sees of a session, or can recall from it, that is no message of its log.
func notExported(ctx context.Context, client *api.Client, session string) (notes []string, err error) {
	changes, err := client.Records(ctx, &compactordv1.ListRecordsRequest{
		SessionId: session, Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_INSTRUCTIONS},
	})
	if err != nil {
		return nil, err
	}
	for _, r := range changes {
		if !r.GetPutAside() {
			notes = append(notes, "views begin with instructions that replaced those of the log; the export has those of the log")
			break
		}
	}
	blocks, err := contextBlocks(ctx, client, &compactordv1.ListContextBlocksRequest{SessionId: session})
	if err != nil {
		return nil, err
	}
	if len(blocks) > 0 {
		notes = append(notes, terminal.Count(len(blocks), "context block")+" left out: blocks are no messages")
	}
	found, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: session})
	if err != nil {
		return nil, err
	}
	if n := found.GetSession().GetChildren(); n > 0 {
		children := "children"
		if n == 1 {
			children = "child"
		}
		notes = append(notes, fmt.Sprintf("the logs of %s %s left out: export each of them", terminal.Number(n), children))
	}
	return notes, nil
}

// contextBlocks reads all pages of the context blocks that the request asks for.
func contextBlocks(
	ctx context.Context, client *api.Client, request *compactordv1.ListContextBlocksRequest,
) ([]*compactordv1.ContextBlockState, error) {
	request.MaxBytes = client.PageBytes
	var blocks []*compactordv1.ContextBlockState
	for {
		page, err := client.Sessions.ListContextBlocks(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		blocks = append(blocks, page.GetBlocks()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return blocks, nil
		}
	}
}
