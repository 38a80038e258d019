package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A token count in a provider's report that is no whole number is not accepted. A strict request is refused and stores
// nothing; else the message is stored without it. A boolean is no 1.
func TestCase022UsageIsAWholeNumber(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for _, count := range []string{"true", `"12"`, "1.5", "-1", "[1]"} {
		raw := fmt.Sprintf(`[{"role":"user","content":"x"},{"role":"assistant","content":"y","usage":{"input_tokens":%s}}]`, count)
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Strict: true, ProviderJson: &compactordv1.ProviderJson{Dialect: chat, Json: raw},
		})
		requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
		require.ErrorContains(t, err, "usage")
		require.Empty(t, d.messages("s"), count)

		d.create("lenient"+count, nil)
		answer := d.appendJSON("lenient"+count, chat, raw)
		require.Len(t, answer.GetFindings(), 1)
		require.Equal(t, dialect.InputFieldUnreadable, answer.GetFindings()[0].GetRule())
		require.Nil(t, d.messages("lenient" + count)[1].GetMessage().GetUsage())
	}
	answer := d.appendJSON("s", chat, `[{"role":"user","content":"x"},{"role":"assistant","content":"y","usage":{"input_tokens":12}}]`)
	require.Equal(t, uint32(12), answer.GetReport().GetTokens())
}
