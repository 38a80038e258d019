package service

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
)

// checkExtraBlocks checks the context blocks of a view request. h has the session's own.
func checkExtraBlocks(h *storagev1.Head, extra []*compactordv1.ContextBlock) error {
	if len(extra) == 0 {
		return nil
	}
	// A USER message must not come between a call and its result.
	if err := views.CallsAnswered(h); err != nil {
		return err
	}
	var names []string
	size := 0
	for i, b := range extra {
		field := fmt.Sprintf("extra_blocks[%d]", i)
		switch {
		case slices.Contains(names, b.GetName()):
			return apierror.InvalidField(field+".name", "the block occurs twice in the request")
		case session.HasBlockNamed(h, b.GetName()):
			return apierror.InvalidField(field+".name", "the session has a block of this name")
		case b.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_LEADING:
			return apierror.InvalidField(field+".place", "extra blocks stand at the end of the view")
		case b.GetTurns() > 0:
			return apierror.InvalidField(field+".turns", "extra blocks are for one request")
		case b.GetOperator():
			return apierror.InvalidField(field+".operator", "extra blocks never speak with the operator's voice")
		}
		if err := checkBlockParts(field, b); err != nil {
			return err
		}
		names = append(names, b.GetName())
		size += proto.Size(b)
	}
	if size > maxBlockBytes {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_extra_block_bytes", "value": strconv.Itoa(maxBlockBytes)},
			"extra_blocks: the blocks have %d bytes; they can have %d together", size, maxBlockBytes)
	}
	return nil
}

// extraBlocks returns what a view of a head shows of the context blocks of its request.
func extraBlocks(
	row *storagev1.Session, h *storagev1.Head, given []*compactordv1.ContextBlock,
) (session.ExtraBlocks, error) {
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return session.ExtraBlocks{}, err
	}
	return session.NewExtraBlocks(counter, h, row.GetResolvedPolicy(), given), nil
}
