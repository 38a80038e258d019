package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A count in a provider's report that is no whole number is refused with the message, and nothing is stored. A truth value
// is no 1.
func TestCase022UsageIsAWholeNumber(t *testing.T) {
	d := start(t)
	d.create("s", nil)
	for _, count := range []string{"true", `"12"`, "1.5", "-1", "[1]"} {
		raw := fmt.Sprintf(`[{"role":"user","content":"x"},{"role":"assistant","content":"y","usage":{"input_tokens":%s}}]`, count)
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: raw},
		})
		requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
		require.ErrorContains(t, err, "usage")
		require.Empty(t, d.messages("s"), count)
	}
	answer := d.appendJSON("s", chat, `[{"role":"user","content":"x"},{"role":"assistant","content":"y","usage":{"input_tokens":12}}]`)
	require.Equal(t, uint32(12), answer.GetReport().GetTokens())
}
