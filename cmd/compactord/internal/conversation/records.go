package conversation

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Records reads the log's records from a sequence on, page by page.
func (c *Conversation) Records(ctx context.Context, from uint32) ([]*compactordv1.Record, error) {
	var records []*compactordv1.Record
	request := &compactordv1.ListRecordsRequest{SessionId: c.Session, PageSize: 1000, FromSequence: from}
	for {
		page, err := c.Sessions.ListRecords(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		records = append(records, page.GetRecords()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return records, nil
		}
	}
}
