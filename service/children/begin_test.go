package children_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/children"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
)

// stored writes a generated log into a store, as session s.
func stored(t *rapid.T, w *sessiontest.Writer) storage.Store {
	var records []*storagev1.StoredRecord
	for sequence, item := range w.Log.Items {
		if item.Record != nil {
			record := proto.CloneOf(item.Record)
			record.CreatedAt = timestamppb.Now()
			records = append(records, &storagev1.StoredRecord{Schema: 1, Record: record, Head: w.HeadAt(uint32(sequence))})
		}
	}
	row := &storagev1.Session{
		SessionId: "s", Uid: "u", Revision: 1, CreatedAt: timestamppb.Now(), ChangedAt: timestamppb.Now(),
		Estimator: w.Log.Estimator, Head: records[0].GetHead(),
	}
	store := memory.New()
	require.NoError(t, store.CreateSession(t.Context(), &storage.Commit{Session: row, Records: records[:1]}))
	row.Revision, row.Head = 2, proto.CloneOf(w.Head)
	require.NoError(t, store.Commit(t.Context(), &storage.Commit{Session: row, Messages: w.Messages, Records: records[1:]}))
	return store
}

// Of any log, a child has what the naive model says: the chosen messages with their tool groups, in order and word for
// word, each result with the call that it answered. Only a generated id of a call is another one in the child. Where it
// does not, a call among them lacks its result, or one of the messages announces a checkpoint.
func TestChosenMessagesOfAnyLog(t *testing.T) {
	t.Parallel()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	begun := 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 30) {
			g.Step(t)
		}
		g.Message(t)
		model := g.Model()
		var indexes []uint32
		for _, a := range model.Messages[len(model.Lead()):] {
			if rapid.IntRange(0, 3).Draw(t, "chosen") == 0 {
				indexes = append(indexes, a.Index)
			}
		}
		want := model.WithGroups(indexes)
		store := stored(t, g.W)
		logs := sessionlog.New(sessionlog.Options{
			Store: store, Strategies: registry, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		parent, err := logs.Row(t.Context(), "s")
		require.NoError(t, err)
		c := &children.Children{Logs: logs}
		w, err := c.Begin(t.Context(), parent, "c", nil, &compactordv1.ChildContext{
			Sees: compactordv1.ChildSees_CHILD_SEES_CHOSEN, Indexes: rapid.Permutation(indexes).Draw(t, "order"),
		})
		if err != nil {
			requireRefused(t, err, model, want)
			return
		}
		begun++
		requireCopied(t, w.Messages(), model, want)
		require.NoError(t, logs.Create(t.Context(), w))
		problems, err := sessionlog.Check(t.Context(), store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	require.Positive(t, begun, "all were refused")
}

// requireRefused asserts that there is a reason to refuse a child with these messages.
func requireRefused(t *rapid.T, err error, model *sessiontest.Model, want []uint32) {
	var refused *apierror.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "child.indexes", refused.Fields[0].Field)
	reason := slices.ContainsFunc(want, func(index uint32) bool {
		return model.Find(index).Message.GetOrigin() == compactordv1.Origin_ORIGIN_MARKER
	})
	for _, call := range model.Calls {
		reason = reason || slices.Contains(want, call.Owner.Index) && call.Result == nil
	}
	require.True(t, reason, err)
}

// requireCopied asserts that the log of a child has the messages of its parent with these indexes.
func requireCopied(t *rapid.T, log []*compactordv1.LoggedMessage, model *sessiontest.Model, want []uint32) {
	require.Len(t, log, len(want))
	for i, l := range log {
		was := model.Find(want[i])
		require.Equal(t, uint32(i), l.GetIndex())
		require.Equal(t, was.Index, l.GetParentIndex())
		message := proto.CloneOf(was.Message)
		message.Usage = nil
		if call := was.Answers; call != nil && call.Nameless && slices.Contains(want, call.Owner.Index) {
			if r := message.GetParts()[0].GetToolResult(); r.GetCallId() != "" {
				r.CallId = fmt.Sprintf("call_%d_%d", slices.Index(want, call.Owner.Index), call.Part)
			}
		}
		require.True(t, proto.Equal(message, l.GetMessage()))
		if was.Answers != nil && was.Place == compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
			require.Equal(t, compactordv1.ResultPlace_RESULT_PLACE_ANSWER, l.GetResultPlace())
			require.Equal(t, was.Answers.Owner.Index, log[l.GetAnswers().GetIndex()].GetParentIndex())
			require.Equal(t, was.Answers.Part, l.GetAnswers().GetPart())
		}
	}
}
