package httpapi

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/compactord/compactord/service/unread"
)

// A watch can still send when its call has ended, in a goroutine of its own. It uses nothing of what the call ends with at
// the same time.
func TestMessagesAfterTheEndLeaveTheWriterAlone(t *testing.T) {
	t.Parallel()
	c := &call{writer: newWriter(httptest.NewRecorder())}
	out := &outStream{call: c, send: func(any) error {
		t.Error("a message was sent after the end")
		return nil
	}}
	out.close()
	last := unread.Send("the last message before the end")
	c.writer.sending = last
	require.ErrorIs(t, out.SendMsg(&emptypb.Empty{}), errEnded)
	require.Same(t, last, c.writer.sending)
}
