package conversation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestBatches(t *testing.T) {
	of := func(bytes int) *compactordv1.Message {
		return &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", bytes)}},
		}}}
	}
	small := make([]*compactordv1.Message, 2*BatchMessages)
	for i := range small {
		small[i] = of(1)
	}
	require.Len(t, NextBatch(small, BatchMessages), BatchMessages)
	large := []*compactordv1.Message{of(batchBytes / 2), of(batchBytes / 3), of(batchBytes / 3)}
	require.Len(t, NextBatch(large, BatchMessages), 2)
	huge := []*compactordv1.Message{of(2 * batchBytes), of(1)}
	require.Len(t, NextBatch(huge, BatchMessages), 1, "one message is a batch, however large")

	batch := func(next uint32, messages ...*compactordv1.Message) *compactordv1.AppendMessagesRequest {
		return &compactordv1.AppendMessagesRequest{ExpectedNextIndex: proto.Uint32(next), Messages: messages}
	}
	id, err := batchID(batch(7, small[:3]...))
	require.NoError(t, err)
	again, err := batchID(batch(7, proto.CloneOf(small[0]), small[1], small[2]))
	require.NoError(t, err)
	require.Equal(t, id, again)
	withRecord := batch(7, small[:3]...)
	withRecord.ImportedRecords = []*compactordv1.ImportedRecord{{AfterMessages: 1}}
	for _, other := range []*compactordv1.AppendMessagesRequest{batch(8, small[:3]...), withRecord} {
		otherID, err := batchID(other)
		require.NoError(t, err)
		require.NotEqual(t, id, otherID)
	}
}

// Each record is in exactly one batch, with a position relative to the batch.
func TestRecordsOfBatches(t *testing.T) {
	at := func(after uint32) *compactordv1.ImportedRecord {
		return &compactordv1.ImportedRecord{AfterMessages: after}
	}
	records := []*compactordv1.ImportedRecord{at(0), at(2), at(4), at(5)}
	var places [][]uint32
	for _, batch := range [][2]uint32{{0, 2}, {2, 4}, {4, 5}} {
		var within []uint32
		for _, r := range recordsBetween(records, batch[0], batch[1]) {
			within = append(within, r.GetAfterMessages())
		}
		places = append(places, within)
	}
	require.Equal(t, [][]uint32{{0, 2}, {2}, {1}}, places)
}
