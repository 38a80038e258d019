package api

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Records reads all pages of the records that the request asks for.
func (c *Client) Records(
	ctx context.Context, request *compactordv1.ListRecordsRequest,
) ([]*compactordv1.Record, error) {
	asked := proto.CloneOf(request)
	asked.PageSize, asked.MaxBytes = 1000, c.PageBytes
	var records []*compactordv1.Record
	for {
		page, err := c.Sessions.ListRecords(ctx, asked)
		if err != nil {
			return nil, RefusedFlags(err)
		}
		records = append(records, page.GetRecords()...)
		if asked.PageToken = page.GetNextPageToken(); asked.GetPageToken() == "" {
			return records, nil
		}
	}
}
