package sessionlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/storagetest"
)

// store writes a generated log into a store. damage may change the row and the records before.
func store(t *rapid.T, w *sessiontest.Writer, damage func(*storagev1.Session, []*storagev1.StoredRecord)) storage.Store {
	var records []*storagev1.StoredRecord
	for sequence, item := range w.Log.Items {
		if item.Record != nil {
			record := proto.CloneOf(item.Record)
			record.CreatedAt = timestamppb.New(timestamppb.Now().AsTime())
			records = append(records, &storagev1.StoredRecord{
				Schema: 1, Record: record, Head: w.HeadAt(uint32(sequence)),
			})
		}
	}
	row := &storagev1.Session{
		SessionId: "s", Uid: "u", Revision: 1, CreatedAt: timestamppb.Now(), ChangedAt: timestamppb.Now(),
		Estimator: w.Log.Estimator, ResolvedPolicy: w.Policy, Head: proto.CloneOf(w.Head),
	}
	if damage != nil {
		damage(row, records)
	}
	first := proto.CloneOf(row)
	first.Head = records[0].GetHead()
	s := memory.New()
	require.NoError(t, s.CreateSession(t.Context(), &storage.Commit{Session: first, Records: records[:1]}))
	row.Revision = 2
	require.NoError(t, s.Commit(t.Context(), &storage.Commit{Session: row, Messages: w.Messages, Records: records[1:]}))
	return s
}

func TestCheckFindsNothingInSoundLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGeneratorBy(t, rapid.SampledFrom([]compactordv1.Estimator{
			compactordv1.Estimator_ESTIMATOR_CHARS4, compactordv1.Estimator_ESTIMATOR_CL100K_BASE,
			compactordv1.Estimator_ESTIMATOR_CALIBRATED,
		}).Draw(t, "estimator"), make(sessiontest.Counts))
		for range sessiontest.Steps(t, 30) {
			g.Step(t)
		}
		g.Message(t)
		problems, err := sessionlog.Check(t.Context(), store(t, g.W, nil), "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
}

// Check finds each field of a head that contradicts the log, in the row and in the records, and names it.
func TestCheckFindsWrongHeads(t *testing.T) {
	lies := map[string]func(*storagev1.Head){
		"view_tokens":         func(h *storagev1.Head) { h.ViewTokens++ },
		"lead_end":            func(h *storagev1.Head) { h.LeadEnd++ },
		"pins":                func(h *storagev1.Head) { h.Pins = append(h.Pins, 0) },
		"view_format":         func(h *storagev1.Head) { h.ViewFormat++ },
		"appended_tokens":     func(h *storagev1.Head) { h.AppendedTokens++ },
		"rewritten_at_tokens": func(h *storagev1.Head) { h.RewrittenAtTokens = proto.Uint32(h.GetRewrittenAtTokens() + 1) },
		"prunable_tokens":     func(h *storagev1.Head) { h.PrunableTokens++ },
		"breaker": func(h *storagev1.Head) {
			h.Breaker = &storagev1.Breaker{Failures: h.GetBreaker().GetFailures() + 1}
		},
		"pinned_kept_tokens": func(h *storagev1.Head) { h.PinnedKeptTokens++ },
	}
	for field, lie := range lies {
		t.Run(field, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
				for range 5 {
					g.Message(t)
				}
				inRow := store(t, g.W, func(row *storagev1.Session, _ []*storagev1.StoredRecord) { lie(row.GetHead()) })
				requireProblem(t, inRow, field)
				inRecord := store(t, g.W, func(_ *storagev1.Session, records []*storagev1.StoredRecord) {
					lie(records[0].GetHead())
				})
				requireProblem(t, inRecord, field)
			})
		})
	}
}

// Check finds a message whose links contradict the log.
func TestCheckFindsMessagesLinkedWrongly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		g.Message(t)
		last := g.W.Messages[len(g.W.Messages)-1]
		last.Tokens++
		requireProblem(t, store(t, g.W, nil), "tokens")
	})
}

// Check finds an arrival edit that the message cannot have had.
func TestCheckFindsUnsoundArrivalEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		g.Message(t)
		last := g.W.Messages[len(g.W.Messages)-1]
		last.ArrivalEdits = []*compactordv1.Edit{{Replacement: "more"}}
		requireProblem(t, store(t, g.W, nil), "invalid arrival edit")
	})
}

// A log whose records fit none of its messages is a problem of its session, and does not end the check.
func TestCheckGoesOnAfterALogThatFitsNothing(t *testing.T) {
	t.Parallel()
	s := memory.New()
	for _, id := range []string{"a", "b"} {
		draft := storagetest.NewSession("", id, "uid-"+id)
		require.NoError(t, s.CreateSession(t.Context(), &draft.Commit))
		next := storagetest.Next(draft.Session).Texts(3).Prune(0, 1, 2).Compaction(2, "what was said").Texts(1)
		require.NoError(t, s.Commit(t.Context(), &next.Commit))
	}
	problems, err := sessionlog.Check(t.Context(), s, "")
	require.NoError(t, err)
	for _, id := range []string{"a", "b"} {
		require.True(t, slices.ContainsFunc(problems, func(p storage.Problem) bool {
			return p.SessionID == id && strings.Contains(fmt.Sprint(p), "do not fit its messages")
		}), problems)
	}
}

// The estimate of media comes from the release that appended them: a different figure of an earlier release is no
// problem.
func TestCheckAcceptsEarlierFiguresOfMedia(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := sessiontest.NewWriter(&compactordv1.Policy{})
		first := proto.CloneOf(w.Head)
		w.Append(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
				MimeType: "application/pdf", Source: &compactordv1.MediaPart_Data{Data: []byte("%PDF")},
			}},
		}}}, nil)
		size := rapid.Uint32Range(4, 1<<20).Draw(t, "size")
		l := w.Messages[0]
		l.PartSizes, l.Tokens = []uint32{size}, (size+3)/4
		counter, err := session.CounterFor(w.Log.Estimator)
		require.NoError(t, err)
		session.Advance(first, counter, w.Policy, l)
		w.Head = first
		problems, err := sessionlog.Check(t.Context(), store(t, w, nil), "")
		require.NoError(t, err)
		require.Empty(t, problems)
		l.Tokens++
		requireProblem(t, store(t, w, nil), "tokens")
	})
}

func requireProblem(t *rapid.T, s storage.Store, names string) {
	problems, err := sessionlog.Check(t.Context(), s, "")
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	require.Equal(t, "s", problems[0].SessionID)
	require.Contains(t, fmt.Sprint(problems), names)
}
