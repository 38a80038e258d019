package session_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// A total is never less than what it is the total of, whoever of the two told one.
func TestAddUsage(t *testing.T) {
	parts := &compactordv1.Usage{InputTokens: 100, OutputTokens: 10, CacheReadTokens: 5, CacheWriteTokens: 1}
	total := &compactordv1.Usage{InputTokens: 40, OutputTokens: 2, TotalTokens: 45}
	sum := &compactordv1.Usage{InputTokens: 140, OutputTokens: 12, CacheReadTokens: 5, CacheWriteTokens: 1, TotalTokens: 161}
	for name, c := range map[string]struct{ a, b, want *compactordv1.Usage }{
		"nothing told":     {nil, nil, nil},
		"the first alone":  {parts, nil, parts},
		"the second alone": {nil, total, total},
		"the total last":   {parts, total, sum},
		"the total first":  {total, parts, sum},
		"no totals": {parts, parts, &compactordv1.Usage{
			InputTokens: 200, OutputTokens: 20, CacheReadTokens: 10, CacheWriteTokens: 2,
		}},
		"totals": {total, total, &compactordv1.Usage{InputTokens: 80, OutputTokens: 4, TotalTokens: 90}},
		"too much": {
			&compactordv1.Usage{InputTokens: math.MaxUint32, TotalTokens: math.MaxUint32}, parts,
			&compactordv1.Usage{
				InputTokens: math.MaxUint32, OutputTokens: 10, CacheReadTokens: 5, CacheWriteTokens: 1, TotalTokens: math.MaxUint32,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, proto.Equal(c.want, session.AddUsage(c.a, c.b)), "%v", session.AddUsage(c.a, c.b))
		})
	}
}
