package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// committedPrefix begins lines about commits, and notPushed ends them while they are only in the local repository.
const (
	committedPrefix = "Committed "
	notPushed       = " (not pushed)"
)

// commit records the commits that a command made, with their hashes and titles. It returns true if nothing else of the
// command needs a line.
func (l *ledger) commit(index uint32, c *call, output string) bool {
	made, others, pushes := false, false, false
	var titles []string
	for _, k := range c.cmd.changing {
		if k.program != "git" || len(k.words) == 0 {
			others = true
			continue
		}
		switch k.words[0] {
		case "push":
			pushes = true
			l.push()
		case "commit", "cherry-pick", "revert", "merge":
			for line := range strings.Lines(clip(output, maxScript)) {
				if hash, title, ok := committedAs(strings.TrimSpace(line)); ok {
					l.addCommit(index, c, hash, title)
					// It has its line.
					l.dropQuote(index, strings.TrimSpace(line))
					made, titles = true, append(titles, oneLine(clip(title, longestTitle)))
				}
			}
		}
	}
	if made && !others {
		l.dropCommand(c, titles)
	}
	if made && pushes && !others {
		c.cmd.shown = "git push"
	}
	return made && !others && !pushes
}

// committedAs reads the line with which git reports a commit: `[main 1a2b3c4] Title`.
func committedAs(line string) (hash, title string, ok bool) {
	head, title, ok := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	i := strings.LastIndexByte(head, ' ')
	if !ok || line[0] != '[' || title == "" || i < 0 || len(head) > maxIdentifier || !isHash(head[i+1:]) {
		return "", "", false
	}
	return head[i+1:], title, true
}

// isHash says whether a word can be the hash of a commit.
func isHash(word string) bool {
	return len(word) >= leastHash && len(word) <= 40 && strings.Trim(word, "0123456789abcdef") == ""
}

// commitScore ranks commits among what was done: they say most.
const commitScore = 12

// addCommit adds the line about a commit. An amended commit does not exist any more.
func (l *ledger) addCommit(index uint32, c *call, hash, title string) {
	if n := len(l.commits); n > 0 && strings.Contains(c.cmd.said, "--amend") {
		delete(l.commands, commitKey(l.commits[n-1]))
		l.commits = l.commits[:n-1]
	}
	it := &item{kind: kindDone, score: commitScore}
	it.hears(committedPrefix+hash+" ", shorten(oneLine(clip(title, longestTitle)), maxCommit), "")
	it.addCites(c.index, index)
	if len(l.commands) <= maxKept {
		l.commands[commitKey(hash)] = it
		l.commits = append(l.commits, hash)
	}
}

// maxCommit is how many units of a commit's title are shown, and longestTitle how many bytes of it are read.
const (
	maxCommit    = 100
	longestTitle = 512
)

// dropCommand keeps the lines of a command from being quoted that only give the titles of its commits: each has its line.
func (l *ledger) dropCommand(c *call, titles []string) {
	if l.silent {
		return
	}
	for line := range evidence.Lines(c.cmd.said) {
		if slices.ContainsFunc(titles, func(title string) bool { return strings.Contains(line, title) }) {
			l.dropQuote(c.index, line)
		}
	}
}

func commitKey(hash string) string { return "commit " + hash }

// push notes that all commits were pushed.
func (l *ledger) push() {
	l.pushed = len(l.commits)
	l.pushes = true
}

// settleCommits marks the commits that were not pushed, where others were.
func (r *reader) settleCommits() {
	if !r.l.pushes {
		return
	}
	for _, hash := range r.l.commits[r.l.pushed:] {
		if it := r.l.commands[commitKey(hash)]; it != nil {
			it.hears(it.heard.before, it.heard.words, notPushed)
		}
	}
}

// dropToldCommits drops sentences of the agent that only say again which commit it made.
func (r *reader) dropToldCommits() {
	if r.l.silent || len(r.l.commits) == 0 {
		return
	}
	mentions := newCommitMentions(r.l)
	again := func(it *item) bool {
		if it.heard != nil || !mentions.any(it.text, func(c commitMade) bool { return r.namesOnly(it.text, c.hash, c.title) }) {
			return false
		}
		r.l.dropQuote(it.newest(), it.text)
		return true
	}
	r.l.dropItems(kindDone, again)
	r.l.dropItems(kindFact, again)
}

// mostBesideCommit is how many words a sentence has beside the title and the hash of a commit that says nothing more:
// "Committed as", "New commit".
const mostBesideCommit = 2

// namesOnly says whether a text says no more than that there is a commit with this hash or this title.
func (r *reader) namesOnly(text, hash, title string) bool {
	rest := strings.Replace(strings.Replace(text, title, " ", 1), hash, " ", 1)
	return rest != text && contentUpTo(rest, mostBesideCommit+1) <= mostBesideCommit && r.cues.read(rest)&cueNot == 0
}

// carryCommit reads a line of the previous summary about a commit.
func (l *ledger) carryCommit(it *item) bool {
	line, ok := strings.CutPrefix(it.text, committedPrefix)
	if !ok {
		return false
	}
	hash, title, ok := strings.Cut(line, " ")
	if !ok || !isHash(hash) || title == "" {
		return false
	}
	title, unpushed := strings.CutSuffix(title, notPushed)
	if unpushed {
		l.pushes = true
	} else {
		l.pushed = len(l.commits) + 1
	}
	it.hears(committedPrefix+hash+" ", title, "")
	it.score = commitScore
	l.commands[commitKey(hash)] = it
	l.commits = append(l.commits, hash)
	return true
}
