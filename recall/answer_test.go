package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/session/sessiontest"
)

// An error names the field of the request that is wrong.
func TestAnswerNamesTheFieldThatIsWrong(t *testing.T) {
	byReference := &compactordv1.RecallContentRequest_Reference{Reference: "#7.0.1"}
	bytes := func(offset uint32) *compactordv1.RecallContentRequest_Bytes {
		return &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: offset}}
	}
	lines := &compactordv1.RecallContentRequest_Lines{Lines: &compactordv1.LineRange{First: 9}}
	match := func(pattern string, first uint32) *compactordv1.RecallContentRequest_Match {
		return &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: pattern, FirstLine: first}}
	}
	// Part 0 is text, part 3 a medium.
	for name, c := range map[string]struct {
		field string
		req   *compactordv1.RecallContentRequest
	}{
		"no reference":           {"reference", &compactordv1.RecallContentRequest{What: &compactordv1.RecallContentRequest_Reference{}}},
		"a part named twice":     {"part", &compactordv1.RecallContentRequest{What: byReference, Part: proto.Uint32(0)}},
		"a piece named twice":    {"result_part", &compactordv1.RecallContentRequest{What: byReference, ResultPart: proto.Uint32(1)}},
		"a piece without a part": {"result_part", &compactordv1.RecallContentRequest{ResultPart: proto.Uint32(1)}},
		"bytes beyond the end":   {"bytes.offset", &compactordv1.RecallContentRequest{Part: proto.Uint32(0), Range: bytes(5)}},
		"lines beyond the end":   {"lines.first", &compactordv1.RecallContentRequest{Part: proto.Uint32(0), Range: lines}},
		"lines of a medium":      {"lines", &compactordv1.RecallContentRequest{Part: proto.Uint32(3), Range: lines}},
		"a match in a medium":    {"match", &compactordv1.RecallContentRequest{Part: proto.Uint32(3), Range: match("a", 1)}},
		"a medium's end":         {"bytes.offset", &compactordv1.RecallContentRequest{Part: proto.Uint32(3), Range: bytes(2)}},
		"no expression":          {"match.pattern", &compactordv1.RecallContentRequest{Part: proto.Uint32(0), Range: match("(", 1)}},
		"a match beyond the end": {"match.first_line", &compactordv1.RecallContentRequest{Part: proto.Uint32(0), Range: match("a", 9)}},
	} {
		t.Run(name, func(t *testing.T) {
			wanted, err := recall.RequestedReference(c.req)
			if err == nil {
				_, err = recall.Answer(t.Context(), sessiontest.EveryKind(), wanted, c.req, nil)
			}
			var named *recall.FieldError
			require.ErrorAs(t, err, &named)
			require.Equal(t, c.field, named.Field)
		})
	}
	_, err := recall.Answer(t.Context(), sessiontest.EveryKind(), recall.Reference{Part: proto.Uint32(8)}, nil, nil)
	require.ErrorIs(t, err, recall.ErrNoContent)
}
