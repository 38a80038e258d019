package extractive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// ledger holds what is known so far: the previous summary, changed by the messages.
type ledger struct {
	// lists are the statements of each kind. Requests, to-dos, errors and files have separate lists.
	lists [kinds][]*item
	byKey map[string]*item

	requests []*item
	// authors are the persons who write as the user.
	authors authors
	// stated are statements of the user that later ones can replace.
	stated []*stated
	errors []*item
	// todos is the current to-do list.
	todos []*item
	files map[string]*file
	paths []string
	// directories are those that the agent may work in.
	directories []*directory
	// earlier is a summary of earlier work that another tool wrote; nil if there is none.
	earlier *earlierSummary
	// unrooted says that the previous summary has relative paths and does not say where they begin.
	unrooted bool
	// written are the names of the files that were changed, without their folders.
	written map[string]bool
	// commands are the lines about calls, by what was called. recent are the keys of the latest runs of commands.
	commands map[string]*item
	recent   []string
	// commits are the hashes of the commits. The first of them, as many as pushed says, were pushed; pushes says that
	// some were.
	commits []string
	pushed  int
	pushes  bool
	// endings are the programs whose outputs end with a line, by that line, and changed is the latest message that changed
	// a file.
	endings map[string][]string
	changed uint32
	// claims are the latest facts with an identifier, given the long answers, and answered the last one with an identifier.
	claims   map[string][]claim
	given    []answer
	answered map[string]uint32
	// removed are the names that edits removed, with the latest such message.
	removed map[string]uint32
	// scripts are the texts of files that the agent wrote, by name, and ran the names of scripts that ran.
	scripts map[string]string
	ran     map[string]bool

	// moreScratch says that a previous summary left out scripts that are not of the project.
	moreScratch bool

	// results are those of tools, by name.
	results map[string]*results
	// folders are those of the files in folders, by folder, and carriedFolders the folders of an earlier summary.
	folders        map[string]*results
	carriedFolders map[string]bool
	// silent says that no words of tools may be in the summary.
	silent bool
	// quotes gathers what the summary can quote.
	quotes *evidence.Collector
	// again are the messages of the previous summary that can be quoted anew, so that its quotes of them do not count.
	again map[uint32]bool
	// dropQuote says that a text of a message is no longer true, and is not quoted.
	dropQuote func(message uint32, text string)
	focus     []string

	// sourceFiles are the files that results are of.
	sourceFiles sourceFiles
	// lastStep is what the agent said last about its work.
	lastStep *item
	// followed says that the last request is of messages that another text of the summary covers.
	followed bool
	// ruled counts the rules of each message.
	ruled map[uint32]int
	// seq counts the added items.
	seq int
	// newest is the highest index seen.
	newest uint32
}

// file says what was done to a file.
type file struct {
	path     string
	modified bool
	carried  bool
	why      string
	uses     int
	// said is the end of the path, if the rest of it was only ever named as the directory of a command.
	said string
	// created says that the agent wrote it first, and gone that it was deleted. scratch says that a previous summary
	// had it among the scripts that are not of the project.
	created, gone, scratch bool

	item item
}

// newLedger returns an empty ledger for the messages before next.
func newLedger(next uint32) *ledger {
	quotes := evidence.New(next)
	return &ledger{
		byKey:    map[string]*item{},
		files:    map[string]*file{},
		written:  map[string]bool{},
		commands: map[string]*item{},
		endings:  map[string][]string{},
		removed:  map[string]uint32{},
		scripts:  map[string]string{},
		claims:   map[string][]claim{},
		answered: map[string]uint32{},
		ran:      map[string]bool{},
		results:  map[string]*results{},
		folders:  map[string]*results{}, carriedFolders: map[string]bool{},
		sourceFiles: sourceFiles{},
		ruled:       map[uint32]int{},
		quotes:      quotes,
		dropQuote:   quotes.Drop,
	}
}

// attendTo stores the words of the focus.
func (l *ledger) attendTo(focus string) {
	var w wordScanner
	w.scan(focus)
	for i := range w.spans {
		if word := w.word(i); len(word) > 2 && !dull[word] {
			l.focus = append(l.focus, word)
		}
	}
	// In scripts without spaces, pairs of characters are compared.
	runes := []rune(clip(focus, 4096))
	for i := 0; i+1 < len(runes); i++ {
		if isCJK(runes[i]) && isCJK(runes[i+1]) {
			l.focus = append(l.focus, string(runes[i:i+2]))
		}
	}
	l.focus = l.focus[:min(len(l.focus), 64)]
}

// dull are words of a focus that are ignored.
var dull = map[string]bool{
	"the": true, "and": true, "for": true, "with": true, "that": true, "this": true, "what": true, "all": true, "about": true,
	"focus": true, "keep": true, "please": true, "from": true, "into": true, "are": true, "was": true, "how": true, "why": true,
	"especially": true, "everything": true, "details": true, "remember": true, "you": true, "our": true, "not": true,
}

// limits is how many statements of each kind are kept while messages are read. The budget chooses among them later.
var limits = [kinds]int{
	kindRule: 600, kindDone: 300, kindDoing: 40, kindDecision: 300, kindNext: 120, kindFact: 400,
}

// maxRequests is how many requests are kept while messages are read, beside the first one.
const maxRequests = 400

// indexKey returns the key of an item in byKey.
func indexKey(k kind, key string) string { return string(rune('0'+k)) + key }

// add adds a statement, or merges it into one with the same key.
func (l *ledger) add(it *item) {
	if it.text == "" {
		return
	}
	key := indexKey(it.kind, it.keyed())
	if known := l.byKey[key]; known != nil {
		known.addCites(it.cites...)
		known.score = max(known.score, it.score)
		if it.by < known.by {
			known.by = it.by
		}
		known.tier = min(known.tier, it.tier)
		return
	}
	l.byKey[key] = it
	l.seq++
	it.seq = l.seq
	if it.kind == kindRule && len(it.cites) > 0 {
		it.crowd = l.ruled[it.oldest()] / 6
		l.ruled[it.oldest()]++
	}
	list := append(l.lists[it.kind], it)
	if limit := limits[it.kind]; len(list) > 2*limit {
		slices.SortStableFunc(list, l.compare)
		for _, gone := range list[limit:] {
			delete(l.byKey, indexKey(gone.kind, gone.keyed()))
		}
		clear(list[limit:])
		list = list[:limit]
	}
	l.lists[it.kind] = list
}

// compare ranks two items of one kind, the better one first. Rules rank by firmness, by how many rules of their message
// come before them, and by who gave them. Among equal rules the older one wins, so that repeated merging loses none.
// Other items rank by score and then by age.
func (l *ledger) compare(a, b *item) int {
	if a.kind == kindRule && b.kind == kindRule {
		if c := cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.crowd, b.crowd), cmp.Compare(a.by, b.by)); c != 0 {
			return c
		}
		if a.carried != b.carried {
			if a.carried {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.oldest(), b.oldest()), cmp.Compare(a.seq, b.seq), strings.Compare(a.text, b.text))
	}
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.newest(), a.newest()), strings.Compare(a.text, b.text))
}

// compareRules ranks rules for a budget that may not hold all of them. Of equals, what replaces an older rule comes first,
// since whoever only knows the older one does the wrong thing, and then short ones: more of them fit.
func (l *ledger) compareRules(a, b *item) int {
	if c := cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.crowd, b.crowd), cmp.Compare(a.by, b.by)); c != 0 || a.carried != b.carried {
		return l.compare(a, b)
	}
	return cmp.Or(cmp.Compare(a.standing(), b.standing()), cmp.Compare(units(a.text)/lengthStep, units(b.text)/lengthStep), l.compare(a, b))
}

// standing ranks a rule that replaces an older one before others, and one that was corrected after them.
func (it *item) standing() int {
	switch {
	case len(it.corrections) > 0:
		return 1
	case it.changed:
		return -1
	default:
		return 0
	}
}

// lengthStep is by how many units the lengths of two rules differ if one is the shorter one.
const lengthStep = 20

// says reports whether the ledger already has the item's text as another kind that is kept.
func (l *ledger) says(it *item) bool {
	for _, k := range []kind{kindDone, kindDecision, kindNext, kindFact} {
		if l.byKey[indexKey(k, it.keyed())] != nil {
			return true
		}
	}
	return false
}

// tells says whether a line about a call under Done or Blocked is that of a step's call.
func (l *ledger) tells(step *item) bool {
	for key, done := range l.commands {
		if (done.called != nil || done.run != nil) && slices.Contains(done.cites, step.oldest()) &&
			(strings.HasSuffix(done.text, step.text) || done.called != nil && strings.HasPrefix(step.text, key)) {
			return true
		}
	}
	if strings.HasPrefix(step.text, "`") && slices.ContainsFunc(l.commits, func(hash string) bool {
		made := l.commands[commitKey(hash)]
		return made != nil && slices.Contains(made.cites, step.oldest())
	}) {
		return true
	}
	return slices.ContainsFunc(l.errors, func(e *item) bool {
		return e.failure != nil && e.failure.shown != "" && strings.HasPrefix(step.text, e.failure.shown) && slices.Contains(e.cites, step.oldest())
	})
}

// request adds a user's request and returns it. A previous summary may already contain a part of the same message. What
// the user says again is kept once.
func (l *ledger) request(it *item) *item {
	l.dropUnfinished(it)
	for i := len(l.requests) - 1; i >= 0; i-- {
		known := l.requests[i]
		if len(it.cites) == 0 || len(known.cites) == 0 || !slices.Equal(it.cites, known.cites) {
			if known.keyed() != it.keyed() {
				continue
			}
			known.times++
			it.times, it.carried = known.times, known.carried
			if i > 0 {
				l.requests = slices.Delete(l.requests, i, i+1)
				break
			}
			known.addCites(it.cites...)
			return known
		}
		if len(it.text) > len(known.text) {
			known.text, known.key = it.text, ""
		}
		known.last, known.noise = known.last || it.last, known.noise || it.noise
		return known
	}
	l.requests = append(l.requests, it)
	if len(l.requests) > 2*maxRequests {
		// The first request says what the work is about; among the others, newer ones matter more.
		l.requests = slices.Delete(l.requests, 1, len(l.requests)-maxRequests)
	}
	return it
}

// settle removes statements about work that is now done.
func (l *ledger) settle(text string) {
	key := keyOf(text)
	for _, k := range []kind{kindNext, kindDoing} {
		l.lists[k] = slices.DeleteFunc(l.lists[k], func(it *item) bool {
			if it.keyed() != key {
				return false
			}
			delete(l.byKey, indexKey(k, key))
			return true
		})
	}
}

// touch records that a file was read or changed.
func (l *ledger) touch(path string, modified bool, why string, cites ...uint32) *file {
	f := l.touchSaid(path, "", modified, cites...)
	if f != nil && why != "" && modified == f.modified {
		f.why = why
	}
	return f
}

// touchSaid records that a file was read or changed, of whose path only the end may have been said.
func (l *ledger) touchSaid(path, said string, modified bool, cites ...uint32) *file {
	if path = strings.TrimPrefix(path, "./"); path == "" {
		return nil
	}
	f := l.files[path]
	if f == nil {
		if len(l.files) >= maxFiles {
			return nil
		}
		f = &file{path: path, said: said, item: item{kind: kindFile}}
		l.files[path] = f
		l.paths = append(l.paths, path)
	}
	f.uses++
	if said == "" {
		f.said = ""
	}
	if modified {
		l.written[baseOf(path)] = true
	}
	if modified && !f.modified {
		// Once a file was changed, earlier reads do not matter.
		f.modified, f.why = true, ""
		f.item.cites = f.item.cites[:0:0]
	}
	if modified == f.modified {
		f.item.addCites(cites...)
	}
	return f
}

// maxFiles is how many files are recorded.
const maxFiles = 20000
