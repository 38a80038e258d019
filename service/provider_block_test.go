package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// itemOf has a provider's own compaction item for what a plan covers.
var itemOf = map[compactordv1.Dialect]string{
	responses: `{"type":"compaction","id":"cmp_1","encrypted_content":"Z2VoZWlt"}`,
	anthropic: `{"type":"compaction","content":"They looked into pkg/module0/file.go."}`,
}

// compactedByProvider returns a daemon whose session s has a provider's item beside the summary.
func compactedByProvider(t *testing.T, kind compactordv1.Dialect) (*daemon, *compactordv1.CompactionEntry) {
	t.Helper()
	d, plan := withPlan(t)
	req := commitment(plan, answersTo(plan)...)
	withBlock(kind, itemOf[kind])(req)
	return d, d.commitPlan(req).GetCompaction()
}

// The provider of the item gets it in place of the summary, with the facts from the log that it lacks. All others get
// the summary, and so does the neutral view.
func TestProviderItemInViews(t *testing.T) {
	t.Parallel()
	for kind, item := range itemOf {
		t.Run(kind.String(), func(t *testing.T) {
			d, entry := compactedByProvider(t, kind)
			require.Equal(t, item, entry.GetProviderBlock().GetJson())
			require.Contains(t, textOf(d.view("s")[1].GetMessage()), entry.GetSummary())

			own := strings.Join(d.render("s", kind).GetMessagesJson(), "\n")
			require.Contains(t, own, item)
			require.NotContains(t, own, "Look into the modules [#1].")
			require.Contains(t, own, "pkg/module1/file.go")
			require.Equal(t, kind == responses, strings.Contains(own, "read that the summary does not name:\\n- pkg/module0/file.go"),
				"only a file that the item does not name is told beside it")
			require.Equal(t, 1, strings.Count(own, item))
			if kind == anthropic {
				require.Contains(t, own, `{"role":"assistant","content":[`+item+`]}`, "the assistant says it, as in the provider's answer")
			}
			for _, other := range []compactordv1.Dialect{chat, responses, anthropic, gemini} {
				if other != kind {
					shown := strings.Join(d.render("s", other).GetMessagesJson(), "\n")
					require.NotContains(t, shown, `"compaction"`)
					require.Contains(t, shown, "Look into the modules [#1].")
				}
			}

			// Views at the point before, and by deltas.
			point := entry.GetSequence() - 1
			answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
				Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: kind, AsOf: &point,
			})
			require.NoError(t, err)
			require.NotContains(t, strings.Join(answer.GetMessagesJson(), "\n"), item)
			held := d.render("s", kind)
			d.append("s", user("More."))
			more, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
				Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
				Dialect: kind, ViewToken: held.GetViewToken(),
			})
			require.NoError(t, err)
			require.Len(t, more.GetMessagesJson(), 1)
			require.Equal(t, len(held.GetMessagesJson()), int(more.GetUnchangedPrefix()))

			// The next compaction continues the summary, and has no item.
			d.append("s", working(5, 2000)[1:]...)
			next := d.completed(keepTurns(1))
			require.Nil(t, next.GetProviderBlock())
			require.Contains(t, next.GetSummary(), "Look into the modules")
			require.NotContains(t, strings.Join(d.render("s", kind).GetMessagesJson(), "\n"), item)
			d.requireSound(t)
		})
	}
}

// With sources, the item is made from the summary, and all messages beside it from those of the neutral view, however many
// messages the summary is there.
func TestProviderItemNamesItsSources(t *testing.T) {
	t.Parallel()
	for kind, item := range itemOf {
		for placement, summaries := range map[compactordv1.SummaryPlacement]int{
			compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER: 1, compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR: 2,
		} {
			t.Run(kind.String()+" "+placement.String(), func(t *testing.T) {
				t.Parallel()
				d, _ := compactedByProvider(t, kind)
				_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
					SessionId: "s", UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy.summary"}},
					Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: placement.Enum()}},
				})
				require.NoError(t, err)
				view, merged := d.view("s"), kind == anthropic
				require.NotEmpty(t, view[summaries].GetSummaryOf())
				require.Empty(t, view[summaries+1].GetSummaryOf())
				rendered, sources := d.sources(t, kind, 64<<20)
				inPages, sourcesInPages := d.sources(t, kind, 1)
				require.Equal(t, rendered, inPages)
				require.Equal(t, sources, sourcesInPages)

				for position, vm := range view[summaries+1:] {
					position += summaries + 1
					for i, mark := range []string{"Request %d:", "pkg/module%d/file.go", "line of module %d", "Module %d is fine"} {
						if int(vm.GetIndex()-1)%4 == i {
							requireMadeFrom(t, merged, rendered, sources, fmt.Sprintf(mark, (vm.GetIndex()-1)/4), position, position+1)
						}
					}
				}
				requireMadeFrom(t, merged, rendered, sources, item, 1, 1+summaries)
				requireMadeFrom(t, merged, rendered, sources, "pkg/module1/file.go", 1, 1+summaries)
			})
		}
	}
}

// requireMadeFrom requires that exactly one rendered message has a text, and names the positions of a range; others, too, where
// neighbours are merged.
func requireMadeFrom(t *testing.T, merged bool, rendered []string, sources [][2]int, text string, start, end int) {
	t.Helper()
	found := 0
	for i, raw := range rendered {
		if strings.Contains(raw, text) {
			found++
			if !merged {
				require.Equal(t, [2]int{start, end}, sources[i], text)
			}
			require.LessOrEqual(t, sources[i][0], start, text)
			require.GreaterOrEqual(t, sources[i][1], end, text)
		}
	}
	require.Equal(t, 1, found, text)
}

// sources returns the rendered view of a session s, and the positions that each message was made from.
func (d *daemon) sources(t *testing.T, kind compactordv1.Dialect, page uint32) (rendered []string, sources [][2]int) {
	t.Helper()
	req := &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: kind, MaxBytes: page, WithSources: true,
	}
	for more := true; more; {
		answer, err := d.compactions.GetLLMView(t.Context(), req)
		require.NoError(t, err)
		rendered = append(rendered, answer.GetMessagesJson()...)
		for _, source := range answer.GetSources() {
			sources = append(sources, [2]int{int(source.GetStart()), int(source.GetEnd())})
		}
		req.ViewToken, more = answer.GetViewToken(), answer.GetHasMore()
	}
	require.Len(t, sources, len(rendered))
	return rendered, sources
}

// A fork and an inline history show the item like the session.
func TestProviderItemGoesWithTheEntry(t *testing.T) {
	t.Parallel()
	for kind, item := range itemOf {
		t.Run(kind.String(), func(t *testing.T) {
			d, entry := compactedByProvider(t, kind)
			want := d.render("s", kind)
			d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
			require.Equal(t, want.GetMessagesJson(), d.render("fork", kind).GetMessagesJson())

			h := &compactordv1.InlineHistory{Compaction: entry}
			for _, l := range d.messages("s") {
				h.Messages = append(h.Messages, l.GetMessage())
			}
			req := historyTarget(h)
			req.Dialect = kind
			answer, err := d.compactions.GetLLMView(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, want.GetMessagesJson(), answer.GetMessagesJson())
			require.Contains(t, strings.Join(answer.GetMessagesJson(), "\n"), item)

			broken := proto.CloneOf(entry)
			broken.ProviderBlock.Json = `{"type":"compaction"}`
			h.Compaction = broken
			_, err = d.compactions.GetLLMView(t.Context(), req)
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			require.ErrorContains(t, err, "history.compaction.provider_block.json")
		})
	}
}

// Where the client has only the item, extractive writes the summary for all others.
func TestProviderItemWithoutText(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	d, plan := withPlan(t, func(o *service.ServerOptions) { o.Metrics = metrics })
	req := commitment(plan)
	withBlock(responses, itemOf[responses])(req)
	req.Model, req.SummarizerCalls, req.Usage = "their-model", 1, &compactordv1.Usage{InputTokens: 900}
	entry := d.commitPlan(req).GetCompaction()
	provenance := entry.GetProvenance()
	require.Equal(t, "extractive", provenance.GetSummarizer())
	require.Zero(t, provenance.GetFallback())
	require.Equal(t, "their-model", provenance.GetModel())
	require.Equal(t, uint32(1), provenance.GetSummarizerCalls())
	require.Contains(t, entry.GetSummary(), "always keep the tests green")
	require.Equal(t, itemOf[responses], entry.GetProviderBlock().GetJson())
	require.Equal(t, map[string]float64{
		"compactord_summarizer_calls_total client": 1, "compactord_summarizer_tokens_total input client": 900,
	}, spent(t, metrics))

	// Without a cut there is no summary that an item could replace.
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Policy: &compactordv1.Policy{
		Strategy: hideAllBut(0).GetPruneStrategy(),
	}})
	req.PlanToken = plan.GetPlanToken()
	_, err := d.compactions.CommitCompaction(t.Context(), req)
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "the plan has no cut")
}

// The item replaces the summary whatever follows it: an assistant's message, a pinned message, a tool group.
func TestProviderItemBesideOthers(t *testing.T) {
	t.Parallel()
	for kind, item := range itemOf {
		for name, policy := range map[string]*compactordv1.Policy{
			"the assistant next": keepMessages(1), "the user next": keepMessages(2),
		} {
			for _, placement := range []compactordv1.SummaryPlacement{
				compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER, compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM,
				compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR,
			} {
				for _, pinned := range []bool{false, true} {
					d := start(t)
					policy.Summary = &compactordv1.SummaryPolicy{Placement: placement.Enum()}
					d.create("s", policy)
					d.append("s", system("Be good."), user("Begin. "+long(400)), assistant(long(900)), user("Go on."), assistant("Done."))
					if pinned {
						d.pin("s", 2)
					}
					plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
					req := commitment(plan, answersTo(plan)...)
					withBlock(kind, item)(req)
					d.commitPlan(req)
					for _, marked := range []bool{false, true} {
						answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
							Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"},
							Dialect: kind, MarkCacheBreakpoints: marked,
						})
						require.NoError(t, err, "%v %s %v pinned %v", kind, name, placement, pinned)
						require.Contains(t, strings.Join(answer.GetMessagesJson(), "\n"), item)
					}
					d.append("s", user("More."))
					d.render("s", kind)
				}
			}
		}
	}
}

// The view with a provider's item is always the same bytes: from the session, at its point, in a fork, after a revert
// to it, and after an undo of that.
func TestViewsWithAProviderItemAreTheSameBytes(t *testing.T) {
	t.Parallel()
	for kind, item := range itemOf {
		t.Run(kind.String(), func(t *testing.T) {
			d, entry := compactedByProvider(t, kind)
			d.append("s", user("More."), assistant("Yes."))
			rendered := func(id string, asOf *uint32) []string {
				answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
					Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, Dialect: kind, AsOf: asOf,
				})
				require.NoError(t, err)
				return answer.GetMessagesJson()
			}
			want := rendered("s", nil)
			require.Contains(t, strings.Join(want, "\n"), item)
			point := d.lastRecordPoint("s")
			require.Greater(t, point, entry.GetSequence())
			require.Equal(t, want, rendered("s", &point))
			d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "twin"})
			require.Equal(t, want, rendered("twin", nil))

			d.append("s", working(5, 2000)[1:]...)
			d.completed(keepTurns(1))
			require.NotEqual(t, want, rendered("s", nil))
			require.Equal(t, want, rendered("s", &point))
			d.revert(&compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
			})
			require.Equal(t, want, rendered("s", nil))
			before := entry.GetSequence() - 1
			d.revert(&compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: before},
			})
			require.NotContains(t, strings.Join(rendered("s", nil), "\n"), item)
			d.revert(undo())
			require.Equal(t, want, rendered("s", nil))
			d.requireSound(t)
		})
	}
}

// lastRecordPoint returns the point at the end of a session's log.
func (d *daemon) lastRecordPoint(id string) uint32 {
	d.t.Helper()
	answer, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(d.t, err)
	return answer.GetSession().GetPoint()
}
