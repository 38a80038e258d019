package main

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// records reads the log's records from a sequence on, page by page.
func (c *conversation) records(ctx context.Context, from uint32) ([]*compactordv1.Record, error) {
	var records []*compactordv1.Record
	request := &compactordv1.ListRecordsRequest{SessionId: c.session, PageSize: 1000, FromSequence: from}
	for {
		page, err := c.sessions.ListRecords(ctx, request)
		if err != nil {
			return nil, refusedFlags(err)
		}
		records = append(records, page.GetRecords()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			return records, nil
		}
	}
}
