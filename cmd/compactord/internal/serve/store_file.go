package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
)

// forOthers are the bits of a mode that let other users read or change a file.
const forOthers = 0o077

// reportStoreFile logs what is strange about a store's file before it is opened: that others can open it, which a new
// one does not allow, or that it is empty. An empty file becomes a new store, but may be what is left of an old one.
func reportStoreFile(ctx context.Context, logger *slog.Logger, path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		// Opening it says what is wrong.
		return
	}
	// Windows has no such bits and reports all of them as set.
	if mode := info.Mode().Perm(); mode&forOthers != 0 && runtime.GOOS != "windows" {
		logger.WarnContext(ctx, "other users can open the store: chmod 600 takes that away",
			"store", path, "mode", fmt.Sprintf("%04o", mode))
	}
	if info.Size() == 0 {
		logger.WarnContext(ctx, "the file of the store is empty: it becomes a new store without sessions", "store", path)
	}
}
