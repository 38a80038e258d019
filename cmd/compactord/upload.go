package main

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A batch of messages has at most so many, and at most so many bytes unless one message alone has more.
const (
	batchMessages = 500
	batchBytes    = 8 << 20
)

// upload appends messages to an empty session, or goes on where an earlier upload of the same messages broke off: each
// batch says where it belongs, and is known by what is in it. The messages are gone from the slice afterwards.
func (c *client) upload(
	ctx context.Context, session string, messages []*compactordv1.Message, p *progress,
) error {
	p.stage("storing "+count(len(messages), "message"), "messages", int64(len(messages)))
	most := batchMessages
	for start := 0; start < len(messages); {
		batch := nextBatch(messages[start:], most)
		id, err := batchID(uint32(start), batch)
		if err != nil {
			return err
		}
		_, err = c.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
			SessionId:         session,
			Messages:          batch,
			ExpectedNextIndex: proto.Uint32(uint32(start)),
			RequestId:         id,
		})
		if tooLarge(err) && len(batch) > 1 {
			most = len(batch) / 2
			continue
		}
		if err != nil {
			return err
		}
		start += len(batch)
		// The store has them now; there is no need to hold them twice.
		clear(batch)
		p.update(int64(start))
	}
	return nil
}

// nextBatch cuts off the next batch, of at most so many messages.
func nextBatch(messages []*compactordv1.Message, most int) []*compactordv1.Message {
	size := 0
	for i, m := range messages {
		size += proto.Size(m)
		if i > 0 && (i == most || size > batchBytes) {
			return messages[:i]
		}
	}
	return messages
}

// batchID is the same for the same messages in the same place, whoever sends them.
func batchID(start uint32, batch []*compactordv1.Message) (string, error) {
	hash := sha256.New()
	for _, m := range batch {
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%d:", len(encoded))
		hash.Write(encoded)
	}
	return fmt.Sprintf("import-%d-%x", start, hash.Sum(nil)[:16]), nil
}
