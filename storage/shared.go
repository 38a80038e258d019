package storage

import "context"

// Shared is a Store that several daemons use at once.
type Shared interface {
	Store

	// Revisions returns the revision of the row of each of these incarnations, in their order, and 0 for one that no longer
	// exists. It reads all of them at once.
	Revisions(ctx context.Context, refs []Ref) ([]uint32, error)

	// Ended returns which of these openings have ended: nothing runs the compactions any more that rows name under them.
	Ended(ctx context.Context, openings []string) (map[string]bool, error)
}
