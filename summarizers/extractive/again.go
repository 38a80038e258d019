package extractive

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// A summary continues the one before, whose room was for what mattered then. So the quotes of what tools and the agent said
// are chosen anew from the messages themselves, as far as they are at hand. What the user said is carried over: later
// messages have replaced some of it.

// withoutEarlier returns the request without the messages that the previous summary covers, where the budget is small: what
// the user said comes first there, and their quotes would leave too little room for it.
func withoutEarlier(req *summarizers.Request) *summarizers.Request {
	if req.MaxTokens >= smallBudget || len(req.Earlier) == 0 {
		return req
	}
	small := *req
	small.Earlier = nil
	return &small
}

// quotedAgain returns the messages that can be quoted anew.
func quotedAgain(earlier []*compactordv1.LoggedMessage) map[uint32]bool {
	again := make(map[uint32]bool, len(earlier))
	for _, m := range earlier {
		switch m.GetMessage().GetRole() {
		case compactordv1.Role_ROLE_ASSISTANT, compactordv1.Role_ROLE_TOOL:
			again[m.GetIndex()] = true
		default:
		}
	}
	return again
}

// notOfUser leaves out what the user said.
func notOfUser(add func(evidence.Piece)) func(evidence.Piece) {
	return func(p evidence.Piece) {
		if p.Voice != evidence.User {
			add(p)
		}
	}
}
