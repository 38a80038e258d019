package serve

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/encoding"
)

// What is compressed would be held by gRPC after what was counted as unread is freed, so no answer may be compressed.
// An import of a compressor is enough to let clients ask for it.
func TestNoAnswerIsCompressed(t *testing.T) {
	for _, name := range []string{"gzip", "deflate", "snappy", "zstd"} {
		require.Nil(t, encoding.GetCompressor(name), name)
	}
}
