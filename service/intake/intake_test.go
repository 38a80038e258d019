package intake_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/intake"
)

// Each origin is either accepted or refused. Where none is set, it becomes CLIENT, and the request stays as it is.
func TestOrigins(t *testing.T) {
	accepted := map[compactordv1.Origin]compactordv1.Origin{
		compactordv1.Origin_ORIGIN_UNSPECIFIED: compactordv1.Origin_ORIGIN_CLIENT,
		compactordv1.Origin_ORIGIN_CLIENT:      compactordv1.Origin_ORIGIN_CLIENT,
		compactordv1.Origin_ORIGIN_IMPORT:      compactordv1.Origin_ORIGIN_IMPORT,
		compactordv1.Origin_ORIGIN_CONTINUE:    compactordv1.Origin_ORIGIN_CONTINUE,
	}
	refused := []compactordv1.Origin{
		compactordv1.Origin_ORIGIN_FUTURE, compactordv1.Origin_ORIGIN_MARKER, compactordv1.Origin_ORIGIN_CHILD,
	}
	require.Len(t, compactordv1.Origin_name, len(accepted)+len(refused), "a new origin is accepted or refused here")
	sent := func(origin compactordv1.Origin) *compactordv1.CountedMessages {
		return &compactordv1.CountedMessages{Messages: []*compactordv1.Message{
			{Role: compactordv1.Role_ROLE_USER}, {Role: compactordv1.Role_ROLE_USER, Origin: origin},
		}}
	}
	for origin, stored := range accepted {
		request := sent(origin)
		messages, err := (&intake.Intake{}).Counted(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, stored, messages[1].GetOrigin(), origin)
		require.True(t, proto.Equal(sent(origin), request), "the request stays as it is")
	}
	for _, origin := range refused {
		_, err := (&intake.Intake{}).Counted(t.Context(), sent(origin))
		var invalid *apierror.Error
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_INVALID_FIELD, invalid.Reason)
		require.Equal(t, "messages.messages[1].origin", invalid.Fields[0].Field, origin)
	}
}

// The rules for what a provider's JSON becomes run within the call, and what ends it is no fault of the JSON.
func TestRulesForProviderJSONStopWithTheCall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the client has left")
	cancel(left)
	in := &intake.Intake{
		Dialects:   make(map[compactordv1.Dialect]dialect.Dialect),
		CheckFirst: func(ctx context.Context, _ proto.Message) error { return context.Cause(ctx) },
	}
	for _, d := range dialects.All() {
		in.Dialects[d.Kind()] = d
	}
	_, err := in.Counted(ctx, &compactordv1.CountedMessages{ProviderJson: &compactordv1.ProviderJson{
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT, Json: `[{"role":"user","content":"x"}]`,
	}})
	require.ErrorIs(t, err, left)
}
