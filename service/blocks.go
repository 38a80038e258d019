package service

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxBlockBytes is the most bytes of one context block, in protobuf encoding.
const maxBlockBytes = 256 << 10

// UpdateContextBlocks implements SessionService.
func (s *Service) UpdateContextBlocks(
	ctx context.Context, req *compactordv1.UpdateContextBlocksRequest,
) (*compactordv1.UpdateContextBlocksResponse, error) {
	if err := checkBlocks(req); err != nil {
		return nil, err
	}
	answer := &compactordv1.UpdateContextBlocksResponse{}
	err := s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		change, err := s.blockChange(ctx, row, req)
		if err != nil {
			return nil, err
		}
		if change == nil {
			answer.Point, answer.Report = session.Point(row.GetHead()), sessionlog.Report(row)
			return nil, nil
		}
		w := s.logs.Begin(row)
		record, err := w.Record(ctx, &compactordv1.Record{
			Kind: &compactordv1.Record_ContextBlocks{ContextBlocks: change},
		}, nil)
		if err != nil {
			return nil, err
		}
		if answer.Report, err = w.Report(ctx); err != nil {
			return nil, err
		}
		answer.Sequence, answer.Point = proto.Uint32(record.GetSequence()), session.Point(w.Head())
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// checkBlocks checks what no rule of the contract says.
func checkBlocks(req *compactordv1.UpdateContextBlocksRequest) error {
	named := slices.Clone(req.GetRemove())
	for i, b := range req.GetSet() {
		field := fmt.Sprintf("set[%d]", i)
		if slices.Contains(named, b.GetName()) {
			return apierror.InvalidField(field+".name", "the block occurs twice in the request")
		}
		named = append(named, b.GetName())
		if proto.Size(b) > maxBlockBytes {
			return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
				map[string]string{"limit": "max_block_bytes", "value": strconv.Itoa(maxBlockBytes)},
				"%s: the block has %d bytes; a block can have %d", field, proto.Size(b), maxBlockBytes)
		}
		if err := checkBlockParts(field, b); err != nil {
			return err
		}
		if b.GetOperator() && session.BlockPlace(b) != compactordv1.BlockPlace_BLOCK_PLACE_LEADING {
			return apierror.InvalidField(field+".operator", "the operator's voice needs place LEADING")
		}
	}
	return nil
}

// checkBlockParts checks what the parts of a block are.
func checkBlockParts(field string, b *compactordv1.ContextBlock) error {
	for at, p := range b.GetParts() {
		if p.GetText() == nil && p.GetMedia() == nil {
			return apierror.InvalidField(fmt.Sprintf("%s.parts[%d]", field, at), "a context block holds text and media only")
		}
		if b.GetOperator() && p.GetText() == nil {
			return apierror.InvalidField(fmt.Sprintf("%s.parts[%d]", field, at), "a block with the operator's voice holds text only")
		}
	}
	return nil
}

// blockChange returns the change that a request makes; nil where it makes none.
func (s *Service) blockChange(
	ctx context.Context, row *storagev1.Session, req *compactordv1.UpdateContextBlocksRequest,
) (*compactordv1.ContextBlockChange, error) {
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return nil, err
	}
	before, _, err := s.logs.ContextBlocks(ctx, row, row.GetHead())
	if err != nil {
		return nil, err
	}
	change := &compactordv1.ContextBlockChange{}
	count := len(before)
	for _, name := range req.GetRemove() {
		if session.BlockNamed(before, name) != nil && !slices.Contains(change.GetRemoved(), name) {
			change.Removed = append(change.Removed, name)
			count--
		}
	}
	for i, given := range req.GetSet() {
		if given.GetOperator() && !row.GetResolvedPolicy().GetContextBlocks().GetAllowOperator() {
			return nil, apierror.InvalidField(fmt.Sprintf("set[%d].operator", i),
				"the policy does not let context blocks speak with the operator's voice (policy.context_blocks.allow_operator)")
		}
		b, err := counted(ctx, counter, given)
		if err != nil {
			return nil, err
		}
		known := session.BlockNamed(before, b.GetName())
		if known == nil {
			count++
		} else if proto.Equal(known, b) && b.GetTurns() == 0 {
			continue
		}
		change.Set = append(change.Set, b)
	}
	if count > session.MaxBlocks {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_context_blocks", "value": strconv.Itoa(session.MaxBlocks)},
			"set: the session would have %d context blocks; it can have %d", count, session.MaxBlocks)
	}
	if len(change.GetSet())+len(change.GetRemoved()) == 0 {
		return nil, nil
	}
	return change, nil
}

// counted returns a block as it is stored: with its place, and the tokens of the message that shows it whole.
func counted(
	ctx context.Context, counter session.Counter, given *compactordv1.ContextBlock,
) (*compactordv1.ContextBlock, error) {
	b := proto.CloneOf(given)
	b.Place = session.BlockPlace(b)
	whole, _ := session.BlockMessage(counter, b, session.WholeBlock)
	counter, err := session.CountAhead(ctx, counter, whole)
	if err != nil {
		return nil, err
	}
	b.Tokens = session.MessageTokens(counter, whole)
	return b, nil
}

// ListContextBlocks implements SessionService.
func (s *Service) ListContextBlocks(
	ctx context.Context, req *compactordv1.ListContextBlocksRequest,
) (*compactordv1.ListContextBlocksResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	head := row.GetHead()
	if req.AsOf != nil {
		if head, err = s.logs.RequestedHead(ctx, row, req.GetAsOf(), "as_of"); err != nil {
			return nil, err
		}
	}
	start, err := pageStart(pageOfBlocks, req.GetPageToken(), 0)
	if err != nil {
		return nil, err
	}
	blocks, records, err := s.logs.ContextBlocks(ctx, row, head)
	if err != nil {
		return nil, err
	}
	answer, size := &compactordv1.ListContextBlocksResponse{}, 0
	for i, inForce := range head.GetBlocks() {
		if i < int(start) || len(req.GetNames()) > 0 && !slices.Contains(req.GetNames(), inForce.GetName()) {
			continue
		}
		size += proto.Size(blocks[i])
		if len(answer.GetBlocks()) > 0 && size > answerBytes(req.GetMaxBytes()) {
			answer.NextPageToken = pageToken(pageOfBlocks, uint32(i))
			break
		}
		answer.Blocks = append(answer.Blocks, &compactordv1.ContextBlockState{
			Block: blocks[i], Sequence: inForce.GetSequence(), SetAt: records[inForce.GetSequence()].GetCreatedAt(),
			ShownTokens: inForce.GetShownTokens(), Cut: inForce.GetShownTokens() < inForce.GetTokens(), TurnsLeft: inForce.TurnsLeft,
		})
	}
	return answer, nil
}
