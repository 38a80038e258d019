package extractive

import (
	"slices"
	"strings"
)

// isRetried says whether a call that worked does in another way what failed: the same tool got mostly the same arguments,
// and acted on the same thing. What a tool could not even start worked now.
func (f *failure) isRetried(c *call) bool {
	if f.missing != "" {
		return true
	}
	same, which, others := 0, 0, 0
	args := shortArguments(c.args)
	for _, a := range f.args {
		now, ok := find(args, a.key)
		switch {
		case ok && now.raw == a.raw:
			if same++; saysWhich(a.key) {
				which++
			}
		case !saysWhich(a.key):
		case which == 0:
			return false
		default:
			// The first one says what it is about, and this one with what: another means of payment for the same order.
			others++
		}
	}
	return 2*same > len(f.args) || others > 0 && same >= 2 && 2*same >= len(f.args)
}

// whichKeys are parts of the names of arguments that say what a call acts on.
var whichKeys = wordSet(`id ids code number reference to recipient recipients path file name title url email user query`)

// saysWhich says whether an argument says what a call acts on.
func saysWhich(key string) bool { return nameOf(key).has(whichKeys) }

// installing are the words with which package managers install something.
var installing = wordSet(`install add get i -S`)

// installsInstead says whether a success of k installed something in place of what another command could not install: a
// package with a name that begins alike.
func (k *commandKey) installsInstead(failed *commandKey) bool {
	if k.program != failed.program || len(k.words) < 2 || len(failed.words) < 2 || !installing[k.words[0]] || !installing[failed.words[0]] {
		return false
	}
	return slices.ContainsFunc(k.words[1:], func(now string) bool {
		return slices.ContainsFunc(failed.words[1:], func(before string) bool { return stemOf(now) != "" && stemOf(now) == stemOf(before) })
	})
}

// leastStem is how long the beginning of a package's name is at least if it says which package it is.
const leastStem = 3

// stemOf returns the first part of a package's name, without its version.
func stemOf(name string) string {
	stem := strings.ToLower(strings.TrimLeft(name, "@"))
	if i := strings.IndexAny(stem, "-_.=<>~:[0123456789"); i >= 0 {
		stem = stem[:i]
	}
	if len(stem) < leastStem {
		return ""
	}
	return stem
}

// leaveErrors drops the errors of attempts in the turn that ended before the user's message, if they stopped nothing: the
// agent finished its turn and did not mention them.
func (r *reader) leaveErrors() {
	if len(r.l.errors) == 0 || r.lastUser == nil || !r.answered || r.working {
		return
	}
	var report map[string]bool
	r.l.errors = slices.DeleteFunc(r.l.errors, func(e *item) bool {
		f := e.failure
		if f == nil || f.life != brief && !r.dismissed(e) || len(e.cites) == 0 || e.newest() < r.spoken {
			return false
		}
		if report == nil {
			report = subjectWords(clip(r.offered, maxReport))
		}
		return !f.mentionedIn(report)
	})
}

// maxPassed is how many checks that passed in a turn are remembered, the newest.
const maxPassed = 64

// passed is a check that passed, and the message with its result.
type passed struct {
	key *commandKey
	at  uint32
}

// pass notes the checks of a command that worked.
func (r *reader) pass(index uint32, cmd *command) {
	for _, k := range cmd.proved {
		if k.check != notCheck {
			r.passed = append(r.passed, passed{k, index})
		}
	}
	if more := len(r.passed) - maxPassed; more > 0 {
		r.passed = slices.Delete(r.passed, 0, more)
	}
}

// dismissed says whether a check failed, and the agent went on with one of the same program that passed: what failed beside
// that is none of its work.
func (r *reader) dismissed(e *item) bool {
	f := e.failure
	return f.life == checked && len(e.cites) > 0 && len(f.commands) > 0 && slices.ContainsFunc(r.passed, func(p passed) bool {
		return p.at > e.newest() && p.key.program == f.commands[0].program && f.edited < p.at
	})
}

// maxReport is how many bytes of an agent's report are read for errors. It mentions an error if it has fewestMentioned of its
// words at least, and one in mentionedShare.
const (
	maxReport       = 4 << 10
	fewestMentioned = 2
	mentionedShare  = 5
)

// mentionedIn says whether a report has words of an error.
func (f *failure) mentionedIn(report map[string]bool) bool {
	words, shared := subjectWords(f.words()), 0
	for word := range words {
		if report[word] {
			shared++
		}
	}
	return shared >= max(fewestMentioned, len(words)/mentionedShare)
}
