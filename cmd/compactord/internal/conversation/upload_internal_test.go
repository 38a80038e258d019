package conversation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUploading(t *testing.T) {
	require.Equal(t, "storing 1 message", uploading(1, 0))
	require.Equal(t, "storing 700 of 1,200 messages", uploading(1200, 500))
	require.Equal(t, "comparing 1,200 messages with those of the session", uploading(1200, 1200))
	require.Equal(t, "comparing 2 messages with those of the session", uploading(2, 9))
}
