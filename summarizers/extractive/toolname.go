package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// toolName is a tool's name in lower-case words, without the server that offers the tool.
type toolName []string

// maxNameWords limits how many words of a name are read.
const maxNameWords = 16

// nameOf splits a tool's name into words: `mcp__mail__send_message`, `sendMessage` and `mail.send-message`.
func nameOf(name string) toolName {
	name = strings.TrimRight(clip(name, 256), "_-./: ")
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	name = name[strings.LastIndexAny(name, ".:/")+1:]
	var words toolName
	start, last := -1, rune(0)
	end := func(at int) {
		if start >= 0 && at > start && len(words) < maxNameWords {
			words = append(words, strings.ToLower(name[start:at]))
		}
		start = -1
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && (!unicode.IsUpper(last) || startsWord(name[i:])):
			end(i)
			start = i
		}
		last = r
	}
	end(len(name))
	if len(words) == 1 {
		return splitJoined(words[0])
	}
	return words
}

// startsWord says whether a capital letter begins a word behind other capital letters, as the second one in `HTTPGet`.
func startsWord(s string) bool { return len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' }

// joined are words that names without any separator begin or end with: `webfetch`, `multiedit`.
var (
	joinedBeginnings = []string{"send", "create", "update", "delete", "remove", "cancel", "insert", "search", "fetch", "write", "read", "list", "find", "edit", "todo", "web", "get"}
	joinedEnds       = []string{"search", "fetch", "write", "read", "edit", "create", "update", "delete", "remove", "replace", "list", "find"}
)

// splitJoined splits a name without separators, where it begins or ends with a known word and the rest is a word, too.
func splitJoined(word string) toolName {
	const least = 3
	for _, w := range joinedBeginnings {
		if rest, ok := strings.CutPrefix(word, w); ok && len(rest) >= least && rest != "ing" && rest != "ings" {
			return toolName{w, rest}
		}
	}
	for _, w := range joinedEnds {
		if rest, ok := strings.CutSuffix(word, w); ok && len(rest) >= least {
			return toolName{rest, w}
		}
	}
	return toolName{word}
}

// is says whether the name has exactly these words.
func (n toolName) is(words ...string) bool { return slices.Equal(n, words) }

// has says whether one of the name's words is in a set.
func (n toolName) has(set map[string]bool) bool { return n.index(set) >= 0 }

// index returns the position of the first word that is in a set, or -1.
func (n toolName) index(set map[string]bool) int {
	return slices.IndexFunc(n, func(w string) bool { return set[w] })
}

// last returns the last word.
func (n toolName) last() string {
	if len(n) == 0 {
		return ""
	}
	return n[len(n)-1]
}

var (
	// effectVerbs change something, wherever they stand in a name.
	effectVerbs = wordSet(`send create update delete remove add set assign unassign cancel insert modify edit write save append rename replace approve
		reject invite reply pay refund exchange upload submit publish unpublish subscribe unsubscribe register enroll enable disable activate deactivate
		grant revoke ban block unblock lock unlock archive restore rollback revert undo apply install uninstall upgrade downgrade provision terminate kill
		trigger mark attach detach buy sell purchase checkout redeem donate charge withdraw deposit rebook reschedule postpone confirm accept decline
		dismiss acknowledge renew extend resume waive adjust override allocate launch scale resolve reopen escalate snooze notify broadcast tweet share import export plot render generate download draw sync migrate reset
		clear purge drop put patch upsert increment clone fork compose remember memorize store forget vote follow unfollow expire silence merge push`)
	// effectNouns are verbs only as the first word of a name: `book_flight`, but not `open_book`.
	effectNouns = wordSet(`book order transfer post email note message schedule move return call start stop close commit deploy restart reserve record log
		comment label tag pin link request review rate play pause print process hold release ship change turn switch join leave forward dial ping remind
		report copy tip like react run execute invoke dispatch spawn delegate`)
	// lookVerbs return something and are never nouns in a name: what follows one is what it returns.
	lookVerbs = wordSet(`get describe show fetch lookup retrieve`)
	// lookWords return something, or name what is returned.
	lookWords = wordSet(`get describe show fetch lookup retrieve grep glob search find list ls dir browse query lsp output skill monitor calculate calculator
		compute ask read view open check count status details detail info inspect explain diff compare logs log metrics weather forecast history tail peek
		preview estimate whoami docs help schema version scroll goto wait sleep screenshot snapshot`)
	// nounLooks make a look-up of a word that can also be a verb before them: `order_search`.
	nounLooks = wordSet(`get list search find fetch read lookup`)
	// stepWords are steps in a user interface, and stepNouns are so among its parts.
	stepWords = wordSet(`click dblclick doubleclick rightclick hover navigate tap swipe keypress mousemove drag`)
	stepNouns = wordSet(`type press select fill back forward reload key keys keyboard mouse tab`)
	stepParts = wordSet(`browser page computer screen text key keys option element dropdown form field tab tabs go mouse keyboard button`)
	// shellWords run a command line or a script.
	shellWords = wordSet(`bash shell exec execute run command cmd terminal python ipython console stdin powershell sh zsh repl`)
	// fileWords change a file.
	fileWords = wordSet(`write edit multiedit replace create insert patch delete remove rename move save append editor`)
	readWords = wordSet(`read view open cat file`)
	// editorWords edit a file by a command of their own.
	editorWords = wordSet(`edit editor multiedit`)
	// listWords look through files, and read no single one.
	listWords = wordSet(`get list ls search find grep glob fetch browse query lookup skill`)
)

// isStep says whether a tool of this name makes a step in a user interface.
func (n toolName) isStep() bool {
	if n.has(stepWords) {
		return true
	}
	return n.has(stepNouns) && (len(n) == 1 || n.has(stepParts)) && !n.has(effectVerbs)
}

// hasEffect says whether a tool of this name changes something.
func (n toolName) hasEffect() bool {
	if len(n) == 0 {
		return false
	}
	if at := n.index(effectVerbs); at >= 0 {
		looks := n.index(lookVerbs)
		// `get_upload_url` uploads nothing.
		return looks < 0 || looks > at || slices.Contains(n, "or") || slices.Contains(n, "and")
	}
	if n[0] == "check" && len(n) > 1 && (n[1] == "in" || n[1] == "out") {
		return true
	}
	return effectNouns[n[0]] && (len(n) == 1 || !lookWords[n.last()] && !nounLooks[n[1]])
}

// looks says whether a tool of this name returns something and changes nothing.
func (n toolName) looks() bool { return !n.hasEffect() && (n.has(lookWords) || n.is("web")) }

// keepsTodos says whether a tool of this name keeps a to-do list.
func (n toolName) keepsTodos() bool {
	switch {
	case slices.Contains(n, "todo"), slices.Contains(n, "todos"), n.is("update", "plan"):
		return true
	case len(n) == 2 && n[0] == "task":
		return n[1] == "create" || n[1] == "update" || n[1] == "list" || n[1] == "get"
	}
	return false
}
