package conversation

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Records sets the request's session to this one, and reads all records that the request asks for.
func (c *Conversation) Records(
	ctx context.Context, request *compactordv1.ListRecordsRequest,
) ([]*compactordv1.Record, error) {
	request.SessionId = c.Session
	return c.Client.Records(ctx, request)
}
