package summaries

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// shownBytes is how many bytes of the messages beside a summary are read for a Task. Views keep far less, unless a client
// chooses what they keep.
const shownBytes = 8 << 20

// ShownNewest returns the newest of these messages as views of a state show them. The messages are those of state before,
// which may have outlines of them.
func ShownNewest(
	ctx context.Context, before, after *session.State, messages []*compactordv1.LoggedMessage,
) ([]*compactordv1.LoggedMessage, error) {
	var newest []*compactordv1.LoggedMessage
	bytes := 0
	for _, l := range slices.Backward(messages) {
		// An outline is as large as its message.
		if bytes += proto.Size(l); bytes > shownBytes && len(newest) > 0 {
			break
		}
		whole, err := before.Whole(ctx, l)
		if err != nil {
			return nil, err
		}
		shown, tokens := after.Shown(whole)
		newest = append(newest, &compactordv1.LoggedMessage{Index: l.GetIndex(), Message: shown, Tokens: tokens})
	}
	slices.Reverse(newest)
	return newest, nil
}
