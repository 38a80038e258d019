package evaluation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// replayed is what was measured in a replay of one transcript under one preset or policy, with one summarizer.
type replayed struct {
	// preset is the name of the policy, and number its place among all.
	preset     string
	policy     conversation.NamedPolicy
	number     int
	summarizer string
	figures    *replay.Figures
	totals     promptcache.Totals
	// costs are the dollars of all requests so far, at each request.
	costs []float64
	// recall is of the views at the transcript's cuts, and lost what was neither in them nor reachable.
	recall tally
	lost   []lostAt
	// left is the mean size of views after they became smaller; 0 if none did.
	left   int
	failed error
}

// lostAt is something that an agent needed and did not have.
type lostAt struct {
	futurereference.Need
	cut futurereference.Cut
	// excerpt is the line of the first source.
	excerpt string
}

// replayUnder replays a transcript. An error is a result, unless it is an interruption.
func (e *evaluator) replayUnder(ctx context.Context, s *measured, one *replayed) error {
	c := &conversation.Conversation{Client: e.service, Session: fmt.Sprintf("%d-%s", one.number, one.summarizer)}
	w := &watcher{replayed: one, session: s, prices: e.prices(), blocks: make(map[*compactordv1.ViewMessage]promptcache.Block)}
	w.cache = promptcache.NewSimulation(promptcache.Model(e.CacheModel), w.prices)
	one.figures, one.failed = replay.Run(ctx, c, s.messages, e.policy(s.limits, one.policy, one.summarizer), w.sent)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if one.failed != nil {
		one.figures = nil
		// A session of the same name may be replayed again, for another transcript.
		if err := c.Delete(ctx); err != nil && !api.HasReason(err, "SESSION_NOT_FOUND") {
			return errors.Join(one.failed, err)
		}
		return nil
	}
	if w.shrunk > 0 {
		one.left = w.shrunkTokens / w.shrunk
	}
	one.totals.Dollars += one.figures.Spent.Dollars
	return nil
}

// watcher looks at the requests of a replay.
type watcher struct {
	*replayed
	session *measured
	prices  promptcache.Prices
	cache   *promptcache.Simulation
	// blocks are the messages of the last views, as the cache sees them.
	blocks map[*compactordv1.ViewMessage]promptcache.Block
	// last is the size of the last request, and nextCut the number of the next cut.
	last, nextCut int
	// shrunk is the number of requests that were smaller than the one before, and shrunkTokens their sum.
	shrunk, shrunkTokens int
}

func (w *watcher) sent(r replay.Request) {
	request := promptcache.Request{Blocks: make([]promptcache.Block, len(r.View)), At: w.session.writtenAt(r.Logged)}
	blocks := make(map[*compactordv1.ViewMessage]promptcache.Block, len(r.View))
	leading := true
	for i, m := range r.View {
		block, known := w.blocks[m]
		if !known {
			block = blockOf(m)
		}
		request.Blocks[i], blocks[m] = block, block
		if role := m.GetMessage().GetRole(); leading && (role == compactordv1.Role_ROLE_SYSTEM || role == compactordv1.Role_ROLE_DEVELOPER) {
			request.Stable++
		} else {
			leading = false
		}
	}
	w.blocks = blocks
	charge := w.cache.Send(request)
	w.totals.Add(charge, w.prices)
	w.costs = append(w.costs, w.totals.Dollars)
	size := charge.Read + charge.Written + charge.Plain
	if size < w.last {
		w.shrunk++
		w.shrunkTokens += size
	}
	w.last = size
	for w.nextCut < len(w.session.cuts) && w.session.cuts[w.nextCut].End <= r.Logged {
		w.judge(w.session.cuts[w.nextCut], r.View)
		w.nextCut++
	}
}

// judge measures what a view holds of what is needed after a cut. The view was made at the first answer after the cut;
// messages that came after the cut are left out.
func (w *watcher) judge(cut neededAt, view []*compactordv1.ViewMessage) {
	if len(cut.needs) == 0 {
		return
	}
	var texts []string
	for _, m := range view {
		if _, logged := m.GetOrigin().(*compactordv1.ViewMessage_Index); !logged || int(m.GetIndex()) < cut.End {
			texts = append(texts, futurereference.ShownText(m.GetMessage()))
		}
	}
	score := w.session.log.Score(strings.Join(texts, "\n"), cut.Cut, cut.needs)
	w.recall.add(score)
	for _, need := range score.Lost {
		w.lost = append(w.lost, lostAt{need, cut.Cut, w.session.log.Excerpt(need.Sources[0], need.Value)})
	}
}

// writtenAt returns when the answer to a request was written; zero if that is unknown.
func (s *measured) writtenAt(answer int) time.Time {
	if answer < len(s.messages) && s.messages[answer].GetWrittenAt() != nil {
		return s.messages[answer].GetWrittenAt().AsTime()
	}
	return time.Time{}
}

// blockOf returns a message of a view as a prompt cache sees it: its text, and all of it where it holds more than text.
func blockOf(m *compactordv1.ViewMessage) promptcache.Block {
	message := m.GetMessage()
	texts := []string{message.GetRole().String(), futurereference.ShownText(message)}
	for _, p := range message.GetParts() {
		if p.GetMedia() == nil && p.GetOpaque() == nil {
			continue
		}
		if encoded, err := (proto.MarshalOptions{Deterministic: true}).Marshal(p); err == nil {
			texts = append(texts, string(encoded))
		}
	}
	return promptcache.Block{Text: strings.Join(texts, "\n"), Tokens: int(m.GetTokens())}
}

// describe returns the text of a row without figures.
func (r *replayed) describe() string {
	if reason := api.ErrorReason(r.failed); reason != "" {
		return "failed: " + reason
	}
	return "failed: " + terminal.InLine(fmt.Sprint(r.failed))
}
