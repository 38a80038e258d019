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
	same := 0
	args := shortArguments(c.args)
	for _, a := range f.args {
		now, ok := find(args, a.key)
		switch {
		case ok && now.raw == a.raw:
			same++
		case saysWhich(a.key):
			return false
		}
	}
	return 2*same > len(f.args)
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
		if f == nil || f.life != brief || len(e.cites) == 0 || e.newest() < r.spoken {
			return false
		}
		if report == nil {
			report = subjectWords(clip(r.offered, maxReport))
		}
		return !f.mentionedIn(report)
	})
}

// maxReport is how many bytes of an agent's report are read for errors, and fewestMentioned how many words of an error it
// has at least if it mentions it.
const (
	maxReport       = 4 << 10
	fewestMentioned = 2
)

// mentionedIn says whether a report has words of an error.
func (f *failure) mentionedIn(report map[string]bool) bool {
	shared := 0
	for word := range subjectWords(f.message) {
		if report[word] {
			shared++
		}
	}
	return shared >= fewestMentioned
}
