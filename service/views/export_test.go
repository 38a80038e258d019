package views

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// StableEnds returns the stable ends of a whole view.
func StableEnds(view []*compactordv1.ViewMessage) []int {
	latest, summary := false, false
	for _, vm := range view {
		latest, summary = latest || isLatest(vm), summary || vm.GetSummaryOf() != ""
	}
	return append([]int{}, stableEnds(view, true, latest && summary)...)
}

// RestartOf returns how the view of a token relates to that of a request where its rendering goes on; -1 where it begins
// anew.
func RestartOf(token string, trails *Trails, shape dialect.Dialect, r Request) session.Delta {
	r.Held = token
	held, relation := r.held(r.token(shape.Kind()))
	if r.restartAt(trails.of(held), held, relation) == nil {
		return -1
	}
	return relation
}
