package sessionlog_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// logsWithASession returns the logs of a store, in which it makes the session s.
func logsWithASession(t interface {
	require.TestingT
	Context() context.Context
}, store storage.Store,
) *sessionlog.Logs {
	logs := sessionlog.New(sessionlog.Options{Store: store, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	policy := &compactordv1.Policy{}
	w, err := logs.BeginSession(t.Context(), "s", compactordv1.Estimator_ESTIMATOR_CHARS4, policy, policy)
	require.NoError(t, err)
	require.NoError(t, logs.Create(t.Context(), w))
	return logs
}
