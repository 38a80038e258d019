package service_test

import (
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session/sessiontest"
)

// follower is a client that has a rendered view and updates it by deltas.
type follower struct {
	token    string
	marked   bool
	messages []string
	system   []string
	// sources are what the messages were made from.
	sources []*compactordv1.ViewRange
	// changes is the number of view-changing records when the view was fetched.
	changes int
	// extra are the extra blocks of its requests.
	extra []*compactordv1.ContextBlock
}

// follow fetches the delta for the follower, page by page.
func (w *checkedService) follow(d dialect.Dialect, f *follower, maxBytes uint32) (*compactordv1.ViewReport, error) {
	for {
		answer, err := w.service.GetLLMView(w.t.Context(), &compactordv1.GetLLMViewRequest{
			Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: checkedSession},
			Dialect: d.Kind(), ViewToken: f.token, MarkCacheBreakpoints: f.marked, MaxBytes: maxBytes,
			ExtraBlocks: f.extra, WithSources: true,
		})
		if err != nil {
			return nil, err
		}
		require.LessOrEqual(w.t, int(answer.GetUnchangedPrefix()), len(f.messages))
		f.messages = append(f.messages[:answer.GetUnchangedPrefix()], answer.GetMessagesJson()...)
		f.sources = append(f.sources[:answer.GetUnchangedPrefix()], answer.GetSources()...)
		require.Len(w.t, f.sources, len(f.messages))
		f.token, f.system = answer.GetViewToken(), answer.GetSystemJson()
		if !answer.GetHasMore() {
			return answer.GetViewReport(), nil
		}
	}
}

// checkRendered renders the view in a dialect for a new client and for one that has used deltas. Both get the same, and
// it is valid.
func (w *checkedService) checkRendered(model *sessiontest.Model, view []*compactordv1.ViewMessage, changes int) {
	// Rendering and validating takes more time than everything else in a step.
	if w.draw(0, 2, "render") > 0 {
		return
	}
	all := dialects.All()
	d := all[w.draw(0, len(all)-1, "dialect")]
	held := w.followers[d.Kind()]
	if held == nil {
		held = &follower{marked: w.draw(0, 2, "marked") == 0}
		w.followers[d.Kind()] = held
	}
	before := append([]string{}, held.messages[:w.heldMessages(held)]...)
	held.extra = w.drawExtra()
	begins := held.token == ""
	report, err := w.follow(d, held, uint32(w.draw(1, 4000, "page")))
	if open := model.Awaited(); len(open) > 0 {
		refused := &apierror.Error{}
		require.ErrorAs(w.t, err, &refused)
		require.Equal(w.t, compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN, refused.Reason)
		require.Contains(w.t, refused.Metadata["call_ids"], open[0].ID)
		w.counts["rendering refused while calls are open"]++
		return
	}
	require.NoError(w.t, err, d.Name())
	fresh := &follower{marked: held.marked, extra: held.extra}
	_, err = w.follow(d, fresh, 64<<20)
	require.NoError(w.t, err)
	require.True(w.t, slices.Equal(fresh.messages, held.messages), "what was new, joined, is the whole view in %s", d.Name())
	require.Equal(w.t, fresh.system, held.system)
	w.requireSources(fresh, len(view)+len(held.extra))
	if begins {
		// Deltas say nothing of the unchanged prefix, whose messages can stand elsewhere in the neutral view by now.
		require.Equal(w.t, len(fresh.sources), len(held.sources))
		for i, source := range fresh.sources {
			require.True(w.t, proto.Equal(source, held.sources[i]), "what was read in pages has the same sources")
		}
	}
	w.counts["rendered in "+d.Name()]++
	if len(report.GetRepairs()) > 0 {
		w.counts["repaired"]++
	}
	if changes == held.changes && len(before) > 0 {
		// I8 of a rendered view: all but its last message.
		require.GreaterOrEqual(w.t, len(held.messages), len(before)-1)
		require.Equal(w.t, before[:len(before)-1], held.messages[:len(before)-1], "the rendered view is no prefix of the next")
		w.counts["rendered view is a prefix of the next"]++
	}
	held.changes = changes
	if len(held.extra) > 0 {
		w.requireStart(d, held)
		view = append(slices.Clone(view), model.ExtraBlocks(held.extra)...)
	}
	requireValid(w.t, d, fresh, view)
}

// requireSources requires that each rendered message names messages of the view, which has so many.
func (w *checkedService) requireSources(f *follower, messages int) {
	for _, source := range f.sources {
		require.LessOrEqual(w.t, source.GetStart(), source.GetEnd())
		require.LessOrEqual(w.t, int(source.GetEnd()), messages)
	}
}

// requireValid validates a rendered view again: in REQUEST mode where the model would write the next message.
func requireValid(t require.TestingT, d dialect.Dialect, f *follower, view []*compactordv1.ViewMessage) {
	list := &dialect.List{}
	for _, raw := range f.system {
		list.System = append(list.System, []byte(raw))
	}
	for _, raw := range f.messages {
		list.Messages = append(list.Messages, []byte(raw))
	}
	mode := dialect.History
	if n := len(view); n > 0 {
		switch view[n-1].GetMessage().GetRole() {
		case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_TOOL:
			mode = dialect.Request
		default:
		}
	}
	require.Empty(t, d.Validate(list, mode), d.Name())
}
