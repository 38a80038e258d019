package conversation

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Records reads all records of the conversation that the request asks for.
func (c *Conversation) Records(
	ctx context.Context, request *compactordv1.ListRecordsRequest,
) ([]*compactordv1.Record, error) {
	asked := proto.CloneOf(request)
	asked.SessionId = c.Session
	return c.Client.Records(ctx, asked)
}
