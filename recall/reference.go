package recall

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// ErrReference means that a text does not name exactly one message. The error's text says what is wrong and quotes
// nothing.
var ErrReference = errors.New("no reference to a message")

// Reference names a message, a part of it or a piece of its result.
type Reference struct {
	// SessionID is the child whose message it is; empty for one of the log itself.
	SessionID string
	Index     uint32
	// Block is the name of a context block; empty for a message.
	Block string
	// Part and ResultPart are nil where the reference does not name them.
	Part, ResultPart *uint32
}

// references finds `#12.0.1` and `index 12, part 0` in a text. A reference after letters or a slash is part of
// something else, such as an address. So is a number with letters after it.
var references = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)(?:^|[^\pL\pN_./\\#&?=%@~+\-])(?:#([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?|index ([0-9]+)(?:, part ([0-9]+))?)`)
})

// bare is a reference without `#`. It counts only as a whole text: among words a number can mean anything.
var bare = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*[0-9]+(?:\.[0-9]+){0,2}\s*$`)
})

// notices finds the ends of the daemon's own placeholders, whose texts are in package wording: `recall index 12, part
// 0.]`, that of cleared arguments, and `[recall #12.0]`, which presets add to the words of another system.
var notices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:recall (index [0-9]+, part [0-9]+)(?:\.\]|"\})|\[recall (#[0-9]+\.[0-9]+)\])`)
})

// blocks finds the name of a context block: `block plan` as the whole text, or at the end of a block that a view shows in
// part, whose words are in package wording.
var blocks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?:^\s*block ([A-Za-z0-9][A-Za-z0-9._:/-]*)\s*$|` +
			`recall block ([A-Za-z0-9][A-Za-z0-9._:/-]*)\.\](?:\s*</context_block>)?\s*$)`)
})

// ParseReference reads the reference in a placeholder or a citation: `#12`, `#12.0`, `#12.0.1`, `[#12]`, `index 12,
// part 0`. The text can be the reference alone, also without its `#`, or the whole placeholder. Where the text contains
// one of the daemon's own placeholders, that one's reference counts, since a preview quotes any text of the result.
// Otherwise a text with several different references is an error. It returns ErrReference.
func ParseReference(text string) (Reference, error) {
	if block := blocks().FindStringSubmatch(text); block != nil {
		return Reference{Block: block[1] + block[2]}, nil
	}
	if own, ok := noticeIn(text); ok {
		text = own
	}
	if bare().MatchString(text) {
		text = "#" + strings.TrimSpace(text)
	}
	var found *Reference
	for _, at := range references().FindAllStringSubmatchIndex(text, -1) {
		if goesOn(text, at[1]) {
			continue
		}
		named, err := referenceAt(text, at)
		if err != nil {
			return Reference{}, err
		}
		if found != nil && !found.equal(named) {
			return Reference{}, fmt.Errorf("%w: it names several; give one", ErrReference)
		}
		found = &named
	}
	if found == nil {
		return Reference{}, fmt.Errorf("%w: write #12 for message 12, #12.0 for its part 0, #12.0.1 for the piece 1 of that",
			ErrReference)
	}
	return *found, nil
}

// noticeIn returns the reference of the placeholder at the end of a text. Where none is at the end, it returns the only
// reference that the text's placeholders name.
func noticeIn(text string) (reference string, ok bool) {
	all := notices().FindAllStringSubmatchIndex(text, -1)
	for i, at := range slices.Backward(all) {
		named := text[max(at[2], at[4]):max(at[3], at[5])]
		if reference == "" {
			reference = named
			if i == len(all)-1 && strings.TrimSpace(text[at[1]:]) == "" {
				break
			}
		}
		if named != reference {
			return "", false
		}
	}
	return reference, reference != ""
}

// goesOn reports whether the text after a number makes it something else: a word, a path, a range, a fourth number.
func goesOn(text string, at int) bool {
	if at == len(text) {
		return false
	}
	c, width := utf8.DecodeRuneInString(text[at:])
	if c == '.' || c == ',' {
		next, _ := utf8.DecodeRuneInString(text[at+width:])
		return isWord(next)
	}
	return isWord(c) || strings.ContainsRune(`/\#%`, c) || unicode.Is(unicode.Pd, c)
}

func isWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

func referenceAt(text string, at []int) (Reference, error) {
	var numbers [3]*uint32
	// Only one of the two ways to write a reference has matched.
	groups := [3][2]int{{1, 4}, {2, 5}, {3, 3}}
	for i, ways := range groups {
		for _, group := range ways {
			if at[2*group] < 0 {
				continue
			}
			n, err := strconv.ParseUint(text[at[2*group]:at[2*group+1]], 10, 32)
			if err != nil {
				return Reference{}, fmt.Errorf("%w: a number over 4294967295", ErrReference)
			}
			number := uint32(n)
			numbers[i] = &number
		}
	}
	return Reference{Index: *numbers[0], Part: numbers[1], ResultPart: numbers[2]}, nil
}

func (r Reference) equal(other Reference) bool {
	return r.Index == other.Index && same(r.Part, other.Part) && same(r.ResultPart, other.ResultPart)
}

func same(a, b *uint32) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
