package transcripts

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// keepLess is a value of --keep-recent-tokens with which a compaction that was skipped would do something.
type keepLess struct {
	// instead is how many tokens are kept now; 0 if unknown.
	instead uint32
	// tokens is how many to keep, and summarized how many messages would then be summarized. Both are 0 where no number
	// helps.
	tokens, summarized uint32
	// after is how many tokens the context would hold; 0 if that was not tried.
	after uint32
}

// lessToKeep looks for a keepLess after a compaction that was skipped. It returns nil if the compaction was skipped for
// another reason than the size of the kept part. For a file it compacts copies with the extractive summarizer. For a
// session it only plans, so that nothing is written.
func lessToKeep(
	ctx context.Context, c *conversation.Conversation, request *compactordv1.CompactRequest, skipped *compactordv1.CompactionSkipped,
) (*keepLess, error) {
	switch skipped.GetReason() {
	case compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, compactordv1.SkipReason_SKIP_REASON_NO_GAIN:
	default:
		return nil, nil
	}
	less := &keepLess{}
	var err error
	if less.instead, err = keptNow(ctx, c, request); err != nil {
		return nil, err
	}
	most := skipped.GetReport().GetTokens()
	if less.instead > 0 {
		most = min(most, less.instead)
	}
	for n := most / 2; n > 0; n /= 2 {
		tokens := rounded(n)
		tried := proto.CloneOf(request)
		if tried.GetPolicy() == nil {
			tried.Policy = &compactordv1.Policy{}
		}
		tried.Policy.Strategy = conversation.Keeping(tokens, tried.GetPolicy().GetStrategy())
		summarized, after, err := tryToKeep(ctx, c, tried, tokens)
		if err != nil {
			return nil, err
		}
		if summarized > 0 {
			less.tokens, less.summarized, less.after = tokens, summarized, after
			return less, nil
		}
	}
	return less, nil
}

// tryToKeep returns how many messages a compaction would summarize and, for a file, how many tokens it would leave.
func tryToKeep(
	ctx context.Context, c *conversation.Conversation, request *compactordv1.CompactRequest, tokens uint32,
) (summarized, after uint32, err error) {
	if c.Transcript == nil {
		request.DryRun = true
		done, err := c.Compact(ctx, request, nil)
		return conversation.Length(cutPlanned(done).GetSummarized()), 0, err
	}
	fork := fmt.Sprintf("%s-keeping-%d", c.Session, tokens)
	_, err = c.Sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: c.Session, NewSessionId: fork})
	if err != nil {
		return 0, 0, err
	}
	request.Target = &compactordv1.CompactRequest_SessionId{SessionId: fork}
	request.Policy.Summary = &compactordv1.SummaryPolicy{Summarizer: proto.String(config.BuiltinSummarizer)}
	request.DryRun = false
	done, err := c.Compact(ctx, request, nil)
	if err != nil {
		return 0, 0, err
	}
	entry := done.Completed.GetCompaction()
	return conversation.Length(entry.GetSummarized()), entry.GetTokensAfter(), nil
}

func cutPlanned(d *conversation.Compacted) *compactordv1.Cut {
	if d == nil {
		return nil
	}
	return d.Planned.GetCut()
}

// keptNow returns how many recent tokens the compaction kept; 0 if its strategy has no such number, or it is unknown.
func keptNow(ctx context.Context, c *conversation.Conversation, request *compactordv1.CompactRequest) (uint32, error) {
	if strategy := request.GetPolicy().GetStrategy(); strategy != nil {
		return recentTokens(strategy), nil
	}
	if c.Transcript == nil && request.GetPolicy() != nil {
		return 0, nil
	}
	answer, err := c.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	return recentTokens(answer.GetSession().GetResolvedPolicy().GetStrategy()), err
}

// recentTokens returns how many tokens a strategy keeps with reason MANUAL. Of nested strategies it returns the
// greatest number; 0 if there is none.
func recentTokens(s *compactordv1.Strategy) uint32 {
	if by := s.GetSummarize(); by != nil {
		if by.ManualRecentTokens != nil {
			return by.GetManualRecentTokens()
		}
		return by.GetRecentTokens()
	}
	var found uint32
	for _, rung := range s.GetLadder().GetRungs() {
		found = max(found, recentTokens(rung.GetStrategy()))
	}
	for _, one := range s.GetFirstEffective().GetStrategies() {
		found = max(found, recentTokens(one))
	}
	return found
}

// rounded rounds a number down to two digits.
func rounded(n uint32) uint32 {
	unit := uint32(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// advice recommends a value of --keep-recent-tokens.
func (k *keepLess) advice() terminal.Advice {
	if k.tokens == 0 {
		return terminal.Advice{Text: "No lower --keep-recent-tokens would make the context smaller."}
	}
	kept := "With --keep-recent-tokens"
	if k.instead > 0 {
		kept = fmt.Sprintf("The newest %s are kept. With", terminal.Count(k.instead, "token"))
	}
	left := ""
	if k.after > 0 {
		left = ", and the context would hold " + terminal.Number(k.after)
	}
	return terminal.Advice{
		Text:  fmt.Sprintf("%s %s, %s would be summarized%s: %%s", kept, terminal.Number(k.tokens), terminal.Count(k.summarized, "message"), left),
		Hints: []terminal.Hint{terminal.Again("--keep-recent-tokens", terminal.Digits(k.tokens))},
	}
}
