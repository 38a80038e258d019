package futurereference

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The kinds of entities.
const (
	KindError      = "error"
	KindHex        = "hex"
	KindIdentifier = "identifier"
	KindNumber     = "number"
	KindPath       = "path"
	KindQuoted     = "quoted"
	KindURL        = "url"
)

// Entity is a name in a text that can be found again literally.
type Entity struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func (e Entity) compare(other Entity) int {
	if by := strings.Compare(e.Kind, other.Kind); by != 0 {
		return by
	}
	return strings.Compare(e.Value, other.Value)
}

// Entities returns the entities of a text, each once, sorted by kind and value. JSON escapes in the text are undone first.
//
// They are: paths (at least two segments, or a file name with a known extension), URLs, hexadecimal ids of 7 or more
// digits, error codes, identifiers in snake_case or camelCase of 7 or more characters, numbers of 4 or more digits, and
// quotations of 8 to 120 characters on one line. A single name in quotes is no quotation. A quotation may hold other
// entities; entities of other kinds do not overlap.
func Entities(text string) []Entity {
	text = Plain(text)
	kinds := make(map[string]string)
	scanTokens(text, func(group tokenGroup, value string) {
		kind, value := classify(group, value)
		if kind != "" && kinds[value] == "" {
			kinds[value] = kind
		}
	})
	scanQuotations(text, func(value string) {
		if kinds[value] == "" && isQuotation(value) {
			kinds[value] = KindQuoted
		}
	})
	found := make([]Entity, 0, len(kinds))
	for value, kind := range kinds {
		found = append(found, Entity{kind, value})
	}
	slices.SortFunc(found, Entity.compare)
	return found
}

// classify returns the kind of a token and its value without punctuation at its end. The kind is empty if the token is no
// entity.
func classify(group tokenGroup, value string) (kind, entity string) {
	switch group {
	case tokenWord:
		return kindOfWord(value), value
	case tokenURL:
		value = strings.TrimRight(value, ".,;:!?*_")
		if utf8.RuneCountInString(value) < 12 {
			return "", ""
		}
		return KindURL, value
	case tokenUUID:
		return KindHex, value
	case tokenCode:
		return KindError, value
	default:
		value = strings.TrimRight(value, ".-+@")
		for strings.HasPrefix(value, "./") {
			value = value[2:]
		}
		if !isPath(group, value) {
			return "", ""
		}
		return KindPath, value
	}
}

// commonplace are paths that say nothing about a task.
var commonplace = []string{"/dev/null", "/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/bash"}

var twoLetters = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z]{2}`)
})

func isPath(group tokenGroup, value string) bool {
	length := utf8.RuneCountInString(value)
	if length < 5 || length > 300 || slices.Contains(commonplace, value) {
		return false
	}
	if group == tokenAbsolute && !strings.Contains(strings.Trim(value, "/~."), "/") {
		return false
	}
	return twoLetters().MatchString(value)
}

var (
	errorCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[A-Z]{1,5}\p{Nd}{3,6}|SIG[A-Z]{2,6}|0x[0-9A-Fa-f]{4,16})$`)
	})
	hexID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[0-9a-f]{7,64}|[0-9A-F]{7,64})$`)
	})
	camelCase = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[a-z0-9][A-Z]|[A-Z]{2}[a-z]`)
	})
	snakeCase = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[A-Za-z0-9]_+[A-Za-z0-9]|__[\pL\pN_]+__`)
	})
)

// errnos are the names of errors in POSIX.
var errnos = strings.Fields(`
	E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK
	EDQUOT EEXIST EFAULT EFBIG EHOSTUNREACH EINTR EINVAL EIO EISDIR ELOOP EMFILE EMSGSIZE ENAMETOOLONG ENETUNREACH ENFILE
	ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP EPERM EPIPE EPROTO ERANGE EROFS
	ESHUTDOWN ESPIPE ESRCH ETIMEDOUT EWOULDBLOCK EXDEV`)

// kindOfWord returns the kind of a run of letters, digits and underscores; empty if it is no entity.
func kindOfWord(word string) string {
	length := utf8.RuneCountInString(word)
	switch {
	case length < 4 || length > 100:
		return ""
	case all(word, unicode.IsDigit):
		if length > 20 || len(word) != length {
			return ""
		}
		return KindNumber
	case errorCode().MatchString(word) || slices.Contains(errnos, word):
		return KindError
	case length < 7:
		return ""
	case hexID().MatchString(word) && !all(word, unicode.IsLetter):
		return KindHex
	case camelCase().MatchString(word) || snakeCase().MatchString(word):
		if bare := strings.ReplaceAll(word, "_", ""); bare != "" && all(bare, unicode.IsDigit) {
			return ""
		}
		return KindIdentifier
	default:
		return ""
	}
}

func all(text string, is func(rune) bool) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !is(r) })
}

var singleName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_.:]+(?:\(\))?$`)
})

// isQuotation says whether the text between two quotes is an entity.
func isQuotation(value string) bool {
	length := utf8.RuneCountInString(value)
	return length >= 8 && length <= 120 && strings.TrimFunc(value, isSpace) == value && !singleName().MatchString(value) &&
		strings.ContainsFunc(value, isWordChar)
}
