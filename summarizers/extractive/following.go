package extractive

import (
	"context"
	"maps"
	"slices"

	"github.com/compactord/compactord/summarizers"
)

// readFollowing reads the messages that another text of the summary covers, as if they were summarized: they tick off
// to-dos, mend errors and answer requests of the messages before them.
func (d *digest) readFollowing(ctx context.Context) error {
	if len(d.req.Following) == 0 {
		return nil
	}
	// Where results are, each of the two texts says of its own messages.
	returned, folders := ownResults(d.l.results), ownResults(d.l.folders)
	for _, m := range d.req.Following {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m, err := d.req.Read(m)
		if err != nil {
			return err
		}
		d.try(summarizers.StageKept, m.GetIndex(), func() { d.r.read(m) })
	}
	d.l.results, d.l.folders = returned, folders
	return nil
}

func ownResults(all map[string]*results) map[string]*results {
	own := maps.Clone(all)
	for of, r := range own {
		one := *r
		own[of] = &one
	}
	return own
}

// dropFrom drops what only the messages from an index on say, and what they say anew: the other text of the summary has it.
func (l *ledger) dropFrom(first uint32) {
	anew := func(it *item) bool { return len(it.cites) > 0 && it.newest() >= first }
	l.dropOnlyFrom(first)
	for _, it := range l.requests {
		it.last = false
	}
	l.todos = slices.DeleteFunc(l.todos, anew)
	maps.DeleteFunc(l.commands, func(_ string, it *item) bool { return anew(it) })
	l.followed = true
}

// dropOnlyFrom drops what only the messages from an index on say.
func (l *ledger) dropOnlyFrom(first uint32) {
	only := func(it *item) bool { return len(it.cites) > 0 && it.oldest() >= first }
	for k := range kinds {
		l.dropItems(k, only)
	}
	l.requests, l.errors, l.todos = slices.DeleteFunc(l.requests, only), slices.DeleteFunc(l.errors, only), slices.DeleteFunc(l.todos, only)
	maps.DeleteFunc(l.commands, func(_ string, it *item) bool { return only(it) })
	for path, f := range l.files {
		if only(&f.item) {
			delete(l.files, path)
		}
	}
	l.paths = slices.DeleteFunc(l.paths, func(path string) bool { return l.files[path] == nil })
	if l.earlier != nil && len(l.earlier.cites) > 0 && l.earlier.cites[0] >= first {
		l.earlier = nil
	}
}
