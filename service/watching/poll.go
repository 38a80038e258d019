package watching

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// pollEvery is the longest time between two looks of Poll. With the time of a look, a watcher hears of what another daemon
// writes within 250 ms.
const pollEvery = 200 * time.Millisecond

// Poll wakes the watchers of sessions that other daemons have written or deleted, until the context ends. It asks for the
// revisions of all watched sessions at once.
func (ws *Watchers) Poll(ctx context.Context, store storage.Shared, logger *slog.Logger) {
	timer := time.NewTimer(untilNextLook())
	defer timer.Stop()
	seen, failing := map[storage.Ref]uint32{}, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next, err := ws.look(ctx, store, seen)
		switch {
		case err == nil:
			seen, failing = next, false
		case !failing && ctx.Err() == nil:
			failing = true
			logger.WarnContext(ctx, "changes by other daemons not looked for", "error", err)
		}
		timer.Reset(untilNextLook())
	}
}

// untilNextLook returns a time that differs from look to look, so that daemons that began together do not ask together.
func untilNextLook() time.Duration { return pollEvery - rand.N(pollEvery/4) }

// look wakes the watchers of sessions whose revisions are not those that were seen, and returns the revisions of now.
func (ws *Watchers) look(
	ctx context.Context, store storage.Shared, seen map[storage.Ref]uint32,
) (map[storage.Ref]uint32, error) {
	watched := ws.watched()
	if len(watched) == 0 {
		return nil, nil
	}
	refs := make([]storage.Ref, 0, len(watched))
	for ref := range watched {
		refs = append(refs, ref)
	}
	revisions, err := store.Revisions(ctx, refs)
	if err != nil {
		return nil, err
	}
	now := make(map[storage.Ref]uint32, len(refs))
	for i, ref := range refs {
		// A session that was not seen before may have changed after its watcher has read it.
		if before, known := seen[ref]; !known || before != revisions[i] {
			ws.Wake(watched[ref])
		}
		now[ref] = revisions[i]
	}
	return now, nil
}

// watched returns the incarnations that have watchers, with the names of their sessions.
func (ws *Watchers) watched() map[storage.Ref]sessionlog.Name {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	watched := make(map[storage.Ref]sessionlog.Name, len(ws.byName))
	for name, watchers := range ws.byName {
		for each := range watchers {
			watched[each.ref] = name
		}
	}
	return watched
}
