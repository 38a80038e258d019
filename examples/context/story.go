package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func (a *agent) begin(ctx context.Context) error {
	window := uint32(32_000)
	_, err := a.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		SessionId: a.session, Title: "refunds", Policy: &compactordv1.Policy{ContextWindow: &window},
	})
	if err != nil {
		return err
	}
	return a.append(ctx, said(compactordv1.Role_ROLE_SYSTEM, systemPrompt))
}

// write keeps a memory and a plan in the context that are no messages. The memory rarely changes, so it stands at the
// start. The plan changes often, so it stands before the newest turn, and what is before it stays in the prompt cache.
func (a *agent) write(ctx context.Context) error {
	err := a.set(ctx,
		block("memory", compactordv1.BlockPlace_BLOCK_PLACE_LEADING, memory),
		block("plan", compactordv1.BlockPlace_BLOCK_PLACE_LATEST, "1. Find the cause (now)\n2. Mend it\n3. Release"))
	if err != nil {
		return err
	}
	if err := a.append(ctx, said(compactordv1.Role_ROLE_USER, request)); err != nil {
		return err
	}
	return a.show(ctx, "write")
}

// selects puts into one request what only that request needs. Nothing of it is stored, and the next view is as if it had
// never been there.
func (a *agent) selects(ctx context.Context) error {
	found := block("retrieved:docs/money.md", compactordv1.BlockPlace_BLOCK_PLACE_LATEST,
		"Refunds are split over the seats of an order. What remains goes to the first seat.")
	return a.show(ctx, "select", found)
}

// compress folds a sub-task when it is done: views show its result in the place of all that led to it.
func (a *agent) compress(ctx context.Context) error {
	made, err := a.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{
		SessionId: a.session, Title: "find the cause",
	})
	if err != nil {
		return err
	}
	for _, messages := range search {
		if err := a.append(ctx, messages...); err != nil {
			return err
		}
	}
	if err := a.show(ctx, "compress: before"); err != nil {
		return err
	}
	if err := a.fold(ctx, made.GetCheckpoint().GetId(), cause); err != nil {
		return err
	}
	err = a.set(ctx,
		block("plan", compactordv1.BlockPlace_BLOCK_PLACE_LATEST, "1. Find the cause (done)\n2. Mend it (now)\n3. Release"))
	if err != nil {
		return err
	}
	return a.show(ctx, "compress: after")
}

// isolate gives a sub-agent a session of its own, which sees the user's request and the memory and nothing else. Its
// result answers the call of the tool that started it.
func (a *agent) isolate(ctx context.Context) error {
	if err := a.append(ctx, call("call_9", "task", `{"task": "Review shop/refund.go against the memory."}`)); err != nil {
		return err
	}
	forked, err := a.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{
		SessionId: a.session, NewSessionId: a.session + "-review", Title: "review",
		Child: &compactordv1.ChildContext{
			Sees: compactordv1.ChildSees_CHILD_SEES_CHOSEN, Indexes: []uint32{1}, Blocks: []string{"memory"},
		},
	})
	if err != nil {
		return err
	}
	child := &agent{sessions: a.sessions, compactions: a.compactions, out: a.out, session: forked.GetSession().GetSessionId()}
	if err := child.append(ctx, said(compactordv1.Role_ROLE_USER, "Review shop/refund.go against the memory.")); err != nil {
		return err
	}
	if err := child.append(ctx, step("call_1", "read_file", `{"path": "shop/refund.go"}`, mended)...); err != nil {
		return err
	}
	if err := child.append(ctx, said(compactordv1.Role_ROLE_ASSISTANT, review)); err != nil {
		return err
	}
	if err := child.show(ctx, "isolate: the child"); err != nil {
		return err
	}
	_, err = a.sessions.EndChild(ctx, &compactordv1.EndChildRequest{SessionId: child.session, CallId: "call_9"})
	if err != nil {
		return err
	}
	return a.show(ctx, "isolate: the parent")
}

// set sets context blocks.
func (a *agent) set(ctx context.Context, blocks ...*compactordv1.ContextBlock) error {
	_, err := a.sessions.UpdateContextBlocks(ctx, &compactordv1.UpdateContextBlocksRequest{
		SessionId: a.session, Set: blocks,
	})
	return err
}

func (a *agent) append(ctx context.Context, messages ...*compactordv1.Message) error {
	_, err := a.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: a.session, Messages: messages,
	})
	return err
}

// fold has a range of messages shown as one text.
func (a *agent) fold(ctx context.Context, checkpoint uint32, result string) error {
	stream, err := a.compactions.Compact(ctx, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: a.session},
		Fold: &compactordv1.FoldRange{
			From: &compactordv1.FoldRange_CheckpointId{CheckpointId: checkpoint}, Text: result,
		},
	})
	if err != nil {
		return err
	}
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if skipped := answer.GetEvent().GetSkipped(); skipped != nil {
			return fmt.Errorf("nothing was folded: %s", skipped.GetMessage())
		}
	}
}
