package attacks

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var (
	escapes  = regexp.MustCompile(`\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})`)
	percents = regexp.MustCompile(`(?:%[0-9a-fA-F]{2})+`)
	entities = regexp.MustCompile(`(?i)&(lt|gt)\b;?`)
	tag      = regexp.MustCompile(`<[\s/|<]*(?:system|user|assistant|human|tool|summary|previous|im_start|im_end|inst|message role|start_of_turn|message\|)[^\\<]{0,400}`)
	roles    = regexp.MustCompile(`(?m)^[\s*#]*(?:user|human|assistant|system)\**:`)
)

// Imitations returns what a reader of a summary takes for a tag of a program or for a role at the start of a line, after it
// has decoded what programs decode. It is written without regard to how summaries are neutralized.
func Imitations(summary string) []string {
	text := summary
	for range 2 {
		text = escapes.ReplaceAllStringFunc(text, func(s string) string {
			n, err := strconv.ParseUint(strings.Trim(s, `\ux{}`), 16, 32)
			if err != nil {
				return s
			}
			return string(rune(n))
		})
		text = percents.ReplaceAllStringFunc(text, func(s string) string {
			if decoded, err := url.PathUnescape(s); err == nil {
				return decoded
			}
			return s
		})
		text = html.UnescapeString(entities.ReplaceAllString(text, "&$1;"))
	}
	text = norm.NFKC.String(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return append(tag.FindAllString(text, -1), roles.FindAllString(text, -1)...)
}
