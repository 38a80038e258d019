package interceptors

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

// The table of levels in the document is what is logged, for every code.
func TestLevelsOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	require.NoError(t, err)
	levels := map[string]slog.Level{"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	found := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (info|warn|error) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile(`[A-Z_]{2,}`).FindAllString(row[2], -1) {
			var code codes.Code
			require.NoError(t, code.UnmarshalJSON([]byte(`"`+name+`"`)), name)
			require.Equal(t, levels[row[1]], callLevel(code), name)
			found++
		}
	}
	require.Equal(t, int(codes.Unauthenticated)+1, found, "the document names each code once")
}
