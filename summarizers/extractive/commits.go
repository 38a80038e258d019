package extractive

import "strings"

// committedPrefix begins lines about commits, and notPushed ends them while they are only in the local repository.
const (
	committedPrefix = "Committed "
	notPushed       = " (not pushed)"
)

// commit records the commits that a command made, with their hashes and titles. It returns true if nothing else of the
// command needs a line.
func (l *ledger) commit(index uint32, c *call, output string) bool {
	made, others, pushes := false, false, false
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
					made = true
				}
			}
		}
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
	return len(word) >= 7 && len(word) <= 40 && strings.Trim(word, "0123456789abcdef") == ""
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
	it.hears(committedPrefix+hash+" ", shorten(oneLine(clip(title, 512)), maxCommit), "")
	it.addCites(c.index, index)
	if len(l.commands) <= maxKept {
		l.commands[commitKey(hash)] = it
		l.commits = append(l.commits, hash)
	}
}

// maxCommit is how many units of a commit's title are shown.
const maxCommit = 100

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
