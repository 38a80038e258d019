package sessionlog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// asked counts what a store is asked for.
type asked struct {
	storage.Store
	messages, edits int
}

func (a *asked) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	a.messages++
	return a.Store.Messages(ctx, ref, start, end, maxBytes)
}

func (a *asked) Edits(ctx context.Context, ref storage.Ref, start, end uint32) ([]storage.IndexedEdits, error) {
	a.edits++
	return a.Store.Edits(ctx, ref, start, end)
}

// A store may be a database to which each question takes a round trip: the view of a session without edits that fits into one
// piece takes one, with its leading messages.
func TestAViewWithoutEditsAsksTheStoreOnce(t *testing.T) {
	t.Parallel()
	store := &asked{Store: memory.New()}
	logs := logsWithASession(t, store)
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	require.NoError(t, err)
	message := func(role compactordv1.Role) *compactordv1.Message {
		return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("some text ", 1000)}},
		}}}
	}
	roles := []compactordv1.Role{compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER}
	for range 10 {
		roles = append(roles, compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT)
	}
	require.NoError(t, logs.Update(t.Context(), "s", func(row *storagev1.Session) (*sessionlog.Write, error) {
		w := logs.Begin(row)
		var messages []*compactordv1.Message
		for _, role := range roles {
			messages = append(messages, message(role))
		}
		return w, w.Appender(counter).Append(t.Context(), messages, nil)
	}))
	row, err := logs.Row(t.Context(), "s")
	require.NoError(t, err)
	draw := func(wanted int) (order []uint32) {
		drawing, err := logs.Drawing(t.Context(), row, row.GetHead(), wanted)
		require.NoError(t, err)
		*store = asked{Store: store.Store}
		for drawn, err := range drawing.View(t.Context(), session.ViewOptions{}, session.Place{}) {
			require.NoError(t, err)
			order = append(order, drawn.GetIndex())
		}
		return order
	}
	whole := draw(1 << 20)
	require.Len(t, whole, len(roles))
	require.Equal(t, 1, store.messages)
	require.Zero(t, store.edits)

	// With pieces of 64 KiB, each but the last of six of these messages.
	require.Equal(t, whole, draw(1))
	require.Equal(t, (len(roles)+5)/6, store.messages)
}
