package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// model asks a language model. complaint says why its last answer was refused; it is empty at first.
type model func(ctx context.Context, system, user, complaint string) (string, error)

// compact lets the agent's own model write the summary of a session.
func compact(
	ctx context.Context, c compactordv1.CompactionServiceClient, session string, ask model,
) (*compactordv1.CommitCompactionResponse, error) {
	req := &compactordv1.PlanCompactionRequest{SessionId: session}
	plan, err := c.PlanCompaction(ctx, req)
	if err != nil {
		return nil, err
	}
	if plan.GetPlanToken() == "" {
		return nil, fmt.Errorf("nothing to do: %s", plan.GetMessage())
	}
	for page := plan; page.GetHasMore(); plan.Prompts = append(plan.Prompts, page.GetPrompts()...) {
		req.FromPrompt = uint32(len(plan.GetPrompts()))
		if page, err = c.PlanCompaction(ctx, req); err != nil {
			return nil, err
		}
	}
	complaint := ""
	for try := 1; ; try++ {
		commit := &compactordv1.CommitCompactionRequest{SessionId: session, PlanToken: plan.GetPlanToken(), UseFallback: try == 3}
		var answer string
		for _, p := range plan.GetPrompts() {
			user := p.GetText()
			if p.TextBeforeAnswer != nil {
				user = p.GetTextBeforeAnswer() + answer + p.GetText()
			}
			if answer, err = ask(ctx, p.GetSystem(), user, complaint); err != nil {
				return nil, err
			}
			commit.SummarizerCalls++
			if p.GetFinal() {
				commit.Answers = append(commit.Answers, answer)
			}
		}
		committed, err := c.CommitCompaction(ctx, commit)
		_, complaint, _ = strings.Cut(status.Convert(err).Message(), "passed the checks: ")
		if status.Code(err) != codes.FailedPrecondition || complaint == "" || commit.GetUseFallback() {
			return committed, err
		}
	}
}
