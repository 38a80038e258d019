package quotation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/compactord/compactord/session/lookalike"
)

// guard puts a backslash into everything that looks like a citation, a role or a tag of an agent's program: after the
// bracket that it begins with, or before the colon that ends it.
func guard(text string) string {
	var b strings.Builder
	done := 0
	eachImitation(text, quoted, func(at int, _ imitation) {
		b.WriteString(text[done:at] + `\`)
		done = at
	})
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// unguard is the inverse of guard. Backslashes make no difference to what is an imitation.
func unguard(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	done := 0
	eachImitation(text, quoted, func(at int, what imitation) {
		switch {
		case !what.isGuarded(text, at):
		case what.guardedAfter():
			b.WriteString(text[done:at])
			done = at + 1
		default:
			b.WriteString(text[done : at-1])
			done = at
		}
	})
	return b.String() + text[done:]
}

// Defuse puts a backslash into every tag of an agent's program in a text that is not quoted, and into roles that begin a
// line. Where there is one already, it adds none.
func Defuse(text string) string {
	if !strings.ContainsAny(text, `<:&%\`) && !strings.ContainsFunc(text, func(r rune) bool { return opensTag(r) || isColon(r) }) {
		return text
	}
	var b strings.Builder
	done := 0
	eachImitation(text, unquoted, func(at int, what imitation) {
		if what.isGuarded(text, at) {
			return
		}
		b.WriteString(text[done:at] + `\`)
		done = at
	})
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// imitation is a kind of imitations.
type imitation int

const (
	tag imitation = iota
	bracketed
	role
	// mark is one of ours as a character of HTML. Others have a backslash already.
	mark
)

// guardedAfter says whether the place of an imitation is behind its bracket, and so in front of its backslash.
func (i imitation) guardedAfter() bool { return i == tag || i == bracketed }

// isGuarded says whether an imitation at a place has its backslash.
func (i imitation) isGuarded(text string, at int) bool {
	if !i.guardedAfter() {
		return strings.HasSuffix(text[:at], `\`)
	}
	_, length := firstChar(text[at:])
	return length == 1 && text[at] == '\\'
}

// where says which imitations count: in words that are quoted all of them, and in what is not quoted tags, and roles that
// begin a line.
type where int

const (
	quoted where = iota
	unquoted
)

// begins has the bytes with which a character can begin that an imitation has: of ASCII the few that can mean something,
// and all others.
var begins = func() (set [256]bool) {
	for c := range set {
		set[c] = c >= utf8.RuneSelf || strings.IndexByte(`<[:&%\`, byte(c)) >= 0
	}
	return set
}()

// eachImitation yields the place in each imitation where guard puts a backslash.
func eachImitation(text string, in where, yield func(at int, what imitation)) {
	for i := 0; i < len(text); {
		if !begins[text[i]] {
			i++
			continue
		}
		r, size := firstChar(text[i:])
		switch {
		case in == quoted && size > utf8.RuneLen(r) && strings.ContainsRune(marks, r):
			yield(i, mark)
		case r < utf8.RuneSelf && r != '<' && r != '[' && r != ':':
		case opensTag(r) && isTag(text[i+size:]):
			yield(i+size, tag)
		case in == quoted && opensBracket(r) && isBracketed(text[i+size:]):
			yield(i+size, bracketed)
		case isColon(r) && (in == quoted || opensLine(text[:i])) && endsInRole(text[:i]):
			yield(i, role)
		}
		i += size
	}
}

func opensTag(r rune) bool {
	switch r {
	case '<', '＜', '﹤', '‹', '\u2329', '\u3008', '⟨', '❬', '❮', '˂', 'ᐸ', '⦑':
		return true
	}
	return false
}

// isColon says whether a character is a colon or looks like one.
func isColon(r rune) bool {
	switch r {
	case ':', '：', '﹕', '∶', '꞉', '︓', '˸', '։', '׃':
		return true
	}
	return false
}

func opensBracket(r rune) bool {
	switch r {
	case '[', '［', '【', '〔', '﹝', '〖', '〚', '⟦', '❲', '⁅':
		return true
	}
	return false
}

// longestWord is how many visible characters of a text are looked at for a name, apart from backslashes.
const longestWord = 96

// isTag says whether the text after a bracket names a tag. Case, slashes, bars, white space, hyphens and invisible
// characters make no difference, nor do letters that look the same.
func isTag(rest string) bool {
	var name strings.Builder
	for at, left := 0, longestWord; at < len(rest) && left > 0; {
		r, size := firstChar(rest[at:])
		at += size
		seen := r != '\\' && lookalike.Shown(r)
		if seen {
			left--
		}
		switch {
		case !seen, r == '_', r == '＿', r == '|', r == '｜', r == ':', unicode.Is(unicode.Pd, r), r == '−', strings.ContainsRune("/／∕⁄╱＼", r):
			if seen && name.Len() > 0 && tags[name.String()] && endsName(rest[at-size:]) {
				return true
			}
			continue
		case opensTag(r), !unicode.IsLetter(r) && !unicode.IsDigit(r) && lookalike.Latin(r) == 0:
			// A bracket may be a letter, but no name has it. So a row of brackets is read once.
			return false
		}
		name.WriteString(fold(r))
		if tags[name.String()] && endsName(rest[at:]) {
			return true
		}
	}
	return false
}

// endsName says whether the name of a tag ends here: at the tag's end, or before its attributes.
func endsName(rest string) bool {
	for at := 0; at < len(rest); {
		r, size := firstChar(rest[at:])
		switch {
		case unicode.IsSpace(r), strings.ContainsRune(">|｜/＞﹥›\u232a\u3009⟩❭❯˃ᐳ"+marks, r):
			return true
		case r == '\\' || !lookalike.Shown(r):
			at += size
		default:
			return false
		}
	}
	return true
}

// isBracketed says whether the text after a bracket is a citation, or a role and nothing else.
func isBracketed(rest string) bool {
	var name strings.Builder
	numbered := false
	for at, left := 0, longestWord; at < len(rest) && left > 0; {
		r, size := firstChar(rest[at:])
		at += size
		seen := r != '\\' && lookalike.Shown(r)
		if seen {
			left--
		}
		switch {
		case !seen || r == '/':
		case strings.ContainsRune("#＃﹟♯", r) && name.Len() == 0:
			numbered = true
		case numbered:
			return unicode.IsNumber(r)
		case strings.ContainsRune("]］】〕﹞〗〛⟧❳⁆:", r):
			return roles[name.String()]
		case !unicode.IsLetter(r) && lookalike.Latin(r) == 0:
			return false
		default:
			name.WriteString(fold(r))
		}
	}
	return false
}

// maxRole is how many bytes a role has at most.
const maxRole = 32

// endsInRole says whether the text before a colon ends in a role that begins a line or a sentence.
func endsInRole(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool { return r == '\\' || r == '*' || r == '_' || r != '\n' && !lookalike.Shown(r) })
	start, left := len(text), longestWord
	// The name is written from its end.
	var name [maxRole]byte
	at, first := len(name), rune(0)
	for start > 0 && left > 0 {
		r, size := lastChar(text[:start])
		seen := r != '\\' && lookalike.Shown(r)
		if seen {
			left--
		}
		if seen {
			if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) && lookalike.Latin(r) == 0 {
				break
			}
			letters := fold(r)
			if len(letters) > at {
				return false
			}
			at, first = at-len(letters), r
			copy(name[at:], letters)
		} else if unicode.IsSpace(r) || r == '\u3164' {
			break
		}
		start -= size
	}
	if !roles[string(name[at:])] {
		return false
	}
	before := strings.TrimRight(text[:start], " \\")
	last, _ := lastChar(before)
	switch {
	case before == "", strings.ContainsRune("\n⏎", last):
		return true
	case len(before) == start && strings.ContainsRune("/-.@$", last):
		return false
	}
	return !unicode.IsLower(first)
}

// opensLine says whether a text ends in what is the first word of a line, or of a heading.
func opensLine(text string) bool {
	end := text[max(0, len(text)-4*longestWord):]
	if at := strings.LastIndexByte(end, '\n'); at >= 0 {
		end = end[at+1:]
	} else if len(end) < len(text) {
		return false
	}
	return !strings.ContainsFunc(strings.TrimSpace(strings.TrimLeft(end, " \t#")), unicode.IsSpace)
}

// lowerASCII has the lower case of each character of ASCII, which look like no others.
var lowerASCII = func() string {
	var b strings.Builder
	for r := range rune(utf8.RuneSelf) {
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}()

// fold returns the letters that a character looks like, in lower case.
func fold(r rune) string {
	if r < utf8.RuneSelf {
		return lowerASCII[r : r+1]
	}
	var b strings.Builder
	for _, part := range lookalike.Parts(r) {
		if letter := lookalike.Latin(part); letter != 0 {
			b.WriteByte(letter)
		} else {
			b.WriteRune(unicode.ToLower(part))
		}
	}
	return b.String()
}

func folded(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		var b strings.Builder
		for _, r := range word {
			b.WriteString(fold(r))
		}
		set[b.String()] = true
	}
	return set
}

// tags are the names of tags in which programs and providers put what is not a tool's to say, without hyphens.
var tags = folded(`system systemreminder systemmessage systemprompt systemwarning systemnote sys user usermessage userinstructions userrequest human
	assistant developer operator admin agent tool toolresult toolresults tooluse toolcall toolcalls toolresponse toolresponses functioncalls functionresults
	functionresult functionresponse summary messagefromfuture conversation standingrules previoussummary extracontext instructions instruction
	currenttask guidelines sessioncontext environmentcontext environmentdetails localcommandcaveat localcommandstdout localcommandstderr commandmessage
	commandname commandargs tasknotification agentnotification permissionsinstructions bashstdout bashstderr bashinput ideopenedfile ideselection
	turnaborted uploadedfiles important reminder imstart imend imsep endoftext endofprompt startheaderid endheaderid eotid beginoftext inst thinking
	antthinking antmlinvoke antmlfunctioncalls antmlparameter invoke readfiles modifiedfiles prompt message role startofturn endofturn channel`)

// roles are the words with which transcripts say who speaks.
var roles = folded(`user human system assistant developer operator administrator admin agent ai claude gpt chatgpt gemini model tool inst sys
	用户 使用者 人类 系统 系統 助手 管理员 开发者 usuario usuaria humano sistema asistente administrador desarrollador उपयोगकर्ता मानव सिस्टम प्रणाली सहायक
	المستخدم مستخدم النظام نظام المساعد المطور usuário usuária assistente desenvolvedor пользователь человек система ассистент администратор разработчик
	ユーザー システム アシスタント 人間 開発者 管理者 utilisateur utilisatrice humain système développeur administrateur benutzer nutzer mensch
	assistent entwickler administratorin 사용자 시스템`)
