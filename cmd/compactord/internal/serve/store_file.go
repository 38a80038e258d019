package serve

import (
	"context"
	"log/slog"
	"os"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
)

// storeFileReports returns what is strange about a store's file before it is opened: that others can open it, which a new one
// does not allow, or that it is empty. An empty file becomes a new store, but may be what is left of an old one. The function
// logs it, once the file is known to be a store: of another one, only that matters.
func storeFileReports(ctx context.Context, logger *slog.Logger, path string) (report func()) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		// Opening it says what is wrong.
		return func() {}
	}
	mode, open := api.OpenToOthers(path)
	return func() {
		if open {
			logger.WarnContext(ctx, "other users can open the store: chmod 600 takes that away", "store", path, "mode", mode)
		}
		if info.Size() == 0 {
			logger.WarnContext(ctx, "the file of the store was empty: it is a new store without sessions", "store", path)
		}
	}
}

// reportMigration returns a function that logs that a store is about to be converted to a newer version.
func reportMigration(ctx context.Context, logger *slog.Logger, path string) func(from, to uint32) {
	return func(from, to uint32) {
		logger.WarnContext(ctx, "the store is converted to a newer version, and versions of compactord before that cannot read it any more: "+
			"only a backup made before leads back", "store", path, "from_version", from, "to_version", to)
	}
}

// reportErased returns a function that logs what became of a file that a killed defrag left beside the store.
func reportErased(ctx context.Context, logger *slog.Logger) func(file string, err error) {
	return func(file string, err error) {
		if err != nil {
			logger.WarnContext(ctx, "a file that was left beside the store cannot be overwritten; the next start tries again",
				"file", file, "error", err)
			return
		}
		logger.InfoContext(ctx, "a file that was left beside the store was overwritten and removed", "file", file)
	}
}

// reportFree returns a function that logs what became of the search for the free pages of a store that was killed.
func reportFree(ctx context.Context, logger *slog.Logger) func(bytes int64, err error) {
	return func(bytes int64, err error) {
		if err != nil {
			logger.WarnContext(ctx, "the free pages of the store cannot be found, and are not used; the next start looks again",
				"error", err)
			return
		}
		logger.InfoContext(ctx, "the free pages of the store were found", "bytes", bytes)
	}
}
